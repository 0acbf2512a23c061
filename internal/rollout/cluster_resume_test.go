//go:build integration

package rollout_test

import (
	"context"
	"errors"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/eksproxy/eksproxy/internal/kube"
	"github.com/eksproxy/eksproxy/internal/rollout"
)

// steps are the lines at which a run is interrupted, one run each.
var steps = []string{"is held", "template is changed", "is replaced first", "is ready", "a probe pod on node", "given back", "pods are new"}

var resumeTests = map[string]func(*world){
	"Interrupted": func(w *world) {
		before := w.start(kube.DaemonSet(), rolling)
		for _, step := range steps {
			w.interrupted(step)
			r, _ := w.roller()
			if err := w.roll(r, w.change(step, "")); err != nil {
				w.Fatalf("after an interrupt at %q: %v", step, err)
			}
			w.wantPods(3, 3, 0)
			w.noOwner()
			w.noProbe(w.namespace)
		}
		r, _ := w.roller()
		if err := r.Undo(w.Context(), w.ref, w.uid, w.restore); err != nil {
			w.Fatal(err)
		}
		w.equal(before)
	},
	"InterruptedThenReverted": func(w *world) {
		before := w.start(kube.DaemonSet(), rolling)
		for _, step := range steps {
			w.interrupted(step)
			r, _ := w.roller()
			if err := r.Undo(w.Context(), w.ref, w.uid, w.restore); err != nil {
				w.Fatalf("after an interrupt at %q: %v", step, err)
			}
			w.wantPods(3, 3, 0)
			w.noOwner()
			w.equal(before)
		}
	},
	"UnprovenIsProvenLater": func(w *world) {
		// Killed after the only change was made, before it was proven.
		w.start(kube.DaemonSet(), rolling)
		w.interrupted("is ready")
		r, told := w.roller()
		if err := w.roll(r, w.change("is ready", "")); err != nil {
			w.Fatal(err)
		}
		if strings.Contains(told.String(), "is replaced first") {
			w.Errorf("a second pod went first:\n%s", told)
		}
		w.inOrder(told, "a probe pod on node", "given back")
	},
	"SomeoneSetsTheStrategy": func(w *world) {
		w.start(kube.DaemonSet(), rolling)
		r, _ := w.roller()
		r.Options.Roll = rollout.RollNever
		if err := w.roll(r, w.change("a", "")); err != nil {
			w.Fatal(err)
		}
		other := w.manifest("DaemonSet", strings.Replace(rolling, "10%", "2", 1))
		if _, err := w.client.Apply(w.Context(), w.ref, other, kube.ApplyOptions{Manager: "eks", Force: true}); err != nil {
			w.Fatal(err)
		}
		if err := r.Release(w.Context(), w.ref, w.uid); err != nil {
			w.Fatal(err)
		}
		if got, _, _ := unstructured.NestedInt64(w.live().Object, "spec", "updateStrategy", "rollingUpdate", "maxUnavailable"); got != 2 {
			w.Errorf("maxUnavailable is %d, want that of the other", got)
		}
		w.noOwner()
	},
	"LeftProbe": func(w *world) {
		w.start(kube.DaemonSet(), rolling)
		pod := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "Pod",
			"metadata": map[string]any{"name": "eksproxy-probe-work", "namespace": w.namespace, "annotations": map[string]any{rollout.ProbeAnnotation: "true"}},
			"spec":     map[string]any{"containers": []any{map[string]any{"name": "probe", "image": "registry.example/old"}}},
		}}
		ref := kube.Ref{Kind: kube.Pod(), Namespace: w.namespace, Name: "eksproxy-probe-work"}
		if _, err := w.client.Create(w.Context(), ref, pod, "eksproxy"); err != nil {
			w.Fatal(err)
		}
		r, told := w.roller()
		if err := w.roll(r, w.change("a", "")); err != nil {
			w.Fatal(err)
		}
		w.inOrder(told, "a probe pod on node", "rolled out")
	},
}

// interrupted runs until a line is told, and stops the run there.
func (w *world) interrupted(step string) {
	w.Helper()
	r, told := w.roller()
	ctx, cancel := context.WithCancel(w.Context())
	defer cancel()
	told.hook = func(line string) {
		if strings.Contains(line, step) {
			cancel()
		}
	}
	err := r.Roll(ctx, w.ref, w.uid, "main", w.change(step, ""))
	if !errors.Is(err, context.Canceled) {
		w.Fatalf("interrupted at %q: %v\n%s", step, err, told)
	}
	_, held := rollout.Held(w.live())
	if says := strings.Contains(err.Error(), "eksproxy addons revert"); says != held {
		w.Errorf("interrupted at %q: held %v, but it says %v", step, held, err)
	}
}
