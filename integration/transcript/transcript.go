// Package transcript runs the transcripts in the pages of docs/ and holds what
// they show against what the commands print. Each test package prepares a cluster
// for the fence that it names; -update writes the pages anew.
package transcript

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/eksproxy/eksproxy/integration/program"
)

var update = flag.Bool("update", false, "write the transcripts in docs/ anew")

// Shell is where the commands of a page run.
type Shell struct {
	Dir string
	Env []string
}

// NewShell is a folder with the program, kubectl, and these files.
func NewShell(t *testing.T, files map[string]string) Shell {
	t.Helper()
	full, err := program.Full()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	kubectl := filepath.Join(filepath.Dir(filepath.Dir(full)), "kube", "kubectl")
	for name, target := range map[string]string{"eksproxy": full, "kubectl": kubectl} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return Shell{dir, []string{"HOME=" + dir, "PATH=" + dir + ":" + os.Getenv("PATH")}}
}

// Pages are those that have a fence with this word, which must be some.
func Pages(t *testing.T, fence string) []string {
	t.Helper()
	all, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	var pages []string
	for _, page := range all {
		if data, err := os.ReadFile(page); err == nil && strings.Contains(string(data), "```"+fence+"\n") {
			pages = append(pages, page)
		}
	}
	if len(pages) == 0 {
		t.Fatalf("no page has a transcript %s", fence)
	}
	return pages
}

// Check runs the commands of a page's fences and compares.
func (s Shell) Check(t *testing.T, page, fence string) {
	t.Helper()
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	now := s.render(t, string(data), fence)
	switch {
	case now == string(data):
	case *update:
		if err := os.WriteFile(page, []byte(now), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s is not what the program does; the same test with -update writes it:\n%s", page, program.Diff(string(data), now))
	}
}

// render is the page with what its commands print now. A command goes on after a
// line that ends with a backslash.
func (s Shell) render(t *testing.T, page, fence string) string {
	t.Helper()
	var out, command []string
	inside := false
	for line := range strings.SplitSeq(page, "\n") {
		switch {
		case line == "```"+fence:
			inside = true
		case line == "```":
			inside = false
		case inside && len(command) == 0 && !strings.HasPrefix(line, "$ "):
			continue // what was printed
		}
		out = append(out, line)
		if !inside || line == "```"+fence {
			continue
		}
		command = append(command, line)
		if !strings.HasSuffix(line, `\`) {
			out = append(out, s.run(t, strings.Join(command, "\n")[2:])...)
			command = nil
		}
	}
	return strings.Join(out, "\n")
}

// shown replaces what is another each time.
var shown = []struct {
	pattern *regexp.Regexp
	by      string
}{
	{regexp.MustCompile(`https://127\.0\.0\.1:\d+`), "https://127.0.0.1:6443"},
	{regexp.MustCompile(`pod (aws-node|kube-proxy)-[a-z0-9]{5}`), "pod $1-x7k2p"},
	{regexp.MustCompile(`address 10\.244\.\d+\.\d+`), "address 10.244.0.11"},
	{regexp.MustCompile(`ip-10-0-\d+-\d+`), "ip-10-0-0-4"},
	{regexp.MustCompile(`(?m)^note: [a-z-]+: \d of \d pods are new, \d are ready\n`), ""},
	{regexp.MustCompile(` +\n`), "\n"},
}

// run runs one command, which must succeed.
func (s Shell) run(t *testing.T, command string) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", "-o", "pipefail", "-c", command)
	cmd.Dir, cmd.Env = s.Dir, s.Env
	data, err := cmd.CombinedOutput()
	text := string(data)
	program.Said(command, text, "")
	if err != nil {
		t.Errorf("%s: %v\n%s", command, err, text)
	}
	for _, r := range shown {
		text = r.pattern.ReplaceAllString(text, r.by)
	}
	if text = strings.TrimSuffix(text, "\n"); text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}
