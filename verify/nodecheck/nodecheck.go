// Package nodecheck checks that a node is behind the proxy: its files, what
// systemd made of them, what runs, and what others set. It writes nothing, asks
// nobody but whom its options name, and no finding holds a password.
package nodecheck

import (
	"context"
	"fmt"
	"time"

	"github.com/eksproxy/eksproxy/facts"
	"github.com/eksproxy/eksproxy/internal/rootfs"
	"github.com/eksproxy/eksproxy/internal/systemd"
	"github.com/eksproxy/eksproxy/node"
	"github.com/eksproxy/eksproxy/verify"
)

// Services is the service manager of a running node.
type Services interface {
	Unit(ctx context.Context, name string) (systemd.Unit, error)
}

// Options say what is checked and by which means.
type Options struct {
	Root   *rootfs.Root
	System node.System
	// Live says that the tree is the one that the system runs from. Else what
	// runs is not asked.
	Live bool
	// Services is nil where systemd does not answer; ServicesErr says why.
	Services    Services
	ServicesErr error
	// Environ reads the environment that a process was started with.
	Environ func(pid int) (map[string]string, error)
	// Metadata reads what the world says now; nil where nobody gave a way.
	Metadata func(context.Context) (facts.Node, error)
	// Known is what the user says of the cluster; zero fields are unknown.
	Known facts.Network
	// Wanted composes what the settings want now; nil where there are none.
	Wanted func(context.Context) (node.Desired, error)
	// Limit bounds the checks that ask metadata; 0 is the engine's.
	Limit time.Duration
	// Apply is the command that remedies name, as it was given its settings;
	// empty is "eksproxy node apply".
	Apply string
	// Now is the clock; nil is the real one.
	Now func() time.Time
}

// spec is one check of the registry.
type spec struct {
	id, title, fails, remedy string
	// live says that it asks what runs.
	live bool
	run  func(*subject, context.Context) []verify.Finding
}

// Checks are the checks of a node, in the order of their ids.
func Checks(o Options) []verify.Check {
	s := newSubject(o)
	var checks []verify.Check
	for _, c := range specs() {
		checks = append(checks, verify.Check{
			ID: c.id, Title: c.title, Fails: c.fails, Remedy: c.remedy, Limit: o.Limit,
			Run: verify.Masked(s.mask, func(ctx context.Context) []verify.Finding { return s.decide(ctx, c) }),
		})
	}
	return checks
}

// decide runs a check where it applies.
func (s *subject) decide(ctx context.Context, c spec) []verify.Finding {
	err := s.load()
	switch {
	case err != nil && c.id == idFiles:
		return one(undecided(node.StatePath, "run it as root: eksproxy verify node", "%v", err))
	case err != nil:
		return one(undecided("", "see "+idFiles, "the record cannot be read, see %s", idFiles))
	case !s.record.Applied && c.id == idFiles:
		return one(fail("", s.apply(), "nothing is applied below %s: there is no %s", s.o.Root.Dir(), node.StatePath))
	case !s.record.Applied:
		return skip("nothing is applied")
	case c.live && !s.o.Live:
		return skip("with --root, what runs is not asked")
	}
	return c.run(s, ctx)
}

// apply is the command that writes the files again.
func (s *subject) apply() string {
	switch {
	case s.o.Apply != "":
		return s.o.Apply
	case s.o.Live:
		return "eksproxy node apply"
	}
	return "eksproxy node apply --root " + s.o.Root.Dir()
}

func one(f verify.Finding) []verify.Finding { return []verify.Finding{f} }

func fail(target, remedy, format string, args ...any) verify.Finding {
	return verify.Finding{Status: verify.Fail, Target: target, Remedy: remedy, Evidence: fmt.Sprintf(format, args...)}
}

func warn(target, remedy, format string, args ...any) verify.Finding {
	return verify.Finding{Status: verify.Warn, Target: target, Remedy: remedy, Evidence: fmt.Sprintf(format, args...)}
}

func undecided(target, remedy, format string, args ...any) verify.Finding {
	return verify.Finding{Status: verify.Unknown, Target: target, Remedy: remedy, Evidence: fmt.Sprintf(format, args...)}
}

func pass(format string, args ...any) []verify.Finding {
	return one(verify.Finding{Status: verify.Pass, Evidence: fmt.Sprintf(format, args...)})
}

func skip(format string, args ...any) []verify.Finding {
	return one(verify.Finding{Status: verify.Skip, Evidence: fmt.Sprintf(format, args...)})
}

// orPass is what was found, or that it is good.
func orPass(found []verify.Finding, format string, args ...any) []verify.Finding {
	if len(found) > 0 {
		return found
	}
	return pass(format, args...)
}
