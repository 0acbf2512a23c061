package integration

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/eksproxy/eksproxy/integration/program"
)

// TestStaticIsAgent: the script that is rendered makes the same files as the
// program does, in bytes and modes, on a fresh tree of each family and on its
// own result. The record is not compared: a script has none.
func TestStaticIsAgent(t *testing.T) {
	full, err := program.Full()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range program.Families {
		t.Run(family, func(t *testing.T) {
			_, url := serve(t, instanceOf(family))
			facts := filepath.Join(t.TempDir(), "facts.json")
			r := program.Expect(t, 0, "facts", "node", "-o", "json", "--imds-endpoint", url)
			if err := os.WriteFile(facts, []byte(r.Stdout), 0o644); err != nil {
				t.Fatal(err)
			}
			settings := []string{"--http-proxy", httpProxy, "--no-proxy-add", ".corp.example", "--no-proxy-add", "10.40.0.0/16"}
			agent := program.Tree(t, family)
			program.Expect(t, 0, node("apply", agent, append(settings, "--imds-endpoint", url)...)...)
			want := withoutRecord(program.Snapshot(t, agent))

			system, _, _ := strings.Cut(family, "-")
			// Wrong CIDRs on purpose: what metadata says must win.
			render := append([]string{full, "userdata", "render", "--os", system, "--for", "self-managed", "--facts", facts, "--vpc-cidr", "192.168.0.0/16"}, settings...)
			out := program.Exec(t, nil, render...)
			if out.Code != 0 {
				t.Fatalf("render: exit %d\n%s", out.Code, out.Stderr)
			}
			hook := filepath.Join(t.TempDir(), "hook")
			if err := os.WriteFile(hook, []byte(boothookOf(t, out.Stdout)), 0o755); err != nil {
				t.Fatal(err)
			}
			for _, shell := range []string{"dash", "bash"} {
				root := program.Tree(t, family)
				env := []string{"EKSPROXY_ROOT=" + root, "EKSPROXY_IMDS_ENDPOINT=" + url, "EKSPROXY_BOUND=1"}
				for range 2 {
					if r := program.Exec(t, env, shell, hook); r.Code != 0 || r.Stderr != "" {
						t.Fatalf("%s: exit %d\n%s", shell, r.Code, r.Stderr)
					}
					if diff := program.Diff(want, withoutRecord(program.Snapshot(t, root))); diff != "" {
						t.Errorf("%s: not the files of the agent:\n%s", shell, diff)
					}
				}
				check := untouched(t, root)
				program.Exec(t, env, shell, hook)
				check()
			}
		})
	}
}

// boothookOf is the script in a document.
func boothookOf(t *testing.T, document string) string {
	t.Helper()
	_, rest, found := strings.Cut(document, "Content-Type: text/cloud-boothook")
	_, script, ok := strings.Cut(rest, "\n\n")
	script, _, closed := strings.Cut(script, "\n--eksproxy-")
	if !found || !ok || !closed {
		t.Fatalf("no boothook in\n%s", document)
	}
	return script
}

// withoutRecord leaves the record and its directory out of a snapshot.
func withoutRecord(snapshot string) string {
	var kept []string
	for line := range strings.Lines(snapshot) {
		if !strings.Contains(line, "var/lib/eksproxy") {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}
