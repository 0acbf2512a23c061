package integration

import (
	"encoding/base64"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/eksproxy/eksproxy/integration/container"
	"github.com/eksproxy/eksproxy/integration/metadata"
	"github.com/eksproxy/eksproxy/integration/program"
)

// The tests in this file boot nodes from user data that userdata render has
// printed.

// inUserData lets the password of the proxy stand in the document.
const inUserData = "--credentials-in-user-data"

// bootstrapScript is where AL2 and Ubuntu have what joins a node to its
// cluster.
const bootstrapScript = "/etc/eks/bootstrap.sh"

// renderUserData runs userdata render, and fails the test where the exit code
// is another.
func renderUserData(t *testing.T, code int, args ...string) program.Result {
	t.Helper()
	path, err := program.Full()
	if err != nil {
		t.Fatal(err)
	}
	r := program.Exec(t, nil, append([]string{path, "userdata", "render"}, args...)...)
	document := r.Stdout
	if slices.Contains(args, inUserData) {
		document = "" // it has the password, as it should
	}
	program.Said("userdata render "+strings.Join(args, " "), document, r.Stderr)
	if r.Code != code {
		t.Fatalf("userdata render %q: exit %d, want %d\n%s", args, r.Code, code, r.Stderr)
	}
	return r
}

// renderFlags are the flags of a whole document for the proxy's port.
func renderFlags(t *testing.T, system, launcher, port string, more ...string) []string {
	t.Helper()
	ca := base64.StdEncoding.EncodeToString([]byte(container.NewAuthority(t, "cluster").PEM))
	return append([]string{
		"--os", system, "--for", launcher, "--http-proxy", "http://" + container.ProxyIP + ":" + port, "--no-proxy-add", ".corp.example",
		"--region", "eu-west-1", "--cluster", "demo", "--cluster-endpoint", "https://" + endpointHost, "--cluster-ca", ca, "--service-cidr", serviceCIDR,
	}, more...)
}

// withPassword are the flags that put the password into the document.
func withPassword(t *testing.T, more ...string) []string {
	t.Helper()
	return append([]string{"--credentials-file", credentialsOf(t, bootPassword), inUserData}, more...)
}

// renderedBoot is a node that boots from a rendered document.
type renderedBoot struct {
	family
	launcher string
	// agent: the program is in the image and the proxy asks for a password.
	agent bool
	// seeded: the document is on the disk, for the datasource NoCloud.
	seeded bool
}

// osRelease is the file by which the program knows a system: the nodes here
// are Debian.
func osRelease(system string) string {
	return map[string]string{
		"al2":    "ID=\"amzn\"\nVERSION_ID=\"2\"\n",
		"al2023": "ID=\"amzn\"\nVERSION_ID=\"2023\"\n",
		"ubuntu": "ID=ubuntu\nVERSION_ID=\"22.04\"\n",
	}[system]
}

// site is the proxy and the registries of such a node.
func (b renderedBoot) site(t *testing.T) *container.Site {
	t.Helper()
	if b.agent {
		return newSite(t)
	}
	return container.NewSite(t, container.SquidOptions{})
}

// node renders the document and makes the node.
func (b renderedBoot) node(t *testing.T, site *container.Site) *container.Container {
	t.Helper()
	flags := renderFlags(t, b.os, b.launcher, "3128", "--mode", "static")
	if b.agent {
		flags = renderFlags(t, b.os, b.launcher, "3128", withPassword(t, "--agent-in-image")...)
	}
	document := renderUserData(t, 0, flags...).Stdout
	files := map[string]string{"/usr/lib/os-release": osRelease(b.os)}
	if b.os != "al2023" {
		files[bootstrapScript] = "#!/bin/sh\nenv | grep -i _proxy | sort >" + seenByScript + "\n"
	}
	i := instance([]byte(document))
	if b.seeded {
		i.UserData = nil
		files["/var/lib/cloud/seed/nocloud/user-data"] = document
		files["/var/lib/cloud/seed/nocloud/meta-data"] = "instance-id: " + i.ID + "\n"
		files["/etc/cloud/cloud.cfg.d/99-test.cfg"] = "datasource_list: [NoCloud]\nnetwork: {config: disabled}\nlocale: false\n"
	}
	c := container.New(t, container.Options{
		Network: site.Network, Trust: []string{site.CA.PEM}, CloudInit: true, Order: b.order, Units: b.units,
		Metadata: metadata.NewServer(i), Files: files,
	})
	if b.agent {
		c.CopyProgram(t)
	}
	return c
}

