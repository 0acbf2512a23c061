package container

import (
	_ "embed"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/eksproxy/eksproxy/integration/program"
)

// The limits of a boot and of a shutdown. A boot takes 2 s on an idle machine.
const (
	bootLimit = 90 * time.Second
	stopLimit = 60 * time.Second
)

// powerOff is the signal that makes systemd shut down: SIGRTMIN+4, with the
// SIGRTMIN of glibc.
const powerOff = syscall.Signal(34 + 4)

//go:embed boot.sh
var bootScript string

// helper builds the helper program.
func helper() (string, error) {
	return program.Helper("github.com/eksproxy/eksproxy/integration/cmd/nodehelper")
}

// Boot boots the node and waits until systemd has started all there is to
// start, and returns how long that took. State says whether all went well.
func (c *Container) Boot(t *testing.T) time.Duration {
	t.Helper()
	c.Start(t)
	return c.WaitBooted(t, bootLimit)
}

// Start starts a boot and waits only until commands can be executed.
func (c *Container) Start(t *testing.T) {
	t.Helper()
	if c.running() {
		t.Fatal("booting a node that runs")
	}
	args := []string{c.work.name(), c.root, string(c.work), nameOf(c.Network.Node)}
	c.began = time.Now()
	c.process = start(t, c.work, bootScript, slices.Concat(args, c.options)...)
	t.Cleanup(func() { c.report(t) }) // before it is killed
	deadline := time.Now().Add(bootLimit)
	for {
		pid, err := c.process.init("systemd")
		if err == nil {
			c.leader = pid
			return
		}
		if c.process.ended() || time.Now().After(deadline) {
			t.Fatalf("booting: %v\n%s\n%s", err, c.process.output(), c.Console(t))
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// WaitBooted waits until the boot is over, and returns how long it took since
// Start.
func (c *Container) WaitBooted(t *testing.T, limit time.Duration) time.Duration {
	t.Helper()
	deadline := time.Now().Add(limit)
	for {
		c.state = strings.TrimSpace(c.run(t, nil, "systemctl", "is-system-running").Stdout)
		if c.state == "running" || c.state == "degraded" {
			took := time.Since(c.began)
			tell(t, c.began, "boot, to the state %s", c.state)
			return took
		}
		if !c.running() || time.Now().After(deadline) {
			t.Fatalf("booting: no end after %s, the state is %q\n%s\n%s", limit, c.state, c.jobs(t), c.Console(t))
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// State is what systemd said at the end of the boot: running, or degraded
// where a unit has failed.
func (c *Container) State() string { return c.state }

// Stop shuts the node down. Its files stay for the next boot.
func (c *Container) Stop(t *testing.T) {
	t.Helper()
	begin := time.Now()
	if err := syscall.Kill(c.leader, powerOff); err != nil {
		t.Fatalf("shutting down: %v", err)
	}
	if !c.process.wait(stopLimit) {
		t.Fatalf("shutting down: no end after %s\n%s", stopLimit, c.Console(t))
	}
	tell(t, begin, "shutdown")
}

// Kill ends the node as a power cut does.
func (c *Container) Kill(t *testing.T) {
	t.Helper()
	c.process.kill(t)
}

// Reboot shuts the node down and boots it again.
func (c *Container) Reboot(t *testing.T) time.Duration {
	t.Helper()
	c.Stop(t)
	return c.Boot(t)
}

// running says whether the node runs.
func (c *Container) running() bool { return c.process != nil && !c.process.ended() }
