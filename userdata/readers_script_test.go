//go:build integration

package userdata

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/eksproxy/eksproxy/bootdata"
	"github.com/eksproxy/eksproxy/facts"
	"github.com/eksproxy/eksproxy/proxyconfig"
)

// everyScript are the scripts of all documents, by the document's name.
func everyScript(t *testing.T) map[string]string {
	t.Helper()
	scripts := map[string]string{}
	for _, p := range supported() {
		if !scripted(p.OS) {
			continue
		}
		for name, change := range map[string]func(*Input){
			"static": func(in *Input) { in.Mode = Static },
			"omits":  func(in *Input) { in.Config.NoProxy.Omit = []proxyconfig.Item{{Text: "10.40.0.0/16"}} },
			"six":    func(in *Input) { in.Config.NoProxy.IPv6CIDRs = "always" },
			"image":  func(in *Input) { in.Agent.InImage = true },
			"s3":     func(in *Input) { in.Agent = Agent{URL: "s3://b/k", SHA256: strings.Repeat("a", 64)} },
			"https":  func(in *Input) { in.Agent = Agent{URL: "https://h/k", SHA256: strings.Repeat("a", 64)} },
			"signal": func(in *Input) {
				if in.joins() {
					in.Bootstrap.CFNSignal = "stack/Nodes"
				}
			},
		} {
			in := inputFrom(t, p.OS, p.For, withCA(t, plainSpec, 10))
			change(&in)
			key := fmt.Sprintf("%s-%s-%s", p.OS, p.For, name)
			if p.For == Eksctl {
				script := scriptOf(t, in)
				override, _ := in.override()
				scripts[key] = script
				if p.OS != AL2023 {
					scripts[key+"-override"] = override
				}
				continue
			}
			doc, err := bootdata.Parse(render(t, in).Text)
			if err != nil {
				t.Fatal(err)
			}
			for _, part := range doc.Parts {
				if strings.HasPrefix(string(part.Body), "#!") {
					scripts[key+"-"+part.FileName()] = string(part.Body)
				}
			}
		}
	}
	return scripts
}

// TestReaderShellcheck: BL-043, BL-044. Every script is one that shells and
// shellcheck have nothing against.
func TestReaderShellcheck(t *testing.T) {
	needs(t, "shellcheck", "dash", "bash")
	dir, names := t.TempDir(), []string{}
	seen := map[string]bool{}
	for name, text := range everyScript(t) {
		if strings.Contains(text, "\r") || !strings.HasPrefix(text, "#!/bin/") || strings.Contains(text, "%") && strings.Contains(text, "%S") {
			t.Errorf("%s: a script of %q", name, text[:10])
		}
		if seen[text] {
			continue
		}
		seen[text] = true
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		names = append(names, file)
		for _, shell := range shells() {
			if out, err := exec.CommandContext(t.Context(), shell, "-n", file).CombinedOutput(); err != nil {
				t.Errorf("%s -n %s: %v\n%s", shell, name, err, out)
			}
		}
	}
	if len(names) < 15 {
		t.Errorf("only %d scripts differ", len(names))
	}
	// SC1091: files that are on the node only.
	out, err := exec.CommandContext(t.Context(), "shellcheck", append([]string{"-e", "SC1091"}, names...)...).CombinedOutput()
	if err != nil {
		t.Errorf("shellcheck: %v\n%s", err, out)
	}
}

// TestReaderPythonEmail: Python's parser, which cloud-init uses, sees the parts
// that Go sees, and no defect.
func TestReaderPythonEmail(t *testing.T) {
	needs(t, "python3")
	const program = `
import email, email.policy, hashlib, sys
m = email.message_from_binary_file(sys.stdin.buffer, policy=email.policy.default)
assert not m.defects, m.defects
for p in m.iter_parts():
    assert not p.defects, p.defects
    print(p.get_content_type(), p.get_filename(), hashlib.sha256(p.get_payload(decode=True)).hexdigest())
`
	for _, p := range supported() {
		if !scripted(p.OS) || p.For == Eksctl {
			continue
		}
		text := render(t, inputFrom(t, p.OS, p.For, withCA(t, plainSpec, 10))).Text
		doc, err := bootdata.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		var want strings.Builder
		for _, part := range doc.Parts {
			sum := sha256.Sum256(part.Body)
			fmt.Fprintf(&want, "%s %s %s\n", part.ContentType, part.FileName(), hex.EncodeToString(sum[:]))
		}
		cmd := exec.CommandContext(t.Context(), "python3", "-c", program)
		cmd.Stdin = strings.NewReader(string(text))
		out, err := cmd.CombinedOutput()
		if err != nil || string(out) != want.String() {
			t.Errorf("%s for %s: %v\ngot\n%swant\n%s", p.OS, p.For, err, out, want.String())
		}
	}
}

// TestReaderStaticWithoutMetadata: BL-003, BL-004. Where metadata does not
// answer, or answers something else, the rendered CIDRs stand; without them
// nothing is written.
func TestReaderStaticWithoutMetadata(t *testing.T) {
	for name, blocks := range map[string]string{
		"a page": "<html>401</html>", "text": "10.0.0.0/16\nX=1", "an address": "10.0.0.1", "too wide": "0.0.0.0/0", "octets": "300.0.0.0/16",
		"zeros": "010.0.0.0/16", "nothing": "", "dots": "1..0.0.0/16", "more": "10.0.0.0/16/16", "five": "1.2.3.4.5/16",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := input(t, AL2023, SelfManaged)
			in.Mode = Static
			url := fakeMetadata(t, blocks, "")
			dir := ran(t, "dash", scriptOf(t, in), url)
			env, err := os.ReadFile(filepath.Join(dir, "etc/eksproxy/proxy.env"))
			if err != nil || !strings.Contains(string(env), ",10.40.0.0/16,100.64.0.0/16,") || strings.Contains(string(env), "X=1") {
				t.Errorf("%v\n%s", err, env)
			}
			in.Facts.VPCCIDRs = nil
			dir = t.TempDir()
			out, err := tryRun(t, "bash", scriptOf(t, in), url, dir)
			if names := files(t, dir); err == nil || len(names) > 0 || !strings.Contains(out, "no CIDRs of the VPC from metadata; rendered: none") {
				t.Errorf("%v %v\n%s", err, names, out)
			}
		})
	}
}

