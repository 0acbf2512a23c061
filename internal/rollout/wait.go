package rollout

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/eksproxy/eksproxy/internal/kube"
)

// One small object is read each interval. Its pods, which may be thousands, are
// looked at only after it did not change for lookAfter, and then each lookAfter.
const (
	interval  = 500 * time.Millisecond
	lookAfter = 5 * time.Second
	// tellEvery is how far lines of progress are apart at least.
	tellEvery = 2 * time.Second
)

// poll asks until it is done, or returns why the context ended.
func poll(ctx context.Context, done func(context.Context) (bool, error)) error {
	err := wait.PollUntilContextCancel(ctx, interval, true, done)
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// observed waits until the controller has seen the workload as it is: only then
// does its status count, and pods that it makes have the template.
func (o *run) observed(ctx context.Context) (*unstructured.Unstructured, error) {
	var live *unstructured.Unstructured
	o.progress = "its controller has not taken notice of the change"
	err := poll(ctx, func(ctx context.Context) (seen bool, err error) {
		if live, err = o.get(ctx); err != nil {
			return false, err
		}
		generation, _, _ := unstructured.NestedInt64(live.Object, "status", "observedGeneration")
		return generation >= live.GetGeneration(), nil
	})
	o.progress = ""
	return live, err
}

// rest waits until a workload is rolled out. Pods on the nodes of absent were
// not ready before and are not waited for.
func (o *run) rest(ctx context.Context, absent []string) error {
	w := watch{run: o, absent: absent, bad: map[types.UID]time.Time{}, looked: time.Now()}
	err := poll(ctx, w.done)
	if err == nil {
		o.tell("%s", w.end)
	}
	return err
}

// watch is what is known while a workload is waited for.
type watch struct {
	*run
	absent []string
	// bad is since when a pod is in a state that rarely ends by itself.
	bad    map[types.UID]time.Time
	looked time.Time
	end    string
}

func (w *watch) done(ctx context.Context) (bool, error) {
	live, err := w.get(ctx)
	if err != nil {
		return false, err
	}
	result, err := status.Compute(live)
	if err != nil {
		return false, fmt.Errorf("reading the status: %w", err)
	}
	if w.said(live) {
		w.looked = time.Now()
	}
	switch {
	case result.Status == status.CurrentStatus:
		w.end = fmt.Sprintf("rolled out, %d of %d pods are new and ready", desired(live), desired(live))
		return true, nil
	case result.Status == status.FailedStatus:
		return false, w.failed(ctx, live, result.Message)
	case time.Since(w.looked) < lookAfter:
		return false, nil
	}
	w.looked = time.Now()
	return w.look(ctx, live)
}

// said notes the progress, tells it when it may, and says whether it changed.
func (o *run) said(live *unstructured.Unstructured) bool {
	updated, ready := "updatedReplicas", "readyReplicas"
	if live.GetKind() == kube.DaemonSet().Kind {
		updated, ready = "updatedNumberScheduled", "numberReady"
	}
	count := func(field string) int64 {
		n, _, _ := unstructured.NestedInt64(live.Object, "status", field)
		return n
	}
	text := fmt.Sprintf("%d of %d pods are new, %d are ready", count(updated), desired(live), count(ready))
	if text == o.progress {
		return false
	}
	o.progress = text
	if time.Since(o.told) >= tellEvery {
		o.told = time.Now()
		o.tell("%s", text)
	}
	return true
}

// look looks at the pods that a rollout may wait for in vain.
func (w *watch) look(ctx context.Context, live *unstructured.Unstructured) (bool, error) {
	if message := w.rejection(ctx, live); message != "" {
		return false, &Error{Kind: Rejected, Why: message}
	}
	s, err := Pods(ctx, w.Client, live, "")
	if err != nil {
		return false, err
	}
	late := map[string]bool{} // nodes
	for _, p := range s.pods {
		if p.current && p.ready {
			continue
		}
		late[p.Node] = true
		if reason := stuck(p.live); !p.current || reason == "" {
			delete(w.bad, p.uid)
			continue
		}
		if _, known := w.bad[p.uid]; !known {
			w.bad[p.uid] = time.Now()
		}
		if time.Since(w.bad[p.uid]) > w.StallLimit {
			return false, w.broken(ctx, p.live, nil)
		}
	}
	return w.onlyAbsent(late, s), nil
}

// onlyAbsent says whether all that is missing is pods on nodes that were away
// before: such a node would keep any rollout from its end.
func (w *watch) onlyAbsent(late map[string]bool, s PodStatus) bool {
	for node := range late {
		if !slices.Contains(w.absent, node) {
			return false
		}
	}
	if len(late) == 0 || len(s.pods) < s.Desired {
		return false
	}
	w.end = fmt.Sprintf("rolled out, but for the pods on nodes that are not ready, as before: %s", strings.Join(w.absent, ", "))
	return true
}

// failed is the error of a workload that its own controller gave up.
func (w *watch) failed(ctx context.Context, live *unstructured.Unstructured, message string) error {
	if refusal := w.rejection(ctx, live); refusal != "" {
		return &Error{Kind: Rejected, Why: refusal}
	}
	s, err := Pods(ctx, w.Client, live, "")
	if err != nil {
		return err
	}
	for _, p := range s.pods {
		if p.current && !p.ready {
			return w.broken(ctx, p.live, fmt.Errorf("%s", message))
		}
	}
	return &Error{Kind: Failed, Why: oneLine(message)}
}
