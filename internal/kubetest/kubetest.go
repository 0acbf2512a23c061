//go:build integration

// Package kubetest runs a real control plane for tests of packages that cannot
// import the module of the integration tests. It runs that module's program
// controlplane, and must not know what is tested.
package kubetest

import (
	"bufio"
	"bytes"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/eksproxy/eksproxy/internal/kube"
)

// Cluster is a control plane with simulated nodes.
type Cluster struct {
	// Kubeconfig is the file of a user who may do everything.
	Kubeconfig string
	// Client is that user's connection.
	Client *kube.Client
}

// Start runs a control plane until the test ends. The arguments are those of
// integration/cmd/controlplane, as "-nodes", "3", "-eks". It fails the test
// where the programs were not built by integration/controlplane/build.sh.
func Start(t *testing.T, args ...string) *Cluster {
	t.Helper()
	module := integration(t)
	program := filepath.Join(t.TempDir(), "controlplane")
	build := exec.CommandContext(t.Context(), "go", "build", "-C", module, "-o", program, "./cmd/controlplane") //nolint:gosec // paths of the test's own
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building the control plane's program: %v\n%s", err, out)
	}
	cmd := exec.Command(program, args...) //nolint:gosec,noctx // it ends in peace when its input does, not with the context
	cmd.Dir = module
	stderr := &bytes.Buffer{}
	cmd.Stderr = stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("control plane: %v\n%s", err, stderr)
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal("the control plane did not start; its error follows")
	}
	c := &Cluster{Kubeconfig: strings.TrimSpace(line)}
	c.Client = c.Connect(t, c.Kubeconfig)
	return c
}

// Connect makes a client of a kubeconfig that knows no proxy.
func (*Cluster) Connect(t *testing.T, kubeconfig string) *kube.Client {
	t.Helper()
	client, err := kube.Connect(kube.Options{Kubeconfig: kubeconfig, Direct: true, Getenv: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// integration is the folder of the module of the integration tests.
func integration(t *testing.T) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "env", "GOMOD").Output()
	if err != nil {
		t.Fatalf("looking for the checkout: %v", err)
	}
	return filepath.Join(filepath.Dir(strings.TrimSpace(string(out))), "integration")
}
