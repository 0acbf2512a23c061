//go:build integration

package node

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/eksproxy/eksproxy/templates"
)

// The readers of environment files are the real ones of this machine: systemd
// as PID 1 of a container, bash, dash, and pam_env by su. Each gets every line
// that envLine makes, in one file, plus lines that it would read wrongly.

func TestReaderSystemd(t *testing.T) {
	needsRoot(t)
	needs(t, "/usr/bin/systemd-nspawn", "systemd-container")
	needs(t, "/usr/bin/unshare", "util-linux")
	b := environmentBatch(t)
	// BL-026: in a unit's own lines the percent sign is a specifier, and the
	// whole assignment goes.
	unit := control{"C0000", "Environment=C0000=http://u:p%40s@h:1\n", "http://u:p%40s@h:1"}
	file := control{"C0001", `C0001=a\b` + "\n", `a\b`}
	// BL-027: what follows a value is part of it.
	comment := control{"C0002", "C0002=a # by eksproxy\n", "a"}
	got := readBySystemd(t, b.text.String()+file.line+comment.line, unit.line)
	b.check(t, got, unit, file, comment)
}

// readBySystemd boots systemd with nothing but a unit that has our drop-in,
// and gives what is in the unit's environment.
func readBySystemd(t *testing.T, text, unitLine string) map[string]string {
	t.Helper()
	dir := t.TempDir()
	const name = "eksproxy-reader.service"
	putFile(t, filepath.Join(dir, "proxy.env"), text)
	putFile(t, filepath.Join(dir, "out"), "")
	putFile(t, filepath.Join(dir, dropInName), templates.NodeDropIn)
	putFile(t, filepath.Join(dir, name), `[Unit]
DefaultDependencies=no
SuccessAction=exit-force
FailureAction=exit-force
[Service]
Type=oneshot
TimeoutStartSec=30
`+unitLine+`ExecStart=/usr/bin/env -0
StandardOutput=truncate:/eksproxy-out
`)
	bind := func(kind, file, target string) string {
		return "--" + kind + "=" + filepath.Join(dir, file) + ":" + target
	}
	// When the test is killed, so is the container.
	runReader(t, dir, "", "unshare", "--pid", "--fork", "--kill-child", "--mount-proc",
		"systemd-nspawn", "-q", "--directory=/", "--volatile=yes", "--boot", "--register=no", "--keep-unit",
		"--machine=eksproxy-reader", "--console=pipe", "--link-journal=no",
		bind("bind", "out", "/eksproxy-out"),
		bind("bind-ro", "proxy.env", ProxyEnvPath),
		bind("bind-ro", name, "/etc/systemd/system/"+name),
		bind("bind-ro", dropInName, dropInDir(strings.TrimSuffix(name, ".service"))+"/"+dropInName),
		"systemd.unit="+name)
	out, err := os.ReadFile(filepath.Join(dir, "out"))
	if err != nil {
		t.Fatal(err)
	}
	return environ(string(out))
}

func TestReaderShells(t *testing.T) {
	b, profile := environmentBatch(t), profileBatch(t)
	home := control{"C0000", "C0000=$HOME\n", "$HOME"}
	tilde := control{"C0001", "C0001=a:~/\n", "a:~/"}
	double := control{"C0000", "export C0000=\"$HOME\"\n", "$HOME"}
	for _, shell := range []string{"bash", "dash"} {
		t.Run(shell, func(t *testing.T) {
			needs(t, "/usr/bin/"+shell, shell)
			// BL-032: a file of pam and systemd, sourced.
			got := readByShell(t, shell, "set -ae", b.text.String()+home.line+tilde.line)
			b.check(t, got, home, tilde)
			// BL-014: a blank in a list does not end the assignment.
			got = readByShell(t, shell, "set -e", profile.text.String()+double.line)
			profile.check(t, got, double)
		})
	}
}

// readByShell sources the file where patterns would match other files.
func readByShell(t *testing.T, shell, options, text string) map[string]string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"a", "x", "ab", "xx", "b!", "[x]", ".x", "L0001=x", "-x", "x,x", "x:x"} {
		putFile(t, filepath.Join(dir, name), "")
	}
	file := filepath.Join(t.TempDir(), "file")
	putFile(t, file, text)
	out := runReader(t, dir, "", "/usr/bin/"+shell, "-c", options+`; . "$1"; exec env -0`, shell, file)
	return environ(out)
}

func TestReaderPAM(t *testing.T) {
	needsRoot(t)
	needs(t, "/usr/bin/unshare", "util-linux")
	needs(t, etcEnv, "libpam-modules")
	needs(t, "/etc/pam.d/su", "util-linux")
	pam, err := os.ReadFile("/etc/pam.d/su")
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`(?m)^session\s+\S+\s+pam_env\.so\s+readenv=1\s*$`).Match(pam) {
		t.Fatalf("su does not read %s here:\n%s", etcEnv, pam)
	}
	b := environmentBatch(t)
	hash := control{"C0000", "C0000=a#b\n", "a#b"}
	quoted := control{"C0001", "C0001='a#b'\n", "a#b"}
	file := filepath.Join(t.TempDir(), "file")
	putFile(t, file, b.text.String()+hash.line+quoted.line)
	// The mount is seen by this command alone: the machine's own file stays.
	out := runReader(t, "/", "", "unshare", "--mount", "sh", "-c",
		`mount --bind "$1" `+etcEnv+` && exec su -s /usr/bin/env nobody -- -0`, "sh", file)
	b.check(t, environ(out), hash, quoted)
}

// environmentBatch is all that envLine accepts.
func environmentBatch(t *testing.T) *batch {
	t.Helper()
	rnd := seeded(t)
	b := &batch{want: map[string]string{}}
	b.variables(t, templates.NodeProxyEnv, envLine)
	b.urls(t, "U", someCredentials(t, rnd), envLine)
	b.lists(t, "L", someLists(rnd), envLine)
	return b
}

// profileBatch is all that shellLine accepts.
func profileBatch(t *testing.T) *batch {
	t.Helper()
	rnd := seeded(t)
	b := &batch{want: map[string]string{}}
	b.variables(t, templates.NodeProfile, shellLine)
	b.urls(t, "U", someCredentials(t, rnd), shellLine)
	b.lists(t, "L", append(someLists(rnd), "localhost, .svc,10.40.0.0/16 "), shellLine)
	return b
}

// environ parses what env -0 prints.
func environ(out string) map[string]string {
	vars := map[string]string{}
	for entry := range strings.SplitSeq(out, "\x00") {
		if name, value, ok := strings.Cut(entry, "="); ok {
			vars[name] = value
		}
	}
	return vars
}

func needsRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED, NOT TESTED: this reader needs root; run these tests as root")
	}
}

// needs fails the test where a file of a package is missing.
func needs(t *testing.T, path, pkg string) {
	t.Helper()
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("the reader is missing (%v); run: apt-get install -y --no-install-recommends %s", err, pkg)
	}
}

func putFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
