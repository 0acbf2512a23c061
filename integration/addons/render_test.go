package addons

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/eksproxy/eksproxy/integration/controlplane"
	"github.com/eksproxy/eksproxy/integration/program"
)

// everything are the objects that a patch can change, as JSON, with who owns which
// field and without what differs between two objects of the same content.
func everything(t *testing.T, cp *controlplane.ControlPlane) string {
	t.Helper()
	var list struct{ Items []map[string]any }
	text := cp.Kubectl(t, "-n", "kube-system", "get", "daemonsets,deployments,configmaps", "--show-managed-fields", "-o", "json")
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		t.Fatal(err)
	}
	for _, item := range list.Items {
		delete(item, "status")
		meta := item["metadata"].(map[string]any)
		for _, key := range []string{"resourceVersion", "uid", "generation", "creationTimestamp"} {
			delete(meta, key)
		}
		if annotations, ok := meta["annotations"].(map[string]any); ok {
			delete(annotations, "deprecated.daemonset.template.generation")
			delete(annotations, "deployment.kubernetes.io/revision")
		}
		// The controllers write status; the server keeps the entries in order of time.
		entries, _ := meta["managedFields"].([]any)
		entries = slices.DeleteFunc(entries, func(e any) bool { return e.(map[string]any)["subresource"] == "status" })
		for _, e := range entries {
			delete(e.(map[string]any), "time")
		}
		slices.SortFunc(entries, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		meta["managedFields"] = entries
	}
	data, err := json.MarshalIndent(list.Items, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func render(format string, more ...string) []string {
	return slices.Concat([]string{"addons", "render", "--for", format}, network(more...))
}

// TestRenderManifests: BL-005. What render writes makes, applied with kubectl, the
// same objects as patch, owners of fields included.
func TestRenderManifests(t *testing.T) {
	t.Parallel()
	cp := start(t, 1)
	before := everything(t, cp)
	more := []string{"--component", "eks-pod-identity-agent", "--trusted-ca", cp.CAFile()}
	expect(t, 0, cp.Kubeconfig(), patch(append(more, "--canary=off")...)...)
	patched := everything(t, cp)
	if patched == before {
		t.Fatal("patch has changed nothing")
	}
	expect(t, 0, cp.Kubeconfig(), "addons", "revert")
	if diff := program.Diff(before, everything(t, cp)); diff != "" {
		t.Fatalf("revert has left:\n%s", diff)
	}
	dir := filepath.Join(t.TempDir(), "out")
	expect(t, 0, cp.Kubeconfig(), render("manifests", append(more, "--out", dir)...)...)
	cp.Kubectl(t, "apply", "--server-side", "--field-manager", "eksproxy", "-f", dir)
	if diff := program.Diff(patched, everything(t, cp)); diff != "" {
		t.Errorf("rendered and applied is not what patch does:\n%s", diff)
	}
	cp.Rollout(t, "kube-system")
	r := expect(t, 0, cp.Kubeconfig(), patch(more...)...)
	if !strings.Contains(r.Stdout, "unchanged: 5 objects") {
		t.Errorf("patch finds something to do after it: %s", r.Stdout)
	}
	// Without the workload nothing is made.
	cp.Kubectl(t, "-n", "kube-system", "delete", awsNode)
	if out, err := cp.TryKubectl(t, "apply", "--server-side", "--field-manager", "eksproxy", "-f", filepath.Join(dir, "kube-system-daemonset-aws-node.yaml")); err == nil {
		t.Errorf("a DaemonSet was made of our fields alone: %s", out)
	}
}

// TestRenderPlaceholders: before there is a cluster the files say what is missing,
// and kubectl takes none of them that lacks something.
func TestRenderPlaceholders(t *testing.T) {
	t.Parallel()
	cp := controlplane.Start(t, controlplane.Options{NoControllers: true})
	controlplane.InstallEKS(t, cp, controlplane.EKS{Only: []string{"aws-node"}})
	full, err := program.Full()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "out")
	r := program.Exec(t, nil, full, "addons", "render", "--for", "manifests", "--http-proxy", proxyURL, "--skip", "kube-proxy", "--out", dir)
	program.Said("addons render", r.Stdout, r.Stderr)
	if r.Code != 0 || !strings.Contains(r.Stderr, "to be filled in before use: EKSPROXY_CLUSTER_ENDPOINT_HOST (--cluster-endpoint)") {
		t.Fatalf("exit %d\n%s", r.Code, r.Stderr)
	}
	apply := func() error {
		_, err := cp.TryKubectl(t, "apply", "--server-side", "--field-manager", "eksproxy", "-f", dir)
		return err
	}
	if err := apply(); err == nil {
		t.Error("kubectl has applied placeholders")
	}
	store := filepath.Join(dir, "kube-system-configmap-proxy-environment-variables.yaml")
	filled := strings.NewReplacer("EKSPROXY_CLUSTER_ENDPOINT_HOST", "host.example", "EKSPROXY_VPC_CIDR", "10.40.0.0/16",
		"EKSPROXY_SERVICE_CIDR", "10.100.0.0/16", "EKSPROXY_SERVICE_ADDRESS", "10.100.0.1").Replace(read(t, store))
	write(t, store, filled)
	if err := apply(); err == nil {
		t.Error("kubectl has applied what still has the line that must be taken out")
	}
	var lines []string
	for line := range strings.Lines(filled) {
		if !strings.HasPrefix(line, "@") {
			lines = append(lines, line)
		}
	}
	write(t, store, strings.Join(lines, ""))
	if err := apply(); err != nil {
		t.Error(err)
	}
}

// TestRenderKustomize: a build over the add-ons of EKS adds our variables, and
// keeps what is there, which the published recipe does not. The API server takes
// it.
func TestRenderKustomize(t *testing.T) {
	t.Parallel()
	cp := controlplane.Start(t, controlplane.Options{NoControllers: true})
	dir := t.TempDir()
	base := filepath.Join(dir, "base")
	if err := os.MkdirAll(base, 0o755); err != nil {
		t.Fatal(err)
	}
	var resources []string
	for _, name := range []string{"aws-node", "kube-proxy"} {
		text, err := cp.Manifest(name)
		if err != nil {
			t.Fatal(err)
		}
		if name == "aws-node" {
			const image = "        image: images.test/amazon-k8s-cni:v1.21.1-eksbuild.1\n"
			if !strings.Contains(text, image) {
				t.Fatal("the manifest has another image")
			}
			text = strings.Replace(text, image, image+"        envFrom: [{configMapRef: {name: theirs, optional: true}}]\n", 1)
		}
		write(t, filepath.Join(base, name+".yaml"), text)
		resources = append(resources, name+".yaml")
	}
	write(t, filepath.Join(base, "kustomization.yaml"), "resources: ["+strings.Join(resources, ", ")+"]\n")
	write(t, filepath.Join(dir, "kustomization.yaml"), "resources: [base]\ncomponents: [eksproxy]\n")
	before := cp.Kubectl(t, "kustomize", base)
	cp.Apply(t, "argo", false, before)
	envBefore := env(t, cp, awsNode, "aws-node")

	expect(t, 0, cp.Kubeconfig(), render("kustomize", "--out", filepath.Join(dir, "eksproxy"), "--trusted-ca", cp.CAFile())...)
	cp.Apply(t, "argo", false, cp.Kubectl(t, "kustomize", dir))
	after := env(t, cp, awsNode, "aws-node")
	for _, name := range append(variables(), "SSL_CERT_DIR") {
		if after[name] == nil {
			t.Errorf("%s is missing", name)
		}
		delete(after, name)
	}
	if diff := program.Diff(text(envBefore), text(after)); diff != "" {
		t.Errorf("other variables have changed:\n%s", diff)
	}
	if from := cp.Kubectl(t, "-n", "kube-system", "get", awsNode, "-o", "jsonpath={.spec.template.spec.containers[*].envFrom}"); !strings.Contains(from, "theirs") {
		t.Errorf("envFrom is %q", from)
	}
	for _, container := range []string{"aws-vpc-cni-init", "aws-eks-nodeagent"} {
		if env(t, cp, awsNode, container)["HTTP_PROXY"] != nil {
			t.Errorf("%s got the variables, and calls nobody outside", container)
		}
	}
	if env(t, cp, kubeProxy, "kube-proxy")["NO_PROXY"] == nil || len(object(t, cp, "configmap/proxy-environment-variables")["data"].(map[string]any)) != 6 {
		t.Error("kube-proxy or the ConfigMap lack something")
	}
	// A base that sets a variable itself is a fault of the apply.
	aws := filepath.Join(base, "aws-node.yaml")
	own := strings.Replace(read(t, aws), "        - {name: ADDITIONAL_ENI_TAGS", "        - {name: HTTPS_PROXY, value: theirs}\n        - {name: ADDITIONAL_ENI_TAGS", 1)
	write(t, aws, own)
	if err := cp.TryApply(t, "argo", false, cp.Kubectl(t, "kustomize", dir)); err == nil || !strings.Contains(err.Error(), "may not be specified when `value` is not empty") {
		t.Errorf("a value and a reference: %v", err)
	}
	// A base that lacks a workload is a fault, and not a patch of nothing.
	write(t, filepath.Join(base, "kustomization.yaml"), "resources: [aws-node.yaml]\n")
	if out, err := cp.TryKubectl(t, "kustomize", dir); err == nil {
		t.Errorf("a build without kube-proxy succeeds: %s", out)
	}
}
