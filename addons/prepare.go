package addons

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/eksproxy/eksproxy/internal/kube"
	"github.com/eksproxy/eksproxy/internal/rollout"
	"github.com/eksproxy/eksproxy/plan"
)

// Undo is how every change is taken back.
const undo = "eksproxy addons revert"

// Prepared is a plan for one cluster, and how each of its changes is made.
type Prepared struct {
	plan.Plan
	// NoProxyBefore is the NO_PROXY value that pods refer to now, from the first
	// ConfigMap of the plan that has one; empty where none has.
	NoProxyBefore string
	// Decisions say of each known component whether it needs the proxy.
	Decisions []Decision
	// Ownership says of each target who owns its fields, and what an update by EKS
	// would do to them.
	Ownership []Ownership
	// NotDone are what is to be done elsewhere: nothing is done for it here.
	NotDone []string
	steps   map[string]func(context.Context) error
	// light are the changes that may be made beside others, with their stage.
	light map[string]int
	// say takes lines of progress; nil drops them.
	say func(format string, args ...any)
}

var _ plan.Applier = (*Prepared)(nil)

// Apply makes one change. It is for plan.Plan.Apply; Run carries the plan out.
func (p *Prepared) Apply(ctx context.Context, c plan.Change) error {
	step, ok := p.steps[c.ID]
	if !ok {
		return fmt.Errorf("the plan has no step for %s", c.ID)
	}
	return step(ctx)
}

// add adds a change with what makes it.
func (p *Prepared) add(c plan.Change, step func(context.Context) error) {
	if p.steps == nil {
		p.steps = map[string]func(context.Context) error{}
	}
	p.Changes = append(p.Changes, c)
	p.steps[c.ID] = step
}

func (p *Prepared) note(format string, args ...any) {
	p.Notes = append(p.Notes, fmt.Sprintf(format, args...))
}

// OptionError is an option that can not work in this cluster.
type OptionError struct{ Err error }

func (e *OptionError) Error() string { return e.Err.Error() }

// Unwrap is the reason.
func (e *OptionError) Unwrap() error { return e.Err }

func optionf(format string, args ...any) error { return &OptionError{fmt.Errorf(format, args...)} }

// Rollout says how pods are taken over to new settings.
type Rollout struct {
	rollout.Roller
	// NoWait changes the objects alone: nothing is proven or waited for.
	NoWait bool
	// Ask asks the user a question; nil where nobody is there to answer.
	Ask func(question string) (bool, error)
	// Managed says how add-ons that EKS manages are reached.
	Managed Managed
}

// planner makes a plan for one cluster.
type planner struct {
	client *kube.Client
	want   Desired
	roll   Rollout
	out    *Prepared
	// revision is that of a namespace's Secret; none where it has none.
	revision map[string]string
	// patched are the namespaces that a revert looks through.
	patched []string
	// texts are the fields of workloads as they are shown.
	texts texts
	// listed are objects that a list has told; nil is one that is not there.
	listed map[kube.Ref]*unstructured.Unstructured
}

// Prepare looks at a cluster and plans what is to change there. It writes
// nothing.
func Prepare(ctx context.Context, roll Rollout, want Desired) (*Prepared, error) {
	p := &planner{client: roll.Client, want: want, roll: roll, out: &Prepared{Decisions: want.Decisions, say: roll.Tell}, revision: map[string]string{}, texts: texts{}}
	p.out.SettingsHash = want.Settings.Hash()
	p.out.Notes = slices.Clone(want.Notes)
	found, err := p.find(ctx)
	if err != nil {
		return p.out, err
	}
	steps := []func(context.Context) error{}
	for _, namespace := range namespacesOf(found) {
		steps = append(steps, func(ctx context.Context) error { return p.stores(ctx, namespace) })
	}
	steps = append(steps, func(ctx context.Context) error { return p.components(ctx, found) }, func(ctx context.Context) error { return p.namespaces(ctx, found) }, p.nodeClasses)
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return p.out, err
		}
	}
	p.noteComponents(found)
	return p.out, nil
}

// found is a target and its workload in the cluster.
type found struct {
	Target
	*workload
}

// namespacesOf are the namespaces of targets, each once: what a pod refers to
// must be in its own.
func namespacesOf(all []found) []string {
	var names []string
	for _, f := range all {
		if !slices.Contains(names, f.Ref.Namespace) {
			names = append(names, f.Ref.Namespace)
		}
	}
	return names
}

// stores plans what the pods of a namespace refer to.
func (p *planner) stores(ctx context.Context, namespace string) error {
	for _, step := range []func(context.Context, string) error{p.secret, p.configMap, p.authorities} {
		if err := step(ctx, namespace); err != nil {
			return err
		}
	}
	return nil
}

// find reads the targets. One that nobody asked for by name may be missing.
func (p *planner) find(ctx context.Context) ([]found, error) {
	var all []found
	var missing []string
	for _, t := range p.want.Targets {
		w, err := lookUp(ctx, p.client, t.Ref)
		switch {
		case err != nil:
			return nil, err
		case w == nil && t.Named:
			return nil, optionf("%s is not in this cluster; take it out of --component and --workload", t.Ref)
		case w == nil:
			missing = append(missing, t.Ref.String())
			continue
		}
		if err := t.check(w); err != nil {
			return nil, err
		}
		all = append(all, found{t, w})
	}
	if len(missing) > 0 {
		p.out.note("not in this cluster: %s", strings.Join(missing, ", "))
	}
	return all, nil
}

// check says that a target can be patched at all.
func (t Target) check(w *workload) error {
	if owner := w.live.GetOwnerReferences(); len(owner) > 0 {
		return optionf("%s belongs to %s %s, which makes it anew: patch that one", t.Ref, owner[0].Kind, owner[0].Name)
	}
	if !slices.ContainsFunc(w.containers(), t.Takes) {
		return optionf("%s has no container %s, only %s: it is another program of that name; give --skip %s", t.Ref,
			strings.Join(t.Containers, " or "), strings.Join(w.containers(), ", "), t.Component)
	}
	return nil
}

// noteComponents names what needs the proxy and was left alone: nobody shall
// believe that it has it.
func (p *planner) noteComponents(all []found) {
	for _, d := range p.want.Decisions {
		chosen := slices.ContainsFunc(all, func(f found) bool { return f.Component == d.Component })
		switch {
		case chosen && d.Need == Irrelevant:
			p.out.note("%s is patched and does not need it: %s; --skip %s leaves it alone", d.Component, d.Why, d.Component)
		case chosen && d.Need == Risky:
			p.out.note("%s is patched as the published recipe does, and NO_PROXY covers the API server; %s", d.Component, d.Why)
		}
	}
}

// IsOption says that an error is one of the options in this cluster.
func IsOption(err error) bool {
	_, ok := errors.AsType[*OptionError](err)
	return ok
}
