package addons

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/eksproxy/eksproxy/internal/kube"
)

// object reads a YAML text.
func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
		t.Fatal(err)
	}
	return u
}

// TestFieldsObject: what is applied has the name, the uid and our items, and no
// empty list that would take others' items.
func TestFieldsObject(t *testing.T) {
	ref := kube.Ref{Kind: kube.CronJob(), Namespace: "shop", Name: "report"}
	empty, err := Fields{}.Object(ref, "u1")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"apiVersion": "batch/v1", "kind": "CronJob", "metadata": map[string]any{"name": "report", "namespace": "shop", "uid": "u1"}}
	if diff := cmp.Diff(want, empty.Object); diff != "" {
		t.Errorf("without fields (-want +got):\n%s", diff)
	}
	f := Fields{
		Labels: map[string]string{LabelManaged: "true"}, Template: map[string]string{AnnotationHash: "h"},
		Containers: []ContainerFields{{Name: "init", Init: true, Env: []corev1.EnvVar{item("NO_PROXY", "")}}, {Name: "main", Env: []corev1.EnvVar{item("HTTPS_PROXY", "corp")}}},
	}
	full, err := f.Object(ref, "")
	if err != nil {
		t.Fatal(err)
	}
	data, err := yaml.Marshal(full.Object)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"jobTemplate:", "initContainers:", "secretKeyRef:", "key: HTTPS_PROXY", "name: corp", "optional: true"} {
		if !strings.Contains(string(data), part) {
			t.Errorf("%s is missing:\n%s", part, data)
		}
	}
	if strings.Contains(string(data), "uid") || strings.Contains(string(data), "volumes") {
		t.Errorf("it has what was not given:\n%s", data)
	}
}

// withEnvFrom is a workload with entries of the published recipe and of others.
const withEnvFrom = `
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: aws-node, namespace: kube-system, uid: u1, annotations: {a: b}}
spec:
  template:
    spec:
      initContainers:
      - {name: setup, envFrom: [{configMapRef: {name: proxy-environment-variables}}]}
      containers:
      - name: aws-node
        envFrom:
        - {configMapRef: {name: first}}
        - {configMapRef: {name: proxy-environment-variables, optional: true}}
        - {prefix: X_, configMapRef: {name: proxy-environment-variables}}
        - {secretRef: {name: last}}
`

// TestEnvFromThereAndBack: what is taken out is put back where it was.
func TestEnvFromThereAndBack(t *testing.T) {
	before := object(t, withEnvFrom)
	after := patched(t, before, takeEntries)
	text, _ := json.Marshal(after.Object)
	if strings.Count(string(text), `{"configMapRef":`) != 1 || !strings.Contains(string(text), `"secretRef":{"name":"last"}`) {
		t.Errorf("after taking them out: %s", text)
	}
	if operations, err := takeEntries(after); err != nil || operations != nil {
		t.Errorf("there is nothing left to take: %v, %v", operations, err)
	}
	back := patched(t, after, giveEntries)
	if diff := cmp.Diff(before.Object, back.Object); diff != "" {
		t.Errorf("put back (-before +after):\n%s", diff)
	}
	if operations, err := giveEntries(back); err != nil || operations != nil {
		t.Errorf("there is nothing left to give: %v, %v", operations, err)
	}
}

// TestEnvFromOfGoneContainer: a container that is gone takes its entry with it.
func TestEnvFromOfGoneContainer(t *testing.T) {
	after := patched(t, object(t, withEnvFrom), takeEntries)
	unstructured.RemoveNestedField(after.Object, "spec", "template", "spec", "initContainers")
	back := patched(t, after, giveEntries)
	text, _ := json.Marshal(back.Object)
	if strings.Contains(string(text), AnnotationEnvFrom) || strings.Count(string(text), ConfigMapName) != 2 {
		t.Errorf("put back: %s", text)
	}
}

// patched applies the JSON patch that change makes.
func patched(t *testing.T, live *unstructured.Unstructured, change func(*unstructured.Unstructured) ([]kube.Operation, error)) *unstructured.Unstructured {
	t.Helper()
	operations, err := change(live)
	if err != nil {
		t.Fatal(err)
	}
	document, err1 := json.Marshal(live.Object)
	text, err2 := json.Marshal(operations)
	patch, err3 := jsonpatch.DecodePatch(text)
	if err := errors.Join(err1, err2, err3); err != nil {
		t.Fatal(err)
	}
	result, err := patch.Apply(document)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return object(t, string(result))
}
