package addons

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/eksproxy/eksproxy/internal/kube"
	"github.com/eksproxy/eksproxy/internal/podenv"
	"github.com/eksproxy/eksproxy/internal/rollout"
	"github.com/eksproxy/eksproxy/plan"
)

// workload is one workload as it is in the cluster.
type workload struct {
	ref      kube.Ref
	live     *unstructured.Unstructured
	template corev1.PodTemplateSpec
	owners   podenv.Owners
	owner    Owner
	// now are the fields that eksproxy owns.
	now Fields
}

func readWorkload(r kube.Ref, live *unstructured.Unstructured) (*workload, error) {
	w := &workload{ref: r, live: live}
	var err error
	if w.template, err = podenv.Template(live); err != nil {
		return nil, err
	}
	if w.owners, err = podenv.ReadOwners(live); err != nil {
		return nil, err
	}
	w.owner, w.now = ownerOf(live, w.owners), owned(live, w.owners, w.template)
	return w, nil
}

// lookUp reads a workload of the cluster; nil where there is none.
func lookUp(ctx context.Context, c *kube.Client, r kube.Ref) (*workload, error) {
	live, err := c.Get(ctx, r)
	if err != nil || live == nil {
		return nil, err
	}
	return readWorkload(r, live)
}

func (w *workload) containers() []string {
	var names []string
	for _, c := range podenv.Containers(&w.template) {
		names = append(names, c.Name)
	}
	return names
}

// pods is how many pods the workload has; a negative number is unknown.
func (w *workload) pods() int64 {
	path := []string{"spec", "replicas"}
	switch w.ref.Kind.Kind {
	case "DaemonSet":
		path = []string{"status", "desiredNumberScheduled"}
	case "CronJob":
		return 0 // its next jobs have the variables
	}
	n, _, _ := unstructured.NestedInt64(w.live.Object, path...)
	return n
}

// disruption is what a new template interrupts.
func (w *workload) disruption(roll rollout.Roll) string { return rollsPods(w.pods(), roll) }

// rollsPods says what replacing so many pods interrupts.
func rollsPods(n int64, roll rollout.Roll) string {
	switch {
	case roll == rollout.RollNever:
		return "none: the pods are held back"
	case n == 0:
		return "none"
	case n == 1:
		return "rolls 1 pod"
	}
	return fmt.Sprintf("rolls %d pods", n)
}

// wanted are the fields of one workload, and whether it is to have any; the notes
// say what it is not to have.
func (p *planner) wanted(f found) (Fields, bool) {
	if f.owner.GitOps && !p.want.Options.ForceOwned {
		p.out.note("%s is left alone: it belongs to %s, which would take the change back; commit there what eksproxy addons render --for kustomize %s prints, or give --force-owned",
			f.Ref, f.owner, f.flag())
		return Fields{}, false
	}
	want, left := p.want.fields(f.Target, f.workload, p.revision[f.Ref.Namespace])
	for _, l := range left {
		p.out.note("%s: %s", f.Ref, l)
	}
	if f.NoCA != "" && len(p.want.Settings.CAs) > 0 {
		p.out.note("%s cannot be given the certificates of trustedCA: %s", f.Ref, f.NoCA)
	}
	if len(want.Containers) == 0 {
		p.out.note("%s is left alone: every variable is set by others", f.Ref)
		return Fields{}, false
	}
	return want, true
}

// workload plans the change of one workload.
func (p *planner) workload(f found) error {
	want, ok := p.wanted(f)
	if !ok {
		return nil
	}
	c, err := p.change(f.workload, want, "sets the proxy's variables in "+strings.Join(names(want), ", ")+"; the object belongs to "+f.owner.String())
	if err != nil {
		return err
	}
	p.out.add(c, p.rolling(f.workload, want))
	if p.want.Options.MigrateEnvFrom {
		return p.migrate(f.workload)
	}
	return nil
}

// flag is how the user names a target.
func (t Target) flag() string {
	if t.Component != "" {
		return "--component " + t.Component
	}
	return fmt.Sprintf("--workload %s/%s/%s", t.Ref.Namespace, strings.ToLower(t.Ref.Kind.Kind), t.Ref.Name)
}

func names(f Fields) []string {
	var all []string
	for _, c := range f.Containers {
		all = append(all, c.Name)
	}
	return all
}

// change is the plan's line of one workload.
func (p *planner) change(w *workload, want Fields, reason string) (plan.Change, error) {
	c := plan.Change{ID: "workload:" + w.ref.String(), Target: w.ref.String(), Action: plan.Update, Reason: reason, Undo: undo, Disruption: w.disruption(p.roll.Options.Roll)}
	var err1, err2 error
	c.Before, err1 = p.texts.value(w.now)
	c.After, err2 = p.texts.value(want)
	if err := errors.Join(err1, err2); err != nil {
		return c, err
	}
	held, isHeld := rollout.Held(w.live)
	switch {
	case isHeld && p.roll.Options.Roll != rollout.RollNever:
		c.Reason += "; its update strategy is held since a run that did not end, and is given back: " + held
	case sameText(c.Before, c.After):
		c.Action, c.Disruption, c.Undo = plan.Unchanged, "none", ""
	}
	return c, nil
}

// jsonOf is a small value as JSON, for an annotation.
func jsonOf(v any) (string, error) {
	data, err := json.Marshal(v)
	return string(data), err
}
