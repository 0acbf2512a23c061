package rollout

import (
	"context"
	"errors"
	"fmt"

	"github.com/eksproxy/eksproxy/internal/kube"
)

// daemonSet takes the pods over after the template was changed. It leaves says
// that the own strategy does; resumed, that a run before had begun.
func (o *run) daemonSet(ctx context.Context, container string, leaves, resumed bool) error {
	live, err := o.observed(ctx)
	if err != nil {
		return err
	}
	if desired(live) == 0 {
		o.tell("no node runs it: there is no pod to replace, and nothing is proven")
		return o.giveBack(ctx)
	}
	s, err := Pods(ctx, o.Client, live, "")
	if err != nil {
		return err
	}
	if leaves && o.Options.Roll != RollNow {
		o.left(s)
		return nil
	}
	absent, err := o.awayNodes(ctx, s.pods)
	if err != nil {
		return err
	}
	if o.canary() && (len(s.Stale) > 0 || resumed) {
		if err := o.prove(ctx, live, s, absent, container); err != nil {
			return err
		}
	}
	return o.finish(ctx, leaves, absent)
}

// finish gives the strategy back and waits for the pods, which are replaced here
// where the own strategy leaves them.
func (o *run) finish(ctx context.Context, leaves bool, absent []string) error {
	if err := o.giveBack(ctx); err != nil {
		return err
	}
	if leaves {
		if err := o.replaceStale(ctx); err != nil {
			return err
		}
	}
	return o.rest(ctx, absent)
}

// left tells that the own strategy leaves the pods.
func (o *run) left(s PodStatus) {
	o.tell("its own update strategy is %s: %d of %d pods stay as they are until someone deletes them; --roll now replaces them", onDelete, len(s.Stale), s.Desired)
}

// replicas takes the pods of a Deployment or a StatefulSet over.
func (o *run) replicas(ctx context.Context, leaves bool) error {
	live, err := o.observed(ctx)
	if err != nil {
		return err
	}
	switch {
	case leaves && o.ref.Kind == kube.Deployment():
		o.tell("it was paused by someone: its pods follow when it is resumed")
		return nil
	case leaves && o.Options.Roll != RollNow:
		s, err := Pods(ctx, o.Client, live, "")
		if err == nil {
			o.left(s)
		}
		return err
	}
	return o.finish(ctx, leaves, nil)
}

// undo is Undo within the time.
func (o *run) undo(ctx context.Context, restore func(context.Context) error) error {
	live, err := o.get(ctx)
	if err != nil {
		return err
	}
	_, o.held = Held(live)
	o.remember(ctx)
	own, err := leaves(live)
	if err != nil {
		return err
	}
	undone, err := familyOf(ctx, o.Client, live, "")
	if err != nil {
		return err
	}
	if err := restore(ctx); err != nil {
		return fmt.Errorf("restoring the pod template: %w", err)
	}
	o.tell("the pod template is restored")
	replaced := o.takeBack(ctx, undone.newest, own)
	if err := o.giveBack(ctx); err != nil || replaced != nil {
		return errors.Join(replaced, err)
	}
	if live, err = o.get(ctx); err != nil {
		return err
	}
	if paused, err := leaves(live); err != nil || paused && live.GetKind() == kube.Deployment().Kind {
		return err
	}
	return o.rest(ctx, nil)
}

// takeBack replaces the pods of the template that was undone, as far as the
// workload's own strategy would not, or not now.
func (o *run) takeBack(ctx context.Context, undone string, leaves bool) error {
	if o.ref.Kind != kube.DaemonSet() && o.ref.Kind != kube.StatefulSet() {
		return nil
	}
	live, err := o.observed(ctx)
	if err != nil {
		return err
	}
	s, err := Pods(ctx, o.Client, live, "")
	if err != nil {
		return err
	}
	var pods []Pod
	for _, p := range s.Stale {
		if p.revision == undone {
			pods = append(pods, p)
		}
	}
	for _, p := range pods {
		// A StatefulSet waits for ever for a pod that never becomes ready.
		first := o.held && len(pods) == 1
		broken := o.ref.Kind == kube.StatefulSet() && !p.ready
		if !leaves && !first && !broken {
			continue
		}
		if err := o.replace(ctx, p); err != nil {
			return err
		}
	}
	return nil
}
