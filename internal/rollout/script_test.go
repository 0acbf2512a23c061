package rollout

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The tools of an image, by what they are linked to.
var (
	small = []string{"sleep", "timeout"}
	cases = map[string]struct {
		tools []string
		name  string // that is resolved
		shut  bool   // nothing listens
		want  int
		says  string
	}{
		"getent and bash":      {tools: []string{"getent", "bash"}, name: "localhost", says: "localhost was resolved, and 127.0.0.1 port"},
		"getent and curl":      {tools: []string{"getent", "curl"}, name: "localhost", says: "connects"},
		"bash alone":           {tools: []string{"bash"}, name: "localhost", says: "connects"},
		"curl alone":           {tools: []string{"curl"}, name: "localhost", says: "connects"},
		"no name by getent":    {tools: []string{"getent", "bash"}, name: "no.such.invalid", want: exitNoDNS, says: "no.such.invalid was not resolved"},
		"no name by bash":      {tools: []string{"bash"}, name: "no.such.invalid", want: exitNoDNS, says: "was not resolved"},
		"no name by curl":      {tools: []string{"curl"}, name: "no.such.invalid", want: exitNoDNS, says: "was not resolved"},
		"no listener by bash":  {tools: []string{"getent", "bash"}, name: "localhost", shut: true, want: exitNoConnection, says: "no connection to 127.0.0.1 port"},
		"no listener by curl":  {tools: []string{"getent", "curl"}, name: "localhost", shut: true, want: exitNoConnection, says: "no connection to"},
		"neither":              {tools: []string{"bash"}, name: "no.such.invalid", shut: true, want: exitNoConnection, says: "no connection to"},
		"getent alone":         {tools: []string{"getent"}, name: "localhost", want: exitNoTool, says: "has no bash, curl or nc"},
		"getent, and no name":  {tools: []string{"getent"}, name: "no.such.invalid", want: exitNoDNS, says: "was not resolved"},
		"nothing":              {want: exitNoTool, says: "the image has no getent"},
		"nslookup by search":   {tools: []string{"nslookup", "bash"}, name: "kubernetes.default", says: "kubernetes.default was resolved"},
		"nslookup, no name":    {tools: []string{"nslookup", "bash"}, name: "other", want: exitNoDNS, says: "other was not resolved"},
		"nc that knows -z":     {tools: []string{"getent", "nc -z"}, name: "localhost", says: "connects"},
		"nc without -z":        {tools: []string{"getent", "nc"}, name: "localhost", says: "connects"},
		"no listener by nc":    {tools: []string{"getent", "nc"}, name: "localhost", shut: true, want: exitNoConnection, says: "no connection"},
		"no listener by nc -z": {tools: []string{"getent", "nc -z"}, name: "localhost", shut: true, want: exitNoConnection, says: "no connection"},
	}
)

// stubs stand in for programs that are rarely installed, and behave like
// busybox's: nslookup looks through no search list, nc connects or does not.
var stubs = map[string]string{
	"nslookup": `case $1 in kubernetes.default.svc.cluster.local) exit 0 ;; esac; exit 1`,
	"nc":       `[ "$1" != -z ] || exit 1; exec /bin/bash -c 'exec 3<>"/dev/tcp/$0/$1"' "$3" "$4"`,
	"nc -z":    `[ "$1" = -z ] || exit 1; exec /bin/bash -c 'exec 3<>"/dev/tcp/$0/$1"' "$4" "$5"`,
}

// TestProbeScript runs the script with every set of tools that an image may
// have, by two shells, against a listener.
func TestProbeScript(t *testing.T) {
	for _, shell := range []string{"dash", "bash"} {
		program, err := exec.LookPath(shell)
		if err != nil {
			t.Logf("%s is not installed", shell)
			continue
		}
		for name, c := range cases {
			t.Run(shell+"/"+name, func(t *testing.T) {
				port := listen(t, c.shut)
				log, resolv := filepath.Join(t.TempDir(), "log"), filepath.Join(t.TempDir(), "resolv.conf")
				write(t, resolv, "nameserver 10.100.0.10\nsearch kube-system.svc.cluster.local svc.cluster.local cluster.local\noptions ndots:5\n", 0o644)
				cmd := exec.CommandContext(t.Context(), program, "-c", probeScript)
				cmd.Env = []string{
					"PATH=" + tools(t, append(c.tools, small...)), "PROBE_NAME=" + c.name, "PROBE_LOG=" + log, "PROBE_RESOLV=" + resolv,
					"PROBE_TRIES=1", "KUBERNETES_SERVICE_HOST=127.0.0.1", "KUBERNETES_SERVICE_PORT=" + port,
				}
				out, err := cmd.CombinedOutput()
				if got := cmd.ProcessState.ExitCode(); got != c.want {
					t.Errorf("exit code %d, want %d (%v)", got, c.want, err)
				}
				said, _ := os.ReadFile(log)
				if !strings.Contains(string(said), c.says) || string(said) != string(out) {
					t.Errorf("the log says %q, the output %q, want %q", said, out, c.says)
				}
			})
		}
	}
}

// listen is the port of a listener, or of one that has gone.
func listen(t *testing.T, shut bool) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if shut {
		_ = l.Close()
	}
	t.Cleanup(func() { _ = l.Close() }) // it may be shut already
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_ = conn.Close() // curl then fails after the connection
		}
	}()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// tools is a folder with these programs and no others.
func tools(t *testing.T, names []string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		as, _, _ := strings.Cut(name, " ")
		if text, ok := stubs[name]; ok {
			write(t, filepath.Join(dir, as), "#!/bin/sh\n"+text+"\n", 0o755)
			continue
		}
		program, err := exec.LookPath(name)
		if err != nil {
			t.Skipf("%s is not installed", name)
		}
		if err := os.Symlink(program, filepath.Join(dir, as)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}
