// Package fargate tests the workload namespaces and the NodeClasses of EKS Auto
// Mode, as a user runs the commands, against a real control plane.
package fargate

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/eksproxy/eksproxy/integration/controlplane"
	"github.com/eksproxy/eksproxy/integration/program"
)

// secret is the login that the proxy wants in these tests.
var secret = program.Secret{User: "svc-proxy", Password: `p@s:s/w%41#$'"\& Vq3fargateT7`, Core: "Vq3fargateT7"}

const proxyURL = "http://proxy.example:3128"

func TestMain(m *testing.M) { os.Exit(program.Main(m, secret)) }

// start runs a control plane with a node of EC2 and two that look like Fargate's.
func start(t *testing.T) *controlplane.ControlPlane {
	t.Helper()
	cp := controlplane.Start(t, controlplane.Options{Nodes: 1})
	fargate := map[string]string{"eks.amazonaws.com/compute-type": "fargate"}
	taint := []controlplane.Taint{{Key: "eks.amazonaws.com/compute-type", Value: "fargate", Effect: "NoSchedule"}}
	cp.AddNodes(t, controlplane.Node{Name: "fargate-ip-10-0-9-4", Labels: fargate, Taints: taint}, controlplane.Node{Name: "fargate-ip-10-0-9-5", Labels: fargate, Taints: taint})
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

// says demands texts in what was printed.
func says(t *testing.T, text string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("%q is not said:\n%s", w, text)
		}
	}
}

// network are the flags of every plan.
func network(more ...string) []string {
	return append([]string{"--http-proxy", proxyURL}, more...)
}

func patch(more ...string) []string {
	return slices.Concat([]string{"addons", "patch"}, network(more...))
}

func plan(more ...string) []string {
	return slices.Concat([]string{"addons", "plan"}, network(more...))
}

// factsFile writes facts with these fields beside the usual ones, as YAML.
func factsFile(t *testing.T, more string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "cluster.yaml")
	text := `apiVersion: eksproxy.dev/v1alpha1
kind: ClusterFacts
account: "123456789012"
region: eu-west-1
dnsSuffix: amazonaws.com
vpcCIDRs: [10.40.0.0/16]
serviceCIDRs: [10.100.0.0/16]
endpointHost: 0123456789ABCDEF.gr7.eu-west-1.eks.amazonaws.com
` + more
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// profiles are those of the tests, and two of the five endpoints.
const profiles = `fargateProfiles:
- {name: apps, status: ACTIVE, selectors: [{namespace: "team-*", labels: {run: fargate}}]}
- {name: system, status: ACTIVE, selectors: [{namespace: kube-system}]}
vpcEndpoints:
- {id: vpce-1, service: ecr.api, type: Interface, state: available, privateDNS: true}
- {id: vpce-2, service: s3, type: Gateway, state: available}
sources: {fargateProfiles: EKS, vpcEndpoints: EC2}
`

// volatile is what may differ after patch and revert.
var volatile = []*regexp.Regexp{
	regexp.MustCompile(`(?m)^ *resourceVersion: .*\n`), regexp.MustCompile(`(?m)^ *(generation|observedGeneration): .*\n`),
	regexp.MustCompile(`(?m)^ *deployment.kubernetes.io/revision: .*\n`), regexp.MustCompile(`(?m)^  status:\n(    .*\n|  - .*\n)*`),
}

// state is everything that eksproxy could have changed, without what may differ.
func state(t *testing.T, cp *controlplane.ControlPlane) string {
	t.Helper()
	var all []string
	for _, kinds := range []string{"deployments,statefulsets,cronjobs,jobs,configmaps,secrets,daemonsets", "replicasets -l bare=true"} {
		text := cp.Kubectl(t, slices.Concat([]string{"get", "-A", "-o", "yaml"}, strings.Fields(kinds))...)
		for _, v := range volatile {
			text = v.ReplaceAllString(text, "")
		}
		all = append(all, text)
	}
	return strings.Join(all, "\n")
}

// env are the names and items of the variables of a container in a template.
func env(t *testing.T, cp *controlplane.ControlPlane, namespace, object, container string) map[string]string {
	t.Helper()
	template := "{.spec.template.spec}"
	if strings.HasPrefix(object, "cronjob/") {
		template = "{.spec.jobTemplate.spec.template.spec}"
	}
	var spec struct {
		InitContainers, Containers []struct {
			Name string
			Env  []map[string]any
		}
	}
	text := cp.Kubectl(t, "-n", namespace, "get", object, "-o", "jsonpath="+template)
	if err := json.Unmarshal([]byte(text), &spec); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	found := map[string]string{}
	for _, c := range append(spec.InitContainers, spec.Containers...) {
		for _, item := range c.Env {
			if c.Name == container {
				data, _ := json.Marshal(item)
				found[item["name"].(string)] = string(data)
			}
		}
	}
	return found
}

func variables() []string {
	return []string{"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"}
}

// hasSix demands the six variables as references in a container.
func hasSix(t *testing.T, cp *controlplane.ControlPlane, namespace, object string, containers ...string) {
	t.Helper()
	for _, c := range containers {
		got := env(t, cp, namespace, object, c)
		for _, name := range variables() {
			want := `{"name":"` + name + `","valueFrom":{"configMapKeyRef":{"key":"` + name + `","name":"proxy-environment-variables","optional":true}}}`
			if got[name] != want {
				t.Errorf("%s in %s %s, container %s, is %s, want %s", name, namespace, object, c, got[name], want)
			}
		}
	}
}

// hasNone demands that a container has no variable of ours.
func hasNone(t *testing.T, cp *controlplane.ControlPlane, namespace, object string, containers ...string) {
	t.Helper()
	for _, c := range containers {
		if got := env(t, cp, namespace, object, c); got["HTTPS_PROXY"] != "" {
			t.Errorf("%s %s, container %s, has HTTPS_PROXY: %s", namespace, object, c, got["HTTPS_PROXY"])
		}
	}
}
