package main

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/eksproxy/eksproxy/node"
	"github.com/eksproxy/eksproxy/proxyconfig"
)

// TestReference holds docs/reference/cli.md against the command tree.
func TestReference(t *testing.T) {
	const name = "docs/reference/cli.md"
	got := ""
	if data, err := os.ReadFile(filepath.Join(repository, name)); err == nil {
		got = string(data)
	}
	compareDoc(t, name, got, reference(t, new(program).app("eksproxy")))
}

// reference is the page of all commands.
func reference(t *testing.T, app *cli.App) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("# The commands\n\n" +
		"This page is written from the command tree by `go test ./cmd/eksproxy -run TestReference -update`.\n" +
		"A flag that can be repeated is marked with `...`. Each setting has an environment variable, in brackets.\n" +
		"[Exit codes](exit-codes.md) have a page of their own. Flags may stand before or after the command's words.\n\n" +
		"These flags belong to every command:\n\n" + flagTable(app.Flags))
	for _, c := range commandLeaves("eksproxy", app.Commands) {
		usage, examples, _ := strings.Cut(c.Description, "Examples:\n")
		fmt.Fprintf(&b, "\n## %s\n\n%s.\n", c.Name, strings.ToUpper(c.Usage[:1])+c.Usage[1:])
		if len(c.Aliases) > 0 {
			fmt.Fprintf(&b, "Another name of it is `%s`.\n", strings.Join(c.Aliases, "`, `"))
		}
		if usage = strings.TrimSpace(usage); usage != "" {
			fmt.Fprintf(&b, "\n%s\n", usage)
		}
		if c.ArgsUsage != "" {
			fmt.Fprintf(&b, "\nIts argument is `%s`.\n", c.ArgsUsage)
		}
		if flags := flagTable(c.Flags); flags != "" {
			b.WriteString("\n" + flags)
		}
		fmt.Fprintf(&b, "\n```text\n%s\n```\n", strings.ReplaceAll(strings.TrimSpace(examples), "\n  ", "\n"))
	}
	return b.String()
}

// commandLeaves are the commands that do something, named by all their words.
func commandLeaves(prefix string, commands []*cli.Command) []cli.Command {
	var leaves []cli.Command
	for _, c := range commands {
		if c.Hidden {
			continue
		}
		if len(c.Subcommands) == 0 {
			leaf := *c
			leaf.Name = prefix + " " + c.Name
			leaves = append(leaves, leaf)
		}
		leaves = append(leaves, commandLeaves(prefix+" "+c.Name, c.Subcommands)...)
	}
	return leaves
}

// flagTable has a row for each flag; it is empty where there are none.
func flagTable(flags []cli.Flag) string {
	var b strings.Builder
	for _, f := range flags {
		names := f.Names()
		d, ok := f.(cli.DocGenerationFlag)
		if !ok || names[0] == "help" {
			continue
		}
		for i, n := range names {
			names[i] = "--" + n
			if len(n) == 1 {
				names[i] = "-" + n
			}
		}
		value, text := "", d.GetUsage()
		if parts := strings.Split(text, "`"); len(parts) == 3 {
			value, text = " "+parts[1], strings.Join(parts, "")
		} else if d.TakesValue() {
			value = " VALUE"
		}
		if _, many := f.(*cli.StringSliceFlag); many {
			value += " ..."
		}
		if d.TakesValue() && d.GetValue() != "" {
			text += " (default: " + d.GetValue() + ")"
		}
		fmt.Fprintf(&b, "| `%s%s` | %s |\n", strings.Join(names, "`, `"), value, cell(text))
	}
	if b.Len() == 0 {
		return ""
	}
	return "| flag | meaning |\n| --- | --- |\n" + b.String()
}

func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }

// applyFlags are the flags of node apply.
func applyFlags(t *testing.T, _ []string) string {
	t.Helper()
	for _, c := range commandLeaves("eksproxy", new(program).app("eksproxy").Commands) {
		if c.Name == "eksproxy node apply" {
			return flagTable(c.Flags)
		}
	}
	t.Fatal("there is no command node apply")
	return ""
}

// fieldTable is the table of the ProxyConfig's fields.
func fieldTable(t *testing.T, _ []string) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("| field below `spec` | type | flag | environment | default | scoped | meaning |\n| --- | --- | --- | --- | --- | --- | --- |\n")
	for _, f := range proxyconfig.Fields() {
		kind := string(f.Type)
		if len(f.Allowed) > 0 {
			kind = strings.Join(f.Allowed, ", ")
		}
		flag, env, scoped := "-", "-", "-"
		if f.Flag != "" {
			flag, env = "`--"+f.Flag+"`", "`"+f.Env()+"`"
		}
		if f.Scoped {
			scoped = "yes"
		}
		standard := f.Default
		if standard == "" {
			standard = "-"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s | %s |\n", f.Path, kind, flag, env, standard, scoped, cell(f.Usage))
	}
	return b.String()
}

// entryTable is the NO_PROXY of the node in the fixture, as the program
// explains it.
func entryTable(t *testing.T, _ []string) string {
	t.Helper()
	table := string(runInside(t, "noproxy", "compute", "--facts", filepath.Join(docFixture(t), "node.json"), "--no-proxy-add", ".corp.example", "-o", "markdown"))
	_, table, ok := strings.Cut(table, "\n\n")
	if !ok {
		t.Fatalf("noproxy compute -o markdown has no table: %s", table)
	}
	return table
}

// fileRow is one file in the table of docs/files.md.
type fileRow struct {
	kind, mode, secretMode, reason string
	families                       []string
}

