package addons

import (
	"context"
	"fmt"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/eksproxy/eksproxy/integration/controlplane"
	"github.com/eksproxy/eksproxy/integration/program"
)

// settled says that the add-ons have the variables once each, nothing is held,
// and EKS's own variables are there.
func settled(t *testing.T, cp *controlplane.ControlPlane, workloads ...string) {
	t.Helper()
	for _, workload := range workloads {
		found := env(t, cp, workload, strings.TrimPrefix(workload, "daemonset/"))
		for _, name := range variables() {
			if found[name] == nil {
				t.Errorf("%s lacks %s", workload, name)
			}
		}
		if workload == awsNode && found["WARM_ENI_TARGET"] == nil {
			t.Errorf("%s has lost WARM_ENI_TARGET", workload)
		}
	}
	if now := text(object(t, cp, awsNode)); strings.Contains(now, "held-strategy") || strings.Contains(now, "OnDelete") {
		t.Errorf("the update strategy is still held:\n%s", now)
	}
}

// TestFaults: whatever goes wrong with any call once, the run ends well, or the
// next one does; nothing is lost or doubled, and revert restores everything. Each
// kind of fault meets every call that writes; those that read share the kinds out.
func TestFaults(t *testing.T) {
	t.Parallel()
	kinds := []struct {
		name   string
		answer controlplane.Answer
	}{
		{"409", controlplane.Conflict()}, {"429", controlplane.TooMany(time.Second)}, {"500", controlplane.Broken()}, {"closed", controlplane.Close()}, {"answer lost", controlplane.Lose()},
	}
	for kind, k := range kinds {
		name, answer := k.name, k.answer
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cp := start(t, 2)
			before := state(t, cp)
			faults := controlplane.NewFaults(t, cp)
			for i, call := range callsOfPatch(t, cp, faults) {
				if reads := call.Verb == "get" || call.Verb == "list"; reads && i%len(kinds) != kind {
					continue
				}
				faults.Reset()
				faults.Add(controlplane.Fault{Match: call, From: 1, Times: 1, Answer: answer})
				r := eksproxy(t, faults.Kubeconfig(t), patch("--skip", "kube-proxy", "--pod-timeout", "90s")...)
				if r.Code != 0 && name != "409" {
					t.Errorf("one %s of %v ends the run: exit %d: %s", name, call, r.Code, lastLine(r.Stderr))
				}
				if r.Code != 0 {
					expect(t, 0, cp.Kubeconfig(), patch("--skip", "kube-proxy", "--canary=off")...)
				}
				settled(t, cp, awsNode)
				expect(t, 0, cp.Kubeconfig(), "addons", "revert", "--wait=false")
			}
			cp.Rollout(t, "kube-system")
			if diff := program.Diff(before, state(t, cp)); diff != "" {
				t.Errorf("revert has left:\n%s", diff)
			}
		})
	}
}

// callsOfPatch are the calls that a patch makes, each kind once.
func callsOfPatch(t *testing.T, cp *controlplane.ControlPlane, faults *controlplane.Faults) []controlplane.Match {
	t.Helper()
	expect(t, 0, faults.Kubeconfig(t), patch("--skip", "kube-proxy")...)
	var calls []controlplane.Match
	for _, r := range faults.Requests() {
		m := controlplane.Match{Verb: r.Verb, Resource: r.Resource, Name: r.Name}
		if r.Resource == "pods" { // their names are new each time
			m.Name = ""
		}
		if !slices.Contains(calls, m) {
			calls = append(calls, m)
		}
	}
	expect(t, 0, cp.Kubeconfig(), "addons", "revert")
	if len(calls) < 8 {
		t.Fatalf("only %d calls were seen: %v", len(calls), calls)
	}
	return calls
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}

// TestUnreachable: BL-023. No API server is exit 3, and a proxy on the way is
// named; a call that hangs ends.
func TestUnreachable(t *testing.T) {
	t.Parallel()
	cp := start(t, 1)
	faults := controlplane.NewFaults(t, cp)
	faults.Add(controlplane.Fault{Answer: controlplane.Close()})
	r := expect(t, 3, faults.Kubeconfig(t), patch()...)
	if !strings.Contains(r.Stderr, "nothing was written") && !strings.Contains(r.Stderr, "reading the cluster") {
		t.Errorf("it says: %s", r.Stderr)
	}
	full, err := program.Full()
	if err != nil {
		t.Fatal(err)
	}
	faults.Reset()
	environment := []string{"HTTPS_PROXY=http://" + secret.User + ":pw@127.0.0.9:1"}
	config := cp.UserKubeconfig(t, "user0") // a server on loopback goes past every proxy
	text := strings.ReplaceAll(read(t, config), "127.0.0.1", "api.cluster.example")
	write(t, config, text)
	r = program.Exec(t, environment, append(append([]string{full}, patch()...), "--kubeconfig", config)...)
	if r.Code != 3 || !strings.Contains(r.Stderr, "127.0.0.9:1") || !strings.Contains(r.Stderr, "--kube-direct") || strings.Contains(r.Stderr, ":pw@") {
		t.Errorf("exit %d: %s", r.Code, r.Stderr)
	}
}

