package container

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/eksproxy/eksproxy/integration/program"
)

// execLimit is how long a command on a node may take.
const execLimit = 120 * time.Second

// Enter is the command that runs another one on the node.
func (c *Container) Enter() []string {
	return []string{"nsenter", "-t", strconv.Itoa(c.leader), "-m", "-u", "-i", "-n", "-p", "-r", "-w", "--"}
}

// Exec executes a command on the node, with PATH and HOME in its environment
// and nothing else.
func (c *Container) Exec(t *testing.T, args ...string) program.Result {
	t.Helper()
	return c.run(t, nil, args...)
}

// Must executes a command that has to succeed, and returns its output.
func (c *Container) Must(t *testing.T, args ...string) string {
	t.Helper()
	r := c.run(t, nil, args...)
	if r.Code != 0 {
		t.Fatalf("executing %q on the node: exit %d\n%s%s", args, r.Code, r.Stdout, r.Stderr)
	}
	return r.Stdout
}

// run executes a command on the node with this input.
func (c *Container) run(t *testing.T, input []byte, args ...string) program.Result {
	t.Helper()
	if !c.running() {
		t.Fatalf("executing %q on a node that does not run", args)
	}
	ctx, cancel := context.WithTimeout(context.Background(), execLimit)
	defer cancel()
	command := append(c.Enter(), args...)
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Env = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "LC_ALL=C"}
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(input), &stdout, &stderr
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	if ctx.Err() != nil {
		t.Fatalf("executing %q on the node: no end after %s\n%s", args, execLimit, &stderr)
	}
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatalf("executing %q on the node: %v", args, err)
	}
	if line := strings.Join(args, " "); runsProgram.MatchString(line) {
		program.Said(line, stdout.String(), stderr.String())
	}
	return program.Result{Stdout: stdout.String(), Stderr: stderr.String(), Code: cmd.ProcessState.ExitCode()}
}

// runsProgram matches commands that have the program under test print
// something, and those that show what it has printed.
var runsProgram = regexp.MustCompile(`\beksproxy (node|verify|facts|noproxy|config|version)\b|^journalctl|^cat /run/eksproxy/`)

// ReadFile reads a file of the node, which may be stopped.
func (c *Container) ReadFile(t *testing.T, path string) string {
	t.Helper()
	if c.running() {
		return c.Must(t, "cat", path)
	}
	content, err := c.stopped(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// WriteFile writes a file of the node, which may be stopped or not booted
// yet, and makes the folders above it.
func (c *Container) WriteFile(t *testing.T, file string, content []byte, mode fs.FileMode) {
	t.Helper()
	if !c.running() {
		c.seed(t, file, content, mode)
		return
	}
	r := c.run(t, content, "sh", "-c", `mkdir -p "$1" && cat >"$2" && chmod "$3" "$2"`, "sh",
		path.Dir(file), file, fmt.Sprintf("%o", mode.Perm()))
	if r.Code != 0 {
		t.Fatalf("writing %s on the node: %s", file, r.Stderr)
	}
}

// MainPID is the main process of a unit, as the node numbers it: 0 where none
// runs.
func (c *Container) MainPID(t *testing.T, unit string) int {
	t.Helper()
	text := strings.TrimSpace(c.Must(t, "systemctl", "show", "-P", "MainPID", unit))
	pid, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("reading the main process of %s: %v", unit, err)
	}
	return pid
}

// Environ is the environment of a unit's main process.
func (c *Container) Environ(t *testing.T, unit string) map[string]string {
	t.Helper()
	pid := c.MainPID(t, unit)
	if pid == 0 {
		t.Fatalf("reading the environment of %s: it does not run", unit)
	}
	environ := map[string]string{}
	for item := range strings.SplitSeq(c.Must(t, "cat", fmt.Sprintf("/proc/%d/environ", pid)), "\x00") {
		if name, value, found := strings.Cut(item, "="); found {
			environ[name] = value
		}
	}
	return environ
}

// Pull has containerd pull an image, as the kubelet does.
func (c *Container) Pull(t *testing.T, image string) program.Result {
	t.Helper()
	begin := time.Now()
	r := c.Exec(t, helperPath, "cripull", image)
	tell(t, begin, "pull of %s, exit %d", image, r.Code)
	return r
}

// Journal is the journal of this boot, or what the arguments of journalctl
// select.
func (c *Container) Journal(t *testing.T, args ...string) string {
	t.Helper()
	return c.Must(t, append([]string{"journalctl", "--no-pager", "-q", "-b", "-o", "short-monotonic"}, args...)...)
}

// Console is what stood on the console in all boots.
func (c *Container) Console(t *testing.T) string {
	t.Helper()
	content, err := os.ReadFile(c.work.path("console.log"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return string(content)
}

// jobs is what systemd still waits for.
func (c *Container) jobs(t *testing.T) string {
	t.Helper()
	if !c.running() {
		return ""
	}
	return c.run(t, nil, "systemctl", "list-jobs", "--no-pager").Stdout
}

// report notes what the program has said on the node, and how the node was
// when its test has failed. It is called while the node may still run.
func (c *Container) report(t *testing.T) {
	t.Helper()
	if c.reported {
		return
	}
	c.reported = true
	console := c.Console(t)
	program.Said("on the console of a node", console, "")
	if c.running() {
		c.run(t, nil, "journalctl", "--no-pager", "-q", "-u", "eksproxy*")
	}
	if !t.Failed() {
		return
	}
	t.Logf("end of the console:\n%s", tail(console, 40))
	if c.running() {
		t.Logf("failed units:\n%s", c.run(t, nil, "systemctl", "--failed", "--no-pager").Stdout)
		t.Logf("end of the journal:\n%s", c.run(t, nil, "journalctl", "--no-pager", "-q", "-n", "60").Stdout)
	}
}

// tail is the last lines of a text.
func tail(text string, lines int) string {
	all := strings.Split(text, "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}
