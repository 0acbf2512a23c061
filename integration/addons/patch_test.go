package addons

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

// TestPatch: BL-005, BL-009, BL-013, BL-018, BL-049, BL-053. The order's example
// from beginning to end, on add-ons that EKS manages.
func TestPatch(t *testing.T) {
	t.Parallel()
	cp := start(t, 3)
	cp.Apply(t, "team", false, `{apiVersion: v1, kind: ConfigMap, metadata: {name: old, namespace: kube-system}}`)
	cp.Kubectl(t, "-n", "kube-system", "patch", awsNode, "--field-manager=team", "-p",
		`{"spec":{"template":{"spec":{"containers":[{"name":"aws-node","envFrom":[{"configMapRef":{"name":"old","optional":true}}]}]}}}}`)
	cp.Rollout(t, "kube-system")
	before, envBefore := state(t, cp), env(t, cp, awsNode, "aws-node")
	pods := cp.Kubectl(t, "-n", "kube-system", "get", "pods", "-l", "k8s-app=aws-node", "-o", "name")

	r := expect(t, 0, cp.Kubeconfig(), patch()...)
	for _, text := range []string{"create  ConfigMap kube-system/proxy-environment-variables", "update  DaemonSet kube-system/aws-node", "3 changed, 0 not done"} {
		if !strings.Contains(r.Stdout, text) {
			t.Errorf("%q is not printed: %s", text, r.Stdout)
		}
	}
	data := object(t, cp, "configmap/proxy-environment-variables")["data"].(map[string]any)
	for _, name := range variables() {
		if value, ok := data[name].(string); !ok || value == "" {
			t.Errorf("the ConfigMap has no %s", name)
		}
		if strings.Contains(strings.ToLower(name), "no_") {
			for _, entry := range []string{"10.40.0.0/16", "100.64.0.0/16", "10.100.0.0/16", "10.100.0.1", "169.254.170.23", ".svc", "0123456789ABCDEF0123456789ABCDEF.gr7.eu-west-1.eks.amazonaws.com"} {
				if !slices.Contains(strings.Split(data[name].(string), ","), entry) {
					t.Errorf("%s lacks %s: %s", name, entry, data[name])
				}
			}
		}
	}
	if len(data) != 6 {
		t.Errorf("the ConfigMap has %d keys, want 6", len(data))
	}
	for workload, container := range map[string]string{awsNode: "aws-node", kubeProxy: "kube-proxy"} {
		after := env(t, cp, workload, container)
		for _, name := range variables() {
			item, _ := json.Marshal(after[name])
			want := `{"name":"` + name + `","valueFrom":{"configMapKeyRef":{"key":"` + name + `","name":"proxy-environment-variables","optional":true}}}`
			if string(item) != want {
				t.Errorf("%s in %s is %s, want %s", name, workload, item, want)
			}
			delete(after, name)
		}
		if workload == awsNode && program.Diff(text(envBefore), text(after)) != "" {
			t.Errorf("other variables have changed:\n%s", program.Diff(text(envBefore), text(after)))
		}
	}
	for _, container := range []string{"aws-vpc-cni-init", "aws-eks-nodeagent"} {
		if e := env(t, cp, awsNode, container); e["HTTP_PROXY"] != nil {
			t.Errorf("%s got the variables, and calls nobody outside", container)
		}
	}
	if described := cp.Kubectl(t, "-n", "kube-system", "describe", awsNode); strings.Count(described, "of config map 'proxy-environment-variables'>") != 6 || !strings.Contains(described, "old") {
		t.Errorf("kubectl describe shows:\n%s", described)
	}
	if now := cp.Kubectl(t, "-n", "kube-system", "get", "pods", "-l", "k8s-app=aws-node", "-o", "name"); shared(pods, now) {
		t.Errorf("pods were not replaced: %s", now)
	}

	generation := object(t, cp, awsNode)["metadata"].(map[string]any)["generation"]
	if r := expect(t, 0, cp.Kubeconfig(), patch()...); !strings.Contains(r.Stdout, "unchanged: 3 objects") {
		t.Errorf("a second run says: %s", r.Stdout)
	}
	if again := object(t, cp, awsNode)["metadata"].(map[string]any)["generation"]; again != generation {
		t.Errorf("a second run has written: generation %v, then %v", generation, again)
	}

	expect(t, 0, cp.Kubeconfig(), "addons", "revert")
	if diff := program.Diff(before, state(t, cp)); diff != "" {
		t.Errorf("revert has left:\n%s", diff)
	}
	if r := expect(t, 0, cp.Kubeconfig(), "addons", "revert"); !strings.Contains(r.Stdout, "unchanged") {
		t.Errorf("a second revert says: %s", r.Stdout)
	}
}

