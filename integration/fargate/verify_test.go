package fargate

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/eksproxy/eksproxy/integration/controlplane"
)

// report is what verify -o json prints.
type report struct {
	Findings []struct{ ID, Status, Target, Evidence, Remedy string }
}

// found are the findings of the checks on workload namespaces that are no pass, as
// "fail CLUSTER025 TARGET: EVIDENCE"; code is any.
func found(t *testing.T, kubeconfig string, args ...string) []string {
	t.Helper()
	r := eksproxy(t, kubeconfig, slices.Concat([]string{"verify", "cluster", "-o", "json"}, args)...)
	var doc report
	if err := json.Unmarshal([]byte(r.Stdout), &doc); err != nil {
		t.Fatalf("exit %d: %v\n%s%s", r.Code, err, r.Stdout, r.Stderr)
	}
	var all []string
	for _, f := range doc.Findings {
		if f.Status == "fail" || f.Status == "warn" || f.Status == "unknown" {
			all = append(all, fmt.Sprintf("%s %s %s: %s", f.Status, f.ID, f.Target, f.Evidence))
		}
	}
	return all
}

// TestVerify: BL-054, BL-055. Each fault is found by its check and by no other of
// the namespaces' checks.
func TestVerify(t *testing.T) {
	t.Parallel()
	cp := start(t)
	populate(t, cp)
	cp.Create(t, deployment("team-b", "web", "1", ""))
	cp.Create(t, deployment("team-b", "asleep", "0", ""))
	cp.Rollout(t, "team-b")
	facts := factsFile(t, profiles)
	args := []string{"--facts", facts}
	again := func(more ...string) {
		t.Helper()
		expect(t, 0, cp.Kubeconfig(), patch(append([]string{"--facts", facts}, more...)...)...)
	}
	again()
	ours := regexp.MustCompile(`CLUSTER0(1[1-8]|2[3-9]|30)`)
	clean := []string{"warn CLUSTER029 Deployment team-b/asleep", "warn CLUSTER029 Deployment team-b/web", "warn CLUSTER030 Fargate"}
	demand := func(name string, want ...string) {
		t.Helper()
		got := found(t, cp.Kubeconfig(), args...)
		got = slices.DeleteFunc(got, func(f string) bool {
			return !ours.MatchString(f) || slices.ContainsFunc(clean, func(c string) bool { return strings.HasPrefix(f, c) })
		})
		if len(got) != len(want) {
			t.Errorf("%s: found is %q, want %q", name, got, want)
			return
		}
		for i, w := range want {
			if !strings.Contains(got[i], w) {
				t.Errorf("%s: found is %q, want %q", name, got[i], w)
			}
		}
	}
	demand("nothing")
	all := strings.Join(found(t, cp.Kubeconfig(), args...), "\n")
	says(t, all, "outside of the account's ECR: images.test/web:1", "the VPC has no usable endpoint for ecr.dkr, logs, sts")

	cp.Kubectl(t, "-n", "team-b", "delete", "configmap", "proxy-environment-variables")
	demand("BL-054 no ConfigMap", "fail CLUSTER025 namespace team-b: it has no ConfigMap proxy-environment-variables")
	again()
	cp.Kubectl(t, "-n", "team-b", "patch", "configmap", "proxy-environment-variables", "--type=merge", "-p", `{"data":{"NO_PROXY":"localhost"}}`)
	demand("a copy that differs", "fail CLUSTER026 namespace team-b: its ConfigMap is not as that of kube-system: NO_PROXY lacks")
	again()
	cp.Create(t, deployment("team-b", "later", "0", ""))
	clean = append(clean, "warn CLUSTER029 Deployment team-b/later")
	demand("a workload that came later", "fail CLUSTER027 Deployment team-b/later: containers without the variables: later")
	cp.Kubectl(t, "-n", "team-b", "annotate", "deployment", "later", "argocd.argoproj.io/tracking-id=x")
	demand("one of Argo CD's", "warn CLUSTER027 Deployment team-b/later")
	cp.Kubectl(t, "-n", "team-b", "delete", "deployment", "later")
	cp.Kubectl(t, "-n", "team-b", "patch", "deployment", "web", "--type=merge", "-p", `{"spec":{"paused":true,"template":{"metadata":{"annotations":{"new":"1"}}}}}`)
	demand("BL-052 stale pods", "fail CLUSTER015 Deployment team-b/web: 1 of 1 pods have an older template")
	cp.Kubectl(t, "-n", "team-b", "patch", "deployment", "web", "--type=merge", "-p", `{"spec":{"paused":false}}`)
	cp.Rollout(t, "team-b")
	cp.Kubectl(t, "create", "namespace", "team-new")
	cp.Kubectl(t, "label", "namespace", "team-new", "eksproxy.dev/inject=enabled")
	demand("a namespace that was labelled later", "fail CLUSTER025 namespace team-new")
	cp.Kubectl(t, "delete", "namespace", "team-new")
	args = append(args, "--http-proxy", proxyURL, "--fargate-namespaces", "team-c")
	demand("a namespace that the settings name", "fail CLUSTER025 namespace team-c")
	args = args[:2]

	url := filepath.Join(t.TempDir(), "url")
	login := filepath.Join(t.TempDir(), "login")
	for name, text := range map[string]string{url: "http://u:p@proxy.example:3128", login: secret.User + ":" + secret.Password} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cp.Kubectl(t, "-n", "team-b", "create", "secret", "generic", "eksproxy-credentials", "--from-file=HTTP_PROXY="+url, "--from-file=HTTPS_PROXY="+url)
	again("--credentials-file", login, "--create-secret")
	demand("a Secret that is there")
	cp.Kubectl(t, "-n", "team-b", "delete", "secret", "eksproxy-credentials")
	demand("no Secret", "fail CLUSTER023 Secret team-b/eksproxy-credentials: it is not there")
	cp.Kubectl(t, "-n", "team-b", "create", "secret", "generic", "eksproxy-credentials", "--from-file=HTTP_PROXY="+url, "--from-file=HTTPS_PROXY="+url)
	cp.Kubectl(t, "label", "namespace", "team-a", "eksproxy.dev/inject=enabled")
	demand("a namespace without its own", "fail CLUSTER025 namespace team-a", "fail CLUSTER028 Secret team-a/eksproxy-credentials: it is not there: the namespace is left alone")
}

