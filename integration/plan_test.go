package integration

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/eksproxy/eksproxy/integration/program"
)

// approved makes a tree, and a plan for it in a file. It returns the tree, the
// flags of the plan and the flags of an apply that carries it out.
func approved(t *testing.T, family string) (root, file string, flags []string) {
	t.Helper()
	_, url := serve(t, instanceOf(family))
	root = program.Tree(t, family)
	file = filepath.Join(t.TempDir(), "plan.json")
	flags = []string{"--imds-endpoint", url, "--http-proxy", httpProxy}
	check := untouched(t, root)
	program.Expect(t, 0, node("plan", root, append(flags, "--out", file)...)...)
	check()
	return root, file, flags
}

func TestApprovedPlan(t *testing.T) {
	for _, family := range program.Families {
		t.Run(family, func(t *testing.T) {
			root, file, flags := approved(t, family)
			program.Expect(t, 1, node("plan", root, append(flags, "--exit-code")...)...)
			program.Expect(t, 0, node("apply", root, append(flags, "--plan", file)...)...)
			check := untouched(t, root)
			program.Expect(t, 0, node("plan", root, append(flags, "--exit-code")...)...)
			program.Expect(t, 0, node("apply", root, flags...)...)
			check()
		})
	}
}

// The same question gives the same plan, to the byte.
func TestPlanIsStable(t *testing.T) {
	root, file, flags := approved(t, "al2023")
	first := read(t, "", file)
	program.Expect(t, 0, node("plan", root, append(flags, "--out", file)...)...)
	if diff := program.Diff(first, read(t, "", file)); diff != "" {
		t.Errorf("two plans differ:\n%s", diff)
	}
}

// A tree that has moved since the plan is left alone, and the path is named.
func TestTreeMoved(t *testing.T) {
	for _, c := range []struct{ family, path string }{
		{"al2023", "etc/environment"},
		{"al2023", "etc/dnf/dnf.conf"},
		{"al2-containerd", "etc/yum.conf"},
		{"ubuntu", "etc/environment"},
	} {
		t.Run(c.family+" "+c.path, func(t *testing.T) {
			root, file, flags := approved(t, c.family)
			write(t, root, c.path, read(t, root, c.path)+"# someone was here\n")
			check := untouched(t, root)
			r := program.Expect(t, 1, node("apply", root, append(flags, "--plan", file)...)...)
			if !strings.Contains(r.Stderr, c.path) {
				t.Errorf("standard error does not name %s:\n%s", c.path, r.Stderr)
			}
			check()
		})
	}
}

// A plan does not allow other settings than those it was made for.
func TestOtherSettings(t *testing.T) {
	root, file, flags := approved(t, "al2023")
	flags[len(flags)-1] = "http://other.example:3128"
	check := untouched(t, root)
	program.Expect(t, 1, node("apply", root, append(flags, "--plan", file)...)...)
	check()
}

// A plan file that was changed, cut off or is none is refused.
func TestTamperedPlan(t *testing.T) {
	for name, tamper := range map[string]func(string) string{
		"path":    func(s string) string { return strings.Replace(s, "etc/environment", "etc/environmenu", 1) },
		"action":  func(s string) string { return strings.Replace(s, `"create"`, `"delete"`, 1) },
		"cut off": func(s string) string { return s[:len(s)/2] },
		"empty":   func(string) string { return "" },
		"other":   func(string) string { return `{"apiVersion":"v1","kind":"List"}` },
	} {
		t.Run(name, func(t *testing.T) {
			root, file, flags := approved(t, "al2023")
			text := read(t, "", file)
			if tamper(text) == text {
				t.Fatalf("the plan file has nothing to tamper with:\n%s", text)
			}
			if err := os.WriteFile(file, []byte(tamper(text)), 0o600); err != nil {
				t.Fatal(err)
			}
			check := untouched(t, root)
			r := program.Run(t, nil, node("apply", root, append(flags, "--plan", file)...)...)
			if r.Code != 1 && r.Code != 2 {
				t.Errorf("exit %d, want 1 or 2\n%s", r.Code, r.Stderr)
			}
			check()
		})
	}
}
