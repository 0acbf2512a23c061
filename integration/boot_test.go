package integration

import (
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/eksproxy/eksproxy/integration/container"
	"github.com/eksproxy/eksproxy/integration/metadata"
	"github.com/eksproxy/eksproxy/integration/program"
)

// The tests in this file boot nodes with the program on them, and prove by
// what the proxy and the registries saw that it did its work.

// bootUser and bootPassword are what squid asks for.
const bootUser, bootPassword = "svc-eks", `p@ss%w/#Wq5bootT2`

// seenByScript is where a script of user data writes the variables it has.
const seenByScript = "/var/lib/seen-by-script"

// family is a kind of node: its stand-ins, cloud-init's order, --os.
type family struct{ units, order, os string }

func families() map[string]family {
	return map[string]family{
		"order D, Ubuntu":            {"ubuntu", container.OrderD, "ubuntu"},
		"order A, Amazon Linux 2023": {"al2023", container.OrderA, "al2023"},
	}
}

// instance has the near registry in one of its blocks.
func instance(userData []byte) metadata.Instance {
	i := metadata.NewInstance("10.77.1.0/24", "100.64.0.0/16")
	i.UserData = userData
	return i
}

// newNode is a node of the family on the site, with a script in its user data.
func newNode(t *testing.T, site *container.Site, f family, hidden bool) *container.Container {
	t.Helper()
	files := map[string]string{}
	if hidden && f.os == "al2023" {
		files["/etc/nodehelper/nodeadm-config"] = "https://" + container.RegistryName + "/v2/\n"
		files["/etc/nodehelper/nodeadm-run"] = "https://" + container.RegistryName + "/v2/\n"
	}
	userData := container.Gzip(container.UserData(container.Script("#!/bin/sh\nenv | grep -i _proxy | sort >" + seenByScript + "\n")))
	return container.New(t, container.Options{
		Network: site.Network, Trust: []string{site.CA.PEM}, CloudInit: true, Order: f.order, Units: f.units,
		Metadata: metadata.NewServer(instance(userData)), Files: files,
	})
}

// newSite is a proxy that asks for a password, and the registries.
func newSite(t *testing.T) *container.Site {
	t.Helper()
	return container.NewSite(t, container.SquidOptions{User: bootUser, Password: bootPassword})
}

