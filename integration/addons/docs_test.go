package addons

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

// update writes the transcripts of the pages anew.
var update = flag.Bool("update", false, "write the transcripts in docs/ anew")

// shown replaces what is another each time.
var shown = []struct {
	pattern *regexp.Regexp
	by      string
}{
	{regexp.MustCompile(`https://127\.0\.0\.1:\d+`), "https://127.0.0.1:6443"},
	{regexp.MustCompile(`pod (aws-node|kube-proxy)-[a-z0-9]{5}`), "pod $1-x7k2p"},
	{regexp.MustCompile(`address 10\.244\.\d+\.\d+`), "address 10.244.0.11"},
	{regexp.MustCompile(`ip-10-0-\d+-\d+`), "ip-10-0-0-4"},
	{regexp.MustCompile(`(?m)^note: [a-z-]+: \d of 3 pods are new, \d are ready\n`), ""},
	{regexp.MustCompile(` +\n`), "\n"},
}

// TestDocsTranscripts runs the blocks "shell-session" of the pages on a real
// control plane. Each page starts with a cluster as EKS makes it, and prod.yaml
// is its kubeconfig.
func TestDocsTranscripts(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	full, err := program.Full()
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, page := range pages {
		if !strings.Contains(read(t, page), "```shell-session\n") {
			continue
		}
		found++
		t.Run(filepath.Base(page), func(t *testing.T) {
			t.Parallel()
			cp := start(t, 3)
			dir := t.TempDir()
			write(t, filepath.Join(dir, "prod.yaml"), read(t, cp.Kubeconfig()))
			if err := os.Symlink(full, filepath.Join(dir, "eksproxy")); err != nil {
				t.Fatal(err)
			}
			transcribe(t, page, dir)
		})
	}
	if found == 0 {
		t.Error("no page has a transcript")
	}
}

// transcribe runs the commands of a page and holds what it shows against what
// they print.
func transcribe(t *testing.T, page, dir string) {
	t.Helper()
	text := read(t, page)
	var out []string
	inside := false
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		switch {
		case line == "```shell-session":
			inside = true
		case line == "```":
			inside = false
		case inside && strings.HasPrefix(line, "$ "):
			command := []string{line}
			for strings.HasSuffix(lines[i], `\`) {
				i++
				command = append(command, lines[i])
			}
			out = append(append(out, command...), printed(t, dir, strings.Join(command, "\n")[2:])...)
			continue
		case inside:
			continue // what was printed
		}
		out = append(out, line)
	}
	if now := strings.Join(out, "\n"); now != text {
		if *update {
			write(t, page, now)
			return
		}
		t.Errorf("%s is not what the program does; cd integration && go test ./addons -run TestDocsTranscripts -update writes it:\n%s", page, program.Diff(text, now))
	}
}

func printed(t *testing.T, dir, command string) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", "-o", "pipefail", "-c", command)
	cmd.Dir = dir
	cmd.Env = []string{"HOME=" + dir, "PATH=" + dir + ":" + os.Getenv("PATH")}
	data, err := cmd.CombinedOutput()
	text := string(data)
	program.Said(command, text, "")
	if exit := (*exec.ExitError)(nil); err != nil && !strings.Contains(command, "echo") {
		t.Errorf("%s: %v %v\n%s", command, err, exit, text)
	}
	for _, s := range shown {
		text = s.pattern.ReplaceAllString(text, s.by)
	}
	if text = strings.TrimSuffix(text, "\n"); text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}
