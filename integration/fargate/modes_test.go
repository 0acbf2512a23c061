package fargate

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/eksproxy/eksproxy/integration/controlplane"
	"github.com/eksproxy/eksproxy/integration/program"
)

// TestModes: labelled, listed, patch and off, and options that cannot work.
func TestModes(t *testing.T) {
	t.Parallel()
	cp := start(t)
	populate(t, cp)
	for _, ns := range []string{"team-b", "team-c", "other"} {
		cp.Create(t, deployment(ns, "web", "1", ""))
	}
	cp.Create(t, deployment("team-c", "plain", "1", ""))
	cp.Kubectl(t, "-n", "team-c", "patch", "deployment", "plain", "--type=json", "-p", `[{"op":"remove","path":"/spec/template/metadata/labels/run"}]`)
	for _, ns := range []string{"team-b", "team-c", "other"} {
		cp.Rollout(t, ns)
	}
	facts := factsFile(t, profiles)
	before := state(t, cp)

	r := expect(t, 0, cp.Kubeconfig(), plan("--facts", facts, "--fargate", "off")...)
	if strings.Contains(r.Stdout+r.Stderr, "team-") {
		t.Errorf("--fargate=off speaks of namespaces:\n%s%s", r.Stdout, r.Stderr)
	}
	r = expect(t, 1, cp.Kubeconfig(), plan("--facts", facts, "--exit-code")...)
	says(t, r.Stdout, "ConfigMap team-b/proxy-environment-variables", "Deployment team-b/web", "rolls 1 pod",
		"namespace team-c is not patched: the Fargate profile apps takes Deployment web. --fargate-namespaces team-c", "roll 1 pods")
	if strings.Contains(r.Stdout, "other") || strings.Contains(r.Stdout, "plain") {
		t.Errorf("it speaks of what no profile takes:\n%s", r.Stdout)
	}
	if diff := program.Diff(before, state(t, cp)); diff != "" {
		t.Errorf("plan has written:\n%s", diff)
	}

	expect(t, 0, cp.Kubeconfig(), patch("--facts", facts)...)
	hasSix(t, cp, "team-b", "deployment/web", "web")
	hasNone(t, cp, "team-c", "deployment/web", "web")
	expect(t, 0, cp.Kubeconfig(), patch("--facts", facts, "--fargate", "patch")...)
	hasSix(t, cp, "team-c", "deployment/web", "web")
	hasNone(t, cp, "team-c", "deployment/plain", "plain")
	hasNone(t, cp, "other", "deployment/web", "web")
	expect(t, 0, cp.Kubeconfig(), "addons", "status")
	expect(t, 0, cp.Kubeconfig(), "addons", "revert")
	if diff := program.Diff(before, state(t, cp)); diff != "" {
		t.Errorf("revert has left:\n%s", diff)
	}

	for name, wrong := range map[string]struct {
		args []string
		says string
	}{
		"a namespace that is not there": {[]string{"--fargate-namespaces", "team-x"}, "the namespace team-x is not in this cluster"},
		"kube-system":                   {[]string{"--fargate-namespaces", "kube-system"}, "is no workload namespace"},
		"off and named":                 {[]string{"--fargate-namespaces", "team-a", "--fargate", "off"}, "give one of them"},
		"no profiles":                   {[]string{"--fargate", "patch"}, "needs the cluster's Fargate profiles"},
		"another value":                 {[]string{"--fargate", "all"}, "allowed: named, patch, off"},
	} {
		args := slices.Concat([]string{"--vpc-cidr", "10.40.0.0/16", "--service-cidr", "10.100.0.0/16"}, wrong.args)
		if r := expect(t, 2, cp.Kubeconfig(), patch(args...)...); !strings.Contains(r.Stderr, wrong.says) {
			t.Errorf("%s: it says %s", name, r.Stderr)
		}
	}
}

