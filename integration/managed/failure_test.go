package managed

import (
	"strings"
	"testing"

	"github.com/eksproxy/eksproxy/integration/controlplane"
	"github.com/eksproxy/eksproxy/integration/ekssim"
)

// TestPutBack: what EKS does not finish, and a pod that does not become ready, end
// with the former configuration, exit 1 and the reason.
func TestPutBack(t *testing.T) {
	t.Parallel()
	const users = `{"env":{"WARM_ENI_TARGET":"2"}}`
	w := start(t, 2, ekssim.VPCCNI(users))
	before := w.state(t)
	stores := addons("patch", "--skip", "kube-proxy")
	check := func(t *testing.T, updates int, reason string) {
		t.Helper()
		r := w.expect(t, 1, append(stores, "--pod-timeout", "8s")...)
		says(t, r.Stderr, reason, "as it was before")
		if got := w.eks.Addon("vpc-cni").Values; got != users {
			t.Errorf("the values are %s, want %s", got, users)
		}
		if w.env(t, awsNode, "aws-node")["NO_PROXY"] != "" {
			t.Error("the variables are still there")
		}
		if got := len(w.eks.Updates()); got != updates {
			t.Errorf("%d updates, want %d", got, updates)
		}
		if _, err := w.TryKubectl(t, "-n", "kube-system", "get", "configmap", record); err == nil {
			t.Error("the record is still there")
		}
		w.expect(t, 0, revert()...) // the ConfigMap of the settings
		w.same(t, before)
	}
	w.eks.Next(ekssim.End{Status: "Failed", Applied: true})
	check(t, 2, "has ended as Failed: Unknown: the test ends it so")
	w.eks.Next(ekssim.End{Status: "Cancelled"})
	check(t, 4, "has ended as Cancelled")
	w.SetRules(t, controlplane.Rule{When: `any(.spec.containers[].env[]?; .name == "NO_PROXY")`, Outcome: controlplane.Crashing})
	check(t, 6, "pod aws-node-")
	w.SetRules(t)

	// The put-back fails too: the record stays, and revert goes on.
	w.eks.Next(ekssim.End{Status: "Failed", Applied: true}, ekssim.End{Status: "Failed"})
	r := w.expect(t, 1, stores...)
	says(t, r.Stderr, "was not put back", "eksproxy addons revert")
	w.expect(t, 0, revert()...)
	if got := w.eks.Addon("vpc-cni").Values; got != users {
		t.Errorf("the values are %s, want %s", got, users)
	}
	w.same(t, before)
}

// TestOneOwner: what eksproxy owns in the cluster goes over to EKS without a gap,
// and comes back when the update fails.
func TestOneOwner(t *testing.T) {
	t.Parallel()
	w := start(t, 1, ekssim.VPCCNI(""))
	before := w.state(t)
	inCluster := []string{"addons", "patch", "--skip", "kube-proxy", "--canary=off", "--http-proxy", proxyURL, "--vpc-cidr", "10.40.0.0/16", "--service-cidr", "10.100.0.0/16",
		"--cluster-endpoint", "0123456789ABCDEF0123456789ABCDEF.gr7.eu-west-1.eks.amazonaws.com"}
	w.expect(t, 0, inCluster...)
	if owners := w.owners(t, awsNode, "aws-node", "NO_PROXY"); strings.Join(owners, " ") != "eksproxy" {
		t.Fatalf("NO_PROXY is owned by %q", owners)
	}
	patched := w.state(t)
	w.eks.Next(ekssim.End{Status: "Failed", Applied: true})
	w.expect(t, 1, addons("patch", "--skip", "kube-proxy", "--vpc-cidr", "10.40.0.0/16")...)
	if owners := w.owners(t, awsNode, "aws-node", "NO_PROXY"); strings.Join(owners, " ") != "eksproxy" {
		t.Errorf("after a failed update NO_PROXY is owned by %q", owners)
	}
	w.expect(t, 0, inCluster...)
	w.same(t, patched)

	w.expect(t, 0, addons("patch", "--skip", "kube-proxy")...)
	for _, name := range variables() {
		if owners := w.owners(t, awsNode, "aws-node", name); strings.Join(owners, " ") != "eks" {
			t.Errorf("%s is owned by %q", name, owners)
		}
	}
	if annotations := w.Kubectl(t, "-n", "kube-system", "get", awsNode, "-o", "jsonpath={.spec.template.metadata.annotations}"); strings.Contains(annotations, "eksproxy") {
		t.Errorf("eksproxy's annotation is still in the template: %s", annotations)
	}
	w.expect(t, 0, revert()...)
	w.same(t, before)
}

