package addons

import (
	"fmt"
	"strings"
	"testing"

	"github.com/eksproxy/eksproxy/integration/controlplane"
	"github.com/eksproxy/eksproxy/integration/program"
)

// TestEKSAppliesAgain: BL-050, BL-051. An update by EKS with new values and by
// force leaves ours, and meets no conflict with us.
func TestEKSAppliesAgain(t *testing.T) {
	t.Parallel()
	cp := start(t, 2)
	expect(t, 0, cp.Kubeconfig(), patch("--canary=off")...)
	text, err := cp.Manifest("aws-node")
	if err != nil {
		t.Fatal(err)
	}
	newer := strings.ReplaceAll(text, "WARM_ENI_TARGET", "WARM_IP_TARGET")
	if err := cp.TryApply(t, controlplane.Manager, false, newer); err != nil {
		t.Errorf("EKS meets a conflict: %v", err)
	}
	cp.Apply(t, controlplane.Manager, true, newer)
	after := env(t, cp, awsNode, "aws-node")
	for _, name := range append(variables(), "WARM_IP_TARGET") {
		if after[name] == nil {
			t.Errorf("%s is gone", name)
		}
	}
	if after["WARM_ENI_TARGET"] != nil {
		t.Error("EKS's own change was not made")
	}
	if r := expect(t, 0, cp.Kubeconfig(), patch("--canary=off")...); !strings.Contains(r.Stdout, "unchanged: 3 objects") {
		t.Errorf("a run after it says: %s", r.Stdout)
	}

	// It was deleted and made anew: nothing of ours is left, and a run restores it.
	cp.Kubectl(t, "-n", "kube-system", "delete", awsNode)
	cp.Apply(t, controlplane.Manager, true, text)
	expect(t, 0, cp.Kubeconfig(), patch("--canary=off")...)
	if env(t, cp, awsNode, "aws-node")["NO_PROXY"] == nil {
		t.Error("the run has not restored the variables")
	}
}

// TestDroppedContainer: EKS cannot take a container away that holds an item of
// ours: its update is refused, by name, until revert.
func TestDroppedContainer(t *testing.T) {
	t.Parallel()
	cp := start(t, 1)
	expect(t, 0, cp.Kubeconfig(), patch("--canary=off", "--workload", "kube-system/daemonset/aws-node")...)
	with := patch("--canary=off", "--component", "eks-pod-identity-agent")
	expect(t, 0, cp.Kubeconfig(), with...)
	text, err := cp.Manifest("pod-identity")
	if err != nil {
		t.Fatal(err)
	}
	renamed := strings.ReplaceAll(text, "- name: eks-pod-identity-agent\n", "- name: agent\n")
	if renamed == text {
		t.Fatal("the manifest has no container eks-pod-identity-agent")
	}
	err = cp.TryApply(t, controlplane.Manager, true, renamed)
	if err == nil || !strings.Contains(err.Error(), "image") {
		t.Errorf("the API server says: %v; docs/addons.md says that it refuses a container without an image", err)
	}
	expect(t, 0, cp.Kubeconfig(), "addons", "revert")
	cp.Apply(t, controlplane.Manager, true, renamed)
	if r := expect(t, 2, cp.Kubeconfig(), with...); !strings.Contains(r.Stderr, "has no container eks-pod-identity-agent, only") {
		t.Errorf("it says: %s", r.Stderr)
	}
}