func text(v any) string {
	data, _ := json.MarshalIndent(v, "", " ")
	return string(data)
}

// shared says whether two lists have a line in common.
func shared(a, b string) bool {
	lines := strings.Fields(a)
	return slices.ContainsFunc(strings.Fields(b), func(l string) bool { return slices.Contains(lines, l) })
}

// TestNewSettingsRollOnce: BL-052. A changed value rolls the pods, once.
func TestNewSettingsRollOnce(t *testing.T) {
	t.Parallel()
	cp := start(t, 2)
	generation := func() any { return object(t, cp, awsNode)["metadata"].(map[string]any)["generation"] }
	expect(t, 0, cp.Kubeconfig(), patch("--canary=off")...)
	first := generation()
	for _, args := range [][]string{{"addons", "plan"}, {"addons", "patch", "--dry-run"}} { // what a change does to clients is said first
		r := expect(t, 0, cp.Kubeconfig(), slices.Concat(args, network(), []string{"--no-proxy-add", ".corp.example"})...)
		if !regexp.MustCompile(`(?m)^NO_PROXY changes what clients do:\n(.*\n)*?https://www.corp.example/ +a host in .* +proxy +direct +`).MatchString(r.Stdout) {
			t.Errorf("%s does not show what .corp.example changes:\n%s", args, r.Stdout)
		}
	}
	if r := expect(t, 0, cp.Kubeconfig(), slices.Concat([]string{"addons", "plan"}, network())...); strings.Contains(r.Stdout, "NO_PROXY changes") {
		t.Errorf("a plan with the same value says:\n%s", r.Stdout)
	}
	if r := expect(t, 0, cp.Kubeconfig(), slices.Concat([]string{"addons", "plan", "-o", "markdown"}, network(), []string{"--no-proxy-add", "git.example"})...); !strings.Contains(r.Stdout, "\n| `https://git.example/` | the listed host | proxy | direct | ") {
		t.Errorf("the ticket does not show what git.example changes:\n%s", r.Stdout)
	}
	expect(t, 0, cp.Kubeconfig(), patch("--canary=off", "--no-proxy-add", ".corp.example")...)
	second := generation()
	if first == second {
		t.Error("a changed NO_PROXY has not changed the template")
	}
	expect(t, 0, cp.Kubeconfig(), patch("--canary=off", "--no-proxy-add", ".corp.example")...)
	if generation() != second {
		t.Error("the same settings have changed the template again")
	}
}

// TestPlanApproved: a plan is written, approved and applied; after someone else's
// change it is refused and nothing is written.
func TestPlanApproved(t *testing.T) {
	t.Parallel()
	cp := start(t, 2)
	name := filepath.Join(t.TempDir(), "plan.json")
	plan := slices.Concat([]string{"addons", "plan", "--out", name, "--exit-code"}, network())
	expect(t, 1, cp.Kubeconfig(), plan...)

	cp.Kubectl(t, "-n", "kube-system", "set", "env", awsNode, "-c", "aws-node", "NO_PROXY=mine")
	cp.Rollout(t, "kube-system")
	before := state(t, cp)
	r := expect(t, 1, cp.Kubeconfig(), "addons", "patch", "--plan", name)
	if !strings.Contains(r.Stderr, "the approved plan is not what would be done now") {
		t.Errorf("it says: %s", r.Stderr)
	}
	if diff := program.Diff(before, state(t, cp)); diff != "" {
		t.Errorf("something was written:\n%s", diff)
	}

	cp.Kubectl(t, "-n", "kube-system", "set", "env", awsNode, "-c", "aws-node", "NO_PROXY-")
	cp.Rollout(t, "kube-system")
	expect(t, 0, cp.Kubeconfig(), "addons", "patch", "--plan", name, "--reason", "CHG0012")
	reason := object(t, cp, awsNode)["metadata"].(map[string]any)["annotations"].(map[string]any)["eksproxy.dev/reason"]
	if reason != "CHG0012" {
		t.Errorf("the reason is %v", reason)
	}
	expect(t, 0, cp.Kubeconfig(), plan...)
}

