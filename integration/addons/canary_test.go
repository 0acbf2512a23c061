package addons

import (
	"context"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/eksproxy/eksproxy/integration/controlplane"
	"github.com/eksproxy/eksproxy/integration/program"
)

// hasProxy holds for a pod that has the variables.
const hasProxy = `any(.spec.containers[].env[]?; .name == "HTTPS_PROXY")`

// isProbe holds for the probe pod.
const isProbe = `.metadata.annotations["eksproxy.dev/probe"] == "true"`

// ordered says whether the texts stand in this order.
func ordered(text string, parts ...string) bool {
	for _, p := range parts {
		i := strings.Index(text, p)
		if i < 0 {
			return false
		}
		text = text[i+len(p):]
	}
	return true
}

// TestCanaryOrder: one pod first, then a probe on its node, then the rest.
func TestCanaryOrder(t *testing.T) {
	t.Parallel()
	cp := start(t, 3)
	faults := controlplane.NewFaults(t, cp)
	r := expect(t, 0, faults.Kubeconfig(t), patch("--skip", "kube-proxy")...)
	if !ordered(r.Stderr, "its update strategy is held", "the pod template is changed", "is replaced first", "has the new template and is ready", "a probe pod on node", "its own update strategy is given back", "rolled out, 3 of 3") {
		t.Errorf("the order is:\n%s", r.Stderr)
	}
	deleted := faults.Requests(controlplane.Match{Verb: "delete", Resource: "pods"})
	if len(deleted) != 2 { // the first pod and the probe; the controller replaces the others
		t.Errorf("%d pods were deleted, want 2", len(deleted))
	}
	if pods := cp.Kubectl(t, "get", "pods", "-A", "-l", "app.kubernetes.io/managed-by=eksproxy", "-o", "name"); strings.TrimSpace(pods) != "" {
		t.Errorf("the probe pod is left: %s", pods)
	}
	// Later EKS changes the strategy, which is its own again.
	if err := cp.TryApply(t, controlplane.Manager, false, strategy(t, cp, "20%")); err != nil {
		t.Errorf("EKS cannot change the update strategy any more: %v", err)
	}
}

// strategy is aws-node as EKS applies it, with another maxUnavailable.
func strategy(t *testing.T, cp *controlplane.ControlPlane, maxUnavailable string) string {
	t.Helper()
	text, err := cp.Manifest("aws-node")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text, "maxUnavailable: 10%") {
		t.Fatal("the manifest has no maxUnavailable: 10%")
	}
	return strings.ReplaceAll(text, "maxUnavailable: 10%", "maxUnavailable: "+maxUnavailable)
}

// TestCanaryFails: whatever the first pod or the probe fails of, everything is as
// before, the exit code is right, and the message names the pod and why.
func TestCanaryFails(t *testing.T) {
	t.Parallel()
	cp := start(t, 2)
	for _, tt := range []struct {
		name string
		rule controlplane.Rule
		code int
		says string
		args []string
	}{
		{"unready", controlplane.Rule{When: hasProxy, Outcome: controlplane.Unready}, 1, "is not ready", nil},
		{"crashing", controlplane.Rule{When: hasProxy, Outcome: controlplane.Crashing}, 1, "CrashLoopBackOff", nil},
		{"probe without address", controlplane.Rule{When: isProbe, Outcome: controlplane.NoAddress}, 1, "address", nil},
		{"probe failed", controlplane.Rule{When: isProbe, Outcome: controlplane.Failed, ExitCode: 11, Message: "no connection to 10.100.0.1:443"}, 1, "no connection to 10.100.0.1:443", nil},
		{"time out", controlplane.Rule{When: hasProxy, Outcome: controlplane.Unready}, 4, "", []string{"--timeout", "20s", "--pod-timeout", "2m"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := state(t, cp)
			cp.SetRules(t, tt.rule)
			args := tt.args
			if args == nil {
				args = []string{"--pod-timeout", "15s"}
			}
			r := expect(t, tt.code, cp.Kubeconfig(), patch(append(args, "--skip", "kube-proxy")...)...)
			cp.SetRules(t)
			if !strings.Contains(r.Stderr, tt.says) || !strings.Contains(r.Stderr, "is as it was before") {
				t.Errorf("it says: %s", r.Stderr)
			}
			expect(t, 0, cp.Kubeconfig(), "addons", "revert") // the ConfigMap
			if diff := program.Diff(before, state(t, cp)); diff != "" {
				t.Errorf("it has left:\n%s", diff)
			}
			cp.Rollout(t, "kube-system")
		})
	}
}

