//go:build integration

package rollout_test

import (
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/eksproxy/eksproxy/internal/kube"
	"github.com/eksproxy/eksproxy/internal/rollout"
)

var replicaTests = map[string]func(*world){
	"Deployment":       func(w *world) { w.rollsOut(kube.Deployment(), "  replicas: 3\n") },
	"DeploymentOfNone": func(w *world) { w.rollsOut(kube.Deployment(), "  replicas: 0\n") },
	"StatefulSet":      func(w *world) { w.rollsOut(kube.StatefulSet(), "  replicas: 2\n  serviceName: none\n") },
	"DeploymentFails":  func(w *world) { w.breaks(kube.Deployment(), "  replicas: 2\n") },
	"StatefulSetFails": func(w *world) { w.breaks(kube.StatefulSet(), "  replicas: 2\n  serviceName: none\n") },
	"DeploymentNever":  func(w *world) { w.heldBack(kube.Deployment(), "  replicas: 2\n", "null") },
	"StatefulSetNever": func(w *world) {
		w.heldBack(kube.StatefulSet(), "  replicas: 2\n  serviceName: none\n", `{"rollingUpdate":{"maxUnavailable":1,"partition":0},"type":"RollingUpdate"}`)
	},
	"DeploymentRefused": func(w *world) {
		w.refuse(changedPod)
		before := w.start(kube.Deployment(), "  replicas: 2\n")
		r, _ := w.roller()
		w.failsFrom(r, "", rollout.Rejected, "not in this company")
		if err := r.Undo(w.Context(), w.ref, w.uid, w.restore); err != nil {
			w.Fatal(err)
		}
		w.equal(before)
	},
	"DeploymentDeadline": func(w *world) {
		before := w.start(kube.Deployment(), "  replicas: 2\n  progressDeadlineSeconds: 4\n")
		r, _ := w.roller()
		w.failsFrom(r, "unready", rollout.Failed, "deadline")
		if err := r.Undo(w.Context(), w.ref, w.uid, w.restore); err != nil {
			w.Fatal(err)
		}
		w.wantPods(2, 2, 0)
		w.equal(before)
	},
	"DeploymentPausedByOwner": func(w *world) {
		w.start(kube.Deployment(), "  replicas: 2\n")
		before := w.eks(kube.Deployment(), "  replicas: 2\n  paused: true\n")
		r, told := w.roller()
		if err := w.roll(r, w.change("a", "")); err != nil {
			w.Fatal(err)
		}
		w.inOrder(told, "was paused by someone")
		w.wantPods(0, 0, 2)
		if err := r.Undo(w.Context(), w.ref, w.uid, w.restore); err != nil {
			w.Fatal(err)
		}
		w.wantPods(2, 2, 0)
		w.equal(before)
	},
	"StatefulSetNow": func(w *world) {
		before := w.start(kube.StatefulSet(), "  replicas: 2\n  serviceName: none\n  updateStrategy: {type: OnDelete}\n")
		r, told := w.roller()
		r.Options.Roll = rollout.RollNow
		if err := w.roll(r, w.change("a", "")); err != nil {
			w.Fatal(err)
		}
		w.inOrder(told, "pod work-1", "pod work-0", "rolled out")
		w.wantPods(2, 2, 0)
		if err := r.Undo(w.Context(), w.ref, w.uid, w.restore); err != nil {
			w.Fatal(err)
		}
		w.wantPods(2, 2, 0)
		w.equal(before)
	},
	"ReplicaSet": func(w *world) {
		w.start(kube.ReplicaSet(), "  replicas: 2\n")
		r, told := w.roller()
		if err := w.roll(r, w.change("a", "")); err != nil {
			w.Fatal(err)
		}
		w.inOrder(told, "no controller replaces its pods")
		w.wantPods(0, 0, 2)
	},
}

func (w *world) rollsOut(kind kube.Kind, spec string) {
	w.Helper()
	before := w.start(kind, spec)
	r, told := w.roller()
	if err := w.roll(r, w.change("a", "")); err != nil {
		w.Fatal(err)
	}
	w.inOrder(told, "template is changed", "rolled out")
	replicas, _, _ := unstructured.NestedInt64(before.Object, "spec", "replicas")
	w.wantPods(int(replicas), int(replicas), 0)
	w.noOwner()
	if err := r.Undo(w.Context(), w.ref, w.uid, w.restore); err != nil {
		w.Fatal(err)
	}
	w.wantPods(int(replicas), int(replicas), 0)
	w.equal(before)
}

func (w *world) breaks(kind kube.Kind, spec string) {
	w.Helper()
	before := w.start(kind, spec)
	r, _ := w.roller()
	r.StallLimit = stall
	pod, node := w.failsFrom(r, "noimage", rollout.Failed, "ImagePullBackOff")
	r.StallLimit = time.Minute
	if !strings.HasPrefix(pod, "work-") || node == "" {
		w.Errorf("it showed at pod %q on node %q", pod, node)
	}
	if err := r.Undo(w.Context(), w.ref, w.uid, w.restore); err != nil {
		w.Fatal(err)
	}
	w.wantPods(2, 2, 0)
	w.equal(before)
}

func (w *world) heldBack(kind kube.Kind, spec, record string) {
	w.Helper()
	before := w.start(kind, spec)
	r, _ := w.roller()
	r.Options.Roll = rollout.RollNever
	if err := w.roll(r, w.change("a", "")); err != nil {
		w.Fatal(err)
	}
	if got, held := rollout.Held(w.live()); !held || got != record {
		w.Errorf("the record is %q, want %s", got, record)
	}
	w.eventually("the controller sees the change", func() bool { return len(w.pods().Stale) == 2 })
	r.Options.Roll = rollout.RollAuto
	if err := w.roll(r, w.change("a", "")); err != nil {
		w.Fatal(err)
	}
	w.wantPods(2, 2, 0)
	w.noOwner()
	if err := r.Undo(w.Context(), w.ref, w.uid, w.restore); err != nil {
		w.Fatal(err)
	}
	w.equal(before)
}
