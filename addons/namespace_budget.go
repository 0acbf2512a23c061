package addons

import (
	"context"
	"fmt"
	"time"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/eksproxy/eksproxy/internal/kube"
	"github.com/eksproxy/eksproxy/internal/rollout"
)

// budget is a PodDisruptionBudget: how many pods may be away.
type budget struct {
	name     string
	selector labels.Selector
	// now is how many more may be taken away now, most how many where all pods
	// are healthy.
	now, most int64
}

func budgetKind() kube.Kind {
	return kube.Kind{GroupVersionResource: policyv1.SchemeGroupVersion.WithResource("poddisruptionbudgets"), Kind: "PodDisruptionBudget"}
}

func budgetOf(live *unstructured.Unstructured) (budget, error) {
	var b policyv1.PodDisruptionBudget
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(live.Object, &b); err != nil {
		return budget{}, fmt.Errorf("reading PodDisruptionBudget %s/%s: %w", live.GetNamespace(), live.GetName(), err)
	}
	selector, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
	if err != nil {
		return budget{}, fmt.Errorf("reading PodDisruptionBudget %s/%s: %w", live.GetNamespace(), live.GetName(), err)
	}
	return budget{b.Name, selector, int64(b.Status.DisruptionsAllowed), int64(b.Status.ExpectedPods - b.Status.DesiredHealthy)}, nil
}

// budgets are those of the namespaces, by namespace.
func (p *planner) budgets(ctx context.Context, all []*space) (map[string][]budget, error) {
	found := map[string][]budget{}
	if len(all) == 0 {
		return found, nil
	}
	err := p.each(ctx, all, budgetKind(), metav1.ListOptions{}, func(s *space, live *unstructured.Unstructured) error {
		b, err := budgetOf(live)
		found[s.name] = append(found[s.name], b)
		return err
	})
	return found, err
}

// takes is how many pods the workload's own strategy takes away before others are
// ready. The controllers of Deployments and StatefulSets delete pods and evict
// none, so that no budget stops them: eksproxy asks in their place.
func (w *workload) takes(roll rollout.Roll) int64 {
	if roll == rollout.RollNever || w.pods() == 0 {
		return 0
	}
	switch w.ref.Kind {
	case kube.Deployment():
		if kind, _, _ := unstructured.NestedString(w.live.Object, "spec", "strategy", "type"); kind == "Recreate" {
			return w.pods()
		}
		away := w.share(false, "spec", "strategy", "rollingUpdate", "maxUnavailable")
		if away == 0 && w.share(true, "spec", "strategy", "rollingUpdate", "maxSurge") == 0 {
			return 1 // as the controller reads it, which could not go on otherwise
		}
		return away
	case kube.StatefulSet():
		if kind, _, _ := unstructured.NestedString(w.live.Object, "spec", "updateStrategy", "type"); kind == "OnDelete" && roll != rollout.RollNow {
			return 0
		}
		return max(1, w.share(true, "spec", "updateStrategy", "rollingUpdate", "maxUnavailable"))
	}
	return 0
}

// share is a number of pods, or a share of them, as the controllers round it.
func (w *workload) share(up bool, path ...string) int64 {
	value, _, _ := unstructured.NestedFieldNoCopy(w.live.Object, path...)
	var v intstr.IntOrString
	switch value := value.(type) {
	case string:
		v = intstr.FromString(value)
	case int64:
		return value
	default:
		return 0
	}
	n, err := intstr.GetScaledValueFromIntOrPercent(&v, int(w.pods()), up)
	if err != nil {
		return 0
	}
	return int64(n)
}

// fits says whether the budgets can ever allow a rollout; where not, it is noted
// and the workload is left alone.
func (p *planner) fits(r kube.Ref, pods map[string]string, need int64, all []budget) bool {
	for _, b := range all {
		if need == 0 || !b.selector.Matches(labels.Set(pods)) {
			continue
		}
		if need > b.most {
			p.out.note("%s is left alone: its strategy takes %d pods away at once, and PodDisruptionBudget %s allows %d at most. Rollouts evict no pods, so nothing else would hold them: "+
				"set a strategy that makes new pods first, or give --workload to roll it all the same", r, need, b.name, b.most)
			return false
		}
		if need > b.now {
			p.out.note("%s waits until PodDisruptionBudget %s allows %d pods to be away; now it allows %d", r, b.name, need, b.now)
		}
	}
	return true
}

// budgetLimit is how long a budget is waited for where nothing says how long a
// pod may take.
const budgetLimit = rollout.DefaultStallLimit

// await waits until all budgets allow the rollout of a workload.
func (p *planner) await(ctx context.Context, r kube.Ref, pods map[string]string, need int64) error {
	if need == 0 {
		return nil
	}
	limit := p.roll.StallLimit
	if limit == 0 {
		limit = budgetLimit
	}
	for told, end := false, time.Now().Add(limit); ; told = true {
		closed, err := p.closed(ctx, r.Namespace, pods, need)
		switch {
		case err != nil || closed == nil:
			return err
		case time.Now().After(end):
			return &rollout.Error{Kind: rollout.TimedOut, Why: fmt.Sprintf("PodDisruptionBudget %s/%s allows %d pods to be away, and the rollout of %s takes %d; nothing of it was changed. "+
				"See which pods are not ready, then run again", r.Namespace, closed.name, closed.now, r, need)}
		case !told:
			p.tell("%s: waiting for PodDisruptionBudget %s, which allows %d pods to be away", r.Name, closed.name, closed.now)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(time.Second):
		}
	}
}

// closed is a budget that does not allow so many pods to be away now; nil where
// all do.
func (p *planner) closed(ctx context.Context, namespace string, pods map[string]string, need int64) (*budget, error) {
	var found *budget
	err := p.client.List(ctx, budgetKind(), namespace, metav1.ListOptions{}, func(live *unstructured.Unstructured) error {
		b, err := budgetOf(live)
		if err == nil && b.selector.Matches(labels.Set(pods)) && b.now < need {
			found = &b
		}
		return err
	})
	return found, err
}
