package integration

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/eksproxy/eksproxy/integration/container"
	"github.com/eksproxy/eksproxy/integration/metadata"
	"github.com/eksproxy/eksproxy/integration/program"
)

// finding and findings are the parts of a report that these tests look at.
type (
	finding  struct{ ID, Status, Target, Evidence, Remedy string }
	findings struct {
		Kind     string
		Findings []finding
	}
)

// of are the findings of a status.
func (r findings) of(status string) []finding {
	return slices.DeleteFunc(slices.Clone(r.Findings), func(f finding) bool { return f.Status != status })
}

// verifyOn has the program verify the node that it runs on.
func verifyOn(t *testing.T, c *container.Container) (findings, program.Result) {
	t.Helper()
	var report findings
	r := c.Exec(t, "eksproxy", "verify", "node", "-o", "json")
	if err := json.Unmarshal([]byte(r.Stdout), &report); err != nil || report.Kind != "VerifyReport" {
		t.Fatalf("verify node: exit %d, %v\n%s%s", r.Code, err, r.Stdout, r.Stderr)
	}
	return report, r
}

// checkGood fails the test unless verify finds nothing to fix, once the
// restarts that are queued are made.
func checkGood(t *testing.T, c *container.Container) {
	t.Helper()
	var report findings
	var r program.Result
	for range 100 {
		if report, r = verifyOn(t, c); r.Code == 0 && len(report.of("warn")) == 0 {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Errorf("verify node of a good node: exit %d\n%s%s", r.Code, r.Stdout, r.Stderr)
}

// certificateFile writes certificates to a file on the host.
func certificateFile(t *testing.T, pem string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, []byte(pem), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// secretFlags are the flags of a node whose password no output may show.
func secretFlags(t *testing.T, port string, more ...string) []string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "login")
	if err := os.WriteFile(file, []byte(login()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return append([]string{
		"--os", "ubuntu", "--runtime", "containerd", "--http-proxy", "http://" + container.ProxyIP + ":" + port, "--credentials-file", file,
	}, more...)
}

// newSecretNode is a node of the Ubuntu family, with that password at its
// proxy.
func newSecretNode(t *testing.T) (*container.Container, *container.Site) {
	t.Helper()
	site := container.NewSite(t, container.SquidOptions{User: secret.User, Password: secret.Password})
	return container.New(t, container.Options{
		Network: site.Network, Trust: []string{site.CA.PEM}, CloudInit: true, Units: "ubuntu",
		Metadata: metadata.NewServer(instance(container.UserData(container.Boothook("#!/bin/sh\nexit 0\n")))),
	}), site
}

// liveFault is something wrong on a running node: a script makes it so. It is
// found by the check, and the pasted remedies mend it, after the script mend,
// which is what remedies of people's own files leave to people.
type liveFault struct{ name, seed, id, says, mend string }

// The drop-in directory of containerd, and an environment file of others.
const (
	dropIns   = "/etc/systemd/system/containerd.service.d/"
	otherFile = "/etc/other.env"
	reload    = "systemctl daemon-reload; systemctl restart containerd; "
)

// liveFaults need a system that runs; more of them are seeded in verify's own
// tests.
func liveFaults() []liveFault {
	return []liveFault{
		{"a drop-in without a reload", "sleep 1; printf '[Unit]\\nDescription=x\\n' >" + dropIns + "10-late.conf", "NODE002", "NeedDaemonReload=yes", ""},
		{"our drop-in is not loaded", "mv " + dropIns + "zz-eksproxy.conf /root/; " + reload + "mv /root/zz-eksproxy.conf " + dropIns, "NODE002", "", ""},
		{"a file is read behind ours", "echo HTTPS_PROXY=http://old.example:1 >" + otherFile + "; printf '[Service]\\nEnvironmentFile=" + otherFile + "\\n' >" + dropIns + "zzz-late.conf; " + reload, "NODE004", "zzz-late.conf decides over our drop-in: it takes HTTPS_PROXY from " + otherFile, ""},
		{"a process of before", "cp -p /etc/eksproxy/proxy.env /root/; sed -i 's/:3128/:3130/' /etc/eksproxy/proxy.env; systemctl restart containerd; cp -p /root/proxy.env /etc/eksproxy/", "NODE003", "3130, and /etc/eksproxy/proxy.env says", ""},
		{"a process with the password of before", "sed -i 's/p%40s/q%40s/' /etc/eksproxy/proxy.env; systemctl restart containerd; cp -p /root/proxy.env /etc/eksproxy/", "NODE003", "with another user or password", ""},
		{"a process without a proxy", "mv /etc/eksproxy/proxy.env /root/; systemctl restart containerd; mv /root/proxy.env /etc/eksproxy/", "NODE003", "has no HTTP_PROXY", ""},
		{"one case changed", "echo no_proxy=localhost >>/etc/environment", "NODE005", "NO_PROXY and no_proxy differ", ""},
		{"a metadata address is missing", "sed -i 's/169.254.169.254,//' /etc/eksproxy/proxy.env; systemctl restart containerd", "NODE006", "NO_PROXY lacks 169.254.169.254", ""},
		{"docker's own proxies", `mkdir -p /etc/docker; echo '{"proxies":{"https-proxy":"http://old.example:1"}}' >/etc/docker/daemon.json`, "NODE009", "https-proxy is http://old.example:1", "rm -r /etc/docker"},
		{"a carriage return", `sed -i '1i HTTPS_PROXY=http://x.example:1\r' /etc/environment`, "NODE010", "a control character", ""},
		{"everyone reads proxy.env", "chmod 0644 /etc/eksproxy/proxy.env", "NODE011", "mode 0644", ""},
		{"the password in a recipe", "cp /etc/eksproxy/proxy.env /etc/profile.d/proxy.sh; chmod 0644 /etc/profile.d/proxy.sh", "NODE011", "it holds the proxy's password and everyone can read it", ""},
		{"the trust store lacks ours", "mv /usr/local/share/ca-certificates/eksproxy.crt /root/; update-ca-certificates; mv /root/eksproxy.crt /usr/local/share/ca-certificates/", "NODE012", "the trust store lacks CN=inspecting proxy", ""},
		{"another proxy for apt", `echo 'Acquire::http::Proxy "http://old.example:1";' >/etc/apt/apt.conf.d/99proxy`, "NODE013", "Acquire::http::Proxy is http://old.example:1", ""},
		{"kubelet calls an endpoint", "mkdir -p /var/lib/kubelet; echo 'server: https://private.eks.example' >/var/lib/kubelet/kubeconfig", "NODE015", "/var/lib/kubelet/kubeconfig names this endpoint", ""},
		{"a boothook did not succeed", "echo 'WARNING Boothooks script /var/lib/cloud/instance/boothooks/part-001 execution error' >>/var/log/cloud-init.log", "NODE017", "part-001 execution error", "sed -i '$d' /var/log/cloud-init.log"},
	}
}

// Acceptance 4: a good node has nothing to warn of; every fault is found by its
// check, and the pasted remedies mend it.
func TestVerifyOnANode(t *testing.T) {
	t.Parallel()
	c, site := newSecretNode(t)
	installInto(t, c, secretFlags(t, "3128", "--trusted-ca", certificateFile(t, site.Squid.CA.PEM))...)
	c.Boot(t)
	checkHealthy(t, c)
	checkGood(t, c)
	t.Log(c.Must(t, "eksproxy", "verify", "node"))
	for _, f := range liveFaults() {
		t.Run(f.name, func(t *testing.T) { checkFault(t, c, f) })
	}
	t.Run("a new CIDR", func(t *testing.T) {
		c.Metadata.Set(metadata.NewInstance("10.77.1.0/24", "100.64.0.0/16", "10.99.0.0/16"))
		checkFault(t, c, liveFault{"", "true", "NODE007", "the VPC has this CIDR", ""})
	})
	t.Run("nobody applies at the next boot", func(t *testing.T) { checkDisabled(t, c) })
	t.Run("an expired certificate", func(t *testing.T) { checkExpired(t, c, site.Squid.CA.PEM) })
}

// checkFault seeds a fault, and mends it by what verify says.
func checkFault(t *testing.T, c *container.Container, f liveFault) {
	t.Helper()
	begin := time.Now()
	c.Must(t, "sh", "-c", "set -e; systemctl reset-failed containerd; "+f.seed) // so often it would not start
	report, r := verifyOn(t, c)
	if r.Code != 1 {
		t.Errorf("exit %d, want 1", r.Code)
	}
	if !slices.ContainsFunc(report.of("fail"), func(x finding) bool {
		return x.ID == f.id && x.Remedy != "" && strings.Contains(x.Evidence, f.says)
	}) {
		t.Errorf("no failing %s with a remedy says %q:\n%s", f.id, f.says, r.Stdout)
	}
	for _, x := range report.of("fail") {
		t.Logf("%s %s: %s\n\tremedy: %s", x.ID, x.Target, x.Evidence, x.Remedy)
	}
	if f.mend != "" {
		c.Must(t, "sh", "-c", f.mend)
	}
	paste(t, c)
	checkGood(t, c)
	t.Logf("%5.2f s  found and mended", time.Since(begin).Seconds())
}

// paste carries out the remedies of what fails, as a person does who reads the
// report again after each round.
func paste(t *testing.T, c *container.Container) {
	t.Helper()
	for range 4 {
		report, _ := verifyOn(t, c)
		var pasted []string
		for _, f := range report.of("fail") {
			if slices.Contains(pasted, f.Remedy) {
				continue
			}
			pasted = append(pasted, f.Remedy)
			if r := c.Exec(t, "sh", "-c", f.Remedy); r.Code != 0 {
				t.Errorf("the remedy %q of %s: exit %d\n%s", f.Remedy, f.ID, r.Code, r.Stderr)
			}
		}
		if len(pasted) == 0 {
			return
		}
		time.Sleep(300 * time.Millisecond) // restarts are queued, not waited for
	}
}

// checkDisabled switches the unit off: a warning, whose remedy is pasted.
func checkDisabled(t *testing.T, c *container.Container) {
	t.Helper()
	c.Must(t, "systemctl", "disable", "eksproxy")
	report, r := verifyOn(t, c)
	warned := report.of("warn")
	if r.Code != 0 || len(warned) != 1 || warned[0].ID != "NODE014" {
		t.Fatalf("exit %d, want 0 and a warning of NODE014:\n%s", r.Code, r.Stdout)
	}
	c.Must(t, "sh", "-c", warned[0].Remedy)
	checkGood(t, c)
	c.Must(t, "mv", "/usr/local/bin/eksproxy", "/root/eksproxy")
	if r := c.Exec(t, "/root/eksproxy", "verify", "node"); r.Code != 1 || !strings.Contains(r.Stdout, "fail     NODE014") {
		t.Errorf("without its program: exit %d\n%s", r.Code, r.Stdout)
	}
	c.Must(t, "/root/eksproxy", "node", "install")
	checkGood(t, c)
}

// checkExpired gives the node a certificate that ends soon, and the one of
// before when it has.
func checkExpired(t *testing.T, c *container.Container, good string) {
	t.Helper()
	const file = "/etc/eksproxy/trusted-ca.pem"
	end := time.Now().Add(3 * time.Second)
	c.WriteFile(t, file, []byte(container.NewAuthorityUntil(t, "short", end).PEM), 0o644)
	c.Must(t, "eksproxy", "node", "apply")
	time.Sleep(time.Until(end.Add(time.Second)))
	await(t, "verify to find the expired certificate, and nothing else", func() bool {
		report, r := verifyOn(t, c)
		failed := report.of("fail")
		return r.Code == 1 && len(failed) == 1 && failed[0].ID == "NODE012" && strings.Contains(failed[0].Evidence, "CN=short expired on ") &&
			strings.Contains(failed[0].Remedy, "eksproxy node apply")
	})
	c.WriteFile(t, file, []byte(good), 0o644)
	c.Must(t, "eksproxy", "node", "apply")
	checkGood(t, c)
}
