package program

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

// limit is how long one run may take before it counts as hanging.
const limit = 90 * time.Second

// Result is what a run printed, and its exit code.
type Result struct {
	Stdout, Stderr string
	Code           int
}

// Run runs the program under test with HOME, PATH and these variables in its
// environment and nothing else.
func Run(t *testing.T, env []string, args ...string) Result {
	t.Helper()
	return RunUnder(t, nil, env, args...)
}

// RunUnder runs the program under test by another command, as in
// "ip netns exec NAME".
func RunUnder(t *testing.T, wrapper, env []string, args ...string) Result {
	t.Helper()
	path, err := Path()
	if err != nil {
		t.Fatal(err)
	}
	r := Exec(t, env, slices.Concat(wrapper, []string{path}, args)...)
	said.add(strings.Join(args, " "), r.Stdout, r.Stderr)
	return r
}

// Exec runs any command in the same bare environment.
func Exec(t *testing.T, env []string, command ...string) Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Env = append([]string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH")}, env...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if ctx.Err() != nil {
		t.Fatalf("running %q: no end after %s\nstderr: %s", command, limit, &stderr)
	}
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatalf("running %q: %v", command, err)
	}
	return Result{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// Expect runs the program and fails the test where the exit code is another.
func Expect(t *testing.T, code int, args ...string) Result {
	t.Helper()
	r := Run(t, nil, args...)
	if r.Code != code {
		t.Fatalf("eksproxy %s: exit %d, want %d\nstdout: %s\nstderr: %s",
			strings.Join(args, " "), r.Code, code, r.Stdout, r.Stderr)
	}
	return r
}