// TestReaderStaticIsBounded: it does not wait for ever, and keeps its limit
// itself.
func TestReaderStaticIsBounded(t *testing.T) {
	in := input(t, AL2023, SelfManaged)
	in.Mode = Static
	script := strings.Replace(scriptOf(t, in), "timeout -k 5 120", "timeout -k 1 1", 1)
	hang := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer hang.Close()
	file := filepath.Join(t.TempDir(), "hook")
	if err := os.WriteFile(file, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), file)
	cmd.Env = []string{"EKSPROXY_ROOT=" + t.TempDir(), "EKSPROXY_IMDS_ENDPOINT=" + hang.URL}
	if err := cmd.Run(); cmd.ProcessState.ExitCode() != 124 {
		t.Errorf("exit %v, want 124 of timeout", err)
	}
}

// TestReaderStaticIPv6: what IPv6 addresses come to be, as netip writes them.
func TestReaderStaticIPv6(t *testing.T) {
	in := inputFrom(t, AL2023, SelfManaged, "  httpProxy: http://proxy.example:3128\n  noProxy: {ipv6CIDRs: always}\n")
	in.Mode = Static
	script := scriptOf(t, in)
	for _, text := range []string{
		"2001:DB8::/32", "fd00:0:0:1::/64", "1:0:0:2:0:0:0:3/128", "0:0:1:0:0:0:0:0/48", "1:2:3:4:5:6:7:8/127", "1:0:2:0:3:0:4:0/112",
		"::1:2/128", "ffff::/16", "1:2:3:4:5:6:0:0/96", "2001:db8:ffff::/35", "fd00:ec2::/33", "a:b:c:d:e:f:1::/112",
	} {
		want := netip.MustParsePrefix(text).Masked().String()
		dir := ran(t, "dash", script, fakeMetadata(t, "10.0.0.0/8", text))
		env, _ := os.ReadFile(filepath.Join(dir, "etc/eksproxy/proxy.env"))
		if !strings.Contains(string(env), ",10.0.0.0/8,"+want+",") {
			t.Errorf("%s: want %s in\n%s", text, want, env)
		}
	}
	for _, text := range []string{"1::2::3/64", "1:2:3/64", "12345::/32", "::/0", "g::/32", "1:2:3:4:5:6:7:8:9/64", "1::/129", "::ffff/", "1::/64/64"} {
		dir := ran(t, "dash", script, fakeMetadata(t, "10.0.0.0/8", text))
		env, _ := os.ReadFile(filepath.Join(dir, "etc/eksproxy/proxy.env"))
		if !strings.Contains(string(env), ",10.40.0.0/16,100.64.0.0/16,") {
			t.Errorf("%s: taken\n%s", text, env)
		}
	}
}

// TestReaderAgentScript: the program is fetched, checked before it may run, and
// the one that is there stays where the check fails.
func TestReaderAgentScript(t *testing.T) {
	program := func(n int) string { return fmt.Sprintf("#!/bin/sh\necho program %d \"$@\" >&2\n", n) }
	served := program(1)
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, served) }))
	defer server.Close()
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	hash := func(text string) string { sum := sha256.Sum256([]byte(text)); return hex.EncodeToString(sum[:]) }
	script := func(text string) string {
		in := input(t, AL2023, ManagedNodeGroup)
		in.Config.HTTPSProxy, _ = proxyconfig.ParseURL("http://127.0.0.1:1") // refuses: the VPC's endpoint is next
		in.Agent = Agent{URL: server.URL + "/eksproxy", SHA256: hash(text)}
		in.Portable = func(facts.Node) (proxyconfig.Portable, error) {
			return proxyconfig.Portable{Config: []byte("kind: ProxyConfig\n"), TrustedCA: authority}, nil
		}
		// The system's store does not have the test server's authority.
		return strings.Replace(scriptOf(t, in), "get --noproxy '*';", "get --noproxy '*' --cacert \"$root/etc/eksproxy/trusted-ca.pem\";", 1)
	}
	dir := t.TempDir()
	for _, step := range []struct{ what, wants, serves, says string }{
		{"fetched", program(1), program(1), "program 1 node apply --config " + dir + "/etc/eksproxy/config.yaml --root " + dir},
		{"there", program(1), "broken", "program 1 node"},
		{"wrong", program(2), "broken", "is not what its SHA-256 says\nprogram 1 node"},
		{"newer", program(2), program(2), "program 2 node"},
		{"back", program(1), "gone", "program 1 node"},
	} {
		served = step.serves
		out, err := tryRun(t, "dash", script(step.wants), "", dir)
		if err != nil || !strings.Contains(out, step.says) {
			t.Errorf("%s: %v\n%s", step.what, err, out)
		}
	}
	empty := t.TempDir()
	served = "broken"
	if out, err := tryRun(t, "bash", script(program(1)), "", empty); err == nil || !strings.Contains(out, "does not run") {
		t.Errorf("nothing there: %v\n%s", err, out)
	}
	if left := files(t, filepath.Join(empty, "opt")); len(left) != 2 {
		t.Errorf("left behind: %v", left)
	}
}
