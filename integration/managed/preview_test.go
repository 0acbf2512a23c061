package managed

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/eksproxy/eksproxy/integration/ekssim"
)

// field is what the preview says of one field.
type field struct {
	Path                      string
	Owners                    []string
	None, Preserve, Overwrite string
}

// ownership is the preview of one workload.
type ownership struct {
	Component, Conflict, ConfigurationConflict string
	Fields                                     []field
}

func (w world) preview(t *testing.T) ownership {
	t.Helper()
	var doc struct{ Ownership []ownership }
	r := w.expect(t, 0, addons("plan", "--skip", "kube-proxy", "-o", "json")...)
	if err := json.Unmarshal([]byte(r.Stdout), &doc); err != nil || len(doc.Ownership) != 1 {
		t.Fatalf("%v: %s", err, r.Stdout)
	}
	return doc.Ownership[0]
}

// edits are what people do to an add-on: a value of EKS's by kubectl edit and by
// kubectl set env, a name of their own, a value that another tool applies by force,
// the image.
func (w world) edits(t *testing.T) {
	t.Helper()
	container := func(more string) string {
		return `{"apiVersion":"apps/v1","kind":"DaemonSet","metadata":{"name":"aws-node","namespace":"kube-system"},"spec":{"template":{"spec":{"containers":[{"name":"aws-node",` + more + `}]}}}}`
	}
	w.Kubectl(t, "-n", "kube-system", "patch", awsNode, "--field-manager=kubectl-edit", "-p", container(`"env":[{"name":"WARM_ENI_TARGET","value":"7"}]`))
	w.Kubectl(t, "-n", "kube-system", "set", "env", awsNode, "-c", "aws-node", "AWS_VPC_ENI_MTU=1500", "OF_THE_TEAM=1")
	w.Apply(t, "tool", true, container(`"env":[{"name":"ANNOTATE_POD_IP","value":"true"}]`))
	w.Kubectl(t, "-n", "kube-system", "patch", awsNode, "--field-manager=hotfix", "-p", container(`"image":"images.test/hotfix:1"`))
}

// fields are the values of the live object that the predictions are about.
func (w world) fields(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	for name, item := range w.env(t, awsNode, "aws-node") {
		found[`.spec.template.spec.containers[name="aws-node"].env[name="`+name+`"]`] = item
	}
	found[`.spec.template.spec.containers[name="aws-node"].image`] = w.Kubectl(t, "-n", "kube-system", "get", awsNode, "-o", `jsonpath={.spec.template.spec.containers[?(@.name=="aws-node")].image}`)
	return found
}

// TestPreview: BL-051. What the plan predicts for NONE, PRESERVE and OVERWRITE is
// what then happens on the real API server, conflict text included.
func TestPreview(t *testing.T) {
	t.Parallel()
	w := start(t, 1, ekssim.VPCCNI(""))
	fresh := w.fields(t)
	w.edits(t)
	edited := w.fields(t)
	p := w.preview(t)
	counts := map[string]int{}
	for _, f := range p.Fields {
		counts[f.None+"/"+f.Preserve+"/"+f.Overwrite]++
	}
	if counts["conflict/kept/eks"] != 4 || counts["kept/kept/kept"] != 1 {
		t.Errorf("the predictions are %v: %+v", counts, p.Fields)
	}

	t.Run("NONE", func(t *testing.T) {
		if got := w.eks.Conflict("vpc-cni", "DaemonSet"); got != p.Conflict || !strings.HasPrefix(got, "Apply failed with 4 conflicts") {
			t.Errorf("the API server says\n%s\npredicted was\n%s", got, p.Conflict)
		}
		err := w.eks.Update("vpc-cni", "", "NONE")
		if err == nil || sorted(err.Error()) != sorted(p.ConfigurationConflict) {
			t.Errorf("EKS says\n%v\npredicted was\n%s", err, p.ConfigurationConflict)
		}
		w.happened(t, p, func(f field) string { return map[string]string{"kept": "kept"}[f.None] }, fresh, edited)
	})
	t.Run("PRESERVE", func(t *testing.T) {
		if err := w.eks.Update("vpc-cni", "", "PRESERVE"); err != nil {
			t.Fatal(err)
		}
		w.happened(t, p, func(f field) string { return f.Preserve }, fresh, edited)
	})
	t.Run("OVERWRITE", func(t *testing.T) {
		again := w.preview(t) // PRESERVE has left the values, and the predictions hold on
		if again.Conflict != p.Conflict {
			t.Errorf("after PRESERVE the conflict is\n%s\nbefore it was\n%s", again.Conflict, p.Conflict)
		}
		if err := w.eks.Update("vpc-cni", "", "OVERWRITE"); err != nil {
			t.Fatal(err)
		}
		w.happened(t, p, func(f field) string { return f.Overwrite }, fresh, edited)
		if last := w.preview(t); last.Conflict != "" {
			t.Errorf("after OVERWRITE there is a conflict: %s", last.Conflict)
		}
	})
}

// happened holds each field against what was predicted.
func (w world) happened(t *testing.T, p ownership, predicted func(field) string, fresh, edited map[string]string) {
	t.Helper()
	now := w.fields(t)
	checked := 0
	for _, f := range p.Fields {
		path := strings.TrimSuffix(f.Path, ".value")
		value, known := now[path]
		if !known {
			continue
		}
		checked++
		want, says := fresh[path], predicted(f)
		if says == "kept" {
			want = edited[path]
		}
		if says != "" && value != want {
			t.Errorf("%s: predicted is %s, so %s, and it is %s", f.Path, says, want, value)
		}
	}
	if checked < len(fresh) {
		t.Errorf("%d fields were predicted, want at least %d", checked, len(fresh))
	}
}

// sorted is a text with its lines in order.
func sorted(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		for j := i + 1; j < len(lines); j++ {
			if lines[j] < lines[i] {
				lines[i], lines[j] = lines[j], lines[i]
			}
		}
	}
	return strings.Join(lines, "\n")
}