// TestUsersOwnVariable: what somebody has set stays theirs, and is reported;
// BL-059: a name that is listed twice is left as it is.
func TestUsersOwnVariable(t *testing.T) {
	t.Parallel()
	cp := start(t, 1)
	cp.Kubectl(t, "-n", "kube-system", "set", "env", awsNode, "-c", "aws-node", "NO_PROXY=mine.example")
	cp.Create(t, strings.ReplaceAll(twice, "KIND", "Deployment"))
	cp.Rollout(t, "kube-system") // its controller writes to it
	before := state(t, cp)
	r := expect(t, 0, cp.Kubeconfig(), patch("--canary=off", "--workload", "kube-system/deployment/twice", "--timeout", "2m")...)
	for _, says := range []string{"NO_PROXY in container aws-node is set by kubectl-set and left as it is", "HTTP_PROXY in container main is listed 2 times and left as it is"} {
		if !strings.Contains(r.Stderr, says) {
			t.Errorf("%q is not said: %s", says, r.Stderr)
		}
	}
	if item := env(t, cp, awsNode, "aws-node")["NO_PROXY"].(map[string]any); item["value"] != "mine.example" {
		t.Errorf("NO_PROXY is %v", item)
	}
	values := cp.Kubectl(t, "-n", "kube-system", "get", "deployment/twice", "-o", `jsonpath={.spec.template.spec.containers[0].env[?(@.name=="HTTP_PROXY")].value}`)
	if values != "http://a:1 http://b:1" {
		t.Errorf("the values are %q", values)
	}
	expect(t, 0, cp.Kubeconfig(), "addons", "revert")
	if diff := program.Diff(before, state(t, cp)); diff != "" {
		t.Errorf("revert has left:\n%s", diff)
	}
}

const twice = `
apiVersion: apps/v1
kind: KIND
metadata: {name: twice, namespace: kube-system}
spec:
  selector: {matchLabels: {app: twice}}
  template:
    metadata: {labels: {app: twice}}
    spec:
      containers:
      - name: main
        image: example.com/main:1
        env: [{name: HTTP_PROXY, value: "http://a:1"}, {name: X, value: "1"}, {name: HTTP_PROXY, value: "http://b:1"}]
`

// TestAdopt: BL-015. A ConfigMap of the recipe's is taken over only when told so,
// its faults are mended, and revert gives it back byte for byte.
func TestAdopt(t *testing.T) {
	t.Parallel()
	cp := start(t, 1)
	cp.Create(t, `
apiVersion: v1
kind: ConfigMap
metadata: {name: proxy-environment-variables, namespace: kube-system, labels: {team: net}}
data:
  HTTP_PROXY: |
    http://old.example:3128
  HTTPS_PROXY: http://old.example:3128
  NO_PROXY: 10.0.0.0/8
  EXTRA: kept
`)
	before := state(t, cp)
	if r := expect(t, 2, cp.Kubeconfig(), patch()...); !strings.Contains(r.Stderr, "--adopt") {
		t.Errorf("it says: %s", r.Stderr)
	}
	if diff := program.Diff(before, state(t, cp)); diff != "" {
		t.Errorf("something was written:\n%s", diff)
	}
	for range 2 {
		expect(t, 0, cp.Kubeconfig(), patch("--adopt", "--canary=off")...)
	}
	expect(t, 0, cp.Kubeconfig(), patch("--canary=off")...) // it is ours now
	data := object(t, cp, "configmap/proxy-environment-variables")["data"].(map[string]any)
	if data["HTTP_PROXY"] != proxyURL || data["EXTRA"] != "kept" {
		t.Errorf("the data are %v", data)
	}
	expect(t, 0, cp.Kubeconfig(), "addons", "revert")
	if diff := program.Diff(before, state(t, cp)); diff != "" {
		t.Errorf("revert has left:\n%s", diff)
	}
}

// TestGitOps: what a controller writes again from elsewhere is left alone, with
// what to commit.
func TestGitOps(t *testing.T) {
	t.Parallel()
	cp := start(t, 1)
	cp.Kubectl(t, "-n", "kube-system", "annotate", awsNode, "argocd.argoproj.io/tracking-id=cni:apps/DaemonSet:kube-system/aws-node")
	cp.Kubectl(t, "-n", "kube-system", "label", kubeProxy, "kustomize.toolkit.fluxcd.io/name=base", "kustomize.toolkit.fluxcd.io/namespace=flux-system")
	r := expect(t, 0, cp.Kubeconfig(), patch("--canary=off")...)
	for _, says := range []string{"aws-node is left alone: it belongs to Argo CD", "kube-proxy is left alone: it belongs to Flux (Kustomization flux-system/base)", "addons render --for kustomize"} {
		if !strings.Contains(r.Stderr, says) {
			t.Errorf("%q is not said: %s", says, r.Stderr)
		}
	}
	if env(t, cp, awsNode, "aws-node")["HTTP_PROXY"] != nil {
		t.Error("it was patched")
	}
	expect(t, 0, cp.Kubeconfig(), patch("--canary=off", "--force-owned")...)
	if env(t, cp, awsNode, "aws-node")["HTTP_PROXY"] == nil {
		t.Error("--force-owned has not patched it")
	}
}

