package container

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/eksproxy/eksproxy/integration/child"
)

// process is a shell script that is process 1 of its own process and mount
// namespaces. When it ends the kernel kills all that runs in them, and
// unmounts what it mounted. It dies with the test process, however that ends.
type process struct {
	cmd  *exec.Cmd
	log  string          // the file with what it printed
	done <-chan struct{} // closed when the process has ended
}

// start starts a script with arguments, and keeps what it prints in the folder.
func start(t *testing.T, w work, script string, args ...string) *process {
	t.Helper()
	log := w.path("output.log")
	out, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = out.Close() }()
	cmd := exec.Command("unshare", append([]string{"--mount", "--pid", "--fork", "--kill-child",
		"--mount-proc", "sh", "-c", script, "sh"}, args...)...)
	cmd.Env = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C"}
	cmd.Stdout, cmd.Stderr = out, out
	done, err := child.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	p := &process{cmd, log, done}
	t.Cleanup(func() { p.kill(t) })
	return p
}

// output is what the script has printed.
func (p *process) output() string {
	text, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// ended says whether the process has ended.
func (p *process) ended() bool { return child.Ended(p.done) }

// wait waits for the end, and says whether it came in time.
func (p *process) wait(limit time.Duration) bool {
	select {
	case <-p.done:
		return true
	case <-time.After(limit):
		return false
	}
}

// kill ends the process and all in its namespaces, and waits for that.
func (p *process) kill(t *testing.T) {
	t.Helper()
	for !p.ended() {
		// The script goes first: unshare then waits until the kernel has
		// reaped all in its namespace.
		inner := children(p.cmd.Process.Pid)
		for _, pid := range inner {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		if len(inner) == 0 {
			_ = p.cmd.Process.Kill()
		}
		if !p.wait(10 * time.Second) {
			t.Errorf("killing %v: no end after 10 s", p.cmd.Args)
			return
		}
	}
}

// children are the processes started by a process.
func children(pid int) []int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		return nil
	}
	var pids []int
	for field := range strings.FieldsSeq(string(text)) {
		if child, err := strconv.Atoi(field); err == nil {
			pids = append(pids, child)
		}
	}
	return pids
}

// init is the process below this one that is process 1 of another namespace
// and runs the program of this name.
func (p *process) init(name string) (int, error) {
	queue := children(p.cmd.Process.Pid)
	for depth := 0; len(queue) > 0; depth++ {
		var next []int
		for _, pid := range queue {
			if depth > 0 && isInit(pid, name) {
				return pid, nil
			}
			next = append(next, children(pid)...)
		}
		queue = next
	}
	return 0, errors.New("looking for process 1 of the node: there is none")
}

// isInit says whether a process is process 1 in its namespace, and runs the
// program of this name.
func isInit(pid int, name string) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return false
	}
	var is, named bool
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		switch {
		case len(fields) == 2 && fields[0] == "Name:":
			named = fields[1] == name
		case len(fields) > 1 && fields[0] == "NSpid:":
			is = fields[len(fields)-1] == "1"
		}
	}
	return is && named
}
