package addons

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/eksproxy/eksproxy/facts"
)

var update = flag.Bool("update", false, "write the golden files")

func renderCases(t *testing.T) map[string]renderCase {
	t.Helper()
	ca := map[string]string{"trustedCA": renderCA(t)}
	login := map[string]string{"credentials.from": "ssm:/corp/proxy"}
	var all []string
	for _, c := range Components() {
		if len(c.Containers) > 0 {
			all = append(all, c.Name)
		}
	}
	return map[string]renderCase{
		"manifests":   {Manifests, renderCluster(), nil, Options{}, RenderOptions{}},
		"kustomize":   {Kustomize, renderCluster(), ca, Options{Components: []string{"cert-manager", "fluent-bit"}}, RenderOptions{}},
		"unknown":     {Manifests, facts.NewCluster(), nil, Options{}, RenderOptions{}},
		"credentials": {Kustomize, renderCluster(), login, Options{CredentialsSecret: "corp-proxy", Components: []string{"cert-manager"}}, RenderOptions{}},
		"workload": {Manifests, renderCluster(), nil, Options{Workloads: []string{"shop/cronjob/report"}, Skip: []string{"aws-node", "kube-proxy"}}, RenderOptions{
			Workloads: []facts.Workload{{Namespace: "shop", Kind: "CronJob", Name: "report", InitContainers: []string{"migrate"}, Containers: []string{"report", "upload"}}},
		}},
		"helm":             {Helm, renderCluster(), ca, Options{Components: all}, RenderOptions{}},
		"helm-credentials": {Helm, renderCluster(), login, Options{CredentialsSecret: "corp-proxy", Components: []string{"cluster-autoscaler", "aws-load-balancer-controller"}}, RenderOptions{}},
		"helm-unknown":     {Helm, facts.NewCluster(), nil, Options{Components: []string{"cluster-autoscaler"}}, RenderOptions{}},
	}
}

