package integration

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/eksproxy/eksproxy/integration/container"
	"github.com/eksproxy/eksproxy/integration/program"
)

// everything is a script that lists what is on the node's disk where the program
// writes: types, modes, owners, links and contents.
const everything = "cd /; find etc usr/local $(ls -d var/lib/eksproxy 2>/dev/null) -printf '%p %y %m %u:%g %l\\n' | sort; " +
	"find etc usr/local $(ls -d var/lib/eksproxy 2>/dev/null) -type f -exec sha256sum {} + | sort -k2"

// modesOnly is a script that lists the modes of those files, and those alone.
const modesOnly = "find /etc /usr/local /var/lib/eksproxy -printf '%p %y %m %u:%g\\n' | sort"

// checkUnits has systemd itself look at units, which is not to say a word.
func checkUnits(t *testing.T, c *container.Container, units ...string) {
	t.Helper()
	for _, unit := range units {
		r := c.Exec(t, "systemd-analyze", "verify", "--recursive-errors=no", "--man=no", unit)
		if r.Code != 0 || r.Stdout+r.Stderr != "" {
			t.Errorf("systemd-analyze verify %s: exit %d\n%s%s", unit, r.Code, r.Stdout, r.Stderr)
		}
	}
}

// withDropIn are the units on the node that have a drop-in of ours.
func withDropIn(t *testing.T, c *container.Container) []string {
	t.Helper()
	var units []string
	for file := range strings.FieldsSeq(c.Must(t, "sh", "-c", "ls /etc/systemd/system/*.service.d/zz-eksproxy.conf")) {
		unit := regexp.MustCompile(`[^/]+\.service`).FindString(file)
		if strings.TrimSpace(c.Must(t, "systemctl", "show", "-P", "LoadState", unit)) == "loaded" {
			units = append(units, unit)
		}
	}
	if len(units) < 3 {
		t.Errorf("only %q have a drop-in of ours", units)
	}
	return units
}

// Installed on a running node it applies at the next boot, systemd has nothing
// against its units, and uninstall and revert leave nothing.
func TestInstallOnANode(t *testing.T) {
	t.Parallel()
	c, site := liveNode(t)
	c.Must(t, "mv", "/usr/local/bin/eksproxy", "/root/eksproxy")
	before := c.Must(t, "sh", "-c", everything)

	install := append([]string{"/root/eksproxy", "node", "install", "--refresh", "30m"}, liveFlags("3128")...)
	c.Must(t, install...)
	for _, unit := range []string{"eksproxy.service", "eksproxy-refresh.timer"} {
		if got := strings.TrimSpace(c.Exec(t, "systemctl", "is-enabled", unit).Stdout); got != "enabled" {
			t.Errorf("%s is %q", unit, got)
		}
	}
	checkUnits(t, c, "eksproxy.service", "eksproxy-refresh.service", "eksproxy-refresh.timer")
	if out := c.Must(t, install...); !strings.HasPrefix(out, "unchanged: ") {
		t.Errorf("the second install did:\n%s", out)
	}
	checkPull(t, c, site.Hidden.Image, "lookup "+container.RegistryName)

	c.Reboot(t)
	checkHealthy(t, c)
	checkEnviron(t, c, "containerd", kubelets()["ubuntu"])
	checkPull(t, c, site.Hidden.Image, "")
	checkUnits(t, c, append(withDropIn(t, c), "eksproxy.service", "eksproxy-refresh.service", "eksproxy-refresh.timer")...)
	if got := strings.TrimSpace(c.Must(t, "systemctl", "is-active", "eksproxy-refresh.timer")); got != "active" {
		t.Errorf("the timer is %s", got)
	}
	checkGood(t, c)

	c.Must(t, "/root/eksproxy", "node", "uninstall")
	if got := strings.TrimSpace(c.Exec(t, "systemctl", "is-active", "eksproxy-refresh.timer").Stdout); got == "active" {
		t.Errorf("after uninstall the timer is still %s:\n%s", got, c.Exec(t, "systemctl", "status", "--no-pager", "eksproxy-refresh.timer").Stdout)
	}
	c.Must(t, "/root/eksproxy", "node", "revert")
	awaitNoProxy(t, c, "containerd")
	if diff := program.Diff(before, c.Must(t, "sh", "-c", everything)); diff != "" {
		t.Errorf("uninstall and revert leave:\n%s", diff)
	}
	checkPull(t, c, site.Hidden.Image, "lookup "+container.RegistryName)
	c.Reboot(t)
	checkHealthy(t, c)
	if diff := program.Diff(before, c.Must(t, "sh", "-c", everything)); diff != "" {
		t.Errorf("after a boot there is:\n%s", diff)
	}
}

// What runs may have a strict umask, /tmp may be no place for programs, and
// /etc/environment may have attributes of others.
func TestStrictNode(t *testing.T) {
	t.Parallel()
	c, site := liveNode(t)
	c.Must(t, "update-ca-certificates")
	c.Must(t, "mount", "-o", "remount,noexec", "/tmp")
	c.Must(t, "sh", "-c", "cp /bin/true /tmp/; ! /tmp/true 2>/dev/null")
	const attribute = "import os; print(os.getxattr('/etc/environment', 'user.test').decode())"
	c.Must(t, "python3", "-c", "import os; os.setxattr('/etc/environment', 'user.test', b'kept')")
	flags := strings.Join(liveFlags("3129", "--trusted-ca", "/root/ca.pem"), " ")
	run := func(umask string) {
		t.Helper()
		begin := time.Now()
		c.Must(t, "sh", "-c", "umask "+umask+" && eksproxy node install --refresh 30m "+flags+" && eksproxy node apply")
		t.Logf("%5.2f s  install and apply with umask %s", time.Since(begin).Seconds(), umask)
		awaitEnviron(t, c, "containerd")
	}
	before := c.Must(t, "sh", "-c", everything)
	run("022")
	modes := c.Must(t, "sh", "-c", modesOnly)
	c.Must(t, "sh", "-c", "umask 077 && eksproxy node revert && eksproxy node uninstall")
	awaitNoProxy(t, c, "containerd")
	if diff := program.Diff(before, c.Must(t, "sh", "-c", everything)); diff != "" {
		t.Errorf("revert and uninstall leave:\n%s", diff)
	}
	run("077")
	if diff := program.Diff(modes, c.Must(t, "sh", "-c", modesOnly)); diff != "" {
		t.Errorf("umask 077 makes another tree:\n%s", diff)
	}
	if got := strings.TrimSpace(c.Must(t, "python3", "-c", attribute)); got != "kept" {
		t.Errorf("the attribute of /etc/environment is %q", got)
	}
	checkTrust(t, c, site.Squid.CA.PEM, "")
	checkPull(t, c, site.Hidden.Image, "")
	c.Must(t, "su", "-s", "/bin/sh", "nobody", "-c", "cat /etc/environment "+bundle+" /etc/eksproxy/config.yaml >/dev/null")
	checkGood(t, c)
	c.Reboot(t)
	checkHealthy(t, c)
	checkPull(t, c, site.Hidden.Image, "")
}
