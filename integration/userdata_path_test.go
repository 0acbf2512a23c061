package integration

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"net/mail"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/eksproxy/eksproxy/integration/container"
	"github.com/eksproxy/eksproxy/integration/metadata"
)

// ec2Host is what nodeadm asks before any user data runs. The proxy finds it at
// hiddenEC2, and a node of a VPC with an interface endpoint at nearEC2.
const (
	ec2Host   = "ec2.eu-west-1.amazonaws.com"
	hiddenEC2 = "10.77.2.3"
	nearEC2   = "10.77.1.3"
)

// updateCATrust stands in for the program of Amazon Linux, on a node with the
// trust store of Debian.
const updateCATrust = `#!/bin/sh
set -e
mkdir -p /etc/pki/ca-trust/extracted/pem
cat /etc/pki/ca-trust/source/anchors/* /etc/ssl/certs/ca-certificates.crt >/run/bundle
cp /run/bundle /etc/ssl/certs/ca-certificates.crt
cp /run/bundle /etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem
`

// bootPath is a row of docs/boot-paths.md that can be run here.
type bootPath struct {
	// row is its number on that page.
	row    int
	system string
	// password: squid asks for one. inspects: it re-signs TLS.
	password, inspects bool
	// told are the flags that render needs besides, to know of all that.
	told []string
	// old: the release does not apply the environment of a NodeConfig.
	old bool
	// installed: node install has put the agent into the image.
	installed bool
	// rule: the proxy passes EC2's calls without a password.
	rule bool
	// endpoint: the VPC has an interface endpoint for EC2.
	endpoint bool
	// silent: nothing asks EC2.
	silent bool
	// says is what the first call to EC2 fails with.
	says string
}

// bootPaths are the rows by name.
func bootPaths() map[string]bootPath {
	const denied, unknown = "Proxy Authentication Required", "certificate signed by unknown authority"
	idName := []string{"--instance-id-node-name", "--mode", "static"}
	endpoint := []string{"--vpc-endpoint", "ec2", "--mode", "static"}
	return map[string]bootPath{
		"agent in the image, password":  {row: 1, system: "al2023", password: true, told: []string{"--agent-in-image"}, installed: true},
		"agent in the image, inspected": {row: 1, system: "al2023", password: true, inspects: true, told: []string{"--agent-in-image"}, installed: true},
		"named by instance":             {row: 2, system: "al2023", told: idName, silent: true},
		"named by instance, password":   {row: 3, system: "al2023", password: true, told: idName, silent: true},
		"endpoint":                      {row: 4, system: "al2023", told: endpoint, endpoint: true},
		"endpoint, password":            {row: 5, system: "al2023", password: true, told: endpoint, endpoint: true},
		"old release":                   {row: 6, system: "al2023", told: []string{"--ami-release", "v20250920"}, old: true, says: "lookup " + ec2Host},
		"old release, password":         {row: 7, system: "al2023", password: true, told: []string{"--ami-release", "v20251112"}, old: true, says: "lookup " + ec2Host},
		"rule for EC2, password":        {row: 8, system: "al2023", password: true, told: []string{"--ec2-rule", "--mode", "static"}, rule: true},
		"password":                      {row: 9, system: "al2023", password: true, says: denied},
		"inspected":                     {row: 10, system: "al2023", inspects: true, says: unknown},
		"plain":                         {row: 11, system: "al2023"},
		"al2, password":                 {row: 12, system: "al2", password: true, told: []string{"--mode", "static"}},
		"ubuntu, password":              {row: 13, system: "ubuntu", password: true, told: []string{"--mode", "static"}},
	}
}

// notRun are the rows that cannot be run here.
func notRun() map[int]string {
	return map[int]string{
		14: "there is no Bottlerocket here", 15: "there is no Bottlerocket here", 16: "auto-mode runs in EKS alone",
	}
}

// A node does in its first boot what the page of the boot paths says: the first
// call to EC2 comes through, or fails as the row says, and then render refuses.
func TestBootPathTable(t *testing.T) {
	for name, p := range bootPaths() {
		t.Run(fmt.Sprintf("%d, %s", p.row, name), func(t *testing.T) {
			t.Parallel()
			p.check(t)
		})
	}
}

