// Package netns makes network namespaces for tests. The servers of a test
// stay in its process and listen inside the namespace.
package netns

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Namespace is a network namespace with nothing but a loopback device.
type Namespace struct{ name string }

// New makes a namespace, gone when the test ends. Without root the test is
// skipped; where anything else is missing it fails.
func New(t *testing.T) Namespace {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED, NOT TESTED: network namespaces need root; run these tests as root")
	}
	if _, err := exec.LookPath("ip"); err != nil {
		t.Fatalf("making a network namespace: install iproute2: %v", err)
	}
	n := Namespace{"eksproxy-" + strings.ToLower(rand.Text()[:8])}
	ip(t, "netns", "add", n.name)
	t.Cleanup(func() { exec.Command("ip", "netns", "del", n.name).Run() })
	n.IP(t, "link", "set", "lo", "up")
	return n
}

// IP runs an ip command in the namespace.
func (n Namespace) IP(t *testing.T, args ...string) {
	t.Helper()
	ip(t, append([]string{"-n", n.name}, args...)...)
}

// AddAddress gives the loopback device an address, usable at once.
func (n Namespace) AddAddress(t *testing.T, prefix string) {
	t.Helper()
	args := []string{"addr", "add", prefix, "dev", "lo"}
	if strings.Contains(prefix, ":") {
		args = append(args, "nodad")
	}
	n.IP(t, args...)
}

// Exec is the command that runs another one in the namespace.
func (n Namespace) Exec() []string { return []string{"ip", "netns", "exec", n.name} }

// Listen listens inside the namespace. The address has no host name.
func (n Namespace) Listen(t *testing.T, address string) net.Listener {
	t.Helper()
	type result struct {
		net.Listener
		error
	}
	done := make(chan result)
	go func() {
		// The thread is not unlocked, so it ends with the goroutine and
		// nothing else ever runs on it.
		runtime.LockOSThread()
		l, err := n.listen(address)
		done <- result{l, err}
	}()
	r := <-done
	if r.error != nil {
		t.Fatalf("listening in the namespace: %v", r.error)
	}
	t.Cleanup(func() { r.Close() })
	return r.Listener
}

// listen moves the thread into the namespace and listens there.
func (n Namespace) listen(address string) (net.Listener, error) {
	file, err := os.Open("/run/netns/" + n.name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if err := unix.Setns(int(file.Fd()), unix.CLONE_NEWNET); err != nil {
		return nil, fmt.Errorf("entering %s: %w", n.name, err)
	}
	return net.Listen("tcp", address)
}

// ip runs the ip command, within a limit.
func ip(t *testing.T, args ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if out, err := exec.CommandContext(ctx, "ip", args...).CombinedOutput(); err != nil {
		t.Fatalf("ip %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}