// credentialsOf writes a file for --credentials-file.
func credentialsOf(t *testing.T, password string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "login")
	if err := os.WriteFile(file, []byte(bootUser+":"+password+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// proxyFlags are the flags of a node of the family on a site.
func proxyFlags(t *testing.T, f family, more ...string) []string {
	t.Helper()
	return append([]string{
		"--os", f.os, "--runtime", "containerd", "--http-proxy", "http://" + container.ProxyIP + ":3128",
		"--credentials-file", credentialsOf(t, bootPassword), "--no-proxy-add", ".corp.example",
	}, more...)
}

// installInto installs the program into a tree and copies what that made to
// the node, as an image has it.
func installInto(t *testing.T, c *container.Container, flags ...string) {
	t.Helper()
	tree := t.TempDir()
	program.Expect(t, 0, append([]string{"node", "install", "--root", tree}, flags...)...)
	err := filepath.WalkDir(tree, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		to := strings.TrimPrefix(path, tree)
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if strings.HasPrefix(to, "/etc/systemd/system/") {
			c.AddUnit(t, filepath.Base(to), string(data))
		} else {
			c.WriteFile(t, to, data, info.Mode().Perm())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// theSix are the variables that a process must have.
func theSix() []string {
	return []string{"HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"}
}

// checkEnviron fails the test unless the unit's process has what proxy.env says.
func checkEnviron(t *testing.T, c *container.Container, units ...string) {
	t.Helper()
	file := c.ReadFile(t, "/etc/eksproxy/proxy.env")
	for _, unit := range units {
		env := c.Environ(t, unit)
		for _, name := range theSix() {
			if env[name] == "" || !strings.Contains(file, "\n"+name+"="+env[name]+"\n") {
				t.Errorf("%s runs with %s=%q, which proxy.env does not have", unit, name, env[name])
			}
		}
	}
}

// checkHealthy fails the test unless the node is up with nothing failed.
func checkHealthy(t *testing.T, c *container.Container) {
	t.Helper()
	if c.State() != "running" {
		t.Errorf("the node is %s:\n%s", c.State(), c.Exec(t, "systemctl", "--failed", "--no-pager").Stdout)
	}
	if journal := c.Journal(t); strings.Contains(journal, "ordering cycle") {
		t.Error("the units are in a cycle")
	}
}

// kubelets are the units of the kubelet by family.
func kubelets() map[string]string {
	return map[string]string{"ubuntu": "snap.kubelet-eks.daemon", "al2023": "kubelet", "al2": "kubelet"}
}

// The proof: applied at boot, an image comes through the proxy alone, and what
// NO_PROXY covers goes direct.
func TestBootProof(t *testing.T) {
	for name, f := range families() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			site := newSite(t)
			c := newNode(t, site, f, true)
			installInto(t, c, proxyFlags(t, f)...)
			boot := c.Boot(t)
			checkHealthy(t, c)
			checkEnviron(t, c, "containerd", kubelets()[f.os])
			checkScript(t, c)
			checkRoutes(t, c, site)
			checkReport(t, c, boot.Seconds())
			checkReboot(t, c)
		})
	}
}

// checkScript looks at what a script of the user data saw, and at what nodeadm's
// stand-ins asked for.
func checkScript(t *testing.T, c *container.Container) {
	t.Helper()
	saw := c.ReadFile(t, seenByScript)
	for _, name := range theSix() {
		if !strings.Contains("\n"+saw, "\n"+name+"=") {
			t.Errorf("the script of the user data has no %s: %q", name, saw)
		}
	}
}

// checkRoutes pulls through the proxy and past it.
func checkRoutes(t *testing.T, c *container.Container, site *container.Site) {
	t.Helper()
	since := len(site.Squid.Requests(t))
	peers := len(site.Hidden.Requests())
	checkPull(t, c, site.Hidden.Image, "")
	for _, r := range site.Squid.Await(t, since, container.RegistryName) {
		if r.Method != http.MethodConnect || r.User != bootUser || r.Client != container.NodeIP || r.Status != 200 {
			t.Errorf("squid saw: %+v", r)
		}
	}
	if got := site.Hidden.Peers(peers); !slices.Equal(got, []string{container.ProxyOuterIP}) {
		t.Errorf("the hidden registry was asked by %q", got)
	}
	checkPull(t, c, site.Near.Image, "")
	site.Squid.Silent(t, 0, container.ProxyIP)
	site.Squid.Silent(t, 0, "169.254.169.254")
	if got := site.Near.Peers(0); !slices.Equal(got, []string{container.NodeIP}) {
		t.Errorf("the near registry was asked by %q", got)
	}
}

// checkReport reads the one line that the boot left on the console, and what
// systemd says of the unit's time.
func checkReport(t *testing.T, c *container.Container, boot float64) {
	t.Helper()
	line := regexp.MustCompile(`eksproxy apply: \d+ files, NO_PROXY \d+ entries \(2 VPC CIDRs from metadata\), proxy ` +
		regexp.QuoteMeta(container.ProxyIP) + `:3128, (\d+ reloads and restarts, )?settings [0-9a-f]{12}, \d+\.\d s`)
	if n := len(line.FindAllString(c.Console(t), -1)); n != 1 {
		t.Errorf("the console has %d lines of the run:\n%s", n, c.Console(t))
	}
	if !line.MatchString(c.Journal(t, "-u", "eksproxy", "-o", "cat")) {
		t.Errorf("the journal lacks the line:\n%s", c.Journal(t, "-u", "eksproxy", "-o", "cat"))
	}
	status := c.ReadFile(t, "/run/eksproxy/status.json")
	if !strings.Contains(status, `"exitCode": 0`) || !strings.Contains(status, `"kind": "RunStatus"`) {
		t.Errorf("status.json is %s", status)
	}
	t.Logf("boot %.1f s; %s", boot, c.Must(t, "systemd-analyze", "blame", "--no-pager"))
}

// checkReboot boots again: the same bytes, nothing restarted that need not be.
func checkReboot(t *testing.T, c *container.Container) {
	t.Helper()
	files := func() string {
		return c.Must(t, "sh", "-c", "find /etc/eksproxy /etc/environment /var/lib/eksproxy /etc/systemd/system -type f -exec sha256sum {} + | sort; stat -c '%n %a' /etc/eksproxy/* /var/lib/eksproxy/*")
	}
	before := files()
	c.Reboot(t)
	checkHealthy(t, c)
	if diff := program.Diff(before, files()); diff != "" {
		t.Errorf("after a reboot the files differ:\n%s", diff)
	}
	if n := strings.Count(c.Journal(t, "-b", "-u", "eksproxy", "-o", "cat"), "unchanged: "); n != 1 {
		t.Errorf("the second boot was not unchanged:\n%s", c.Journal(t, "-b", "-u", "eksproxy", "-o", "cat"))
	}
	for _, unit := range []string{"containerd"} {
		journal := c.Journal(t, "-b", "-u", "eksproxy", "-o", "cat")
		if strings.Contains(journal, "try-restart "+unit) {
			t.Errorf("%s was restarted without need:\n%s", unit, journal)
		}
	}
	checkEnviron(t, c, "containerd")
}

// Controls that must fail: they show that the proof can.
func TestBootControls(t *testing.T) {
	f := families()["order D, Ubuntu"]
	t.Run("no agent", func(t *testing.T) {
		t.Parallel()
		site := newSite(t)
		c := newNode(t, site, f, false)
		c.Boot(t)
		checkPull(t, c, site.Hidden.Image, "lookup "+container.RegistryName)
	})
	t.Run("wrong password", func(t *testing.T) {
		t.Parallel()
		site := newSite(t)
		c := newNode(t, site, f, false)
		flags := proxyFlags(t, f)
		flags[slices.Index(flags, "--credentials-file")+1] = credentialsOf(t, "wrong")
		installInto(t, c, flags...)
		c.Boot(t)
		checkPull(t, c, site.Hidden.Image, "Proxy Authentication Required")
	})
	t.Run("inspecting proxy without the CA", func(t *testing.T) {
		t.Parallel()
		site := newSite(t)
		c := newNode(t, site, f, false)
		flags := proxyFlags(t, f)
		flags[slices.Index(flags, "--http-proxy")+1] = "http://" + container.ProxyIP + ":3129"
		installInto(t, c, flags...)
		c.Boot(t)
		checkPull(t, c, site.Hidden.Image, "certificate signed by unknown authority")
	})
}

// A run that was killed before the reload, or between reload and restart, is
// made up for by the next.
func TestKilledBeforeItsEffects(t *testing.T) {
	t.Parallel()
	f := families()["order D, Ubuntu"]
	site := newSite(t)
	c := container.New(t, container.Options{
		Network: site.Network, Trust: []string{site.CA.PEM}, Units: f.units, Metadata: metadata.NewServer(instance(nil)),
	})
	c.CopyProgram(t)
	flags := proxyFlags(t, f)
	login := slices.Index(flags, "--credentials-file") + 1
	c.WriteFile(t, "/root/login", []byte(bootUser+":"+bootPassword), 0o600)
	flags[login] = "/root/login"
	c.Boot(t)
	apply := append([]string{"eksproxy", "node", "apply"}, flags...)

	c.Must(t, append([]string{"eksproxy", "node", "apply", "--restart", "never"}, flags...)...)
	if env := c.Environ(t, "containerd"); env["HTTPS_PROXY"] != "" {
		t.Fatal("--restart never has restarted containerd")
	}
	checkPull(t, c, site.Hidden.Image, "lookup "+container.RegistryName)
	out := c.Must(t, apply...)
	if strings.Contains(out, "daemon-reload") || !strings.Contains(out, "systemctl try-restart containerd") {
		t.Errorf("after a kill before the restarts, apply did:\n%s", out)
	}
	awaitEnviron(t, c, "containerd")
	checkPull(t, c, site.Hidden.Image, "")

	c.Must(t, "eksproxy", "node", "revert")
	awaitNoProxy(t, c, "containerd")
	for path, text := range appliedFiles(t, flags) { // as if killed before the reload
		c.WriteFile(t, path, []byte(text), 0o600)
	}
	if got := strings.TrimSpace(c.Must(t, "systemctl", "show", "-P", "NeedDaemonReload", "containerd")); got != "yes" {
		t.Fatalf("NeedDaemonReload is %q", got)
	}
	checkPull(t, c, site.Hidden.Image, "lookup "+container.RegistryName)
	out = c.Must(t, apply...)
	if !strings.Contains(out, "systemctl daemon-reload") || !strings.Contains(out, "systemctl try-restart containerd") {
		t.Errorf("after a kill before the reload, apply did:\n%s", out)
	}
	awaitEnviron(t, c, "containerd")
	checkPull(t, c, site.Hidden.Image, "")
	if out = c.Must(t, apply...); !strings.HasPrefix(out, "unchanged: ") {
		t.Errorf("the run after that did:\n%s", out)
	}
}

// appliedFiles are the files of units and their environment that apply writes,
// from a tree.
func appliedFiles(t *testing.T, flags []string) map[string]string {
	t.Helper()
	tree := t.TempDir()
	flags = slices.Clone(flags)
	flags[slices.Index(flags, "--credentials-file")+1] = credentialsOf(t, bootPassword)
	program.Expect(t, 0, append([]string{"node", "apply", "--root", tree, "--vpc-cidr", "10.77.1.0/24", "--vpc-cidr", "100.64.0.0/16"}, flags...)...)
	files := map[string]string{}
	for path, text := range contents(t, tree) {
		if strings.HasSuffix(path, "/zz-eksproxy.conf") || strings.HasSuffix(path, "/proxy.env") {
			files[path] = text
		}
	}
	return files
}

// awaitEnviron waits until a restart that was queued has been made.
func awaitEnviron(t *testing.T, c *container.Container, unit string) {
	t.Helper()
	await(t, fmt.Sprintf("%s to run with the proxy", unit), func() bool { return strings.Contains(environOf(t, c, unit), "HTTPS_PROXY=") })
}

func awaitNoProxy(t *testing.T, c *container.Container, unit string) {
	t.Helper()
	await(t, fmt.Sprintf("%s to run without the proxy", unit), func() bool {
		env := environOf(t, c, unit)
		return env != "" && !strings.Contains(env, "HTTPS_PROXY=")
	})
}

// environOf is the environment of a unit's process; empty while it restarts.
func environOf(t *testing.T, c *container.Container, unit string) string {
	t.Helper()
	return c.Exec(t, "sh", "-c", "cat /proc/$(systemctl show -P MainPID "+unit+")/environ").Stdout
}