// TestForeignConfigMap: a ConfigMap of the team's own is taken over only when told
// so, and is given back.
func TestForeignConfigMap(t *testing.T) {
	t.Parallel()
	cp := start(t)
	populate(t, cp)
	cp.Create(t, deployment("team-a", "web", "0", ""))
	cp.Rollout(t, "team-a") // its controller writes to it
	cp.Create(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: proxy-environment-variables, namespace: team-a}, data: {HTTP_PROXY: "http://old.example:1", EXTRA: kept}}`)
	before := state(t, cp)
	named := patch("--facts", factsFile(t, profiles), "--fargate-namespaces", "team-a")
	if r := expect(t, 2, cp.Kubeconfig(), named...); !strings.Contains(r.Stderr, "ConfigMap team-a/proxy-environment-variables is there and is not eksproxy's") {
		t.Errorf("it says: %s", r.Stderr)
	}
	expect(t, 0, cp.Kubeconfig(), append(named, "--adopt")...)
	if got := cp.Kubectl(t, "-n", "team-a", "get", "configmap", "proxy-environment-variables", "-o", "jsonpath={.data.HTTP_PROXY} {.data.EXTRA}"); got != proxyURL+" kept" {
		t.Errorf("the ConfigMap has %s", got)
	}
	expect(t, 0, cp.Kubeconfig(), "addons", "revert")
	if diff := program.Diff(before, state(t, cp)); diff != "" {
		t.Errorf("revert has left:\n%s", diff)
	}
}

// TestCredentials: a namespace without its own Secret is reported and left alone;
// one with it is patched, and no Secret is made or copied.
func TestCredentials(t *testing.T) {
	t.Parallel()
	cp := start(t)
	populate(t, cp)
	for _, ns := range []string{"team-a", "team-b"} {
		cp.Create(t, deployment(ns, "web", "1", ""))
		cp.Rollout(t, ns)
	}
	login := filepath.Join(t.TempDir(), "login")
	if err := os.WriteFile(login, []byte(secret.User+":"+secret.Password+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	url := filepath.Join(t.TempDir(), "url")
	if err := os.WriteFile(url, []byte("http://u:p@proxy.example:3128"), 0o600); err != nil {
		t.Fatal(err)
	}
	cp.Kubectl(t, "-n", "team-b", "create", "secret", "generic", "eksproxy-credentials", "--from-file=HTTP_PROXY="+url, "--from-file=HTTPS_PROXY="+url)
	before := state(t, cp)
	with := patch("--facts", factsFile(t, profiles), "--fargate-namespaces", "team-a", "--credentials-file", login, "--create-secret")
	r := expect(t, 0, cp.Kubeconfig(), with...)
	says(t, r.Stderr, "namespace team-a is left alone: Secret team-a/eksproxy-credentials is not there; make it with kubectl -n team-a create secret generic", "never copied")
	hasNone(t, cp, "team-a", "deployment/web", "web")
	got := env(t, cp, "team-b", "deployment/web", "web")
	if want := `{"name":"https_proxy","valueFrom":{"secretKeyRef":{"key":"HTTPS_PROXY","name":"eksproxy-credentials","optional":true}}}`; got["https_proxy"] != want {
		t.Errorf("https_proxy is %s, want %s", got["https_proxy"], want)
	}
	if _, err := cp.TryKubectl(t, "-n", "team-a", "get", "secret", "eksproxy-credentials"); err == nil {
		t.Error("a Secret was made in team-a")
	}
	if form := secret.In(cp.Kubectl(t, "get", "-A", "configmaps,deployments,cronjobs", "-o", "yaml", "--show-managed-fields")); form != "" {
		t.Errorf("the password stands in an object that many can read, %s", form)
	}
	expect(t, 0, cp.Kubeconfig(), "addons", "revert")
	if diff := program.Diff(before, state(t, cp)); diff != "" {
		t.Errorf("revert has left:\n%s", diff)
	}
}

// TestBudgets: a rollout that a PodDisruptionBudget never allows is not begun, one
// that it does not allow now waits, and stops without a change.
func TestBudgets(t *testing.T) {
	t.Parallel()
	cp := start(t)
	populate(t, cp)
	cp.Create(t, everything("team-a"))
	cp.Kubectl(t, "-n", "team-a", "rollout", "status", "statefulset/db", "--timeout=60s")
	cp.Rollout(t, "team-a")
	cp.Kubectl(t, "-n", "team-a", "create", "poddisruptionbudget", "none", "--selector=app=db", "--max-unavailable=0")
	cp.Kubectl(t, "-n", "team-a", "create", "poddisruptionbudget", "some", "--selector=app=web", "--max-unavailable=0")
	named := []string{"--facts", factsFile(t, profiles), "--fargate-namespaces", "team-a"}
	r := expect(t, 0, cp.Kubeconfig(), patch(named...)...)
	says(t, r.Stderr, "StatefulSet team-a/db is left alone: its strategy takes 1 pods away at once, and PodDisruptionBudget none allows 0 at most")
	hasNone(t, cp, "team-a", "statefulset/db", "db")
	hasSix(t, cp, "team-a", "deployment/web", "main") // it makes a new pod first

	cp.Kubectl(t, "-n", "team-a", "delete", "poddisruptionbudget", "none")
	cp.Kubectl(t, "-n", "team-a", "create", "poddisruptionbudget", "one", "--selector=app=db", "--max-unavailable=1")
	cp.SetRules(t, controlplane.Rule{When: `.metadata.name == "db-1"`, Outcome: controlplane.Unready})
	cp.Kubectl(t, "-n", "team-a", "delete", "pod", "db-1")
	r = expect(t, 4, cp.Kubeconfig(), patch(append(named, "--pod-timeout", "3s")...)...)
	says(t, r.Stderr, "db: waiting for PodDisruptionBudget one, which allows 0 pods to be away", "nothing of it was changed")
	hasNone(t, cp, "team-a", "statefulset/db", "db")
	cp.SetRules(t)
	cp.Kubectl(t, "-n", "team-a", "delete", "pod", "db-1")
	expect(t, 0, cp.Kubeconfig(), patch(named...)...)
	hasSix(t, cp, "team-a", "statefulset/db", "db")
}