// TestRights: whoever has the roles of docs/permissions.md for workload namespaces
// can do all of it, and is refused nothing.
func TestRights(t *testing.T) {
	t.Parallel()
	cp := start(t)
	populate(t, cp)
	cp.Create(t, everything("team-a"))
	cp.Kubectl(t, "-n", "team-a", "rollout", "status", "statefulset/db", "--timeout=60s")
	cp.Rollout(t, "team-a")
	nodeClasses(t, cp, allFields, "default")
	cp.Apply(t, "test", false, roles(t))
	for _, name := range []string{"eksproxy-addons", "eksproxy-addons-namespaces", "eksproxy-addons-auto-mode"} {
		cp.Kubectl(t, "create", "clusterrolebinding", "user0-"+name, "--user", "user0", "--clusterrole", name)
	}
	cp.Kubectl(t, "-n", "kube-system", "create", "rolebinding", "user0", "--user", "user0", "--role", "eksproxy-addons")
	cp.Kubectl(t, "-n", "default", "create", "rolebinding", "user0", "--user", "user0", "--role", "eksproxy-addons")
	for _, right := range []string{"list daemonsets.apps", "list deployments.apps -n team-a", "list nodeclasses.eks.amazonaws.com", "list pods -n kube-system", "get services/kubernetes -n default"} {
		cp.AwaitRight(t, "user0", strings.Fields(right)...)
	}
	f := controlplane.NewFaults(t, cp)
	kubeconfig := f.UserKubeconfig(t, "user0")
	named := []string{"--facts", factsFile(t, profiles+"autoMode: true\n"), "--fargate-namespaces", "team-a"}
	expect(t, 0, kubeconfig, plan(named...)...)
	expect(t, 0, kubeconfig, patch(named...)...)
	expect(t, 1, kubeconfig, "addons", "status") // the pod of the bare ReplicaSet
	eksproxy(t, kubeconfig, append([]string{"verify", "cluster"}, named...)...)
	expect(t, 0, kubeconfig, "addons", "revert")
	for _, q := range f.Requests() {
		if q.Status == 403 {
			t.Errorf("user0 is refused %s on %s.%s %s/%s", q.Verb, q.Resource, q.Group, q.Namespace, q.Name)
		}
	}
}

// roles are those of docs/permissions.md.
func roles(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile("../../docs/permissions.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(data), "<!-- generated: roles -->")
	text, _, _ = strings.Cut(text, "<!-- end of generated -->")
	var all []string
	for i, block := range strings.Split(text, "```yaml\n") {
		if inside, _, ok := strings.Cut(block, "```"); ok && i > 0 {
			all = append(all, inside)
		}
	}
	return strings.Join(all, "---\n")
}
