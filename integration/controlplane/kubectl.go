package controlplane

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// kubectlLimit is how long one command may take.
const kubectlLimit = 2 * time.Minute

// kubectl runs the command as the admin, with this text as its input.
func (c *ControlPlane) kubectl(ctx context.Context, in string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, kubectlLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(c.binaries, "kubectl"), args...)
	// The cache of the API's resources is kept: without it each run asks again.
	cmd.Env = []string{"HOME=" + c.dir, "KUBECONFIG=" + c.Kubeconfig(), "PATH=/usr/bin:/bin", "GOGC=off"} // it ends soon
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(in), &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("running kubectl %s: %w\n%s", strings.Join(args, " "), err, &stderr)
	}
	return stdout.String(), nil
}

// Kubectl runs kubectl as the admin, and returns what it printed.
func (c *ControlPlane) Kubectl(tb testing.TB, args ...string) string {
	tb.Helper()
	out, err := c.kubectl(tb.Context(), "", args...)
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

// TryKubectl runs kubectl where a test wants to see it fail.
func (c *ControlPlane) TryKubectl(tb testing.TB, args ...string) (string, error) {
	tb.Helper()
	return c.kubectl(tb.Context(), "", args...)
}

// Create creates the objects of a YAML text, as a user would do who keeps no
// managed fields of their own.
func (c *ControlPlane) Create(tb testing.TB, yaml string) {
	tb.Helper()
	if _, err := c.kubectl(tb.Context(), yaml, "create", "-f", "-"); err != nil {
		tb.Fatal(err)
	}
}

// Apply applies a YAML text server-side as a field manager; with force it
// takes the fields of others.
func (c *ControlPlane) Apply(tb testing.TB, manager string, force bool, yaml string) {
	tb.Helper()
	if err := c.apply(tb.Context(), manager, force, yaml); err != nil {
		tb.Fatal(err)
	}
}

// AwaitRight waits until a user has a right, in the words of "kubectl auth can-i": the
// API server learns of a binding a moment after it was made.
func (c *ControlPlane) AwaitRight(tb testing.TB, user string, words ...string) {
	tb.Helper()
	c.Eventually(tb, time.Minute, user+"'s right to "+strings.Join(words, " "), func() error {
		_, err := c.TryKubectl(tb, append([]string{"auth", "can-i", "--as", user}, words...)...)
		return err
	})
}

// TryApply is Apply where a test wants to see a conflict.
func (c *ControlPlane) TryApply(tb testing.TB, manager string, force bool, yaml string) error {
	tb.Helper()
	return c.apply(tb.Context(), manager, force, yaml)
}

// apply is what both do.
func (c *ControlPlane) apply(ctx context.Context, manager string, force bool, yaml string) error {
	_, err := c.kubectl(ctx, yaml, "apply", "--server-side", "--field-manager", manager,
		fmt.Sprint("--force-conflicts=", force), "-f", "-")
	return err
}
