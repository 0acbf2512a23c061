//go:build integration

package rollout_test

import (
	"errors"
	"strings"
	"time"

	admission "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/eksproxy/eksproxy/internal/kube"
	"github.com/eksproxy/eksproxy/internal/rollout"
)

// fails demands an Error, that it was noticed at one pod, and that Undo makes
// all as it was.
func (w *world) fails(r rollout.Roller, how string, kind rollout.Kind, why string) {
	w.Helper()
	before := w.start(kube.DaemonSet(), rolling)
	w.failsFrom(r, how, kind, why)
	s := w.pods()
	if len(s.Stale) != 2 {
		w.Errorf("%d pods were left as they were, want 2", len(s.Stale))
	}
	if _, held := rollout.Held(w.live()); !held {
		w.Error("the strategy is not held after the failure")
	}
	r.StallLimit = time.Minute
	if err := r.Undo(w.Context(), w.ref, w.uid, w.restore); err != nil {
		w.Fatal(err)
	}
	w.wantPods(3, 3, 0)
	w.noOwner()
	w.equal(before)
}

// failsFrom demands an Error, and returns where it showed.
func (w *world) failsFrom(r rollout.Roller, how string, kind rollout.Kind, why string) (pod, node string) {
	w.Helper()
	err := w.roll(r, w.change("a", how))
	w.Log(err)
	e, ok := errors.AsType[*rollout.Error](err)
	if !ok || e.Kind != kind || !strings.Contains(err.Error(), why) {
		w.Fatalf("%v, want %s with %q", err, kind, why)
	}
	return e.Pod, e.Node
}