// TestProbeRejected: a policy that admits no probe pod decides nothing: exit 3,
// and everything as before.
func TestProbeRejected(t *testing.T) {
	t.Parallel()
	cp := start(t, 2)
	cp.Kubectl(t, "label", "namespace", "default", "probe=denied")
	cp.Create(t, `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: no-probes}
spec:
  failurePolicy: Fail
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]}
  validations: [{expression: "!has(object.metadata.annotations) || !('eksproxy.dev/probe' in object.metadata.annotations)", message: "probe pods are not allowed"}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: no-probes}
spec: {policyName: no-probes, validationActions: [Deny]}
`)
	cp.Eventually(t, time.Minute, "the policy holds", func() error {
		_, err := cp.TryKubectl(t, "run", "x", "--image=x", "--annotations=eksproxy.dev/probe=true", "--dry-run=server")
		if err == nil {
			return context.DeadlineExceeded
		}
		return nil
	})
	before := state(t, cp)
	r := expect(t, 3, cp.Kubeconfig(), patch("--skip", "kube-proxy")...)
	if !strings.Contains(r.Stderr, "probe pods are not allowed") || !strings.Contains(r.Stderr, "--canary=off") {
		t.Errorf("it says: %s", r.Stderr)
	}
	expect(t, 0, cp.Kubeconfig(), "addons", "revert")
	if diff := program.Diff(before, state(t, cp)); diff != "" {
		t.Errorf("it has left:\n%s", diff)
	}
	expect(t, 0, cp.Kubeconfig(), patch("--skip", "kube-proxy", "--canary=off")...)
}

// TestKilled: killed between holding the strategy and giving it back, the next
// run goes on, and so does revert.
func TestKilled(t *testing.T) {
	t.Parallel()
	cp := start(t, 2)
	before := state(t, cp)
	for _, next := range []string{"patch", "revert"} {
		kill(t, cp)
		if held := state(t, cp); !strings.Contains(held, "eksproxy.dev/held-strategy") || !strings.Contains(held, "OnDelete") {
			t.Fatalf("the strategy is not held:\n%s", held)
		}
		if next == "patch" {
			r := expect(t, 0, cp.Kubeconfig(), patch("--skip", "kube-proxy")...)
			if !strings.Contains(r.Stderr, "its own update strategy is given back") {
				t.Errorf("the next run says: %s", r.Stderr)
			}
		}
		expect(t, 0, cp.Kubeconfig(), "addons", "revert")
		if diff := program.Diff(before, state(t, cp)); diff != "" {
			t.Errorf("after %s there is left:\n%s", next, diff)
		}
	}
}

// kill starts a patch and kills it when the first pod has been deleted.
func kill(t *testing.T, cp *controlplane.ControlPlane) {
	t.Helper()
	full, err := program.Full()
	if err != nil {
		t.Fatal(err)
	}
	faults := controlplane.NewFaults(t, cp)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	faults.Add(controlplane.Fault{Match: controlplane.Match{Verb: "delete", Resource: "pods"}, From: 1, Times: 1, Answer: controlplane.Hang()})
	cmd := exec.CommandContext(ctx, full, append(patch("--skip", "kube-proxy"), "--kubeconfig", faults.Kubeconfig(t))...)
	cmd.Env = []string{"HOME=" + t.TempDir()}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	cp.Eventually(t, time.Minute, "the first pod is deleted", func() error {
		if len(faults.Requests(controlplane.Match{Verb: "delete", Resource: "pods"})) == 0 {
			return context.DeadlineExceeded
		}
		return nil
	})
	_ = cmd.Process.Signal(syscall.SIGKILL)
	_ = cmd.Wait()
}

// TestNoNodes: a cluster without nodes is patched, and not waited for.
func TestNoNodes(t *testing.T) {
	t.Parallel()
	cp := controlplane.Start(t, controlplane.Options{})
	controlplane.InstallEKS(t, cp, controlplane.EKS{Only: []string{"aws-node", "kube-proxy"}, NoWait: true})
	r := expect(t, 0, cp.Kubeconfig(), patch()...)
	if !strings.Contains(r.Stderr, "no node runs it") {
		t.Errorf("it says: %s", r.Stderr)
	}
}
