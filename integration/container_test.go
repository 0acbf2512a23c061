package integration

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/eksproxy/eksproxy/integration/container"
)

// The tests in this file test the nodes themselves, without the program.

// seenByHook is what the hook of the tests below writes down in each boot.
const seenByHook = "/var/lib/seen-by-hook"

// drop is a drop-in that has a unit read the variables.
const drop = "[Service]\nEnvironmentFile=-/etc/eksproxy/proxy.env\n"

// hooked is user data with a hook that writes a file and a script that runs
// once.
func hooked() []byte {
	return container.Gzip(container.UserData(
		container.Boothook("#!/bin/sh\n"+
			"echo \"$INSTANCE_ID containerd=$(systemctl is-active containerd)\" >>"+seenByHook+"\n"),
		container.Script("#!/bin/sh\necho once >>/var/lib/seen-by-script\n")))
}

// checkBoot checks a node that was booted with the user data of hooked.
func checkBoot(t *testing.T, c *container.Container, hooks string) {
	t.Helper()
	if c.State() != "running" {
		t.Errorf("the node is %s:\n%s", c.State(), c.Exec(t, "systemctl", "--failed", "--no-pager").Stdout)
	}
	if id := strings.TrimSpace(c.Must(t, "cloud-id")); id != "ec2" && id != "aws" {
		t.Errorf("cloud-id: got %q", id)
	}
	if got := c.ReadFile(t, seenByHook); got != hooks {
		t.Errorf("the hook saw:\n%swant:\n%s", got, hooks)
	}
	if got := c.ReadFile(t, "/var/lib/seen-by-script"); got != "once\n" {
		t.Errorf("the script ran: %q", got)
	}
	if journal := c.Journal(t); strings.Contains(journal, "ordering cycle") {
		t.Errorf("the units are in a cycle:\n%s", journal)
	}
	if c.MainPID(t, "kubelet") == 0 || c.Environ(t, "containerd")["PATH"] == "" {
		t.Error("kubelet or containerd does not run")
	}
}

func TestContainerOrderD(t *testing.T) {
	t.Parallel()
	c := container.New(t, container.Options{CloudInit: true, UserData: hooked(), Units: "al2"})
	c.Boot(t)
	line := "i-0123456789abcdef0 containerd=inactive\n"
	checkBoot(t, c, line)
	c.Reboot(t)
	checkBoot(t, c, line+line)
}

func TestContainerOrderA(t *testing.T) {
	t.Parallel()
	site := container.NewSite(t, container.SquidOptions{User: "user", Password: "p@ss%w"})
	c := container.New(t, container.Options{
		Network: site.Network, Trust: []string{site.CA.PEM},
		CloudInit: true, Order: container.OrderA, UserData: hooked(), Units: "al2023",
		Files: map[string]string{
			"/etc/nodehelper/nodeadm-config":                         "https://" + container.RegistryName + "/v2/\n",
			"/etc/systemd/system/nodeadm-config.service.d/test.conf": drop,
			"/etc/eksproxy/proxy.env":                                container.Env(site.Squid.URL(), ""),
		},
	})
	c.Boot(t)
	checkBoot(t, c, "i-0123456789abcdef0 containerd=active\n")
	if r := site.Squid.Await(t, 0, container.RegistryName)[0]; r.Status != 200 || r.User != "user" {
		t.Errorf("squid saw: %+v", r)
	}
	var ran []string
	for line := range strings.Lines(c.Journal(t, "-t", "nodehelper", "-o", "cat")) {
		if name, _, found := strings.Cut(line, " started "); found {
			ran = append(ran, name)
		}
	}
	if want := []string{"nodeadm-boot-hook", "nodeadm-config", "nodeadm-run"}; !slices.Equal(ran, want) {
		t.Errorf("stand-ins ran as %q, want %q", ran, want)
	}
}

