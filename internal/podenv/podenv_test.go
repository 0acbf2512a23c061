package podenv_test

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/yaml"

	"github.com/eksproxy/eksproxy/internal/podenv"
)

// live is a CronJob as the API server gives it: two managers own variables of one
// container.
const live = `
apiVersion: batch/v1
kind: CronJob
metadata:
  name: report
  managedFields:
  - manager: eksproxy
    operation: Apply
    fieldsType: FieldsV1
    fieldsV1: {"f:spec":{"f:jobTemplate":{"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"main\"}":{"f:env":{"k:{\"name\":\"NO_PROXY\"}":{".":{},"f:name":{},"f:value":{}}}}}}}}}}}
  - manager: kubectl
    operation: Update
    fieldsType: FieldsV1
    fieldsV1: {"f:spec":{"f:jobTemplate":{"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"main\"}":{"f:env":{"k:{\"name\":\"HTTP_PROXY\"}":{"f:value":{}}}}}}}}}}}
  - manager: kubelet
    operation: Update
    subresource: status
    fieldsType: FieldsV1
    fieldsV1: {"f:status":{"f:x":{}}}
spec:
  jobTemplate:
    spec:
      template:
        spec:
          initContainers: [{name: setup}]
          containers:
          - name: main
            env: [{name: NO_PROXY, value: a}, {name: HTTP_PROXY, value: b}, {name: NO_PROXY, value: c}]
            envFrom: [{configMapRef: {name: shared}}]
`

func read(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
		t.Fatal(err)
	}
	return u
}

func TestContainers(t *testing.T) {
	template, err := podenv.Template(read(t, live))
	if err != nil {
		t.Fatal(err)
	}
	all := podenv.Containers(&template)
	if len(all) != 2 || all[0].Name != "setup" || !all[0].Init || all[0].List() != "initContainers" || all[1].List() != "containers" {
		t.Errorf("the containers are %v", all)
	}
	if item, times := all[1].Lookup("NO_PROXY"); item.Value != "c" || times != 2 {
		t.Errorf("NO_PROXY is %v, %d times; the last one counts", item, times)
	}
	if !all[1].ReadsConfigMap("shared") || all[1].ReadsConfigMap("other") {
		t.Error("envFrom is misread")
	}
	if _, err := podenv.Template(read(t, `{kind: Deployment, metadata: {name: x}, spec: {}}`)); err == nil {
		t.Error("a workload without a template is none")
	}
}

func TestOwners(t *testing.T) {
	object := read(t, live)
	template, err := podenv.Template(object)
	if err != nil {
		t.Fatal(err)
	}
	owners, err := podenv.ReadOwners(object)
	if err != nil {
		t.Fatal(err)
	}
	main := podenv.Containers(&template)[1]
	for name, want := range map[string][]string{"NO_PROXY": {"eksproxy"}, "HTTP_PROXY": {"kubectl"}, "OTHER": nil} {
		if got := owners.Of(podenv.EnvPath("CronJob", main, name)); !slices.Equal(got, want) {
			t.Errorf("%s belongs to %q, want %q", name, got, want)
		}
	}
	if !owners.Applied("eksproxy", podenv.EnvPath("CronJob", main, "NO_PROXY")) || owners.Applied("kubectl", podenv.EnvPath("CronJob", main, "HTTP_PROXY")) {
		t.Error("what was applied is told from what was updated")
	}
	if got := owners.Managers(); !slices.Equal(got, []string{"eksproxy", "kubectl"}) {
		t.Errorf("the managers are %q; a status is no field of a workload", got)
	}
	if got := owners.Of(fieldpath.MakePathOrDie("metadata", "labels")); got != nil {
		t.Errorf("labels belong to %q", got)
	}
}
