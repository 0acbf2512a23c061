package addons

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/eksproxy/eksproxy/internal/kube"
	"github.com/eksproxy/eksproxy/internal/rollout"
)

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
	return p.send(ctx, w.ref, object)
}

// send applies an object without force. What was made anew since the plan, or set
// by somebody, is for another plan.
func (p *planner) send(ctx context.Context, r kube.Ref, object *unstructured.Unstructured) error {
	_, err := p.client.Apply(ctx, r, object, kube.ApplyOptions{Manager: Manager})
	switch {
	case err == nil:
		return nil
	case apierrors.IsConflict(err) && !apierrors.HasStatusCause(err, metav1.CauseTypeFieldManagerConflict):
		return fmt.Errorf("%w: %w; plan again", kube.ErrGone, err)
	case apierrors.IsConflict(err):
		return fmt.Errorf("%w; someone set it since the plan was made: plan again, and eksproxy leaves it to them", err)
	}
	return err
}
