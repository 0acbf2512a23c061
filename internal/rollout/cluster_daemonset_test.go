//go:build integration

package rollout_test

import (
	"context"
	"errors"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/eksproxy/eksproxy/internal/kube"
	"github.com/eksproxy/eksproxy/internal/rollout"
)

var daemonSetTests = map[string]func(*world){
	"Order": func(w *world) {
		before := w.start(kube.DaemonSet(), rolling)
		r, told := w.roller()
		if err := w.roll(r, w.change("a", "")); err != nil {
			w.Fatal(err)
		}
		w.Logf("\n%s", told)
		w.inOrder(told, "is held", "template is changed", "is replaced first", "is ready", "a probe pod on node", "given back", "rolled out, 3 of 3")
		w.wantPods(3, 3, 0)
		w.noOwner()
		w.noProbe(w.namespace)
		if err := r.Undo(w.Context(), w.ref, w.uid, w.restore); err != nil {
			w.Fatal(err)
		}
		w.wantPods(3, 3, 0)
		w.equal(before)
	},
	"OwnerAppliesAgain": func(w *world) {
		w.start(kube.DaemonSet(), rolling)
		twenty := strings.Replace(rolling, "10%", "20%", 1)
		r, _ := w.roller()
		r.Options.Roll = rollout.RollNever
		if err := w.roll(r, w.change("a", "")); err != nil {
			w.Fatal(err)
		}
		// The control: as long as it is held, the field is ours.
		_, err := w.client.Apply(w.Context(), w.ref, w.manifest("DaemonSet", twenty), kube.ApplyOptions{Manager: "eks"})
		if !apierrors.IsConflict(err) {
			w.Fatalf("applying while held: %v, want a conflict", err)
		}
		r.Options.Roll = rollout.RollAuto
		if err := w.roll(r, w.change("a", "")); err != nil {
			w.Fatal(err)
		}
		w.noOwner()
		live := w.eks(kube.DaemonSet(), twenty) // fails on a conflict
		if got, _, _ := unstructured.NestedString(live.Object, "spec", "updateStrategy", "rollingUpdate", "maxUnavailable"); got != "20%" {
			w.Errorf("maxUnavailable is %s", got)
		}
	},
	"NoNodes": func(w *world) {
		none := "      nodeSelector: {kubernetes.io/os: windows}\n" + rolling
		before := w.start(kube.DaemonSet(), none)
		r, told := w.roller()
		if err := w.roll(r, w.change("a", "")); err != nil {
			w.Fatal(err)
		}
		w.inOrder(told, "is held", "no node runs it", "given back")
		w.noOwner()
		if err := r.Undo(w.Context(), w.ref, w.uid, w.restore); err != nil {
			w.Fatal(err)
		}
		w.equal(before)
	},
	"Never": func(w *world) {
		before := w.start(kube.DaemonSet(), rolling)
		r, told := w.roller()
		r.Options.Roll = rollout.RollNever
		for range 2 { // a second time, the record stays
			if err := w.roll(r, w.change("a", "")); err != nil {
				w.Fatal(err)
			}
		}
		record, held := rollout.Held(w.live())
		if want := `{"rollingUpdate":{"maxSurge":0,"maxUnavailable":"10%"},"type":"RollingUpdate"}`; !held || record != want {
			w.Errorf("the record is %q, want %s", record, want)
		}
		w.eventually("the controller sees the change", func() bool { return len(w.pods().Stale) == 3 })
		if err := r.Release(w.Context(), w.ref, w.uid); err != nil {
			w.Fatal(err)
		}
		w.inOrder(told, "are held back", "given back")
		w.noOwner()
		w.eventually("the pods follow", func() bool { return w.pods().Ready == 3 })
		if err := w.restore(w.Context()); err != nil {
			w.Fatal(err)
		}
		w.equal(before)
	},
	"OnDelete": func(w *world) {
		before := w.start(kube.DaemonSet(), "  updateStrategy: {type: OnDelete}\n")
		r, told := w.roller()
		if err := w.roll(r, w.change("a", "")); err != nil {
			w.Fatal(err)
		}
		w.inOrder(told, "3 of 3 pods stay as they are")
		w.wantPods(0, 0, 3)
		r.Options.Roll = rollout.RollNow
		if err := w.roll(r, w.change("a", "")); err != nil {
			w.Fatal(err)
		}
		w.inOrder(told, "is replaced first", "a probe pod", "is replaced", "is replaced", "rolled out")
		w.wantPods(3, 3, 0)
		if err := r.Undo(w.Context(), w.ref, w.uid, w.restore); err != nil {
			w.Fatal(err)
		}
		w.wantPods(3, 3, 0)
		w.equal(before)
	},
	"NoCanary": func(w *world) {
		w.start(kube.DaemonSet(), rolling)
		r, told := w.roller()
		r.Canary = false
		if err := w.roll(r, w.change("a", "")); err != nil {
			w.Fatal(err)
		}
		if strings.Contains(told.String(), "held") || strings.Contains(told.String(), "probe") {
			w.Error(told)
		}
		w.wantPods(3, 3, 0)
		// Nothing changed: no pod is replaced, and none is proven.
		r.Canary = true
		pods := told.String()
		if err := w.roll(r, w.change("a", "")); err != nil {
			w.Fatal(err)
		}
		if more := strings.TrimPrefix(told.String(), pods); strings.Contains(more, "replaced") {
			w.Error(more)
		}
	},
	"ApplyFails": func(w *world) {
		before := w.start(kube.DaemonSet(), rolling)
		r, _ := w.roller()
		err := w.roll(r, func(context.Context) error { return errors.New("a conflict") })
		if err == nil || !strings.Contains(err.Error(), "a conflict") {
			w.Fatal(err)
		}
		w.noOwner()
		w.equal(before)
	},
	"OtherUID": func(w *world) {
		w.start(kube.DaemonSet(), rolling)
		w.uid = "gone"
		r, _ := w.roller()
		if err := w.roll(r, w.change("a", "")); !errors.Is(err, kube.ErrGone) {
			w.Fatal(err)
		}
	},
}