// TestBusyWriter: a writer that edits the same DaemonSet all the time disturbs
// nothing and loses nothing.
func TestBusyWriter(t *testing.T) {
	t.Parallel()
	cp := start(t, 1)
	ctx, cancel := context.WithCancel(t.Context())
	var busy sync.WaitGroup
	written := 0
	busy.Go(func() {
		for ctx.Err() == nil {
			if err := cp.Merge(ctx, "/apis/apps/v1/namespaces/kube-system/daemonsets/aws-node", "busy", fmt.Sprintf(`{"metadata":{"annotations":{"busy":"%d"}}}`, written)); err == nil {
				written++
			}
			time.Sleep(15 * time.Millisecond)
		}
	})
	began := time.Now()
	expect(t, 0, cp.Kubeconfig(), patch()...)
	took := time.Since(began)
	settled(t, cp, awsNode, kubeProxy)
	expect(t, 0, cp.Kubeconfig(), "addons", "revert")
	cancel()
	busy.Wait()
	t.Logf("%d writes beside a patch of %s and a revert", written, took)
	if written < 20 {
		t.Errorf("the writer was not busy: %d writes", written)
	}
	if env(t, cp, awsNode, "aws-node")["NO_PROXY"] != nil {
		t.Error("revert has left NO_PROXY")
	}
}

// TestInterrupted: Ctrl-C at each write: it says what was applied, and the next
// run converges.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	cp := start(t, 2)
	faults := controlplane.NewFaults(t, cp)
	full, err := program.Full()
	if err != nil {
		t.Fatal(err)
	}
	for step := 1; ; step++ {
		if step > 20 {
			t.Fatal("there is no end of writes")
		}
		faults.Reset()
		var cmd *exec.Cmd
		n, hit := 0, false
		interrupt := func() {
			if n++; n == step {
				hit = true
				_ = cmd.Process.Signal(syscall.SIGINT)
				time.Sleep(200 * time.Millisecond)
			}
		}
		for _, verb := range []string{"patch", "create", "delete"} {
			faults.Add(controlplane.Fault{Match: controlplane.Match{Verb: verb}, Answer: controlplane.Before(func(*http.Request) { interrupt() })})
		}
		var out strings.Builder
		cmd = exec.CommandContext(t.Context(), full, append(patch("--skip", "kube-proxy"), "--kubeconfig", faults.Kubeconfig(t))...)
		cmd.Env, cmd.Stderr = []string{"HOME=" + t.TempDir()}, &out
		err := cmd.Run()
		faults.Reset()
		if !hit {
			if err != nil {
				t.Errorf("without an interrupt it fails: %v\n%s", err, out.String())
			}
			t.Logf("%d writes were interrupted", step-1)
			break
		}
		if err == nil && !strings.Contains(out.String(), "rolled out") {
			t.Errorf("interrupted at write %d it says nothing: %s", step, out.String())
		}
		if err != nil && !strings.Contains(out.String(), "changes made") {
			t.Errorf("interrupted at write %d it does not say what was applied: %s", step, lastLine(out.String()))
		}
		expect(t, 0, cp.Kubeconfig(), patch("--skip", "kube-proxy", "--canary=off")...)
		settled(t, cp, awsNode)
		expect(t, 0, cp.Kubeconfig(), "addons", "revert", "--wait=false")
	}
}

// TestRightsLost: rights that go half-way end the run with what to grant, and
// nothing is lost.
func TestRightsLost(t *testing.T) {
	t.Parallel()
	cp := start(t, 1)
	faults := controlplane.NewFaults(t, cp)
	faults.Add(controlplane.Fault{Match: controlplane.Match{Verb: "patch", Resource: "daemonsets"}, From: 2, Answer: controlplane.Forbidden()})
	r := eksproxy(t, faults.Kubeconfig(t), patch("--skip", "kube-proxy")...)
	if r.Code != 1 && r.Code != 3 || !strings.Contains(r.Stderr, "1 of 2 changes made") {
		t.Errorf("exit %d: %s", r.Code, r.Stderr)
	}
	faults.Reset()
	expect(t, 0, cp.Kubeconfig(), patch()...)
	settled(t, cp, awsNode, kubeProxy)
}

// TestHang: a call that is never answered ends, and is made again.
func TestHang(t *testing.T) {
	t.Parallel()
	cp := start(t, 1)
	faults := controlplane.NewFaults(t, cp)
	faults.Add(controlplane.Fault{Match: controlplane.Match{Verb: "patch", Resource: "configmaps"}, From: 1, Times: 1, Answer: controlplane.Hang()})
	expect(t, 0, faults.Kubeconfig(t), patch("--request-timeout", "2s")...)
	settled(t, cp, awsNode, kubeProxy)
}
