package nodecheck_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io/fs"
	"math/big"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/eksproxy/eksproxy/facts"
	"github.com/eksproxy/eksproxy/internal/rootfs"
	"github.com/eksproxy/eksproxy/internal/systemd"
	"github.com/eksproxy/eksproxy/node"
	"github.com/eksproxy/eksproxy/noproxy/compose"
	"github.com/eksproxy/eksproxy/proxyconfig"
	"github.com/eksproxy/eksproxy/verify"
	"github.com/eksproxy/eksproxy/verify/nodecheck"
)

// The proxy of every test, and its password in two of its forms.
const (
	proxyURL      = "http://proxy.example:3128"
	password      = "Pa55/w0rd#x"
	passwordInURL = "Pa55%2Fw0rd%23x"
	passwordPair  = "c3ZjOlBhNTUvdzByZCN4" // base64 of svc and it
	endpoint      = "ID.gr7.eu-west-1.eks.amazonaws.com"
)

// aNode is a scratch tree that eksproxy was applied to, with what would run.
type aNode struct {
	t       *testing.T
	dir     string
	units   map[string]systemd.Unit
	environ map[int]map[string]string // instead of proxy.env's
	world   facts.Node
	options nodecheck.Options
	ca      string
}

func (n *aNode) Unit(_ context.Context, name string) (systemd.Unit, error) {
	return n.units[name], nil
}

// goodNode is a node on which every check is good.
func goodNode(t *testing.T, family node.Family) *aNode {
	t.Helper()
	n := &aNode{t: t, dir: t.TempDir(), units: map[string]systemd.Unit{}, environ: map[int]map[string]string{}, world: facts.NewNode()}
	n.ca = authority(t)
	n.world.Region, n.world.DNSSuffix, n.world.EndpointHost = "eu-west-1", "amazonaws.com", endpoint
	n.world.VPCCIDRs = []netip.Prefix{netip.MustParsePrefix("10.40.0.0/16"), netip.MustParsePrefix("2001:db8::/56")}
	n.world.ServiceCIDRs = []netip.Prefix{netip.MustParsePrefix("10.100.0.0/16")}
	n.write("/etc/yum.conf", "[main]\ngpgcheck=1\n")
	n.write("/etc/dnf/dnf.conf", "[main]\ngpgcheck=1\n")
	n.write("/etc/environment", "LANG=C.UTF-8\n")
	root, err := rootfs.Open(n.dir)
	check(t, err)
	t.Cleanup(func() { _ = root.Close() })
	sys := node.System{Family: family, Runtimes: []string{"containerd"}}
	n.options = nodecheck.Options{
		Root: root, System: sys, Live: true, Services: n,
		Environ:  func(pid int) (map[string]string, error) { return n.environOf(pid), nil },
		Metadata: func(context.Context) (facts.Node, error) { return n.world, nil },
		Wanted:   func(context.Context) (node.Desired, error) { return desired(sys, n.settings(n.world)) },
	}
	n.install(n.settings(n.world))
	return n
}

// install applies the settings and adds what else is on such a node.
func (n *aNode) install(s proxyconfig.Settings) {
	n.t.Helper()
	sys := n.options.System
	want, err := desired(sys, s)
	check(n.t, err)
	prepared, err := node.Prepare(n.options.Root, want)
	check(n.t, err)
	_, err = prepared.Apply(n.t.Context(), "")
	check(n.t, err)
	_, bundle, _ := sys.Family.TrustStore()
	n.write(bundle, "# roots\n"+string(s.CAs[0].PEM))
	made := time.Now().Add(-time.Hour)
	check(n.t, os.Chtimes(n.path(bundle), made, made))
	n.write("/usr/local/bin/eksproxy", "ELF")
	n.write("/etc/systemd/system/eksproxy.service", "[Service]\nExecStart=/usr/local/bin/eksproxy node apply\n")
	n.remove("/etc/systemd/system/multi-user.target.wants")
	n.link("/etc/systemd/system/eksproxy.service", "/etc/systemd/system/multi-user.target.wants/eksproxy.service")
	n.write("/var/lib/kubelet/kubeconfig", "clusters:\n- cluster:\n    server: https://"+endpoint+"\n")
	n.write("/var/log/cloud-init.log", "running 'init-local'\nWARNING Unhandled unknown content-type (application/node.eks.aws)\n")
	for i, name := range []string{"containerd", "kubelet"} {
		n.units[name] = systemd.Unit{
			Name: name + ".service", Loaded: true, Active: "active", MainPID: 100 + i, Started: time.Now().Add(-time.Minute),
			DropIns: []string{node.DropInPath(name)}, EnvironmentFiles: []string{node.ProxyEnvPath},
		}
	}
}