// Each row of the page is run here, or it is said why not.
func TestBootPathTableIsWhole(t *testing.T) {
	page, err := os.ReadFile("../docs/boot-paths.md")
	if err != nil {
		t.Fatal(err)
	}
	run := map[int][]bootPath{}
	for _, p := range bootPaths() {
		run[p.row] = append(run[p.row], p)
	}
	rows := regexp.MustCompile(`(?m)^\| (\d+) \| (\S+) \|.*$`).FindAllStringSubmatch(string(page), -1)
	for _, row := range rows {
		n, _ := strconv.Atoi(row[1])
		if (notRun()[n] == "") != (len(run[n]) > 0) {
			t.Errorf("row %d is run %d times, and it is not run because %q", n, len(run[n]), notRun()[n])
		}
		boots := strings.TrimSpace(strings.Split(row[0], "|")[10]) == "yes"
		for _, p := range run[n] {
			if p.system != row[2] || boots != (p.says == "") {
				t.Errorf("row %d is of %s and boots: %t; the test has %s and %q", n, row[2], boots, p.system, p.says)
			}
		}
	}
	if len(rows) != 16 {
		t.Errorf("the page has %d rows", len(rows))
	}
}

// check boots a node of the row.
func (p bootPath) check(t *testing.T) {
	t.Helper()
	site, hidden, near := p.site(t)
	document := p.document(t, site)
	c := p.node(t, site, document)
	c.Boot(t)
	unit := "cloud-final"
	if p.system == "al2023" {
		unit = "nodeadm-config"
	}
	result := strings.TrimSpace(c.Must(t, "systemctl", "show", "-P", "Result", unit))
	said := c.Journal(t, "-u", unit, "-o", "cat") + c.Exec(t, "cat", "/var/log/cloud-init-output.log").Stdout
	if p.says == "" {
		checkHealthy(t, c)
		checkEnviron(t, c, "containerd", kubelets()[p.system])
		p.checkAsked(t, site, hidden, near)
	}
	if (result == "success") != (p.says == "") || !strings.Contains(said, p.says) {
		t.Errorf("%s is %s, want the error %q:\n%s", unit, result, p.says, said)
	}
}

// checkAsked looks at who asked EC2, and how.
func (p bootPath) checkAsked(t *testing.T, site *container.Site, hidden, near *container.Registry) {
	t.Helper()
	var byProxy, direct []string
	switch {
	case p.silent:
	case p.endpoint:
		direct = []string{container.NodeIP}
	default:
		byProxy = []string{container.ProxyOuterIP}
	}
	if got := hidden.Peers(0); !slices.Equal(got, byProxy) {
		t.Errorf("EC2 was asked by %q, want %q", got, byProxy)
	}
	if got := near.Peers(0); !slices.Equal(got, direct) {
		t.Errorf("the endpoint of EC2 was asked by %q, want %q", got, direct)
	}
	if byProxy == nil {
		site.Squid.Silent(t, 0, ec2Host)
		return
	}
	for _, r := range site.Squid.Await(t, 0, ec2Host) {
		if r.Status != 200 || (r.User == bootUser) != (p.password && !p.rule) {
			t.Errorf("squid saw: %+v", r)
		}
	}
}

// site is a site of the row, with EC2 behind the proxy and beside the node.
func (p bootPath) site(t *testing.T) (site *container.Site, hidden, near *container.Registry) {
	t.Helper()
	o := container.SquidOptions{Hosts: []string{container.RegistryIP + " " + container.RegistryName, hiddenEC2 + " " + ec2Host}}
	if p.password {
		o.User, o.Password = bootUser, bootPassword
	}
	if p.rule {
		o.Open = []string{ec2Host}
	}
	site = container.NewSite(t, o)
	site.Registry.AddAddress(t, hiddenEC2+"/32")
	site.Proxy.AddAddress(t, nearEC2+"/32")
	return site, container.NewRegistry(t, site.Registry, hiddenEC2, ec2Host, site.CA), container.NewRegistry(t, site.Proxy, nearEC2, ec2Host, site.CA)
}

// document is what render prints for the row. Where it refuses it is not told
// what it refuses, so that there is a document to boot from.
func (p bootPath) document(t *testing.T, site *container.Site) string {
	t.Helper()
	port, flags := "3128", []string{}
	if p.inspects {
		ca := filepath.Join(t.TempDir(), "ca.pem")
		if err := os.WriteFile(ca, []byte(site.Squid.CA.PEM), 0o600); err != nil {
			t.Fatal(err)
		}
		port, flags = "3129", []string{"--trusted-ca", ca}
	}
	told := slices.Concat(flags, p.told)
	if p.password {
		told = append(told, withPassword(t)...)
	}
	if p.inspects {
		told = append(told, "--config", inspectionConfig(t))
	}
	if p.says == "" {
		return renderUserData(t, 0, renderFlags(t, p.system, "self-managed", port, told...)...).Stdout
	}
	r := renderUserData(t, 2, renderFlags(t, p.system, "self-managed", port, told...)...)
	if r.Stdout != "" || !strings.Contains(r.Stderr, "such a node cannot boot: ") || !strings.Contains(r.Stderr, "\n  1. ") {
		t.Errorf("the refusal is %q\n%s", r.Stdout, r.Stderr)
	}
	return renderUserData(t, 0, renderFlags(t, p.system, "self-managed", port, flags...)...).Stdout
}