// TestOneOwnerOfTexts: the same where the configuration takes texts alone: with
// PRESERVE EKS would leave eksproxy's references, and lose them with it.
func TestOneOwnerOfTexts(t *testing.T) {
	t.Parallel()
	w := start(t, 1, ekssim.PodIdentity())
	before := w.state(t)
	w.expect(t, 0, "addons", "patch", "--skip", "kube-proxy", "--component", "eks-pod-identity-agent", "--canary=off", "--http-proxy", proxyURL,
		"--vpc-cidr", "10.40.0.0/16", "--service-cidr", "10.100.0.0/16")
	w.expect(t, 0, addons("patch", "--component", "eks-pod-identity-agent")...)
	for _, name := range variables() {
		if owners := w.owners(t, "daemonset/eks-pod-identity-agent", "eks-pod-identity-agent", name); strings.Join(owners, " ") != "eks" {
			t.Errorf("%s is owned by %q", name, owners)
		}
	}
	w.expect(t, 0, revert()...)
	w.same(t, before)
}

// TestOwnedByTerraform: nothing is written for what Terraform owns, by flag or by
// tag, and the exit code says so.
func TestOwnedByTerraform(t *testing.T) {
	t.Parallel()
	cni := ekssim.VPCCNI("")
	cni.Tags = map[string]string{"managed-by": "Terraform"}
	w := start(t, 1, cni)
	for _, by := range []string{"terraform", "auto"} {
		r := w.expect(t, 1, addons("patch", "--skip", "kube-proxy", "--addons-owned-by", by)...)
		says(t, r.Stderr, "Terraform owns the EKS add-on vpc-cni", "eksproxy addons render --for terraform --addon vpc-cni=v1.21.1-eksbuild.1")
		w.expect(t, 1, addons("plan", "--skip", "kube-proxy", "--exit-code", "--addons-owned-by", by)...)
	}
	if len(w.eks.Updates()) != 0 || w.env(t, awsNode, "aws-node")["NO_PROXY"] != "" {
		t.Error("something was done")
	}
	w.expect(t, 0, addons("patch", "--skip", "kube-proxy", "--addons-owned-by", "eks")...)
	if w.env(t, awsNode, "aws-node")["NO_PROXY"] == "" {
		t.Error("--addons-owned-by eks has done nothing")
	}

	// Terraform has applied the same: there is nothing left to be done.
	values := w.eks.Addon("vpc-cni").Values
	w.expect(t, 0, revert()...)
	w.eks.SetValues(t, "vpc-cni", values)
	updates := len(w.eks.Updates())
	w.expect(t, 0, addons("patch", "--skip", "kube-proxy")...)
	if len(w.eks.Updates()) != updates || w.eks.Addon("vpc-cni").Values != values {
		t.Error("what Terraform has applied was changed")
	}
}

// TestDenied: who may not look at the schema goes the in-cluster way and is told;
// who may not update is told which right lacks, and nothing has changed.
func TestDenied(t *testing.T) {
	t.Parallel()
	w := start(t, 1, ekssim.VPCCNI(""))
	w.eks.Deny("eks:UpdateAddon")
	r := w.expect(t, 1, addons("patch", "--skip", "kube-proxy")...)
	says(t, r.Stderr, "eks:UpdateAddon: AccessDeniedException", "grant it")
	w.expect(t, 0, revert()...)
	w.eks.Deny("eks:DescribeAddonConfiguration")
	r = w.expect(t, 0, addons("patch", "--skip", "kube-proxy", "--canary=off")...)
	says(t, r.Stderr, "aws-node: in-cluster, since the configuration of the EKS add-on vpc-cni cannot be looked at: eks:DescribeAddonConfiguration: AccessDeniedException")
}
