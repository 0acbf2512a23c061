package integration

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/eksproxy/eksproxy/integration/metadata"
	"github.com/eksproxy/eksproxy/integration/program"
)

const stateFile = "var/lib/eksproxy/state.json"

// instanceOf is an instance with the user data that the family has.
func instanceOf(family string) metadata.Instance {
	i := twoBlocks()
	if family != "al2023" {
		i.UserData = bootstrap("https://" + endpointHost)
	}
	return i
}

func TestApplyAndRevert(t *testing.T) {
	for _, family := range program.Families {
		t.Run(family, func(t *testing.T) {
			_, url := serve(t, instanceOf(family))
			root := program.Tree(t, family)
			before := program.Snapshot(t, root)
			apply := node("apply", root, "--imds-endpoint", url, "--http-proxy", httpProxy)

			program.Expect(t, 0, apply...)
			checkState(t, root)
			if got := variable(t, root, "HTTPS_PROXY"); got != httpProxy {
				t.Errorf("HTTPS_PROXY: got %q, want %q", got, httpProxy)
			}

			check := untouched(t, root)
			again := program.Expect(t, 0, apply...)
			if !strings.Contains(again.Stdout+again.Stderr, "unchanged") {
				t.Errorf("the second run does not say unchanged: %s%s", again.Stdout, again.Stderr)
			}
			check()
			program.Expect(t, 0, node("status", root)...)
			check()

			program.Expect(t, 0, node("revert", root)...)
			if diff := program.Diff(before, program.Snapshot(t, root)); diff != "" {
				t.Errorf("revert does not give back the tree:\n%s", diff)
			}
		})
	}
}

// checkState fails where the record for undo is missing or open to others.
func checkState(t *testing.T, root string) {
	t.Helper()
	info, err := os.Stat(filepath.Join(root, stateFile))
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode() != 0o600 {
		t.Errorf("%s: mode %s, want 0600", stateFile, info.Mode())
	}
}

// What others wrote into a file before apply and after it is still there
// after revert, and nothing else is.
func TestRevertKeepsLaterChanges(t *testing.T) {
	_, url := serve(t, twoBlocks())
	root := program.Tree(t, "al2023")
	write(t, root, "etc/environment", "EDITOR=vi\n")
	program.Expect(t, 0, node("apply", root, "--imds-endpoint", url, "--http-proxy", httpProxy)...)
	text := read(t, root, "etc/environment")
	if !strings.Contains(text, "EDITOR=vi\n") {
		t.Errorf("apply lost the line of someone else:\n%s", text)
	}
	write(t, root, "etc/environment", text+"PAGER=less\n")
	program.Expect(t, 0, node("revert", root)...)
	if got, want := read(t, root, "etc/environment"), "EDITOR=vi\nPAGER=less\n"; got != want {
		t.Errorf("after revert: got %q, want %q", got, want)
	}
}

// New facts change what apply wrote, and revert still goes back to the start.
func TestApplyFollowsTheFacts(t *testing.T) {
	server, url := serve(t, twoBlocks())
	root := program.Tree(t, "al2023")
	before := program.Snapshot(t, root)
	apply := node("apply", root, "--imds-endpoint", url, "--http-proxy", httpProxy)
	program.Expect(t, 0, apply...)
	changed := twoBlocks()
	for i := range changed.Interfaces {
		changed.Interfaces[i].VPCIPv4 = []string{"10.40.0.0/16", "10.99.0.0/16"}
	}
	server.Set(changed)
	program.Expect(t, 0, apply...)
	got := variable(t, root, "NO_PROXY")
	if !strings.Contains(got, ",10.99.0.0/16,") || strings.Contains(got, "100.64.0.0/16") {
		t.Errorf("NO_PROXY does not follow: %s", got)
	}
	program.Expect(t, 0, node("revert", root)...)
	if diff := program.Diff(before, program.Snapshot(t, root)); diff != "" {
		t.Errorf("revert does not give back the tree:\n%s", diff)
	}
}

// A tree on which nothing was applied has nothing to revert, and status says
// that it is not behind a proxy.
func TestNothingApplied(t *testing.T) {
	root := program.Tree(t, "ubuntu")
	check := untouched(t, root)
	program.Expect(t, 1, node("status", root)...)
	program.Expect(t, 0, node("revert", root)...)
	check()
}

// Without a proxy there is nothing that could be applied.
func TestNoProxyGiven(t *testing.T) {
	_, url := serve(t, twoBlocks())
	root := program.Tree(t, "al2023")
	check := untouched(t, root)
	program.Expect(t, 2, node("apply", root, "--imds-endpoint", url)...)
	check()
}