// A node that boots from a rendered document is behind the proxy when its
// first boot is over, and its second boot changes nothing.
func TestRenderedBoot(t *testing.T) {
	f := families()
	al2023, ubuntu := f["order A, Amazon Linux 2023"], f["order D, Ubuntu"]
	for name, b := range map[string]renderedBoot{
		"al2023 static":         {family: al2023, launcher: "self-managed"},
		"ubuntu static":         {family: ubuntu, launcher: "managed-node-group-custom-ami"},
		"al2023 agent":          {family: al2023, launcher: "managed-node-group-custom-ami", agent: true},
		"ubuntu agent":          {family: ubuntu, launcher: "self-managed", agent: true},
		"ubuntu static NoCloud": {family: ubuntu, launcher: "self-managed", seeded: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			site := b.site(t)
			c := b.node(t, site)
			c.Boot(t)
			checkRendered(t, c, b)
			if b.os != "al2023" {
				checkScript(t, c)
			}
			checkRenderedRoutes(t, c, site, b)
			checkRenderedReboot(t, c, b)
		})
	}
}

// checkRendered looks at the node after a boot: cloud-init, files, and the
// environment of the services.
func checkRendered(t *testing.T, c *container.Container, b renderedBoot) {
	t.Helper()
	checkHealthy(t, c)
	if out := c.Exec(t, "cloud-init", "status", "--long"); out.Code != 0 || !strings.Contains(out.Stdout, "status: done") {
		t.Errorf("cloud-init status: exit %d\n%s\n%s", out.Code, out.Stdout, c.Exec(t, "tail", "-n", "30", "/var/log/cloud-init-output.log").Stdout)
	}
	if id := strings.TrimSpace(c.Must(t, "cloud-id")); b.seeded != (id == "nocloud") {
		t.Errorf("the datasource is %s", id)
	}
	checkEnviron(t, c, "containerd", kubelets()[b.os])
	env := c.ReadFile(t, "/etc/eksproxy/proxy.env")
	for _, entry := range []string{"10.77.1.0/24", "100.64.0.0/16", "169.254.169.254", serviceCIDR, ".eu-west-1.compute.internal"} {
		if !strings.Contains(env, entry+",") {
			t.Errorf("NO_PROXY lacks %s:\n%s", entry, env)
		}
	}
	if text := c.ReadFile(t, "/etc/environment"); !strings.Contains(text, "# BEGIN eksproxy\n") || !strings.Contains(text, "HTTPS_PROXY=http://"+container.ProxyIP) {
		t.Errorf("/etc/environment is %q", text)
	}
	for _, unit := range []string{"containerd", kubelets()[b.os], "cloud-final"} {
		c.Must(t, "test", "-s", "/etc/systemd/system/"+unit+".service.d/zz-eksproxy.conf")
	}
	if mode := strings.TrimSpace(c.Must(t, "stat", "-c", "%a", "/etc/eksproxy/proxy.env")); mode != "600" {
		t.Errorf("proxy.env has mode %s", mode)
	}
	if left := c.Must(t, "find", "/etc", "-name", "*.eksproxy-new"); left != "" {
		t.Errorf("left behind: %s", left)
	}
}

// checkRenderedRoutes pulls through the proxy and past it.
func checkRenderedRoutes(t *testing.T, c *container.Container, site *container.Site, b renderedBoot) {
	t.Helper()
	user := "-"
	if b.agent {
		user = bootUser
	}
	checkPull(t, c, site.Hidden.Image, "")
	for _, r := range site.Squid.Await(t, 0, container.RegistryName) {
		if r.Method != http.MethodConnect || r.User != user || r.Client != container.NodeIP || r.Status != 200 {
			t.Errorf("squid saw: %+v", r)
		}
	}
	checkPull(t, c, site.Near.Image, "")
	site.Squid.Silent(t, 0, container.ProxyIP)
	site.Squid.Silent(t, 0, container.MetadataIP)
	if got := site.Near.Peers(0); !slices.Equal(got, []string{container.NodeIP}) {
		t.Errorf("the near registry was asked by %q", got)
	}
}

// renderedFiles is a script that lists what is on the disk where our parts
// write, with the times of its files.
const renderedFiles = "for d in /etc/eksproxy /etc/environment /etc/systemd/system /etc/dnf /etc/apt /var/lib/eksproxy; do " +
	"[ ! -e $d ] || find $d -type f -printf '%p %m %u:%g %T@\\n' -exec sha256sum {} +; done | sort"

// checkRenderedReboot boots again: nothing is written and nothing restarted
// but what the stand-in of nodeadm restarts in each boot.
func checkRenderedReboot(t *testing.T, c *container.Container, b renderedBoot) {
	t.Helper()
	before := c.Must(t, "sh", "-c", renderedFiles)
	c.Reboot(t)
	checkRendered(t, c, b)
	if diff := program.Diff(before, c.Must(t, "sh", "-c", renderedFiles)); diff != "" {
		t.Errorf("the second boot has written:\n%s", diff)
	}
	want := map[string]int{"containerd": 1, kubelets()["ubuntu"]: 1, "snap.amazon-ssm-agent.amazon-ssm-agent": 1}
	if b.os == "al2023" {
		want = map[string]int{"containerd": 2, "kubelet": 1, "amazon-ssm-agent": 1}
	}
	for unit, n := range want {
		if got := starts(t, c, unit); got != n {
			t.Errorf("the second boot has started %s %d times, want %d:\n%s", unit, got, n, c.Journal(t, "-u", unit))
		}
	}
}
