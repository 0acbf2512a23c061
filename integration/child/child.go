// Package child starts processes that cannot outlive the test process.
package child

import (
	"os/exec"
	"runtime"
	"syscall"
)

// Start starts a command that the kernel kills with this process, and returns
// what is closed when it has ended.
func Start(cmd *exec.Cmd) (ended <-chan struct{}, err error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	done, started := make(chan struct{}), make(chan error)
	go func() {
		// The kernel kills the process when this thread ends.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // a killed one is what is wanted
			close(done)
		}
	}()
	return done, <-started
}

// Ended says whether what Start returned is closed.
func Ended(ended <-chan struct{}) bool {
	select {
	case <-ended:
		return true
	default:
		return false
	}
}
