package controlplane

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// status is what tests read of DaemonSets.
type daemonSets struct {
	Items []struct {
		Metadata struct{ Name string }
		Status   struct{ DesiredNumberScheduled, NumberReady, UpdatedNumberScheduled int }
	}
}

func TestEKSOnSimulatedNodes(t *testing.T) {
	cp := Start(t, Options{Nodes: 5})
	start := time.Now()
	InstallEKS(t, cp, EKS{NodeLocalDNS: true})
	t.Logf("add-ons: rolled out after %.1f s", time.Since(start).Seconds())
	var sets daemonSets
	cp.Get(t, "/apis/apps/v1/namespaces/kube-system/daemonsets", &sets)
	if len(sets.Items) != 5 {
		t.Fatalf("got %d DaemonSets", len(sets.Items))
	}
	for _, set := range sets.Items {
		if set.Status.DesiredNumberScheduled != 5 || set.Status.NumberReady != 5 {
			t.Errorf("%s: %+v", set.Metadata.Name, set.Status)
		}
	}
	got := cp.Kubectl(t, "get", "daemonset", "aws-node", "-n", "kube-system", "--show-managed-fields",
		"-o", "jsonpath={range .metadata.managedFields[*]}{.manager}:{.operation} {end}")
	if !strings.Contains(got, "eks:Apply") {
		t.Errorf("the managers of aws-node are %q", got)
	}
	if got := cp.Kubectl(t, "get", "service", "kube-dns", "-n", "kube-system", "-o", "jsonpath={.spec.clusterIP}"); got != "10.100.0.10" {
		t.Errorf("kube-dns is %q", got)
	}
	cp.AddNodes(t, Node{Name: "late", Labels: map[string]string{"eks.amazonaws.com/compute-type": "hybrid"}})
	late := func() string {
		return cp.Kubectl(t, "get", "pods", "-n", "kube-system", "--field-selector", "spec.nodeName=late", "-o", "name")
	}
	cp.Eventually(t, time.Minute, "kube-proxy on the late node", func() error {
		if got := late(); !strings.Contains(got, "kube-proxy") {
			return errors.New("there are " + got)
		}
		return nil
	})
	cp.Rollout(t, "kube-system")
	if got := late(); strings.Contains(got, "aws-node") {
		t.Errorf("on a hybrid node there are %q", got)
	}
	checkConflict(t, cp)
	checkRollingUpdate(t, cp)
}

// checkConflict takes a field of EKS's.
func checkConflict(t *testing.T, cp *ControlPlane) {
	t.Helper()
	const mine = `{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: aws-node, namespace: kube-system},
spec: {template: {spec: {containers: [{name: aws-node, env: [{name: WARM_ENI_TARGET, value: "7"}]}]}}}}`
	if err := cp.TryApply(t, "mine", false, mine); err == nil || !strings.Contains(err.Error(), `conflict with "eks"`) {
		t.Errorf("a field of eks was taken: %v", err)
	}
	cp.Apply(t, "mine", false, strings.Replace(mine, "WARM_ENI_TARGET", "MINE", 1))
	cp.Rollout(t, "kube-system")
}

// checkRollingUpdate has EKS upgrade an add-on.
func checkRollingUpdate(t *testing.T, cp *ControlPlane) {
	t.Helper()
	manifest, err := cp.Manifest("aws-node")
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	cp.Apply(t, Manager, true, strings.ReplaceAll(manifest, "v1.21.1", "v1.21.2"))
	cp.Rollout(t, "kube-system")
	t.Logf("rolling update: %.1f s", time.Since(start).Seconds())
	images := cp.Kubectl(t, "get", "pods", "-n", "kube-system", "-l", "k8s-app=aws-node", "-o",
		"jsonpath={range .items[*]}{.spec.containers[0].image} {.spec.containers[0].env[-1:].name}{'\\n'}{end}")
	if strings.Count(images, "v1.21.2") != 5 || strings.Count(images, " MINE") != 5 {
		t.Errorf("after the upgrade there run:\n%s", images)
	}
}

func TestUsersHaveTheRightsOfTheTest(t *testing.T) {
	cp := Start(t, Options{NoControllers: true})
	config := cp.UserKubeconfig(t, "user3")
	if out, err := cp.TryKubectl(t, "--kubeconfig", config, "get", "nodes"); err == nil {
		t.Fatalf("a user without a role reads nodes: %s", out)
	}
	cp.Create(t, `
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: r}, rules: [{apiGroups: [""], resources: [nodes], verbs: [list]}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: r},
 roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: r}, subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: user3}]}
`)
	cp.Eventually(t, time.Minute, "the role", func() error {
		_, err := cp.TryKubectl(t, "--kubeconfig", config, "get", "nodes")
		return err
	})
	if out, err := cp.TryKubectl(t, "--kubeconfig", config, "get", "pods"); err == nil {
		t.Errorf("a user with a role for nodes reads pods: %s", out)
	}
}

func TestDeadComponentIsReported(t *testing.T) {
	_, err := Run(t.Context(), t.TempDir(), Options{NoControllers: true, APIServerArgs: []string{"--no-such-flag"}})
	if err == nil || !strings.Contains(fmt.Sprint(err), "kube-apiserver has ended") || !strings.Contains(err.Error(), "unknown flag") {
		t.Errorf("got %v", err)
	}
}
