package managed

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/eksproxy/eksproxy/integration/ekssim"
	"github.com/eksproxy/eksproxy/integration/program"
)

// update writes the sessions of the pages anew.
var update = flag.Bool("update", false, "write the sessions in docs/ anew")

// The files that the sessions use.
const (
	sessionSettings = `apiVersion: eksproxy.dev/v1alpha1
kind: ProxyConfig
spec:
  httpProxy: http://proxy.example:3128
`
	sessionFacts = `apiVersion: eksproxy.dev/v1alpha1
kind: ClusterFacts
region: eu-west-1
dnsSuffix: amazonaws.com
vpcCIDRs: [10.40.0.0/16]
serviceCIDRs: [10.100.0.0/16]
endpointHost: 0123456789ABCDEF.gr7.eu-west-1.eks.amazonaws.com
`
)

// TestDocsSessions runs the blocks "eks-session" of the pages on a cluster with
// add-ons that EKS manages, which eksproxy has patched.
func TestDocsSessions(t *testing.T) {
	t.Parallel()
	full, err := program.Full()
	if err != nil {
		t.Fatal(err)
	}
	w := start(t, 2, ekssim.VPCCNI(`{"env":{"ENABLE_PREFIX_DELEGATION":"true"}}`), ekssim.KubeProxy())
	w.expect(t, 0, addons("patch", "--canary=off")...)
	c := newCatalog(t, w.eks.URL)
	dir := t.TempDir()
	for name, text := range map[string]string{"proxy.yaml": sessionSettings, "cluster.yaml": sessionFacts} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(full, filepath.Join(dir, "eksproxy")); err != nil {
		t.Fatal(err)
	}
	env := append(awsEnv(c.URL), "HOME="+dir, "PATH="+dir+":"+os.Getenv("PATH"), "KUBECONFIG="+w.Kubeconfig())
	found := 0
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages {
		data, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		text := string(data)
		if !strings.Contains(text, "```eks-session\n") {
			continue
		}
		found++
		now := session(t, text, dir, env)
		switch {
		case now == text:
		case *update:
			if err := os.WriteFile(page, []byte(now), 0o644); err != nil {
				t.Fatal(err)
			}
		default:
			t.Errorf("%s is not what the program does; cd integration && go test ./managed -run TestDocsSessions -update writes it:\n%s", page, program.Diff(text, now))
		}
	}
	if found == 0 {
		t.Error("no page has a session")
	}
}

// session is a page with what its commands print now.
func session(t *testing.T, text, dir string, env []string) string {
	t.Helper()
	var out []string
	inside := false
	for line := range strings.SplitSeq(text, "\n") {
		switch {
		case line == "```eks-session":
			inside = true
		case line == "```":
			inside = false
		case inside && !strings.HasPrefix(line, "$ "):
			continue // what was printed
		}
		out = append(out, line)
		if command, ok := strings.CutPrefix(line, "$ "); inside && ok {
			cmd := exec.CommandContext(t.Context(), "bash", "-o", "pipefail", "-c", command)
			cmd.Dir, cmd.Env = dir, slices.Clone(env)
			data, err := cmd.CombinedOutput()
			program.Said(command, string(data), "")
			if err != nil {
				t.Errorf("%s: %v\n%s", command, err, data)
			}
			if printed := strings.TrimSuffix(string(data), "\n"); printed != "" {
				out = append(out, strings.Split(printed, "\n")...)
			}
		}
	}
	return strings.Join(out, "\n")
}
