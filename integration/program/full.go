package program

import (
	"slices"
	"strings"
	"sync"
	"testing"
)

// Full is the whole program, as it runs on a workstation, built from this
// checkout once a test process.
var Full = sync.OnceValues(func() (string, error) {
	root, err := checkout()
	if err != nil {
		return "", err
	}
	return build(root, "./cmd/eksproxy", "eksproxy-full", "-tags", "urfave_cli_no_docs")
})

// RunFull runs the whole program with these variables in its environment.
func RunFull(t *testing.T, env []string, args ...string) Result {
	t.Helper()
	full, err := Full()
	if err != nil {
		t.Fatal(err)
	}
	r := Exec(t, env, slices.Concat([]string{full}, args)...)
	Said(strings.Join(args, " "), r.Stdout, r.Stderr)
	return r
}

// Demand fails the test where a run did not end with this exit code.
func (r Result) Demand(t *testing.T, code int, args ...string) Result {
	t.Helper()
	if r.Code != code {
		t.Fatalf("eksproxy %s: exit %d, want %d\nstdout: %s\nstderr: %s", strings.Join(args, " "), r.Code, code, r.Stdout, r.Stderr)
	}
	return r
}