// configure writes the variables and the drop-in.
func configure(t *testing.T, c *container.Container, proxy string) {
	t.Helper()
	env := container.Env(proxy, "localhost,169.254.169.254,10.77.1.0/24")
	c.WriteFile(t, "/etc/eksproxy/proxy.env", []byte(env), 0o600)
	c.WriteFile(t, "/etc/systemd/system/containerd.service.d/10-test.conf", []byte(drop), 0o644)
}

// restart makes containerd read what was written.
func restart(t *testing.T, c *container.Container) {
	t.Helper()
	c.Must(t, "systemctl", "daemon-reload")
	c.Must(t, "systemctl", "restart", "containerd")
}

// checkPull pulls an image and checks the end of it.
func checkPull(t *testing.T, c *container.Container, image string, says string) {
	t.Helper()
	r := c.Pull(t, image)
	if ok := r.Code == 0; ok != (says == "") || !strings.Contains(r.Stderr, says) {
		t.Errorf("pull of %s: exit %d, want the error %q\n%s", image, r.Code, says, r.Stderr)
	}
}

func TestContainerPull(t *testing.T) {
	t.Parallel()
	site := container.NewSite(t, container.SquidOptions{User: "user", Password: "p@ss%w"})
	c := container.New(t, container.Options{Network: site.Network, Trust: []string{site.CA.PEM}})

	c.Boot(t)
	checkPull(t, c, site.Hidden.Image, "lookup "+container.RegistryName)
	site.Squid.Silent(t, 0, container.RegistryName)

	c.Stop(t)
	configure(t, c, site.Squid.URL())
	c.Boot(t)
	checkPull(t, c, site.Hidden.Image, "")
	seen := site.Squid.Await(t, 0, container.RegistryName)
	if r := seen[0]; r.Method != http.MethodConnect || r.User != "user" || r.Client != container.NodeIP || r.Status != 200 {
		t.Errorf("squid saw: %+v", r)
	}
	if peers := site.Hidden.Peers(0); !slices.Equal(peers, []string{container.ProxyOuterIP}) {
		t.Errorf("the hidden registry was asked by %q", peers)
	}
	program := site.Hidden.PushProgram(t)
	checkPull(t, c, program, "")
	pid := c.Run(t, program, "app")
	checkPull(t, c, site.Near.Image, "")
	site.Squid.Silent(t, 0, container.ProxyIP)
	if peers := site.Near.Peers(0); !slices.Equal(peers, []string{container.NodeIP}) {
		t.Errorf("the near registry was asked by %q", peers)
	}

	since := len(site.Squid.Requests(t))
	old := site.Squid.URL()
	site.Squid.SetPassword(t, "other")
	configure(t, c, old)
	restart(t, c)
	if now := c.Task(t, "app"); now != pid || pid == 0 {
		t.Errorf("the container runs as process %d, was %d", now, pid)
	}
	checkPull(t, c, site.Hidden.Image, "Proxy Authentication Required")
	if r := site.Squid.Await(t, since, container.RegistryName)[0]; r.Status != 407 || r.Result != "TCP_DENIED" {
		t.Errorf("squid saw: %+v", r)
	}
}

func TestContainerInspectedPull(t *testing.T) {
	t.Parallel()
	site := container.NewSite(t, container.SquidOptions{})
	c := container.New(t, container.Options{Network: site.Network, Trust: []string{site.CA.PEM}})
	configure(t, c, site.Squid.InspectingURL())
	c.Boot(t)
	checkPull(t, c, site.Hidden.Image, "certificate signed by unknown authority")

	const bundle = "/etc/ssl/certs/ca-certificates.crt"
	c.WriteFile(t, bundle, []byte(site.Squid.CA.PEM+c.ReadFile(t, bundle)), 0o644)
	restart(t, c)
	since := len(site.Squid.Requests(t))
	checkPull(t, c, site.Hidden.Image, "")
	for _, r := range site.Squid.Await(t, since, "https://"+container.RegistryName) {
		if r.Status >= 400 && r.Status != 404 {
			t.Errorf("squid saw: %+v", r)
		}
	}
}
