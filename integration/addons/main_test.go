// Package addons tests the commands on a cluster, as a user runs them, against a
// real control plane.
package addons

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/eksproxy/eksproxy/integration/controlplane"
	"github.com/eksproxy/eksproxy/integration/program"
)

// secret is the login that the proxy wants in these tests.
var secret = program.Secret{User: "svc-proxy", Password: `p@s:s/w%41#$'"\& Vq3clusterT7`, Core: "Vq3clusterT7"}

const (
	proxyURL  = "http://proxy.example:3128"
	awsNode   = "daemonset/aws-node"
	kubeProxy = "daemonset/kube-proxy"
)

func TestMain(m *testing.M) { os.Exit(program.Main(m, secret)) }

// start runs a control plane with the add-ons of EKS.
func start(t *testing.T, nodes int) *controlplane.ControlPlane {
	t.Helper()
	cp := controlplane.Start(t, controlplane.Options{Nodes: nodes})
	controlplane.InstallEKS(t, cp, controlplane.EKS{Only: []string{"aws-node", "kube-proxy", "coredns", "pod-identity", "workloads"}})
	return cp
}

// eksproxy runs the whole program on a cluster.
func eksproxy(t *testing.T, kubeconfig string, args ...string) program.Result {
	t.Helper()
	return program.RunFull(t, nil, append(slices.Clone(args), "--kubeconfig", kubeconfig)...)
}

// expect runs the program and demands an exit code.
func expect(t *testing.T, code int, kubeconfig string, args ...string) program.Result {
	t.Helper()
	return eksproxy(t, kubeconfig, args...).Demand(t, code, args...)
}

// network are the flags of the order's example.
func network(more ...string) []string {
	return append([]string{
		"--vpc-cidr", "10.40.0.0/16", "--vpc-cidr", "100.64.0.0/16", "--service-cidr", "10.100.0.0/16", "--http-proxy", proxyURL,
	}, more...)
}

func patch(more ...string) []string {
	return slices.Concat([]string{"addons", "patch"}, network(more...))
}

// object reads an object of kube-system, as in "daemonset/aws-node".
func object(t *testing.T, cp *controlplane.ControlPlane, name string) map[string]any {
	t.Helper()
	return cp.Object(t, "kube-system", name)
}

// volatile is what may differ after patch and revert.
var volatile = []*regexp.Regexp{
	regexp.MustCompile(`(?m)^ *resourceVersion: .*\n`), regexp.MustCompile(`(?m)^ *(generation|observedGeneration): .*\n`),
	regexp.MustCompile(`(?m)^ *deprecated.daemonset.template.generation: .*\n`), regexp.MustCompile(`(?m)^ *deployment.kubernetes.io/revision: .*\n`),
	regexp.MustCompile(`(?m)^  status:\n(    .*\n|  - .*\n)*`),
}

// state is everything that eksproxy could have changed, without what may differ.
func state(t *testing.T, cp *controlplane.ControlPlane) string {
	t.Helper()
	text := cp.Kubectl(t, "-n", "kube-system", "get", "daemonsets,deployments,configmaps,secrets", "-o", "yaml")
	for _, v := range volatile {
		text = v.ReplaceAllString(text, "")
	}
	return text
}

// env are the variables of a container, by name, in the live object.
func env(t *testing.T, cp *controlplane.ControlPlane, name, container string) map[string]any {
	t.Helper()
	found := map[string]any{}
	template := object(t, cp, name)["spec"].(map[string]any)["template"].(map[string]any)["spec"].(map[string]any)
	for _, list := range []string{"initContainers", "containers"} {
		all, _ := template[list].([]any)
		for _, c := range all {
			c := c.(map[string]any)
			if c["name"] != container {
				continue
			}
			items, _ := c["env"].([]any)
			for _, e := range items {
				e := e.(map[string]any)
				name := e["name"].(string)
				if _, twice := found[name]; twice {
					t.Errorf("%s is listed twice in container %s", name, container)
				}
				found[name] = e
			}
		}
	}
	return found
}

func variables() []string {
	return []string{"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"}
}

func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