// TestTargetGuard: without a terminal nothing is taken from a current context.
func TestTargetGuard(t *testing.T) {
	t.Parallel()
	cp := controlplane.Start(t, controlplane.Options{NoControllers: true})
	full, err := program.Full()
	if err != nil {
		t.Fatal(err)
	}
	controlplane.InstallEKS(t, cp, controlplane.EKS{Only: []string{"aws-node"}, NoWait: true})
	r := program.Exec(t, []string{"KUBECONFIG=" + cp.Kubeconfig()}, slices.Concat([]string{full}, patch("--yes"))...)
	if r.Code != 2 || !strings.Contains(r.Stderr, "--context") {
		t.Errorf("exit %d: %s", r.Code, r.Stderr)
	}
	if _, err := cp.TryKubectl(t, "-n", "kube-system", "get", "configmap", "proxy-environment-variables"); err == nil {
		t.Error("the ConfigMap was made")
	}
	if r := expect(t, 2, cp.Kubeconfig(), patch("--component", "karpenter")...); !strings.Contains(r.Stderr, "Deployment kube-system/karpenter is not in this cluster") {
		t.Errorf("it says: %s", r.Stderr)
	}
	if r := expect(t, 2, cp.Kubeconfig(), patch("--component", "karpetner")...); !strings.Contains(r.Stderr, "known are") {
		t.Errorf("it says: %s", r.Stderr)
	}
	if r := expect(t, 2, cp.Kubeconfig(), patch("--workload", "kube-system/pod/x")...); !strings.Contains(r.Stderr, "allowed: daemonset") {
		t.Errorf("it says: %s", r.Stderr)
	}
}

// TestCredentials: BL-035. Passwords go into a Secret and nowhere else; a new
// password rolls the pods.
func TestCredentials(t *testing.T) {
	t.Parallel()
	cp := start(t, 2)
	login := filepath.Join(t.TempDir(), "login")
	give := func(password string) {
		if err := os.WriteFile(login, []byte(secret.User+":"+password+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	give(secret.Password)
	before := state(t, cp)
	if r := expect(t, 2, cp.Kubeconfig(), patch("--credentials-file", login)...); !strings.Contains(r.Stderr, "--create-secret") {
		t.Errorf("it says: %s", r.Stderr)
	}
	with := patch("--credentials-file", login, "--create-secret", "--canary=off")
	expect(t, 0, cp.Kubeconfig(), with...)
	item, _ := json.Marshal(env(t, cp, awsNode, "aws-node")["https_proxy"])
	if want := `{"name":"https_proxy","valueFrom":{"secretKeyRef":{"key":"HTTPS_PROXY","name":"eksproxy-credentials","optional":true}}}`; string(item) != want {
		t.Errorf("https_proxy is %s, want %s", item, want)
	}
	maps := cp.Kubectl(t, "-n", "kube-system", "get", "configmaps,daemonsets", "-o", "yaml", "--show-managed-fields")
	if form := secret.In(maps); form != "" {
		t.Errorf("the password stands in an object that many can read, %s", form)
	}
	generation := object(t, cp, awsNode)["metadata"].(map[string]any)["generation"]
	if r := expect(t, 0, cp.Kubeconfig(), with...); !strings.Contains(r.Stdout, "unchanged: 4 objects") {
		t.Errorf("a second run says: %s", r.Stdout)
	}
	give(secret.Password + "new")
	expect(t, 0, cp.Kubeconfig(), with...)
	if object(t, cp, awsNode)["metadata"].(map[string]any)["generation"] == generation {
		t.Error("a new password rolls no pods")
	}
	expect(t, 0, cp.Kubeconfig(), "addons", "revert")
	if diff := program.Diff(before, state(t, cp)); diff != "" {
		t.Errorf("revert has left:\n%s", diff)
	}

	if r := expect(t, 2, cp.Kubeconfig(), patch("--credentials-secret", "corp")...); !strings.Contains(r.Stderr, "is not there; make it with kubectl") {
		t.Errorf("it says: %s", r.Stderr)
	}
	cp.Kubectl(t, "-n", "kube-system", "create", "secret", "generic", "corp", "--from-literal=HTTP_PROXY=http://u:x@proxy.example:3128", "--from-literal=HTTPS_PROXY=http://u:x@proxy.example:3128")
	expect(t, 0, cp.Kubeconfig(), patch("--credentials-secret", "corp", "--canary=off")...)
	expect(t, 0, cp.Kubeconfig(), "addons", "revert")
	cp.Kubectl(t, "-n", "kube-system", "get", "secret", "corp") // it stays
}
