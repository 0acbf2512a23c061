package integration

import (
	"strings"
	"testing"

	"github.com/eksproxy/eksproxy/integration/container"
	"github.com/eksproxy/eksproxy/integration/metadata"
	"github.com/eksproxy/eksproxy/integration/program"
)

// bundle is what programs on a node of the Ubuntu family trust.
const bundle = "/etc/ssl/certs/ca-certificates.crt"

// liveNode is a running node without the agent, with the program on it, the
// login and certificates of the inspecting proxy in /root.
func liveNode(t *testing.T) (*container.Container, *container.Site) {
	t.Helper()
	site := container.NewSite(t, container.SquidOptions{User: secret.User, Password: secret.Password})
	c := container.New(t, container.Options{
		Network: site.Network, Trust: []string{site.CA.PEM}, Units: "ubuntu", Metadata: metadata.NewServer(instance(nil)),
	})
	c.CopyProgram(t)
	c.WriteFile(t, "/root/login", []byte(login()+"\n"), 0o600)
	c.WriteFile(t, "/root/ca.pem", []byte(site.Squid.CA.PEM), 0o644)
	c.Boot(t)
	return c, site
}

// liveFlags are the flags of such a node, for a port of the proxy.
func liveFlags(port string, more ...string) []string {
	return append([]string{
		"--os", "ubuntu", "--runtime", "containerd", "--http-proxy", "http://" + container.ProxyIP + ":" + port, "--credentials-file", "/root/login",
	}, more...)
}

// starts is how often systemd has started a unit in this boot.
func starts(t *testing.T, c *container.Container, unit string) int {
	t.Helper()
	return strings.Count(c.Journal(t, "-u", unit, "-o", "cat"), "Started "+unit+".service")
}

// checkTrust fails the test unless the bundle has one certificate, and not the
// other.
func checkTrust(t *testing.T, c *container.Container, has, lacks string) {
	t.Helper()
	text := c.ReadFile(t, bundle)
	if has != "" && strings.Count(text, strings.TrimSpace(has)) != 1 {
		t.Error("the bundle has not the certificate, once")
	}
	if lacks != "" && strings.Contains(text, strings.TrimSpace(lacks)) {
		t.Error("the bundle has the certificate that was taken back")
	}
}

// trustNode applies to a running node, whose containerd restarts once each time
// that it must.
type trustNode struct {
	*container.Container
	started int
}

// run runs a node command, and fails the test where it restarts containerd
// more or less often than that.
func (n *trustNode) run(t *testing.T, restarts int, says []string, args ...string) {
	t.Helper()
	out := n.Must(t, append([]string{"eksproxy", "node"}, args...)...)
	for _, want := range says {
		if !strings.Contains(out, want) {
			t.Errorf("node %s does not say %q:\n%s", args[0], want, out)
		}
	}
	await(t, "containerd to be restarted", func() bool {
		return starts(t, n.Container, "containerd") >= n.started+restarts && n.MainPID(t, "containerd") != 0
	})
	n.started += restarts
	if got := starts(t, n.Container, "containerd"); got != n.started {
		t.Errorf("after node %s containerd was started %d times, want %d", args[0], got, n.started)
	}
}

// The certificate of an inspecting proxy gets into the trust store of a running
// node and out of it again, and containerd is restarted when it must be.
func TestTrustStoreOnANode(t *testing.T) {
	t.Parallel()
	c, site := liveNode(t)
	c.Must(t, "update-ca-certificates")
	const kept = "find /etc /usr/local \\( -type f -o -type l \\) -printf '%p %m %l\\n' | sort; find /etc /usr/local -type f -exec sha256sum {} + | sort"
	before := c.Must(t, "sh", "-c", kept)
	n := &trustNode{c, starts(t, c, "containerd")}
	flags := liveFlags("3129", "--trusted-ca", "/root/ca.pem")
	apply := append([]string{"apply"}, flags...)

	n.run(t, 1, []string{"update-ca-certificates", "systemctl try-restart containerd"}, apply...)
	checkTrust(t, c, site.Squid.CA.PEM, "")
	checkEnviron(t, c, "containerd")
	checkPull(t, c, site.Hidden.Image, "")
	for _, r := range site.Squid.Await(t, 0, "https://"+container.RegistryName) {
		if r.Status != 200 || r.User != secret.User {
			t.Errorf("squid saw: %+v", r)
		}
	}
	stamps := stampsOf(t, c, "/etc", "/usr/local", "/var/lib/eksproxy")
	n.run(t, 0, []string{"unchanged: "}, apply...)
	if diff := program.Diff(stamps, stampsOf(t, c, "/etc", "/usr/local", "/var/lib/eksproxy")); diff != "" {
		t.Errorf("the second run has written:\n%s", diff)
	}
	checkNewCA(t, n, site, apply)

	n.run(t, 1, []string{"update-ca-certificates", "systemctl try-restart containerd"}, "revert")
	checkTrust(t, c, "", site.Squid.CA.PEM)
	checkPull(t, c, site.Hidden.Image, "lookup "+container.RegistryName)
	if diff := program.Diff(before, c.Must(t, "sh", "-c", kept)); diff != "" {
		t.Errorf("revert leaves:\n%s", diff)
	}
	n.run(t, 0, []string{"unchanged: "}, "revert")
}

// checkNewCA puts another certificate in place of the first, and both. containerd
// reads it after a restart alone.
func checkNewCA(t *testing.T, n *trustNode, site *container.Site, apply []string) {
	t.Helper()
	other := container.NewAuthority(t, "another inspecting proxy").PEM
	n.WriteFile(t, "/root/ca.pem", []byte(other), 0o644)
	n.run(t, 1, []string{"update-ca-certificates"}, apply...)
	checkTrust(t, n.Container, other, site.Squid.CA.PEM)
	site.Hidden.Push(t, site.Hidden.Host+"/test/other:1")
	checkPull(t, n.Container, site.Hidden.Host+"/test/other:1", "certificate signed by unknown authority")
	n.WriteFile(t, "/root/ca.pem", []byte(other+site.Squid.CA.PEM), 0o644)
	n.run(t, 1, []string{"update-ca-certificates"}, apply...)
	checkTrust(t, n.Container, other, "")
	checkTrust(t, n.Container, site.Squid.CA.PEM, "")
	checkPull(t, n.Container, site.Hidden.Host+"/test/other:1", "")
	n.run(t, 0, []string{"unchanged: "}, apply...)
}