// TestRender holds what is rendered against the golden files: the same input
// gives the same bytes.
func TestRender(t *testing.T) {
	for name, rc := range renderCases(t) {
		t.Run(name, func(t *testing.T) {
			r, err := rc.run(t)
			if err != nil {
				t.Fatal(err)
			}
			golden := filepath.Join("testdata", "render", name+".txt")
			if *update {
				if err := os.WriteFile(golden, []byte(r.text()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), r.text()); diff != "" {
				t.Error(diff)
			}
			again, err := rc.run(t)
			if err != nil || again.text() != r.text() {
				t.Errorf("the same input gave other bytes (%v)", err)
			}
			for _, f := range r.Files {
				if !bytes.HasPrefix(f.Data, []byte(FormatLine+"\n")) {
					t.Errorf("%s does not begin with the line that says whose it is", f.Name)
				}
			}
			if strings.Contains(r.text(), "renderL3") {
				t.Error("the password stands in it")
			}
		})
	}
}

// TestRenderAsPatched: a rendered workload has what patch would own in a live one
// with the same containers.
func TestRenderAsPatched(t *testing.T) {
	rc := renderCases(t)["kustomize"]
	d, err := Want(renderSettings(t, rc.cluster, rc.fields), rc.cluster, rc.options)
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range d.Targets {
		r := &renderer{want: d}
		w, err := r.workload(target)
		if err != nil {
			t.Fatal(err)
		}
		live := &workload{ref: target.Ref, template: w.template}
		live.template.Spec.InitContainers = []corev1.Container{{Name: "first"}}
		for i := range live.template.Spec.Containers {
			live.template.Spec.Containers[i].Env = []corev1.EnvVar{{Name: "OTHER", Value: "x"}}
		}
		live.template.Spec.Containers = append(live.template.Spec.Containers, corev1.Container{Name: "sidecar"})
		rendered, _ := d.fields(target, w, "")
		patched, left := d.fields(target, live, "")
		if diff := cmp.Diff(patched, rendered); diff != "" || len(left) > 0 {
			t.Errorf("%s: %v %s", target, left, diff)
		}
	}
}

// TestRenderPlaceholders: a file with a placeholder is no YAML, and is once the
// placeholders are filled in and the line is taken out.
func TestRenderPlaceholders(t *testing.T) {
	r, err := renderCases(t)["unknown"].run(t)
	if err != nil {
		t.Fatal(err)
	}
	store := string(r.Files[0].Data)
	var doc corev1.ConfigMap
	if err := yaml.Unmarshal([]byte(store), &doc); err == nil {
		t.Error("it can be read")
	}
	filled := strings.NewReplacer("EKSPROXY_CLUSTER_ENDPOINT_HOST", "host.example", "EKSPROXY_VPC_CIDR", "10.40.0.0/16,100.64.0.0/16",
		"EKSPROXY_SERVICE_CIDR", "10.100.0.0/16", "EKSPROXY_SERVICE_ADDRESS", "10.100.0.1", "\n@ placeholders of eksproxy are not filled in", "").Replace(store)
	if err := yaml.Unmarshal([]byte(filled), &doc); err != nil {
		t.Fatalf("%v\n%s", err, filled)
	}
	if value := doc.Data["NO_PROXY"]; strings.Contains(value, "EKSPROXY") || !Direct(value, "https://host.example") || !Direct(value, "http://10.100.0.1") {
		t.Errorf("NO_PROXY is %s", value)
	}
	_, places := HoldPlaces(renderCluster())
	if PlaceholderNote(places) != "" {
		t.Errorf("nothing is missing, and is to be filled in: %v", places)
	}
	host := facts.NewCluster()
	host.EndpointHost = "given.example"
	if held, places := HoldPlaces(host); held.EndpointHost != "given.example" || len(places) != 3 || len(host.Sources) != 0 {
		t.Errorf("held %+v, %v", held, places)
	}
}

// TestRenderRefuses: what is not known is asked for, and names cannot become
// paths or lines.
func TestRenderRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		workload string
		known    []facts.Workload
		want     string
	}{
		"unknown containers": {"shop/deployment/web", nil, "give --containers shop/deployment/web=NAME"},
		"name":               {"shop/deployment/..", nil, `".." is no name in Kubernetes`},
		"namespace":          {"a\nb/deployment/web", nil, "is no name in Kubernetes"},
		"container":          {"shop/deployment/web", []facts.Workload{{Namespace: "shop", Kind: "deployment", Name: "web", Containers: []string{"a\nb"}}}, "is no name of a container"},
		"other program":      {"kube-system/daemonset/aws-node", []facts.Workload{{Namespace: "kube-system", Kind: "DaemonSet", Name: "aws-node", Containers: []string{"agent"}}}, "--skip aws-node"},
	} {
		rc := renderCase{Manifests, renderCluster(), nil, Options{Workloads: []string{test.workload}}, RenderOptions{Workloads: test.known}}
		if _, err := rc.run(t); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestRenderKnownDaemonSets: what the facts do not have is left out, unless it was
// asked for.
func TestRenderKnownDaemonSets(t *testing.T) {
	c := renderCluster()
	c.DaemonSets = []facts.Workload{{Namespace: Namespace, Kind: "DaemonSet", Name: "aws-node", InitContainers: []string{"aws-vpc-cni-init"}, Containers: []string{"aws-node", "aws-eks-nodeagent"}}}
	c.SetSource(facts.FieldDaemonSets, "Kubernetes")
	c.AutoMode = true // with nodes of another sort
	r, err := renderCase{Manifests, c, nil, Options{}, RenderOptions{}}.run(t)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Files) != 2 || !strings.Contains(r.text(), "kube-proxy is left out") || !strings.Contains(r.text(), "note: EKS Auto Mode") || strings.Contains(r.text(), "nodeagent") {
		t.Error(r.text())
	}
}
