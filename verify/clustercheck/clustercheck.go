// Package clustercheck checks that the add-ons of a cluster are behind the
// proxy: the ConfigMap with the variables, the workloads that refer to it, their
// pods, and what needs the proxy and has it not. It writes nothing, asks only the
// API server, and no finding holds a password. The rights of the ClusterRole
// "view" suffice; what they do not show is said, and never a pass.
package clustercheck

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/eksproxy/eksproxy/addons"
	"github.com/eksproxy/eksproxy/facts"
	"github.com/eksproxy/eksproxy/internal/kube"
	"github.com/eksproxy/eksproxy/verify"
)

// Options say what is checked and by which means.
type Options struct {
	Client *kube.Client
	// Cluster is what is known of the cluster; zero fields are unknown.
	Cluster facts.Cluster
	// Wanted is what the settings want now; nil where there are none.
	Wanted *addons.Desired
	// Patch is the command that remedies name, as it was given its settings;
	// empty is "eksproxy addons patch".
	Patch string
	// Schemas reads the schema of a version of an EKS add-on; nil where AWS is not
	// asked.
	Schemas func(ctx context.Context, addon, version string) (*addons.Schema, error)
	// Now is the clock; nil is the real one.
	Now func() time.Time
}

// checkLimit bounds one check: a server that does not answer is asked five
// times, and each list of a large cluster has many pages.
const checkLimit = time.Minute

// spec is one check of the registry.
type spec struct {
	id, title, fails, remedy string
	run                      func(*subject, context.Context) []verify.Finding
}

// Checks are the checks of a cluster, in the order of their ids.
func Checks(o Options) []verify.Check {
	s := newSubject(o)
	var checks []verify.Check
	for _, c := range specs() {
		checks = append(checks, verify.Check{
			ID: c.id, Title: c.title, Fails: c.fails, Remedy: c.remedy, Limit: checkLimit,
			Run: verify.Masked(s.mask, func(ctx context.Context) []verify.Finding { return s.decide(ctx, c) }),
		})
	}
	return checks
}

// decide runs a check where the server answers at all: each of them would wait
// for it again.
func (s *subject) decide(ctx context.Context, c spec) []verify.Finding {
	if c.id != idServer && s.unreachable(ctx) != nil {
		return skip("the API server does not answer, see %s", idServer)
	}
	return c.run(s, ctx)
}

// patch is the command that applies the settings again; where none were given,
// with the proxies that the ConfigMap has.
func (s *subject) patch() string {
	command := cmp.Or(s.o.Patch, patchCommand)
	if s.o.Wanted != nil {
		return command
	}
	return command + cmp.Or(s.proxies, " --config FILE")
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

func skipped(target, format string, args ...any) verify.Finding {
	return verify.Finding{Status: verify.Skip, Target: target, Evidence: fmt.Sprintf(format, args...)}
}

func pass(format string, args ...any) []verify.Finding {
	return one(verify.Finding{Status: verify.Pass, Evidence: fmt.Sprintf(format, args...)})
}

func skip(format string, args ...any) []verify.Finding {
	return one(skipped("", format, args...))
}

// orPass is what was found, or that it is good.
func orPass(found []verify.Finding, format string, args ...any) []verify.Finding {
	if len(found) > 0 {
		return found
	}
	return pass(format, args...)
}
