//go:build integration

package rollout_test

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/eksproxy/eksproxy/internal/kube"
	"github.com/eksproxy/eksproxy/internal/kubetest"
	"github.com/eksproxy/eksproxy/internal/rollout"
)

// hash is the annotation that a change sets in the pod template.
const hash = "eksproxy.dev/hash"

// stuck is what the simulated kubelet reads: how a pod does not work.
const stuck = "test.eksproxy.dev/stuck"

// rules are how probe pods end, by their namespace.
var rules = `[
	{"When": ".metadata.annotations[\"eksproxy.dev/probe\"] == \"true\" and .metadata.namespace == \"nodns\"", "Outcome": "failed", "ExitCode": 10, "Message": "kubernetes.default was not resolved"},
	{"When": ".metadata.annotations[\"eksproxy.dev/probe\"] == \"true\" and .metadata.namespace == \"noconnection\"", "Outcome": "failed", "ExitCode": 11, "Message": "no connection to 10.100.0.1 port 443"},
	{"When": ".metadata.annotations[\"eksproxy.dev/probe\"] == \"true\" and .metadata.namespace == \"notool\"", "Outcome": "failed", "ExitCode": 12, "Message": "the image has no getent"},
	{"When": ".metadata.annotations[\"eksproxy.dev/probe\"] == \"true\" and (.metadata.namespace | startswith(\"noaddress\"))", "Outcome": "noaddress", "Message": "failed to assign an IP address to container"},
	{"When": ".spec.nodeName == \"` + awayNode + `\" and .metadata.namespace == \"awaynode\"", "Outcome": "unready"}
]`

// awayNode is a node whose pods are never ready in the namespace awaynode.
const awayNode = "ip-10-0-0-4.eu-west-1.compute.internal"

// world is one namespace of the cluster.
type world struct {
	*testing.T
	client    *kube.Client
	namespace string
	ref       kube.Ref
	uid       types.UID
}

// TestCluster runs all tests against one control plane.
func TestCluster(t *testing.T) {
	cluster := kubetest.Start(t, "-nodes", "3", "-rules", rules)
	for _, name := range []string{"nodns", "noconnection", "notool", "noaddress"} {
		newNamespace(t, cluster.Client, name, nil)
	}
	tests := map[string]func(*world){}
	for _, group := range []map[string]func(*world){daemonSetTests, failureTests, resumeTests, replicaTests, faultTests} {
		maps.Copy(tests, group)
	}
	t.Run("all", func(t *testing.T) { // returns when those that are parallel have ended
		for name, test := range tests {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				namespace := strings.ToLower(name)
				newNamespace(t, cluster.Client, namespace, nil)
				test(&world{T: t, client: cluster.Client, namespace: namespace})
			})
		}
	})
}

func newNamespace(t *testing.T, client *kube.Client, name string, labels map[string]string) {
	t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
	if _, err := client.Clientset.CoreV1().Namespaces().Create(t.Context(), ns, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// manifest is a workload like aws-node; spec holds further lines of spec.
func (w *world) manifest(kind, spec string) *unstructured.Unstructured {
	w.Helper()
	text := fmt.Sprintf(`
apiVersion: apps/v1
kind: %s
metadata: {name: work, namespace: %s, labels: {k8s-app: work}}
spec:
  selector: {matchLabels: {k8s-app: work}}
  template:
    metadata: {labels: {k8s-app: work}}
    spec:
      tolerations: [{operator: Exists}]
      terminationGracePeriodSeconds: 1
      containers:
      - name: main
        image: registry.example/main:1
        env: [{name: OWN, value: x}]
%s`, kind, w.namespace, spec)
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &object.Object); err != nil {
		w.Fatal(err)
	}
	return object
}

const rolling = "  updateStrategy: {type: RollingUpdate, rollingUpdate: {maxUnavailable: 10%}}\n"

// start applies a workload as the manager eks, and waits until it runs.
func (w *world) start(kind kube.Kind, spec string) *unstructured.Unstructured {
	w.Helper()
	return w.startBut(0, kind, spec)
}

// startBut waits until all but some pods are ready.
func (w *world) startBut(away int, kind kube.Kind, spec string) *unstructured.Unstructured {
	w.Helper()
	w.ref = kube.Ref{Kind: kind, Namespace: w.namespace, Name: "work"}
	w.uid = w.eks(kind, spec).GetUID()
	w.eventually("the workload runs", func() bool {
		live := w.live()
		generation, _, _ := unstructured.NestedInt64(live.Object, "status", "observedGeneration")
		s := w.pods()
		return generation == live.GetGeneration() && s.Ready == s.Desired-away && s.Updated == s.Desired && len(s.Stale) == 0
	})
	return w.live()
}

// eks applies the workload without force.
func (w *world) eks(kind kube.Kind, spec string) *unstructured.Unstructured {
	w.Helper()
	live, err := w.client.Apply(w.Context(), w.ref, w.manifest(kind.Kind, spec), kube.ApplyOptions{Manager: "eks"})
	if err != nil {
		w.Fatal(err)
	}
	return live
}

func (w *world) live() *unstructured.Unstructured {
	w.Helper()
	live, err := w.client.Get(w.Context(), w.ref)
	if err != nil || live == nil {
		w.Fatalf("%v: %v", w.ref, err)
	}
	return live
}

func (w *world) pods() rollout.PodStatus {
	w.Helper()
	s, err := rollout.Pods(w.Context(), w.client, w.live(), hash)
	if err != nil {
		w.Fatal(err)
	}
	return s
}

// wantPods demands how many pods are new, and how many are not. A pod that ends may
// still count for a moment.
func (w *world) wantPods(updated, ready, stale int) {
	w.Helper()
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		s := w.pods()
		if s.Updated == updated && s.Ready == ready && len(s.Stale) == stale {
			return
		}
		if time.Now().After(end) {
			w.Errorf("%d pods are new, %d of them ready, %d stale; want %d, %d, %d", s.Updated, s.Ready, len(s.Stale), updated, ready, stale)
			return
		}
	}
}

func (w *world) eventually(what string, done func() bool) {
	w.Helper()
	for end := time.Now().Add(60 * time.Second); !done(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			w.Fatalf("%s: not after a minute", what)
		}
	}
}

// change applies our variable and a hash; how a pod with it does not work may be
// given.
func (w *world) change(value, how string) func(context.Context) error {
	annotations := map[string]any{hash: value}
	if how != "" {
		annotations[stuck] = how
	}
	return func(ctx context.Context) error {
		object := w.bare()
		object.Object["spec"] = map[string]any{"template": map[string]any{
			"metadata": map[string]any{"annotations": annotations},
			"spec": map[string]any{"containers": []any{map[string]any{
				"name": "main", "env": []any{map[string]any{"name": "HTTPS_PROXY", "value": value}},
			}}},
		}}
		_, err := w.client.Apply(ctx, w.ref, object, kube.ApplyOptions{Manager: "eksproxy"})
		return err
	}
}

// restore takes what change applied away.
func (w *world) restore(ctx context.Context) error {
	_, err := w.client.Apply(ctx, w.ref, w.bare(), kube.ApplyOptions{Manager: "eksproxy"})
	return err
}

func (w *world) bare() *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{}}
	object.SetAPIVersion("apps/v1")
	object.SetKind(w.ref.Kind.Kind)
	object.SetName(w.ref.Name)
	object.SetNamespace(w.ref.Namespace)
	object.SetUID(w.uid)
	return object
}
