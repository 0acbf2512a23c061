package managed

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/eksproxy/eksproxy/integration/ekssim"
)

// TestExtraEnv: BL-049, BL-050. vpc-cni takes the variables by its own
// configuration, beside the user's values; kube-proxy has no place and is patched
// in the cluster. A second run changes nothing, and revert is exact.
func TestExtraEnv(t *testing.T) {
	t.Parallel()
	const users = `{"env":{"ENABLE_PREFIX_DELEGATION":"true"},"livenessProbeTimeoutSeconds":15,"extraEnv":[{"name":"MINE","value":"1"}]}`
	w := start(t, 2, ekssim.VPCCNI(users), ekssim.KubeProxy())
	before, envBefore := w.state(t), w.env(t, awsNode, "aws-node")

	r := w.expect(t, 0, addons("plan", "--diff")...)
	says(t, r.Stdout, "EKS add-on vpc-cni v1.21.1-eksbuild.1", "/extraEnv", "rolls 2 pods", "no canary here: the rollout is watched", "OWNED IN")
	says(t, r.Stdout+r.Stderr, "kube-proxy: in-cluster, since the EKS add-on kube-proxy v1.36.0-eksbuild.2 cannot carry the settings: its configuration has no place")
	w.same(t, before)

	r = w.expect(t, 0, addons("patch")...)
	says(t, r.Stdout, "EKS add-on vpc-cni", "DaemonSet kube-system/kube-proxy")
	now := w.values(t, "vpc-cni")
	if !reflect.DeepEqual(now["env"], map[string]any{"ENABLE_PREFIX_DELEGATION": "true"}) || now["livenessProbeTimeoutSeconds"] != 15.0 {
		t.Errorf("the user's values are not as they were: %v", now)
	}
	if items := now["extraEnv"].([]any); len(items) != 8 || items[0].(map[string]any)["name"] != "MINE" {
		t.Errorf("extraEnv is %v", items)
	}
	after := w.env(t, awsNode, "aws-node")
	for _, name := range variables() {
		want := `{"name":"` + name + `","valueFrom":{"configMapKeyRef":{"key":"` + name + `","name":"proxy-environment-variables","optional":true}}}`
		if after[name] != want {
			t.Errorf("%s is %s, want %s", name, after[name], want)
		}
		if owners := w.owners(t, awsNode, "aws-node", name); !reflect.DeepEqual(owners, []string{"eks"}) {
			t.Errorf("%s is owned by %q", name, owners)
		}
		delete(after, name)
	}
	delete(after, "EKSPROXY_SETTINGS_HASH")
	if !reflect.DeepEqual(after, envBefore) {
		t.Errorf("other variables have changed: %v", after)
	}
	call := w.eks.Updates()[0].Body
	if len(call) != 3 || call["resolveConflicts"] != "PRESERVE" || call["serviceAccountRoleArn"] != w.eks.Addon("vpc-cni").Role || w.eks.Addon("vpc-cni").Role == "" {
		t.Errorf("UpdateAddon was called with %v", call)
	}

	r = w.expect(t, 0, "addons", "status")
	says(t, r.Stdout, "DaemonSet kube-system/aws-node    eks", "DaemonSet kube-system/kube-proxy  in-cluster", "2 of 2 current")
	generation := w.generation(t, awsNode)
	r = w.expect(t, 0, addons("patch")...)
	says(t, r.Stdout, "unchanged: 3 objects")
	if w.generation(t, awsNode) != generation || len(w.eks.Updates()) != 1 {
		t.Error("a second run has written")
	}
	w.expect(t, 0, addons("patch", "--no-proxy-add", ".corp.example")...)
	if w.generation(t, awsNode) == generation {
		t.Error("a changed NO_PROXY rolls no pods")
	}

	// EKS updates the add-on by force, as for a new version: ours is its own.
	if err := w.eks.Update("vpc-cni", w.eks.Addon("vpc-cni").Values, "OVERWRITE"); err != nil {
		t.Error(err)
	}
	if w.env(t, awsNode, "aws-node")["NO_PROXY"] == "" {
		t.Error("an update by EKS has taken the variables away")
	}

	w.expect(t, 0, revert()...)
	if got := w.eks.Addon("vpc-cni").Values; got != users {
		t.Errorf("the values are %s, want %s", got, users)
	}
	w.same(t, before)
	says(t, w.expect(t, 0, revert()...).Stdout, "unchanged")
	w.called(t)
}