// fileTable is what plan shows for each family, on trees that have nothing yet
// and no unit that tells the runtime.
func fileTable(t *testing.T, _ []string) string {
	t.Helper()
	rows := map[string]*fileRow{}
	for _, family := range []node.Family{node.AL2, node.AL2023, node.Ubuntu} {
		kinds := wantedKinds(t, family)
		for path, c := range plannedFiles(t, family) {
			r := rows[path]
			if r == nil {
				r = &fileRow{kind: string(kinds[path]), mode: c.After.Mode, reason: c.Reason}
				rows[path] = r
			}
			r.families = append(r.families, string(family))
		}
		for path, c := range plannedFiles(t, family, "--credentials-file", filepath.Join(docFixture(t), "proxy-login")) {
			rows[path].secretMode = c.After.Mode
		}
	}
	var paths []string
	for path := range rows {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	var b strings.Builder
	b.WriteString("| path | kind | mode | written on | why |\n| --- | --- | --- | --- | --- |\n")
	for _, path := range paths {
		r := rows[path]
		if r.secretMode != r.mode {
			r.mode += "; with a password " + r.secretMode
		}
		on := strings.Join(r.families, ", ")
		if len(r.families) == 3 {
			on = "all"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", path, r.kind, r.mode, on, cell(r.reason))
	}
	return b.String()
}

// plannedFile is what is read of one change in plan -o json.
type plannedFile struct {
	Target, Reason string
	After          struct{ Mode string }
}

// plannedFiles are the files that plan shows for a family, by path.
func plannedFiles(t *testing.T, family node.Family, more ...string) map[string]plannedFile {
	t.Helper()
	dir := docFixture(t)
	args := append([]string{
		"node", "plan", "--root", t.TempDir(), "--os", string(family), "--facts", filepath.Join(dir, "node.json"),
		"--http-proxy", "http://proxy.example:3128", "--trusted-ca", filepath.Join(dir, "corporate-ca.pem"), "-o", "json",
	}, more...)
	var doc struct{ Changes []plannedFile }
	if err := json.Unmarshal(runInside(t, args...), &doc); err != nil {
		t.Fatalf("decoding the plan: %v", err)
	}
	files := map[string]plannedFile{}
	for _, c := range doc.Changes {
		files[c.Target] = c
	}
	return files
}

// wantedKinds are the kinds of a family's files.
func wantedKinds(t *testing.T, family node.Family) map[string]node.Kind {
	t.Helper()
	l := proxyconfig.Layer{}
	l.Set("httpProxy", proxyconfig.Origin{}, "http://proxy.example:3128")
	l.Set("trustedCA", proxyconfig.Origin{}, exampleCA(t))
	cfg, err := l.Resolve("node", nil)
	if err != nil {
		t.Fatal(err)
	}
	d, err := node.Want(node.System{Family: family, Runtimes: []string{"containerd", "docker"}}, cfg.Settings(nil), cfg.Node)
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]node.Kind{}
	for _, i := range d.Items {
		kinds[i.Path] = i.Kind
	}
	return kinds
}

// docFixture makes the directory that the commands of a page run in.
func docFixture(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"image/etc/os-release":                             "NAME=\"Amazon Linux\"\nVERSION=\"2023\"\nID=\"amzn\"\nVERSION_ID=\"2023\"\n",
		"image/etc/environment":                            "LANG=C.UTF-8\n",
		"image/etc/dnf/dnf.conf":                           "[main]\ngpgcheck=1\ninstallonly_limit=3\n",
		"image/etc/pki/ca-trust/source/anchors/.keep":      "",
		"image/usr/lib/systemd/system/containerd.service":  "[Service]\nExecStart=/usr/bin/containerd\n",
		"image/usr/lib/systemd/system/kubelet.service":     "[Service]\nExecStart=/usr/bin/kubelet\n",
		"image/usr/lib/systemd/system/nodeadm-run.service": "[Service]\nExecStart=/usr/bin/nodeadm\n",
		"image/var/lib/.keep":                              "",
		"proxy-login":                                      "svc-proxy:p@ss/w%rd\n",
		"corporate-ca.pem":                                 exampleCA(t),
		"node.json":                                        exampleFacts,
	} {
		putDocFile(t, filepath.Join(dir, name), text)
	}
	return dir
}

func putDocFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(name, 0o644); err != nil { // whatever the umask
		t.Fatal(err)
	}
}

// exampleFacts are what "facts node -o json" prints on a node.
const exampleFacts = `{
  "apiVersion": "eksproxy.dev/v1alpha1",
  "kind": "NodeFacts",
  "region": "eu-west-1",
  "dnsSuffix": "amazonaws.com",
  "vpcCIDRs": ["10.40.0.0/16", "100.64.0.0/16"],
  "serviceCIDRs": ["10.100.0.0/16"],
  "endpointHost": "0123456789ABCDEF.gr7.eu-west-1.eks.amazonaws.com",
  "clusterName": "demo",
  "sources": {
    "region": "instance metadata",
    "dnsSuffix": "instance metadata",
    "vpcCIDRs": "instance metadata",
    "serviceCIDRs": "user data (NodeConfig)",
    "endpointHost": "user data (NodeConfig)"
  }
}
`

// exampleCA is a certificate authority that is the same in every run, because
// its certificate is part of the settings hash.
func exampleCA(t *testing.T) string {
	t.Helper()
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	tmpl := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Example Root CA"},
		NotBefore: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), NotAfter: time.Date(2125, 1, 1, 0, 0, 0, 0, time.UTC),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}
