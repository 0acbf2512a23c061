// Package managed tests the commands on add-ons that EKS manages, as a user runs
// them, against a real API server and a server that does there what EKS does.
package managed

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/eksproxy/eksproxy/integration/controlplane"
	"github.com/eksproxy/eksproxy/integration/ekssim"
	"github.com/eksproxy/eksproxy/integration/program"
)

// secret is the login that the proxy wants in these tests.
var secret = program.Secret{User: "svc-proxy", Password: `p@s:s/w%41#$'"\& Vq3managedT7`, Core: "Vq3managedT7"}

const (
	proxyURL  = "http://proxy.example:3128"
	awsNode   = "daemonset/aws-node"
	kubeProxy = "daemonset/kube-proxy"
	ebs       = "deployment/ebs-csi-controller"
	record    = "eksproxy-managed-addons"
)

func TestMain(m *testing.M) { os.Exit(program.Main(m, secret)) }

// world is a cluster with add-ons that EKS manages.
type world struct {
	*controlplane.ControlPlane
	eks *ekssim.Sim
}

func start(t *testing.T, nodes int, addons ...ekssim.Addon) world {
	t.Helper()
	cp := controlplane.Start(t, controlplane.Options{Nodes: nodes})
	w := world{cp, ekssim.Start(t, cp, addons...)}
	cp.Rollout(t, "kube-system")
	return w
}

// expect runs the program and demands an exit code.
func (w world) expect(t *testing.T, code int, args ...string) program.Result {
	t.Helper()
	env := []string{"AWS_ACCESS_KEY_ID=AKIAEXAMPLE", "AWS_SECRET_ACCESS_KEY=example", "AWS_ENDPOINT_URL=" + w.eks.URL, "AWS_EC2_METADATA_DISABLED=true"}
	args = append(slices.Clone(args), "--kubeconfig", w.Kubeconfig())
	return program.RunFull(t, env, args...).Demand(t, code, args...)
}

func addons(verb string, more ...string) []string {
	return append([]string{"addons", verb, "--cluster", ekssim.Cluster, "--region", ekssim.Region, "--cluster-endpoint",
		"0123456789ABCDEF0123456789ABCDEF.gr7.eu-west-1.eks.amazonaws.com", "--http-proxy", proxyURL}, more...)
}

// revert names no EKS cluster: that is recorded.
func revert() []string { return []string{"addons", "revert"} }

// says demands texts in an output.
func says(t *testing.T, output string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(output, text) {
			t.Errorf("%q is not said: %s", text, output)
		}
	}
}

// object reads an object of kube-system, as in "daemonset/aws-node".
func (w world) object(t *testing.T, name string) map[string]any {
	t.Helper()
	return w.Object(t, "kube-system", name)
}

func (w world) generation(t *testing.T, name string) any {
	t.Helper()
	return w.object(t, name)["metadata"].(map[string]any)["generation"]
}

// env are the variables of a container as JSON, by name.
func (w world) env(t *testing.T, name, container string) map[string]string {
	t.Helper()
	found := map[string]string{}
	template := w.object(t, name)["spec"].(map[string]any)["template"].(map[string]any)["spec"].(map[string]any)
	for _, c := range template["containers"].([]any) {
		if c := c.(map[string]any); c["name"] == container {
			items, _ := c["env"].([]any)
			for _, e := range items {
				data, _ := json.Marshal(e)
				found[e.(map[string]any)["name"].(string)] = string(data)
			}
		}
	}
	return found
}

// owners are the managers that have a part in a variable of a container.
func (w world) owners(t *testing.T, name, container, variable string) []string {
	t.Helper()
	var found []string
	for _, e := range w.object(t, name)["metadata"].(map[string]any)["managedFields"].([]any) {
		e := e.(map[string]any)
		node := e["fieldsV1"]
		for _, step := range []string{"f:spec", "f:template", "f:spec", "f:containers", `k:{"name":"` + container + `"}`, "f:env", `k:{"name":"` + variable + `"}`} {
			m, _ := node.(map[string]any)
			node = m[step]
		}
		if node != nil {
			found = append(found, e["manager"].(string))
		}
	}
	slices.Sort(found)
	return found
}

// values are the configuration values of an add-on, which must be JSON.
func (w world) values(t *testing.T, name string) map[string]any {
	t.Helper()
	var doc map[string]any
	if err := json.Unmarshal([]byte(w.eks.Addon(name).Values), &doc); err != nil {
		t.Fatalf("%v: %s", err, w.eks.Addon(name).Values)
	}
	return doc
}

// volatile is what may differ after patch and revert.
var volatile = []*regexp.Regexp{
	regexp.MustCompile(`(?m)^ *resourceVersion: .*\n`), regexp.MustCompile(`(?m)^ *(generation|observedGeneration): .*\n`),
	regexp.MustCompile(`(?m)^ *deprecated.daemonset.template.generation: .*\n`), regexp.MustCompile(`(?m)^ *deployment.kubernetes.io/revision: .*\n`),
	regexp.MustCompile(`(?m)^  status:\n(    .*\n|  - .*\n)*`), regexp.MustCompile(`(?m)^ *time: .*\n`),
}

// state is everything that could have been changed in the cluster, with who owns
// it, and without what may differ.
func (w world) state(t *testing.T) string {
	t.Helper()
	text := w.Kubectl(t, "-n", "kube-system", "get", "daemonsets,deployments,configmaps,secrets", "-o", "yaml")
	for _, v := range volatile {
		text = v.ReplaceAllString(text, "")
	}
	return text
}

func (w world) same(t *testing.T, before string) {
	t.Helper()
	if diff := program.Diff(before, w.state(t)); diff != "" {
		t.Errorf("this is left:\n%s", diff)
	}
}

func login(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "login")
	if err := os.WriteFile(name, []byte(secret.User+":"+secret.Password+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func variables() []string {
	return []string{"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"}
}
