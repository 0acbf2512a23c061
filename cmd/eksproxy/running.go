package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/eksproxy/eksproxy/facts"
	"github.com/eksproxy/eksproxy/internal/rootfs"
	"github.com/eksproxy/eksproxy/internal/systemd"
	"github.com/eksproxy/eksproxy/node"
	"github.com/eksproxy/eksproxy/proxyconfig"
)

// The flags of commands that act on the running system, and their values.
const (
	flagRestart       = "restart"
	restartAuto       = "auto"
	restartNever      = "never"
	flagOnFailure     = "on-failure"
	onFailureKeep     = "keep"
	onFailureFallback = "fallback"
	onFailureStop     = "stop"
)

// runLimit bounds a whole run on the running system: a boot waits for it.
const runLimit = 100 * time.Second

var errRunLimit = fmt.Errorf("the run took longer than %s", runLimit)

// oneOf checks the value of a flag.
func oneOf(flag string, allowed ...string) func(*cli.Context, string) error {
	return func(_ *cli.Context, value string) error {
		if !slices.Contains(allowed, value) {
			return usagef("--%s %q is not known; allowed: %s", flag, value, strings.Join(allowed, ", "))
		}
		return nil
	}
}

// addRunning adds to the plan what the running system needs, if the tree is its
// own. The returned function ends the connection that applying needs.
func (p *program) addRunning(c *cli.Context, w *walk) (done func(), err error) {
	if isImage(c) {
		return func() {}, nil
	}
	m, err := systemd.Connect(c.Context)
	if errors.Is(err, systemd.ErrNotRunning) {
		return func() {}, nil
	}
	if err != nil {
		return nil, err
	}
	w.running = true
	err = w.AddRunning(c.Context, node.Running{
		Services: m, Environ: systemd.Environ, Command: command, Containers: dockerContainers,
		Restart: c.String(flagRestart) != restartNever,
	})
	if err != nil {
		m.Close()
		return nil, err
	}
	return m.Close, nil
}

// command runs a program of the system and returns what it said as an error.
func command(ctx context.Context, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...) //nolint:gosec // the names are node's own
	cmd.Env = []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C"}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("running %s: %w: %s", name, err, strings.TrimSpace(string(out)))
	}
	return nil
}

// dockerContainers says whether docker runs a container: each has a shim of
// containerd in docker's namespace.
func dockerContainers() (bool, error) {
	return systemd.AnyProcess(func(args []string) bool {
		return strings.HasPrefix(args[0][strings.LastIndexByte(args[0], '/')+1:], "containerd-shim") && slices.Contains(args, "moby")
	})
}

// factsOrFallback finds out about the network, or takes what is configured
// where metadata does not answer and nothing is applied yet.
func (p *program) factsOrFallback(c *cli.Context, root *rootfs.Root, cfg proxyconfig.Config, planned *facts.Node) (facts.Node, error) {
	if c.String(flagOnFailure) != onFailureFallback {
		return p.nodeFacts(c, cfg, planned)
	}
	// Here the configured CIDRs stand in for metadata's, and do not replace them.
	asking := cfg
	asking.Cluster = cfg.Cluster.WithoutVPC()
	n, err := p.nodeFacts(c, asking, planned)
	if err == nil || codeOf(err) != exitUndecided {
		return n, err
	}
	if s, statusErr := node.ReadStatus(root); statusErr != nil || s.Applied {
		return n, errors.Join(err, statusErr)
	}
	p.talk.Warn("%v", err)
	p.talk.Warn("applying with the configured CIDRs, because of --on-failure fallback")
	n = facts.NewNode()
	cfg.Cluster.Overlay(&n)
	return n, nil
}
