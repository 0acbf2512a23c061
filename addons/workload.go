package addons

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
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
func (w *workload) disruption(roll rollout.Roll) string { return rolls(w.pods(), roll) }

// rolls says what replacing so many pods interrupts.
func rolls(n int64, roll rollout.Roll) string {
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

// Left is a variable that somebody else has set, and that eksproxy leaves alone.
type Left struct {
	Container, Name string
	// Owners are the managers that set it.
	Owners []string
	// Times is how often it is listed; the last one counts in the pod.
	Times int
}

// String says whose the variable is.
func (l Left) String() string {
	if l.Times > 1 {
		return fmt.Sprintf("%s in container %s is listed %d times and left as it is: the last one counts", l.Name, l.Container, l.Times)
	}
	return fmt.Sprintf("%s in container %s is set by %s and left as it is", l.Name, l.Container, strings.Join(l.Owners, ", "))
}

// ours are those of the names that nobody else has set in a container.
func (w *workload) ours(c podenv.Container, names []string) (free []string, left []Left) {
	for _, name := range names {
		_, times := c.Lookup(name)
		path := podenv.EnvPath(w.ref.Kind.Kind, c, name)
		if times == 0 || times == 1 && w.owners.Applied(Manager, path) {
			free = append(free, name)
			continue
		}
		others := slices.DeleteFunc(w.owners.Of(path), func(m string) bool { return m == Manager })
		if len(others) == 0 {
			others = []string{"someone"}
		}
		left = append(left, Left{c.Name, name, others, times})
	}
	return free, left
}

// fields are what eksproxy is to own in a workload.
func (d Desired) fields(t Target, w *workload, revision string) (Fields, []Left) {
	f := Fields{Labels: map[string]string{LabelManaged: "true"}, Template: map[string]string{AnnotationHash: d.Settings.Hash()}}
	if reason := d.Options.Reason; reason != "" {
		f.Annotations = map[string]string{AnnotationReason: reason}
	} else if before := w.now.Annotations[AnnotationReason]; before != "" {
		f.Annotations = map[string]string{AnnotationReason: before}
	}
	if revision != "" {
		f.Template[AnnotationRevision] = revision
	}
	var left []Left
	for _, c := range podenv.Containers(&w.template) {
		if !t.Takes(c.Name) {
			continue
		}
		free, others := w.ours(c, VariableNames())
		own := ContainerFields{Name: c.Name, Init: c.Init, Env: d.items(free)}
		left = append(left, others...)
		if len(d.Settings.CAs) > 0 && t.NoCA == "" {
			if free, others = w.ours(c, []string{caVariable}); len(free) > 0 {
				own.Env = append(own.Env, caItem())
				own.Mounts = []corev1.VolumeMount{{Name: caVolume, MountPath: caMount, ReadOnly: true}}
				f.Volumes = []corev1.Volume{authorityVolume()}
			}
			left = append(left, others...)
		}
		if len(own.Env) > 0 {
			f.Containers = append(f.Containers, own)
		}
	}
	return f.sorted(), left
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

// rolling applies the fields and takes the pods over; where that fails, the
// fields are put back to what they were.
func (p *planner) rolling(w *workload, want Fields) func(context.Context) error {
	return func(ctx context.Context) error {
		err := p.roll.over(ctx, w, want.first(), func(ctx context.Context) error { return p.put(ctx, w, want) })
		failure, ok := errors.AsType[*rollout.Error](err)
		if !ok || ctx.Err() != nil {
			return err
		}
		if failure.Kind == rollout.Rejected {
			err = fmt.Errorf("%w; --probe-namespace and --probe-image name what the policy admits, --canary=off goes without proof", err)
			if goOn, asked := p.roll.ask(fmt.Sprintf("%s: %v. Go on without proof?", w.ref, failure)); asked == nil && goOn {
				p.roll.Canary = false
				return p.roll.over(ctx, w, "", func(context.Context) error { return nil })
			}
		}
		p.roll.Tell("%s: %v; putting back what was there before", w.ref, failure)
		if undone := p.roll.undo(ctx, w, func(ctx context.Context) error { return p.put(ctx, w, w.now) }); undone != nil {
			return fmt.Errorf("%w; and it was not put back: %w. Run: %s", err, undone, undo)
		}
		return fmt.Errorf("%w; %s is as it was before", err, w.ref)
	}
}

// first is the container whose image the probe pod has: a main one.
func (f Fields) first() string {
	for _, c := range f.Containers {
		if !c.Init {
			return c.Name
		}
	}
	return ""
}

// ask asks somebody; nobody says no.
func (r Rollout) ask(question string) (bool, error) {
	if r.Ask == nil {
		return false, nil
	}
	return r.Ask(question)
}

// over changes a workload by apply, and takes its pods over.
func (r Rollout) over(ctx context.Context, w *workload, container string, apply func(context.Context) error) error {
	if r.NoWait || !w.rolls() {
		return errors.Join(apply(ctx), r.release(ctx, w))
	}
	return r.Roll(ctx, w.ref, w.live.GetUID(), container, apply)
}

// undo puts a workload back by restore, and its pods.
func (r Rollout) undo(ctx context.Context, w *workload, restore func(context.Context) error) error {
	if r.NoWait || !w.rolls() {
		return errors.Join(restore(ctx), r.release(ctx, w))
	}
	return r.Undo(ctx, w.ref, w.live.GetUID(), restore)
}

// release gives back what an earlier run held.
func (r Rollout) release(ctx context.Context, w *workload) error {
	if _, held := rollout.Held(w.live); !held {
		return nil
	}
	return r.Release(ctx, w.ref, w.live.GetUID())
}

// rolls says whether the workload replaces its pods when their template changes:
// a CronJob's next jobs have it, and a ReplicaSet's next pods.
func (w *workload) rolls() bool {
	return w.ref.Kind.Kind != "CronJob" && w.ref.Kind.Kind != "ReplicaSet"
}

// put applies fields to the workload that was looked at, and to no other one of
// its name.
func (p *planner) put(ctx context.Context, w *workload, f Fields) error {
	object, err := f.Object(w.ref, w.live.GetUID())
	if err != nil {
		return err
	}
	_, err = p.client.Apply(ctx, w.ref, object, kube.ApplyOptions{Manager: Manager})
	switch {
	case err == nil:
		return nil
	case apierrors.IsConflict(err) && !apierrors.HasStatusCause(err, "FieldManagerConflict"):
		return fmt.Errorf("%w: %w; plan again", kube.ErrGone, err)
	case apierrors.IsConflict(err):
		return fmt.Errorf("%w; someone set it since the plan was made: plan again, and eksproxy leaves it to them", err)
	}
	return err
}

// jsonOf is a small value as JSON, for an annotation.
func jsonOf(v any) (string, error) {
	data, err := json.Marshal(v)
	return string(data), err
}
