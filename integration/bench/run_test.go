package bench

import (
	"bytes"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// cost is what one run took, with all the processes that it started, and what
// it printed.
type cost struct {
	wall, cpu time.Duration
	stdout    string
}

func (c cost) wallMS() float64 { return float64(c.wall.Microseconds()) / 1000 }
func (c cost) cpuMS() float64  { return float64(c.cpu.Microseconds()) / 1000 }

// run runs a command to its end, in an environment that is the same everywhere.
// What earlier runs left to be written is written first.
func run(t *testing.T, command ...string) cost {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = []string{"HOME=/", "PATH=" + os.Getenv("PATH")}
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	syscall.Sync()
	start := time.Now()
	err := cmd.Run()
	wall := time.Since(start)
	if err != nil {
		t.Fatalf("running %q: %v\n%s", command, err, &stderr)
	}
	// The system counts here the processes that were waited for as well.
	return cost{wall, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), stdout.String()}
}