func desired(sys node.System, s proxyconfig.Settings) (node.Desired, error) {
	return node.Want(sys, s, proxyconfig.Node{})
}

// settings are those that compose gives for a world.
func (n *aNode) settings(world facts.Node) proxyconfig.Settings {
	n.t.Helper()
	c, err := proxyconfig.ParseCredentials([]byte("svc:" + password))
	check(n.t, err)
	u, err := proxyconfig.ParseURL(proxyURL)
	check(n.t, err)
	r, err := compose.Compose(world.Network, compose.Options{Add: []compose.Addition{{Text: ".corp.example", Source: "test"}}})
	check(n.t, err)
	cas, err := proxyconfig.ParseCAs([]byte(n.ca))
	check(n.t, err)
	return proxyconfig.Settings{HTTPProxy: u.With(c), HTTPSProxy: u.With(c), NoProxy: r.Entries, CAs: cas}
}

// environOf is the environment of a process: proxy.env as it is, unless said
// otherwise.
func (n *aNode) environOf(pid int) map[string]string {
	if env, ok := n.environ[pid]; ok {
		return env
	}
	env := map[string]string{}
	for line := range strings.Lines(n.read(node.ProxyEnvPath)) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok {
			env[name] = value
		}
	}
	return env
}

// checkAll runs every check.
func (n *aNode) checkAll() verify.Report {
	n.t.Helper()
	return verify.Run(n.t.Context(), nodecheck.Checks(n.options), nil)
}

func (n *aNode) path(p string) string { return filepath.Join(n.dir, p) }

func (n *aNode) write(p, text string) {
	n.t.Helper()
	check(n.t, os.MkdirAll(filepath.Dir(n.path(p)), 0o755))
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(n.path(p)); err == nil {
		mode = info.Mode()
	}
	check(n.t, os.WriteFile(n.path(p), []byte(text), mode))
	check(n.t, os.Chmod(n.path(p), mode))
}

func (n *aNode) link(to, p string) {
	n.t.Helper()
	check(n.t, os.MkdirAll(filepath.Dir(n.path(p)), 0o755))
	check(n.t, os.Symlink(to, n.path(p)))
}

func (n *aNode) read(p string) string {
	n.t.Helper()
	data, err := os.ReadFile(n.path(p))
	check(n.t, err)
	return string(data)
}

// replace changes a text in a file, which must be there.
func (n *aNode) replace(p, old, with string) {
	n.t.Helper()
	text := n.read(p)
	if !strings.Contains(text, old) {
		n.t.Fatalf("%s has no %q:\n%s", p, old, text)
	}
	n.write(p, strings.ReplaceAll(text, old, with))
}

func (n *aNode) chmod(p string, m fs.FileMode) {
	n.t.Helper()
	check(n.t, os.Chmod(n.path(p), m))
}

func (n *aNode) remove(p string) {
	n.t.Helper()
	check(n.t, os.RemoveAll(n.path(p)))
}

// change changes one unit as systemd shows it.
func (n *aNode) change(name string, how func(*systemd.Unit)) {
	u := n.units[name]
	how(&u)
	n.units[name] = u
}

// authority is a certificate authority that is good until 2120.
func authority(t *testing.T) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Example Root CA"}, BasicConstraintsValid: true, IsCA: true,
		NotBefore: time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC), NotAfter: time.Date(2120, 1, 1, 0, 0, 0, 0, time.UTC),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	check(t, err)
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
