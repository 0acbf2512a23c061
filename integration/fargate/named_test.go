package fargate

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/eksproxy/eksproxy/integration/controlplane"
	"github.com/eksproxy/eksproxy/integration/program"
)

// TestNamed: BL-054. A namespace by its name: every sort of workload, in all
// containers, and nothing that cannot be patched; a second run, status, revert.
func TestNamed(t *testing.T) {
	t.Parallel()
	cp := start(t)
	populate(t, cp, "team-a", "team-c")
	facts := factsFile(t, profiles)
	before := state(t, cp)
	named := patch("--facts", facts, "--fargate-namespaces", "team-a")

	r := expect(t, 0, cp.Kubeconfig(), named...)
	says(t, r.Stdout, "ConfigMap team-a/proxy-environment-variables", "Deployment team-a/web", "StatefulSet team-a/db", "ReplicaSet team-a/bare", "CronJob team-a/nightly")
	says(t, r.Stderr, "Deployment team-a/argo is left alone: it belongs to Argo CD", "not patched: Job migrate: a Job's template cannot change",
		"not patched: Pod lonely", "ReplicaSet team-a/bare: no controller replaces its 1 pods", "container istio-proxy is the mesh's own", "NO_PROXY in container own is set by",
		"namespace team-c is not patched: the Fargate profile apps takes", "missing: ecr.dkr, logs, sts", "workload 1 of 2 with pods: Deployment team-a/web")
	hasSix(t, cp, "team-a", "deployment/web", "first", "side", "main")
	hasSix(t, cp, "team-a", "deployment/asleep", "asleep")
	hasSix(t, cp, "team-a", "statefulset/db", "db")
	hasSix(t, cp, "team-a", "replicaset/bare", "bare")
	hasSix(t, cp, "team-a", "cronjob/nightly", "nightly")
	hasNone(t, cp, "team-a", "deployment/argo", "argo")
	hasNone(t, cp, "team-a", "deployment/web", "istio-proxy")
	hasNone(t, cp, "team-c", "deployment/web", "main")
	if got := env(t, cp, "team-a", "deployment/web", "own"); got["NO_PROXY"] != `{"name":"NO_PROXY","value":"mine"}` || got["HTTP_PROXY"] == "" {
		t.Errorf("a variable of the user's: %v", got)
	}
	ours := cp.Kubectl(t, "-n", "kube-system", "get", "configmap", "proxy-environment-variables", "-o", "jsonpath={.data}")
	if copied := cp.Kubectl(t, "-n", "team-a", "get", "configmap", "proxy-environment-variables", "-o", "jsonpath={.data}"); copied != ours {
		t.Errorf("the copy differs:\n%s\n%s", copied, ours)
	}
	pods := cp.Kubectl(t, "-n", "team-a", "get", "pods", "-l", "app=db", "-o", `jsonpath={.items[*].spec.containers[*].env[?(@.name=="HTTPS_PROXY")].name}`)
	if strings.Count(pods, "HTTPS_PROXY") != 2 {
		t.Errorf("the pods of the StatefulSet are not new: %s", pods)
	}

	f := controlplane.NewFaults(t, cp)
	if r := expect(t, 0, f.Kubeconfig(t), named...); !strings.Contains(r.Stdout, "unchanged: 8 objects") {
		t.Errorf("a second run says: %s", r.Stdout)
	}
	if w := f.Writes(); len(w) != 0 {
		t.Errorf("a second run has written: %v", w)
	}
	r = expect(t, 1, cp.Kubeconfig(), "addons", "status") // no controller replaces the pod of a bare ReplicaSet
	says(t, r.Stdout, "CronJob team-a/nightly", "team-a     ", "InSync     True", "ReplicaSet team-a/bare: pod bare-")
	cp.Kubectl(t, "-n", "team-a", "delete", "pods", "-l", "app=bare")
	cp.Eventually(t, 30*time.Second, "a new pod", func() error {
		if r := eksproxy(t, cp.Kubeconfig(), "addons", "status"); r.Code != 0 {
			return fmt.Errorf("exit %d: %s", r.Code, r.Stdout)
		}
		return nil
	})

	expect(t, 0, cp.Kubeconfig(), "addons", "revert")
	if diff := program.Diff(before, state(t, cp)); diff != "" {
		t.Errorf("revert has left:\n%s", diff)
	}
	if r := expect(t, 0, cp.Kubeconfig(), "addons", "revert"); !strings.Contains(r.Stdout, "unchanged") {
		t.Errorf("a second revert says: %s", r.Stdout)
	}
}