// called demands that just the calls of the policies in docs/permissions.md were
// made.
func (w world) called(t *testing.T) {
	t.Helper()
	page, err := os.ReadFile("../../docs/permissions.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(page), "<!-- generated: policy -->")
	text, _, _ = strings.Cut(text, "<!-- end of generated -->")
	allowed := []string{}
	for _, name := range regexp.MustCompile(`"((?:eks|ec2):\w+)"`).FindAllStringSubmatch(text, -1) {
		if name[1] != "eks:DescribeFargateProfile" { // this cluster has no profile
			allowed = append(allowed, name[1])
		}
	}
	slices.Sort(allowed)
	if allowed = slices.Compact(allowed); !slices.Equal(w.eks.Actions(), allowed) {
		t.Errorf("called were %q, allowed are %q", w.eks.Actions(), allowed)
	}
}

// TestNoPlace: BL-049. A version without a place is patched in the cluster, and
// the plan says why.
func TestNoPlace(t *testing.T) {
	t.Parallel()
	w := start(t, 1, ekssim.LegacyVPCCNI())
	before := w.state(t)
	r := w.expect(t, 0, addons("patch", "--canary=off")...)
	says(t, r.Stderr, "aws-node: in-cluster, since the EKS add-on vpc-cni v1.15.0-eksbuild.1 cannot carry the settings")
	if len(w.eks.Updates()) != 0 || w.env(t, awsNode, "aws-node")["NO_PROXY"] == "" {
		t.Error("it was not patched in the cluster alone")
	}
	w.expect(t, 0, revert()...)
	w.same(t, before)
}

// TestEBS: the list of a component's own section goes first, in YAML with its
// comments; two proxies and credentials go there too.
func TestEBS(t *testing.T) {
	t.Parallel()
	w := start(t, 1, ekssim.EBS())
	before, values := w.state(t), w.eks.Addon("aws-ebs-csi-driver").Values
	with := []string{"--component", "ebs-csi-controller", "--https-proxy", "http://other.example:3128"}
	w.expect(t, 0, addons("patch", with...)...)
	now := w.eks.Addon("aws-ebs-csi-driver").Values
	says(t, now, "# ours", "replicaCount: 2 # two zones", "eksproxy.dev/settings-hash")
	if strings.Contains(now, "EKSPROXY_") || strings.Contains(now, "proxy:\n") {
		t.Errorf("the values are\n%s", now)
	}
	if w.env(t, ebs, "ebs-plugin")["https_proxy"] == "" || w.env(t, ebs, "csi-attacher")["https_proxy"] != "" || w.env(t, "daemonset/ebs-csi-node", "ebs-plugin")["NO_PROXY"] != "" {
		t.Error("the variables are not in the plugin of the controller alone")
	}
	with = append(with, "--credentials-file", login(t), "--create-secret")
	w.expect(t, 0, addons("patch", with...)...)
	item := w.env(t, ebs, "ebs-plugin")["https_proxy"]
	if want := `{"name":"https_proxy","valueFrom":{"secretKeyRef":{"key":"HTTPS_PROXY","name":"eksproxy-credentials","optional":true}}}`; item != want {
		t.Errorf("https_proxy is %s, want %s", item, want)
	}
	if form := secret.In(w.eks.Addon("aws-ebs-csi-driver").Values + w.Kubectl(t, "-n", "kube-system", "get", "configmaps,deployments", "-o", "yaml", "--show-managed-fields")); form != "" {
		t.Errorf("the password is shown, %s", form)
	}
	says(t, w.expect(t, 0, addons("patch", with...)...).Stdout, "unchanged: ")
	w.expect(t, 0, revert()...)
	if got := w.eks.Addon("aws-ebs-csi-driver").Values; got != values {
		t.Errorf("the values are %q, want %q", got, values)
	}
	w.same(t, before)
}

// TestProxyObject: an object with one proxy carries one without credentials; else
// the component is patched in the cluster, and what stood in the object goes.
func TestProxyObject(t *testing.T) {
	t.Parallel()
	w := start(t, 1, ekssim.LegacyEBS())
	before := w.state(t)
	component := []string{"--component", "ebs-csi-controller"}
	r := w.expect(t, 0, addons("patch", component...)...)
	says(t, r.Stdout, "EKS add-on aws-ebs-csi-driver v1.20.0-eksbuild.1")
	if proxy := w.values(t, "aws-ebs-csi-driver")["proxy"].(map[string]any); proxy["http_proxy"] != proxyURL || !strings.Contains(proxy["no_proxy"].(string), "10.100.0.0/16") {
		t.Errorf("proxy is %v", proxy)
	}
	if got := w.env(t, ebs, "csi-attacher")["HTTPS_PROXY"]; got != `{"name":"HTTPS_PROXY","value":"`+proxyURL+`"}` {
		t.Errorf("HTTPS_PROXY is %s", got)
	}
	says(t, w.expect(t, 0, addons("patch", component...)...).Stdout, "unchanged: ")
	says(t, w.expect(t, 0, "addons", "status").Stdout, "ebs-csi-controller  eks")

	for _, c := range []struct {
		more []string
		why  string
	}{
		{[]string{"--https-proxy", "http://other.example:3128"}, "it takes one proxy, and those of HTTP and HTTPS differ"},
		{[]string{"--credentials-file", login(t), "--create-secret"}, "it takes texts alone, and the proxy's credentials are in a Secret"},
	} {
		r := w.expect(t, 0, addons("patch", append(c.more, component...)...)...)
		says(t, r.Stderr, c.why)
		if values := w.eks.Addon("aws-ebs-csi-driver").Values; values != "{}" {
			t.Errorf("the values are %s", values)
		}
		if item := w.env(t, ebs, "ebs-plugin")["https_proxy"]; !strings.Contains(item, "valueFrom") {
			t.Errorf("https_proxy is %s", item)
		}
		w.expect(t, 0, addons("patch", component...)...) // back to the object
		if w.env(t, ebs, "ebs-plugin")["https_proxy"] != "" || w.env(t, ebs, "ebs-plugin")["HTTPS_PROXY"] == "" {
			t.Errorf("the variables are %v", w.env(t, ebs, "ebs-plugin"))
		}
	}
	w.expect(t, 0, revert()...)
	w.same(t, before)
}

// TestUnknownSchema: a schema that nobody has seen before, with an open object
// behind references, takes texts.
func TestUnknownSchema(t *testing.T) {
	t.Parallel()
	w := start(t, 1, ekssim.PodIdentity())
	before := w.state(t)
	component := []string{"--component", "eks-pod-identity-agent"}
	w.expect(t, 0, addons("patch", component...)...)
	env := w.values(t, "eks-pod-identity-agent")["agent"].(map[string]any)["env"].(map[string]any)
	if len(env) != 6 || env["https_proxy"] != proxyURL {
		t.Errorf("env is %v", env)
	}
	if got := w.env(t, "daemonset/eks-pod-identity-agent", "eks-pod-identity-agent")["https_proxy"]; got != `{"name":"https_proxy","value":"`+proxyURL+`"}` {
		t.Errorf("https_proxy is %s", got)
	}
	says(t, w.expect(t, 0, addons("patch", component...)...).Stdout, "unchanged: ")
	w.expect(t, 0, revert()...)
	w.same(t, before)
}

// TestOwnName: names that the user has set, in the values or in the cluster, stay
// and are reported.
func TestOwnName(t *testing.T) {
	t.Parallel()
	w := start(t, 1, ekssim.VPCCNI(`{"extraEnv":[{"name":"NO_PROXY","value":"mine.example"}]}`))
	w.Kubectl(t, "-n", "kube-system", "set", "env", awsNode, "-c", "aws-node", "no_proxy=theirs.example")
	w.Rollout(t, "kube-system")
	before, values := w.state(t), w.eks.Addon("vpc-cni").Values
	r := w.expect(t, 0, addons("patch")...)
	says(t, r.Stderr, "NO_PROXY at /extraEnv of the configuration of the add-on vpc-cni is set by others and left as it is",
		"no_proxy in container aws-node is set by kubectl-set and left as it is")
	after := w.env(t, awsNode, "aws-node")
	if after["NO_PROXY"] != `{"name":"NO_PROXY","value":"mine.example"}` || after["no_proxy"] != `{"name":"no_proxy","value":"theirs.example"}` || after["HTTPS_PROXY"] == "" {
		t.Errorf("the variables are %v", after)
	}
	says(t, w.expect(t, 0, addons("patch")...).Stdout, "unchanged: ")

	// The user changes one of ours: it is theirs from then on, and stays.
	changed := strings.Replace(w.eks.Addon("vpc-cni").Values, `{"name":"https_proxy","valueFrom":{"configMapKeyRef":{"key":"https_proxy","name":"proxy-environment-variables","optional":true}}}`, `{"name":"https_proxy","value":"http://x:1"}`, 1)
	w.eks.SetValues(t, "vpc-cni", changed)
	r = w.expect(t, 0, revert()...)
	says(t, r.Stderr, "https_proxy at /extraEnv of the configuration of the add-on vpc-cni was changed by someone and stays")
	w.eks.SetValues(t, "vpc-cni", values)
	w.same(t, before)
}
