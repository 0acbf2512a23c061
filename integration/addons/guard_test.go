package addons

import (
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/eksproxy/eksproxy/integration/controlplane"
	"github.com/eksproxy/eksproxy/integration/program"
)

// onTerminal runs the program on a terminal of its own, where this is typed.
func onTerminal(t *testing.T, environment []string, typed string, args ...string) (output string, code int) {
	t.Helper()
	full, err := program.Full()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "script", "--quiet", "--return", "--command", full+" "+strings.Join(args, " "), "/dev/null")
	cmd.Env = append([]string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH")}, environment...)
	cmd.Stdin = strings.NewReader(typed)
	out, err := cmd.CombinedOutput()
	program.Said(strings.Join(args, " "), string(out), "")
	if cmd.ProcessState == nil {
		t.Fatalf("running script: %v", err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// TestAsksOnTerminal: on a terminal the target is shown and asked for, and a
// current context will do.
func TestAsksOnTerminal(t *testing.T) {
	t.Parallel()
	cp := controlplane.Start(t, controlplane.Options{})
	controlplane.InstallEKS(t, cp, controlplane.EKS{Only: []string{"aws-node", "kube-proxy"}, NoWait: true})
	environment := []string{"KUBECONFIG=" + cp.Kubeconfig()}
	exists := func() bool {
		_, err := cp.TryKubectl(t, "-n", "kube-system", "get", "configmap", "proxy-environment-variables")
		return err == nil
	}
	out, code := onTerminal(t, environment, "n\n", patch()...)
	if code != 1 || !strings.Contains(out, "this changes region eu-west-1") || !strings.Contains(out, "context admin") || !strings.Contains(out, "Change this cluster? [y/N]") || exists() {
		t.Errorf("exit %d, the ConfigMap is there: %t\n%s", code, exists(), out)
	}
	if out, code = onTerminal(t, environment, "yes\n", patch()...); code != 0 || !exists() {
		t.Errorf("exit %d\n%s", code, out)
	}
	if out, code = onTerminal(t, environment, "", append(patch(), "--dry-run")...); code != 0 || strings.Contains(out, "[y/N]") {
		t.Errorf("exit %d\n%s", code, out)
	}
}

// TestGoneBetween: what was made anew since the plan is another object, and is
// not changed.
func TestGoneBetween(t *testing.T) {
	t.Parallel()
	cp := start(t, 1)
	faults := controlplane.NewFaults(t, cp)
	faults.Add(controlplane.Fault{Match: controlplane.Match{Verb: "patch", Resource: "configmaps"}, From: 1, Times: 1, Answer: controlplane.Before(anew(t, cp))})
	r := expect(t, 1, faults.Kubeconfig(t), patch()...)
	if !strings.Contains(r.Stderr, "was made anew by someone") {
		t.Errorf("it says: %s", r.Stderr)
	}
	if env(t, cp, awsNode, "aws-node")["NO_PROXY"] != nil {
		t.Error("the new object was changed")
	}
	expect(t, 0, cp.Kubeconfig(), patch("--canary=off")...)
	settled(t, cp, awsNode, kubeProxy)
}

// anew deletes aws-node and installs it again, as a reinstalled add-on does.
func anew(t *testing.T, cp *controlplane.ControlPlane) func(*http.Request) {
	t.Helper()
	return func(*http.Request) {
		cp.Kubectl(t, "-n", "kube-system", "delete", awsNode)
		controlplane.InstallEKS(t, cp, controlplane.EKS{Only: []string{"aws-node"}})
	}
}