// refuse makes a policy by which the API server refuses pods of the namespace.
func (w *world) refuse(when string) {
	w.Helper()
	policies := w.client.Clientset.AdmissionregistrationV1()
	meta := metav1.ObjectMeta{Name: w.namespace}
	policy := &admission.ValidatingAdmissionPolicy{ObjectMeta: meta, Spec: admission.ValidatingAdmissionPolicySpec{
		MatchConstraints: &admission.MatchResources{ResourceRules: []admission.NamedRuleWithOperations{{RuleWithOperations: admission.RuleWithOperations{
			Operations: []admission.OperationType{admission.Create},
			Rule:       admission.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}},
		}}}},
		Validations: []admission.Validation{{Expression: "!(" + when + ")", Message: "not in this company"}},
	}}
	if _, err := policies.ValidatingAdmissionPolicies().Create(w.Context(), policy, metav1.CreateOptions{}); err != nil {
		w.Fatal(err)
	}
	binding := &admission.ValidatingAdmissionPolicyBinding{ObjectMeta: meta, Spec: admission.ValidatingAdmissionPolicyBindingSpec{
		PolicyName: meta.Name, ValidationActions: []admission.ValidationAction{admission.Deny},
		MatchResources: &admission.MatchResources{NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": w.namespace}}},
	}}
	if _, err := policies.ValidatingAdmissionPolicyBindings().Create(w.Context(), binding, metav1.CreateOptions{}); err != nil {
		w.Fatal(err)
	}
	try := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "try-", Annotations: map[string]string{hash: "x", rollout.ProbeAnnotation: "true"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
	}
	w.eventually("the policy holds", func() bool {
		_, err := w.client.Clientset.CoreV1().Pods(w.namespace).Create(w.Context(), try, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err != nil && strings.Contains(err.Error(), "not in this company")
	})
}

const (
	changedPod = `has(object.metadata.annotations) && "eksproxy.dev/hash" in object.metadata.annotations`
	probePod   = `has(object.metadata.annotations) && "eksproxy.dev/probe" in object.metadata.annotations`
)

var failureTests = map[string]func(*world){
	"Unready": func(w *world) {
		r, _ := w.roller()
		r.StallLimit = stall
		w.fails(r, "unready", rollout.Failed, "not ready after 15s: container main runs, but is not ready")
	},
	"Crashing": func(w *world) {
		r, _ := w.roller() // a text between node and container would say that the limit was waited for
		w.fails(r, "crashing", rollout.Failed, ".internal: container main waits: CrashLoopBackOff")
	},
	"NoImage": func(w *world) {
		r, _ := w.roller()
		r.StallLimit = stall
		w.fails(r, "noimage", rollout.Failed, "ImagePullBackOff")
	},
	"ProbeNoDNS":        func(w *world) { w.probeFails("nodns", "does not resolve kubernetes.default") },
	"ProbeNoConnection": func(w *world) { w.probeFails("noconnection", "no connection to 10.100.0.1 port 443") },
	"ProbeNoAddress":    func(w *world) { w.probeFails("noaddress", "it got no address") },
	"NoAddressOnceDeleted": func(w *world) { // the third pod is judged
		r, told := w.roller()
		r.StallLimit = stall
		w.deleteProbes(2)
		w.fails(r, "", rollout.Failed, "it got no address")
		w.inOrder(told, "making another", "making another")
		w.noProbe(w.namespace)
	},
	"NoAddressAllDeleted": func(w *world) {
		r, _ := w.roller()
		w.deleteProbes(3)
		w.fails(r, "", rollout.Failed, "someone deleted it before it had ended")
	},
	"ProbeNoTool": func(w *world) {
		w.start(kube.DaemonSet(), rolling)
		r, told := w.roller()
		r.Probe.Namespace = "notool"
		if err := w.roll(r, w.change("a", "")); err != nil {
			w.Fatal(err)
		}
		w.inOrder(told, "warning: a probe pod", "given back", "rolled out")
		w.inOrder(told, "--probe-image")
		w.wantPods(3, 3, 0)
	},
	"Restricted": func(w *world) {
		w.start(kube.DaemonSet(), rolling)
		r, told := w.roller()
		r.Probe.Namespace = "restricted-probe"
		newNamespace(w.T, w.client, "restricted-probe", map[string]string{"pod-security.kubernetes.io/enforce": "restricted"})
		if err := w.roll(r, w.change("a", "")); err != nil {
			w.Fatal(err)
		}
		w.inOrder(told, "a probe pod on node", "rolled out")
	},
	"RejectedSuccessor": func(w *world) {
		w.refuse(changedPod)
		r, _ := w.roller()
		before := w.start(kube.DaemonSet(), rolling)
		w.failsFrom(r, "", rollout.Rejected, "not in this company")
		w.wantPods(0, 0, 2) // the controller refuses to go on without the first
		if err := r.Undo(w.Context(), w.ref, w.uid, w.restore); err != nil {
			w.Fatal(err)
		}
		w.wantPods(3, 3, 0)
		w.equal(before)
	},
	"RejectedProbe": func(w *world) {
		w.refuse(probePod)
		r, _ := w.roller()
		w.fails(r, "", rollout.Rejected, "not in this company")
	},
	"RejectedRest": func(w *world) {
		w.refuse(changedPod)
		r, _ := w.roller()
		r.Canary = false
		before := w.start(kube.DaemonSet(), rolling)
		w.failsFrom(r, "", rollout.Rejected, "not in this company")
		if err := r.Undo(w.Context(), w.ref, w.uid, w.restore); err != nil {
			w.Fatal(err)
		}
		w.equal(before)
	},
	"TimedOut": func(w *world) {
		r, _ := w.roller()
		r.StallLimit, r.Timeout = time.Minute, 5*time.Second
		before := w.start(kube.DaemonSet(), rolling)
		w.failsFrom(r, "unready", rollout.TimedOut, "not rolled out after 5s")
		r.Timeout = time.Minute
		if err := r.Undo(w.Context(), w.ref, w.uid, w.restore); err != nil {
			w.Fatal(err)
		}
		w.wantPods(3, 3, 0)
		w.equal(before)
	},
	"RestFails": func(w *world) {
		r, _ := w.roller()
		r.Canary, r.StallLimit = false, stall
		before := w.start(kube.DaemonSet(), rolling)
		pod, node := w.failsFrom(r, "noimage", rollout.Failed, "ImagePullBackOff")
		r.StallLimit = time.Minute
		if pod == "" || node == "" {
			w.Errorf("it showed at pod %q on node %q", pod, node)
		}
		if err := r.Undo(w.Context(), w.ref, w.uid, w.restore); err != nil {
			w.Fatal(err)
		}
		w.wantPods(3, 3, 0)
		w.equal(before)
	},
}

// probeFails demands that a probe pod in a namespace fails.
func (w *world) probeFails(namespace, why string) {
	w.Helper()
	r, _ := w.roller()
	r.StallLimit = stall
	r.Probe.Namespace = namespace
	w.fails(r, "", rollout.Failed, why)
	w.noProbe(namespace)
}

// deleteProbes deletes the first n probe pods of the namespace, as a drain does.
func (w *world) deleteProbes(n int) {
	seen := map[types.UID]bool{}
	ref := kube.Ref{Kind: kube.Pod(), Namespace: w.namespace, Name: "eksproxy-probe-work"}
	go func() {
		for ; len(seen) < n && w.Context().Err() == nil; time.Sleep(50 * time.Millisecond) {
			if pod, err := w.client.Get(w.Context(), ref); err == nil && pod != nil && !seen[pod.GetUID()] {
				if w.client.Delete(w.Context(), ref, pod.GetUID(), "") == nil {
					seen[pod.GetUID()] = true
				}
			}
		}
	}()
}
