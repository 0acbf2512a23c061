package controlplane

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/eksproxy/eksproxy/integration/child"
)

// tailLines is how much of a log is shown where a component failed.
const tailLines = 25

// process is a running component. It dies with the test process, however that
// ends.
type process struct {
	name string
	cmd  *exec.Cmd
	log  string          // the file with what it printed
	done <-chan struct{} // closed when the process has ended
}

// launch starts a program with its output in NAME.log below the folder.
func launch(dir, binary string, args ...string) (*process, error) {
	name := filepath.Base(binary)
	log := filepath.Join(dir, name+".log")
	out, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("opening the log of %s: %w", name, err)
	}
	defer out.Close()
	cmd := exec.Command(binary, args...)
	cmd.Dir = dir
	// No proxy of the host; and memory is there, where processors are few.
	cmd.Env = []string{"HOME=" + dir, "PATH=/usr/bin:/bin", "GOGC=400"}
	cmd.Stdout, cmd.Stderr = out, out
	done, err := child.Start(cmd)
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", name, err)
	}
	return &process{name: name, cmd: cmd, log: log, done: done}, nil
}

// ended says whether the process has ended.
func (p *process) ended() bool { return child.Ended(p.done) }

// kill ends the process and waits for that. What it stored is thrown away, so
// there is nothing to be graceful about.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it may have ended already
	<-p.done
}

// tail is the end of what the process printed.
func (p *process) tail() string {
	text, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-tailLines):], "\n")
}