// inspectionConfig is a configuration that says that the proxy re-signs TLS.
func inspectionConfig(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "proxy.yaml")
	text := "apiVersion: eksproxy.dev/v1alpha1\nkind: ProxyConfig\nspec:\n  tlsInspection: true\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// node is a node of the row: nodeadm-config or bootstrap.sh makes one call to
// EC2.
func (p bootPath) node(t *testing.T, site *container.Site, document string) *container.Container {
	t.Helper()
	url := "https://" + ec2Host + "/v2/"
	files := map[string]string{bootstrapScript: "#!/bin/sh\nexec nodehelper get " + url + "\n"}
	order := container.OrderD
	if p.system == "al2023" {
		order = container.OrderA
		files = map[string]string{}
		if !p.silent {
			files["/etc/nodehelper/nodeadm-config"] = url + "\n"
		}
		if env := nodeConfigEnvironment(t, document); !p.old && len(env) > 0 {
			files["/etc/systemd/system/nodeadm-config.service.d/environment.conf"] = dropInOf(env)
		}
	}
	files["/usr/lib/os-release"] = osRelease(p.system)
	if p.inspects {
		files["/usr/bin/update-ca-trust"] = updateCATrust
	}
	if p.endpoint {
		files["/etc/hosts"] = "127.0.0.1 localhost\n" + nearEC2 + " " + ec2Host + "\n"
	}
	c := container.New(t, container.Options{
		Network: site.Network, Trust: []string{site.CA.PEM}, CloudInit: true, Order: order, Units: p.system,
		Metadata: metadata.NewServer(instance([]byte(document))), Files: files,
	})
	if p.installed {
		p.install(t, c, site)
	}
	return c
}

// install makes an image with the agent, which knows what the document says.
func (p bootPath) install(t *testing.T, c *container.Container, site *container.Site) {
	t.Helper()
	flags := proxyFlags(t, family{os: p.system})
	if p.inspects {
		ca := filepath.Join(t.TempDir(), "ca.pem")
		if err := os.WriteFile(ca, []byte(site.Squid.CA.PEM), 0o600); err != nil {
			t.Fatal(err)
		}
		flags[slices.Index(flags, "--http-proxy")+1] = "http://" + container.ProxyIP + ":3129"
		flags = append(flags, "--trusted-ca", ca)
	}
	installInto(t, c, flags...)
}

// dropInOf is a drop-in with the variables, as nodeadm would have them.
func dropInOf(env map[string]string) string {
	var out strings.Builder
	out.WriteString("[Service]\n")
	for _, name := range slices.Sorted(maps.Keys(env)) {
		fmt.Fprintf(&out, "Environment=\"%s=%s\"\n", name, strings.ReplaceAll(env[name], "%", "%%"))
	}
	return out.String()
}

// nodeConfigEnvironment is spec.instance.environment.default of the rendered
// NodeConfig, which nodeadm has for itself. The stand-in is not nodeadm and
// does not read it.
func nodeConfigEnvironment(t *testing.T, document string) map[string]string {
	t.Helper()
	message, err := mail.ReadMessage(strings.NewReader(document))
	if err != nil {
		t.Fatal(err)
	}
	_, params, err := mime.ParseMediaType(message.Header.Get("Content-Type"))
	if err != nil {
		t.Fatal(err)
	}
	env := map[string]string{}
	variable := regexp.MustCompile(`(?m)^        ([A-Z_]+): (".*")$`)
	parts := multipart.NewReader(message.Body, params["boundary"])
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return env
		}
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(part)
		if err != nil {
			t.Fatal(err)
		}
		if part.Header.Get("Content-Type") != "application/node.eks.aws" {
			continue
		}
		_, body, _ = bytes.Cut(body, []byte("\n    environment:\n      default:\n"))
		for _, m := range variable.FindAllSubmatch(body, -1) {
			if env[string(m[1])], err = strconv.Unquote(string(m[2])); err != nil {
				t.Fatal(err)
			}
		}
	}
}
