package rollout

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/eksproxy/eksproxy/internal/kube"
)

// Roll says which pods are taken over to a changed template.
type Roll string

// The values of Roll.
const (
	// RollAuto lets the workload's own strategy decide.
	RollAuto Roll = "auto"
	// RollNow also replaces pods that the strategy OnDelete leaves, one after
	// the other.
	RollNow Roll = "now"
	// RollNever holds the pods back until a later run with another value, or
	// until Release.
	RollNever Roll = "never"
)

// DefaultTimeout bounds the rollout of one workload, DefaultStallLimit the wait
// for one pod: a slow pull of an image takes two minutes.
const (
	DefaultTimeout    = 15 * time.Minute
	DefaultStallLimit = 3 * time.Minute
)

// Options say how pods are taken over.
type Options struct {
	// Manager is the field manager of the strategy's change.
	Manager string
	// Canary takes one pod of a DaemonSet first.
	Canary bool
	// Roll is RollAuto where it is empty.
	Roll Roll
	// Probe is the pod that proves the canary's node.
	Probe Probe
	// Timeout bounds the whole rollout of one workload; 0 is DefaultTimeout.
	Timeout time.Duration
	// StallLimit is how long one pod may not be ready; 0 is DefaultStallLimit.
	StallLimit time.Duration
	// Tell takes lines of progress and warnings; nil drops them.
	Tell func(format string, args ...any)
}

// Roller rolls workloads out, each by one call.
type Roller struct {
	Client *kube.Client
	Options
}

// run is one rollout of one workload.
type run struct {
	Roller
	ref kube.Ref
	uid types.UID
	// held says that a strategy of ours stands in the object.
	held bool
	// refusals are the events of pods that could not be created, by their
	// uid, that were there before the run, and how often each had come.
	refusals map[types.UID]int64
	// progress is how far it is, in words, and told when that was said last.
	progress string
	told     time.Time
}

// Roll calls apply, which changes the pod template, and returns when the pods
// are new. Around it, it holds the strategy of a DaemonSet, proves one pod, and
// gives the strategy back. The container names the image of the probe pod.
//
// After an Error the caller calls Undo. After any other error the object may be
// held, and the text says so.
func (r Roller) Roll(ctx context.Context, ref kube.Ref, uid types.UID, container string, apply func(context.Context) error) error {
	return r.do(ctx, ref, uid, func(ctx context.Context, o *run) error { return o.roll(ctx, container, apply) })
}

// Undo calls restore, which applies the former fields, while the strategy is
// still held, replaces the pod that went first, gives the strategy back, and
// waits for the rest. Nothing is proven.
func (r Roller) Undo(ctx context.Context, ref kube.Ref, uid types.UID, restore func(context.Context) error) error {
	return r.do(ctx, ref, uid, func(ctx context.Context, o *run) error { return o.undo(ctx, restore) })
}

// Release gives back what a run held that was killed, or that was to hold it.
// The pods then follow on their own; it does not wait for them.
func (r Roller) Release(ctx context.Context, ref kube.Ref, uid types.UID) error {
	return r.do(ctx, ref, uid, func(ctx context.Context, o *run) error { return o.giveBack(ctx) })
}

// do runs steps within the time.
func (r Roller) do(parent context.Context, ref kube.Ref, uid types.UID, steps func(context.Context, *run) error) error {
	r.Timeout = cmp.Or(r.Timeout, DefaultTimeout)
	r.StallLimit = cmp.Or(r.StallLimit, DefaultStallLimit)
	r.Options.Roll = cmp.Or(r.Options.Roll, RollAuto)
	ctx, cancel := context.WithTimeoutCause(parent, r.Timeout, errTimeUp)
	defer cancel()
	o := &run{Roller: r, ref: ref, uid: uid}
	err := steps(ctx, o)
	return o.ended(err, errors.Is(context.Cause(ctx), errTimeUp))
}

// tell says one line about the workload.
func (o *run) tell(format string, args ...any) {
	if o.Tell != nil {
		o.Tell("%s: %s", o.ref.Name, fmt.Sprintf(format, args...))
	}
}

// get reads the workload, and demands that it is the one that was meant.
func (o *run) get(ctx context.Context) (*unstructured.Unstructured, error) {
	live, err := o.Client.Get(ctx, o.ref)
	if err == nil && (live == nil || live.GetUID() != o.uid) {
		err = fmt.Errorf("reading %s: %w", o.ref, kube.ErrGone)
	}
	return live, err
}

// roll is Roll within the time.
func (o *run) roll(ctx context.Context, container string, apply func(context.Context) error) error {
	live, err := o.get(ctx)
	if err != nil {
		return err
	}
	_, resumed := Held(live)
	o.held = resumed
	o.remember(ctx)
	own, err := leaves(live)
	if err != nil {
		return err
	}
	if o.Options.Roll == RollNever || o.canary() && !own {
		if err := o.hold(ctx); err != nil {
			return err
		}
	}
	if err := apply(ctx); err != nil {
		return o.refused(ctx, err, resumed)
	}
	o.tell("the pod template is changed")
	if o.Options.Roll == RollNever {
		o.tell("its pods are held back: they stay as they are until a run without that gives its strategy back")
		return nil
	}
	switch o.ref.Kind.Kind {
	case kube.DaemonSet().Kind:
		return o.daemonSet(ctx, container, own, resumed)
	case kube.Deployment().Kind, kube.StatefulSet().Kind:
		return o.replicas(ctx, own)
	}
	o.tell("no controller replaces its pods: those that are made from now on are new")
	return nil
}

// canary says whether one pod goes first. Only the pods of a DaemonSet stand
// for a node each.
func (o *run) canary() bool { return o.Canary && o.ref.Kind == kube.DaemonSet() }

// refused gives the strategy back after apply was answered with no: nothing was
// changed. It stays held where nobody knows whether something was, or where the
// run before had changed something that is not proven.
func (o *run) refused(ctx context.Context, err error, resumed bool) error {
	if !resumed && ctx.Err() == nil && !kube.Undecided(err) {
		err = errors.Join(err, o.giveBack(ctx))
	}
	if kube.IsRejected(err) {
		return &Error{Kind: Rejected, Why: oneLine(err.Error()), Err: err}
	}
	return err
}
