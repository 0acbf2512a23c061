package controlplane

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"
)

// pod is what tests read of a pod.
type pod struct {
	Status struct {
		Phase, PodIP      string
		Conditions        []struct{ Type, Status string }
		ContainerStatuses []struct {
			State struct {
				Waiting    *struct{ Reason string }
				Terminated *struct {
					ExitCode int
					Message  string
				}
			}
		}
	}
}

// summary is the pod in one line.
func (p pod) summary() string {
	words := []string{p.Status.Phase}
	if p.Status.PodIP != "" {
		words = append(words, "ip")
	}
	for _, c := range p.Status.Conditions {
		if c.Type == "Ready" && c.Status == "True" {
			words = append(words, "ready")
		}
	}
	for _, c := range p.Status.ContainerStatuses {
		if w := c.State.Waiting; w != nil {
			words = append(words, w.Reason)
		}
		if e := c.State.Terminated; e != nil {
			words = append(words, "exit", strconv.Itoa(e.ExitCode), e.Message)
		}
	}
	return strings.TrimSpace(strings.Join(words, " "))
}

// expectPod waits until the pod has become this.
func expectPod(t *testing.T, cp *ControlPlane, name, want string) {
	t.Helper()
	cp.Eventually(t, time.Minute, "the pod "+name, func() error {
		var p pod
		cp.Get(t, "/api/v1/namespaces/default/pods/"+name, &p)
		if got := p.summary(); got != want {
			return errors.New("it is " + got + ", not " + want)
		}
		return nil
	})
}

// podYAML is a pod with an annotation.
func podYAML(name, policy, annotation string) string {
	return fmt.Sprintf(`
---
{apiVersion: v1, kind: Pod, metadata: {name: %s, labels: {app: %[1]s}, annotations: {%s}},
 spec: {restartPolicy: %s, containers: [{name: c, image: i, env: [{name: HTTPS_PROXY, value: "http://proxy.test"}]}]}}`, name, annotation, policy)
}

func TestWhatBecomesOfPods(t *testing.T) {
	cp := Start(t, Options{Nodes: 1, Rules: []Rule{
		{When: `.metadata.absent[].x`, Outcome: Crashing},
		{When: `.metadata.labels.app == "ruled"`, Outcome: Failed, ExitCode: 7, Message: "no \"route\""},
		{When: `.metadata.labels.app == "ruled"`, Outcome: Unready},
	}})
	outcomes := map[string]string{
		string(Unready): "Running ip", string(NoAddress): "Pending ContainerCreating",
		string(NoImage): "Pending ip ImagePullBackOff", string(Crashing): "Running ip CrashLoopBackOff",
		string(Failed): "Failed ip exit 1", string(Succeeded): "Succeeded ip exit 0",
	}
	pods := []string{podYAML("plain", "Always", ""), podYAML("probe", "Never", `eksproxy.dev/probe: "true"`), podYAML("ruled", "Never", "")}
	for name := range outcomes {
		pods = append(pods, podYAML(name, "Never", StuckAnnotation+": "+name))
	}
	cp.Create(t, strings.Join(pods, ""))
	expectPod(t, cp, "plain", "Running ip ready")
	expectPod(t, cp, "probe", "Succeeded ip exit 0")
	expectPod(t, cp, "ruled", `Failed ip exit 7 no "route"`)
	for name, want := range outcomes {
		expectPod(t, cp, name, want)
	}
	versions := cp.Kubectl(t, "get", "pods", "-o", "jsonpath={.items[*].metadata.resourceVersion}")
	time.Sleep(time.Second)
	if later := cp.Kubectl(t, "get", "pods", "-o", "jsonpath={.items[*].metadata.resourceVersion}"); later != versions {
		t.Errorf("pods that wait change all the time: %s, then %s", versions, later)
	}
	cp.Kubectl(t, "delete", "pod", "--all", "--timeout=60s")
}

func TestRulesChangeAtRunTime(t *testing.T) {
	cp := Start(t, Options{Nodes: 4})
	InstallEKS(t, cp, EKS{Only: []string{"aws-node"}})
	start := time.Now()
	cp.SetRules(t, Rule{When: `any(.spec.containers[].env[]?; .name == "HTTPS_PROXY")`, Outcome: Unready})
	t.Logf("rules: changed in %.1f s", time.Since(start).Seconds())
	cp.Kubectl(t, "set", "env", "daemonset/aws-node", "-n", "kube-system", "-c", "aws-node", "HTTPS_PROXY=http://proxy.test")
	cp.Eventually(t, time.Minute, "the canary", func() error {
		var sets daemonSets
		cp.Get(t, "/apis/apps/v1/namespaces/kube-system/daemonsets", &sets)
		if s := sets.Items[0].Status; s.UpdatedNumberScheduled != 1 || s.NumberReady != 3 {
			return fmt.Errorf("it is %+v", s)
		}
		return nil
	})
	cp.SetRules(t)
	cp.Rollout(t, "kube-system")
	if names := cp.Kubectl(t, "get", "pods", "-n", "kube-system", "-o", "name"); strings.Count(names, "aws-node") != 4 {
		t.Errorf("there are %s", names)
	}
}
