package rollout

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/eksproxy/eksproxy/internal/kube"
)

// prove takes one pod over, and proves its node with the probe pod. A pod that
// has the template already, as after a run that was killed, is the one, unless
// its node was away before.
func (o *run) prove(ctx context.Context, live *unstructured.Unstructured, s PodStatus, absent []string, container string) error {
	i := slices.IndexFunc(s.pods, func(p Pod) bool { return p.current && !slices.Contains(absent, p.Node) })
	var first Pod
	var err error
	switch {
	case i >= 0:
		first, err = o.successor(ctx, place{node: s.pods[i].Node}, "")
	case len(s.Stale) == 0: // admission may have refused all, and does no more
		first, err = o.successor(ctx, place{}, "")
	default:
		first, err = o.replaceFirst(ctx, s)
	}
	if err != nil {
		return err
	}
	o.tell("pod %s on node %s has the new template and is ready", first.Name, first.Node)
	return o.probe(ctx, live, first.Node, container)
}

// place is where a pod is expected: on a node, under a name, or anywhere.
type place struct{ node, name string }

// selector is the field selector of the pods there.
func (p place) selector() string {
	switch {
	case p.node != "":
		return "spec.nodeName=" + p.node
	case p.name != "":
		return "metadata.name=" + p.name
	}
	return ""
}

func (p place) String() string {
	switch {
	case p.node != "":
		return "the new pod on node " + p.node
	case p.name != "":
		return "the new pod " + p.name
	}
	return "a new pod"
}

// replaceFirst replaces a pod that works, on a node that works.
func (o *run) replaceFirst(ctx context.Context, s PodStatus) (Pod, error) {
	chosen := s.pods[0]
	for _, p := range s.pods[:min(len(s.pods), nodesAsked)] {
		good, err := o.schedulable(ctx, p.Node)
		if err != nil {
			return Pod{}, err
		}
		if good {
			chosen = p
			break
		}
	}
	o.tell("pod %s on node %s is replaced first", chosen.Name, chosen.Node)
	if err := o.deletePod(ctx, chosen); err != nil {
		return Pod{}, err
	}
	return o.successor(ctx, place{node: chosen.Node}, chosen.uid)
}

// nodesAsked bounds the search for a node that works: nearly always it is the
// first.
const nodesAsked = 20

func (o *run) podRef(p Pod) kube.Ref {
	return kube.Ref{Kind: kube.Pod(), Namespace: o.ref.Namespace, Name: p.Name}
}

func (o *run) deletePod(ctx context.Context, p Pod) error {
	return o.Client.Delete(ctx, o.podRef(p), p.uid, "")
}

// replaceStale replaces all stale pods, one after the other, those of a
// StatefulSet from the last one as its controller does.
func (o *run) replaceStale(ctx context.Context) error {
	live, err := o.get(ctx)
	if err != nil {
		return err
	}
	s, err := Pods(ctx, o.Client, live, "")
	if err != nil {
		return err
	}
	if o.ref.Kind == kube.StatefulSet() {
		slices.Reverse(s.Stale)
	}
	for _, p := range s.Stale {
		if err := o.replace(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// replace deletes a pod and waits for the one in its place.
func (o *run) replace(ctx context.Context, p Pod) error {
	o.tell("pod %s on node %s is replaced", p.Name, p.Node)
	if err := o.deletePod(ctx, p); err != nil {
		return err
	}
	where := place{node: p.Node}
	if o.ref.Kind == kube.StatefulSet() {
		where = place{name: p.Name}
	}
	_, err := o.successor(ctx, where, p.uid)
	return err
}

// successor waits for a pod of the workload that is where it is expected, has
// not the old uid, and is ready. The controller has observed the template, so
// that the pod has it.
func (o *run) successor(parent context.Context, where place, old types.UID) (Pod, error) {
	ctx, cancel := context.WithTimeoutCause(parent, o.StallLimit, errStalled)
	defer cancel()
	live, err := o.get(ctx)
	if err != nil {
		return Pod{}, err
	}
	f, err := familyOf(ctx, o.Client, live, "")
	if err != nil {
		return Pod{}, err
	}
	o.progress = "waiting for " + where.String()
	var found Pod
	err = poll(ctx, func(ctx context.Context) (bool, error) {
		pods, err := listPods(ctx, o.Client, live, f, where.selector())
		if err != nil {
			return false, err
		}
		i := slices.IndexFunc(pods, func(p Pod) bool { return p.uid != old && (old != "" || p.current) })
		if i < 0 {
			found = Pod{}
			return false, o.missing(ctx, live, where)
		}
		found = pods[i]
		if crashes(found.live) {
			return false, o.broken(parent, found.live, nil)
		}
		return found.ready, nil
	})
	if errors.Is(err, errStalled) {
		err = o.stalled(parent, live, f, found, where)
	}
	return found, err
}

// missing looks for the reason why a pod is not made.
func (o *run) missing(ctx context.Context, live *unstructured.Unstructured, where place) error {
	if message := o.rejection(ctx, live); message != "" {
		return &Error{Kind: Rejected, Node: where.node, Why: message}
	}
	return nil
}

// stalled is the error of a pod that was waited for in vain.
func (o *run) stalled(ctx context.Context, live *unstructured.Unstructured, f family, found Pod, where place) error {
	cause := fmt.Errorf("not ready after %s", o.StallLimit)
	if found.live != nil {
		return o.broken(ctx, found.live, cause)
	}
	// A pod that does not fit is bound to no node yet.
	pods, err := listPods(ctx, o.Client, live, f, "spec.nodeName=")
	if err != nil {
		return err
	}
	if len(pods) > 0 {
		return o.broken(ctx, pods[0].live, cause)
	}
	why := "no new pod came up"
	if event := o.lastEvent(ctx, o.uid); event != "" {
		why += ": " + event
	}
	return &Error{Kind: Failed, Node: where.node, Why: fmt.Sprintf("%s after %s", why, o.StallLimit), Err: errStalled}
}
