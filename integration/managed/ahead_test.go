package managed

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/eksproxy/eksproxy/integration/ekssim"
)

// aheadDoc is the document AddonsAhead.
type aheadDoc struct {
	Kind   string
	Addons []struct {
		Name, Installed, Version, Outlook, Why string
		Routes                                 []struct{ Component, Now, Then string }
		Refused                                []struct {
			Pointer string
			Ours    bool
		}
		Claimed []struct {
			Pointer string
			Default *string
		}
		Rolls []struct {
			Object string
			Pods   int
		}
	}
}

// TestAhead: BL-049. On a patched cluster the plan says what becomes of the proxy
// with other versions, and then just that becomes of it. Nothing is written.
func TestAhead(t *testing.T) {
	t.Parallel()
	w := start(t, 2, ekssim.VPCCNI(`{"env":{"ENABLE_PREFIX_DELEGATION":"true"}}`), ekssim.KubeProxy())
	c := newCatalog(t, w.eks.URL)
	w.expect(t, 0, addons("patch")...)
	before, updates := w.state(t), len(w.eks.Updates())
	plan := func(code int, more ...string) aheadDoc {
		t.Helper()
		r := c.run(t, code, w.on(addons("plan", append(more, "-o", "json")...)...)...)
		var doc aheadDoc
		if code == 3 {
			return doc
		}
		if err := json.Unmarshal([]byte(r.Stdout), &doc); err != nil || doc.Kind != "AddonsAhead" {
			t.Fatalf("%v: %s", err, r.Stdout)
		}
		return doc
	}

	kept := plan(0, "--addon", "vpc-cni=v1.22.0-eksbuild.2").Addons[0]
	if kept.Outlook != "kept" || kept.Installed != "v1.21.1-eksbuild.1" || kept.Routes[0].Then != "eks /extraEnv" || kept.Rolls[0].Pods != 2 {
		t.Errorf("%+v", kept)
	}
	refused := plan(1, "--addon", "vpc-cni=v1.15.0-eksbuild.1").Addons[0]
	if refused.Outlook != "refused" || refused.Refused[0].Pointer != "/extraEnv" || !refused.Refused[0].Ours || refused.Routes[0].Then != "in-cluster" {
		t.Errorf("%+v", refused)
	}
	claimed := plan(1, "--addon", "vpc-cni=v1.30.0-eksbuild.1").Addons[0]
	if claimed.Outlook != "lost" || claimed.Claimed[0].Pointer != "/env/HTTP_PROXY" || claimed.Claimed[0].Default == nil {
		t.Errorf("%+v", claimed)
	}
	if gone := plan(1, "--addon", "vpc-cni=v1.31.0-eksbuild.1").Addons[0]; gone.Outlook != "lost" || len(gone.Refused) != 0 {
		t.Errorf("%+v", gone)
	}
	all := plan(0, "--kubernetes-version", "1.37")
	if len(all.Addons) != 2 || all.Addons[0].Name != "kube-proxy" || all.Addons[0].Version != "v1.37.0-eksbuild.1" || all.Addons[0].Routes[0].Now != "in-cluster" || all.Addons[1].Version != "v1.22.0-eksbuild.2" {
		t.Errorf("%+v", all)
	}
	says(t, c.run(t, 2, w.on(addons("plan", "--addon", "vpc-cni=v0.0.1")...)...).Stderr, "EKS has no version v0.0.1 of an add-on vpc-cni", "describe-addon-versions")
	says(t, c.run(t, 2, w.on(addons("plan", "--addon", "vpc-cni")...)...).Stderr, "write NAME=VERSION")
	says(t, c.run(t, 2, w.on(addons("plan", "--kubernetes-version", "latest")...)...).Stderr, "write MAJOR.MINOR")
	says(t, c.run(t, 2, w.on(addons("plan", "--addon", "vpc-cni=v1", "--out", "plan.json")...)...).Stderr, "--out writes a plan to be approved")
	c.setDown(true)
	plan(3, "--addon", "vpc-cni=v1.22.0-eksbuild.2")
	plan(3, "--kubernetes-version", "1.37")
	w.same(t, before)
	writes := slices.DeleteFunc(c.calls, func(call string) bool {
		return strings.HasPrefix(call, "GET ") || call == "POST /" // EC2 asks with POST
	})
	if len(writes) > 0 || len(w.eks.Updates()) != updates {
		t.Errorf("it has written: %q", writes)
	}

	// What was predicted for the version without the place is what patch then does.
	c.setDown(false)
	w.eks.SetValues(t, "vpc-cni", `{"env":{"ENABLE_PREFIX_DELEGATION":"true"}}`)
	c.edits["vpc-cni"] = func(addon map[string]any) { addon["addonVersion"] = "v1.15.0-eksbuild.1" }
	c.run(t, 0, w.on(addons("patch", "--canary=off")...)...)
	if owners := w.owners(t, awsNode, "aws-node", "NO_PROXY"); !slices.Equal(owners, []string{"eksproxy"}) || len(w.eks.Updates()) != updates {
		t.Errorf("NO_PROXY is owned by %q after %d updates", owners, len(w.eks.Updates()))
	}
}

// TestAheadForms are the forms for people, and the answer without Kubernetes and
// without a cluster.
func TestAheadForms(t *testing.T) {
	t.Parallel()
	c := newCatalog(t, "")
	args := []string{
		"addons", "plan", "--region", ekssim.Region, "--http-proxy", proxyURL, "--vpc-cidr", "10.0.0.0/16", "--service-cidr", "10.100.0.0/16", "--cluster-endpoint", "abc.gr7.eu-west-1.eks.amazonaws.com",
		"--addon", "vpc-cni=v1.15.0-eksbuild.1", "--addon", "aws-ebs-csi-driver=v1.20.0-eksbuild.1",
	}
	r := c.run(t, 0, args...)
	says(t, r.Stdout, "ADD-ON", "vpc-cni             -    v1.15.0-eksbuild.1  ready", "aws-node: now unknown, then in-cluster", "ebs-csi-controller: now unknown, then eks /proxy", "Kubernetes is not asked")
	says(t, c.run(t, 0, append(args, "-o", "markdown")...).Stdout, "| vpc-cni | - | v1.15.0-eksbuild.1 | ready |")
	says(t, c.run(t, 0, append(args, "-o", "yaml")...).Stdout, "kind: AddonsAhead", "outlook: ready")
	says(t, c.run(t, 2, append(args, "--kubernetes-version", "1.37")...).Stderr, "which add-ons the cluster has is unknown")
	if len(c.calls) > 0 {
		t.Errorf("a cluster was asked: %q", c.calls)
	}
}

// TestAheadShowsNoCredentials: neither those of the settings, nor those that
// somebody has put into configuration values.
func TestAheadShowsNoCredentials(t *testing.T) {
	t.Parallel()
	w := start(t, 1, ekssim.VPCCNI(`{"env":{"AWS_VPC_ENI_MTU":"http://svc:`+secret.Core+`@proxy.example:3128","GONE":"http://svc:`+secret.Core+`@proxy.example:3128"}}`))
	c := newCatalog(t, w.eks.URL)
	for _, form := range []string{"table", "json", "yaml", "markdown"} {
		r := c.run(t, 1, w.on(addons("plan", "--create-secret", "--credentials-file", login(t), "--addon", "vpc-cni=v1.15.0-eksbuild.1", "-o", form)...)...)
		says(t, r.Stdout, "/env/GONE")
		if strings.Contains(r.Stdout+r.Stderr, secret.Core) {
			t.Errorf("%s shows the password: %s%s", form, r.Stdout, r.Stderr)
		}
	}
}