// TestMigrateEnvFrom: the published recipe's entry goes, the one beside it stays,
// and revert puts it back where it was.
func TestMigrateEnvFrom(t *testing.T) {
	t.Parallel()
	cp := start(t, 2)
	cp.Create(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: proxy-environment-variables, namespace: kube-system}, data: {HTTP_PROXY: "http://old.example:3128"}}`)
	cp.Create(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: other, namespace: kube-system}, data: {A: b}}`)
	for workload, container := range map[string]string{awsNode: "aws-node", kubeProxy: "kube-proxy"} {
		entries := `{"configMapRef":{"name":"proxy-environment-variables"}}`
		if workload == awsNode {
			entries += `,{"configMapRef":{"name":"other"}}`
		}
		cp.Kubectl(t, "-n", "kube-system", "patch", workload, "-p", fmt.Sprintf(`{"spec":{"template":{"spec":{"containers":[{"name":%q,"envFrom":[%s]}]}}}}`, container, entries))
	}
	cp.Rollout(t, "kube-system")
	before := state(t, cp)
	expect(t, 0, cp.Kubeconfig(), patch("--adopt", "--canary=off")...)
	if now := state(t, cp); strings.Count(now, "          - configMapRef:") != 3 {
		t.Errorf("without --migrate-env-from the entries are not as they were:\n%s", now)
	}
	for i := range 2 {
		r := expect(t, 0, cp.Kubeconfig(), patch("--canary=off", "--migrate-env-from")...)
		if i == 1 && !strings.Contains(r.Stdout, "unchanged") {
			t.Errorf("a second run says: %s", r.Stdout)
		}
	}
	list := cp.Kubectl(t, "-n", "kube-system", "get", "daemonsets", "-o", `jsonpath={.items[*].spec.template.spec.containers[*].envFrom}`)
	if strings.Contains(list, "proxy-environment-variables") || !strings.Contains(list, "other") {
		t.Errorf("envFrom is %s", list)
	}
	expect(t, 0, cp.Kubeconfig(), "addons", "revert")
	if diff := program.Diff(before, state(t, cp)); diff != "" {
		t.Errorf("revert has left:\n%s", diff)
	}
}

// TestAuthority: BL-038. The company's authority comes into the pods beside the
// public ones, and what cannot take it is named.
func TestAuthority(t *testing.T) {
	t.Parallel()
	cp := start(t, 1)
	before := state(t, cp)
	with := patch("--canary=off", "--trusted-ca", cp.CAFile())
	expect(t, 0, cp.Kubeconfig(), with...)
	item := env(t, cp, awsNode, "aws-node")["SSL_CERT_DIR"].(map[string]any)
	if item["value"] != "/etc/eksproxy/trusted-ca:/etc/ssl/certs:/etc/pki/tls/certs" {
		t.Errorf("SSL_CERT_DIR is %v", item)
	}
	described := cp.Kubectl(t, "-n", "kube-system", "describe", awsNode)
	if !strings.Contains(described, "/etc/eksproxy/trusted-ca from eksproxy-trusted-ca (ro)") {
		t.Errorf("it is not mounted:\n%s", described)
	}
	if r := expect(t, 0, cp.Kubeconfig(), with...); !strings.Contains(r.Stdout, "unchanged: 4 objects") {
		t.Errorf("a second run says: %s", r.Stdout)
	}
	expect(t, 0, cp.Kubeconfig(), "addons", "revert")
	if diff := program.Diff(before, state(t, cp)); diff != "" {
		t.Errorf("revert has left:\n%s", diff)
	}
}
