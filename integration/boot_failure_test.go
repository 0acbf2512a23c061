package integration

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/eksproxy/eksproxy/integration/container"
	"github.com/eksproxy/eksproxy/integration/metadata"
)

// bootLimit is how long a boot may take where metadata does not answer: the
// unit's own time-out and some more.
const bootLimit = 60 * time.Second

// deaf is a node whose metadata answers 503 to all that the program asks, with
// the given flags of install.
func deaf(t *testing.T, flags ...string) (*container.Container, *container.Site, *metadata.Server) {
	t.Helper()
	site := newSite(t)
	server := metadata.NewServer(instance(nil))
	server.Break("/latest/api/token", metadata.Status(http.StatusServiceUnavailable))
	c := container.New(t, container.Options{Network: site.Network, Trust: []string{site.CA.PEM}, Units: "al2", Metadata: server})
	f := family{units: "al2", os: "al2"}
	installInto(t, c, append(proxyFlags(t, f, "--imds-timeout", "3s"), flags...)...)
	c.Start(t)
	c.WaitBooted(t, bootLimit)
	return c, site, server
}

// resultOf is what systemd says of our unit.
func resultOf(t *testing.T, c *container.Container) string {
	t.Helper()
	return strings.Join(strings.Fields(c.Must(t, "systemctl", "show", "-P", "ActiveState", "-P", "Result", "-P", "ExecMainStatus", "eksproxy")), " ")
}

// Metadata down at first boot: the node boots, the console says why, and each
// --on-failure does what it says.
func TestMetadataDownAtFirstBoot(t *testing.T) {
	for name, c := range map[string]struct {
		flags  []string
		result string
		line   []string
		pull   string
	}{
		"keep": {nil, "success 3 active", []string{
			"eksproxy apply FAILED: reading instance metadata: ", "/latest/api/token: 503 Service Unavailable (tried for ",
			"give --facts FILE, or --vpc-cidr with --region", "nothing is applied: the node has no proxy",
		}, "lookup " + container.RegistryName},
		"fallback": {[]string{"--on-failure", "fallback", "--vpc-cidr", "10.77.1.0/24"}, "success 0 active", []string{
			"eksproxy apply: ", "(1 VPC CIDRs from /etc/eksproxy/config.yaml:",
		}, ""},
		"stop": {[]string{"--on-failure", "stop"}, "exit-code 3 failed", []string{
			"eksproxy apply FAILED: reading instance metadata: ", "nothing is applied",
		}, "lookup " + container.RegistryName},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			node, site, _ := deaf(t, c.flags...)
			if got := resultOf(t, node); got != c.result {
				t.Errorf("the unit is %q, want %q", got, c.result)
			}
			for _, want := range c.line {
				if !strings.Contains(node.Console(t), want) {
					t.Errorf("the console does not say %q:\n%s", want, node.Journal(t, "-u", "eksproxy", "-o", "cat"))
				}
			}
			if status := node.ReadFile(t, "/run/eksproxy/status.json"); !strings.Contains(status, `"kind": "RunStatus"`) {
				t.Errorf("status.json is %s", status)
			}
			checkPull(t, node, site.Hidden.Image, c.pull)
		})
	}
}

// With --on-failure keep the last good files stay, at the next boot too.
func TestMetadataDownLater(t *testing.T) {
	t.Parallel()
	node, site, server := deaf(t)
	server.Break("/latest/api/token", metadata.Fault{})
	node.Reboot(t)
	checkPull(t, node, site.Hidden.Image, "")
	before := node.ReadFile(t, "/etc/eksproxy/proxy.env")
	server.Break("/latest/api/token", metadata.Status(http.StatusServiceUnavailable))
	node.Reboot(t)
	if got := node.ReadFile(t, "/etc/eksproxy/proxy.env"); got != before {
		t.Errorf("the file has changed:\n%s", got)
	}
	if !strings.Contains(node.Console(t), "kept the ") {
		t.Errorf("the console does not say what was kept:\n%s", node.Journal(t, "-b", "-u", "eksproxy", "-o", "cat"))
	}
	checkPull(t, node, site.Hidden.Image, "")
}

// A configuration that can never work ends with 2 and is not tried again.
func TestUnusableConfigurationAtBoot(t *testing.T) {
	t.Parallel()
	site := newSite(t)
	c := container.New(t, container.Options{Network: site.Network, Units: "al2", Metadata: metadata.NewServer(instance(nil))})
	installInto(t, c, proxyFlags(t, family{units: "al2", os: "al2"})...)
	c.WriteFile(t, "/etc/eksproxy/config.yaml", []byte("apiVersion: eksproxy.dev/v1alpha1\nkind: ProxyConfig\nspec: {httpProxi: x}\n"), 0o644)
	c.Boot(t)
	if got := resultOf(t, c); got != "exit-code 2 failed" {
		t.Errorf("the unit is %q", got)
	}
	if !strings.Contains(c.Console(t), `config.yaml:3:8: unknown field "httpProxi"`) {
		t.Errorf("the console does not say where:\n%s", c.Console(t))
	}
}
