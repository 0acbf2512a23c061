package nodecheck_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/eksproxy/eksproxy/node"
	"github.com/eksproxy/eksproxy/verify"
)

// The password in every file that is looked at, in each form: it is found, and
// not shown (BL-035).
func TestNoSecretInEvidence(t *testing.T) {
	url := "http://svc:" + passwordInURL + "@old.example:1"
	raw := "http://svc:" + password + "@old.example:1"
	units := "[Service]\nEnvironment=\"HTTPS_PROXY=" + strings.ReplaceAll(url, "%", "%%") + "\" http_proxy=" + raw + "\nEnvironmentFile=" + other + "\n"
	n := goodNode(t, node.AL2023)
	for p, text := range map[string]string{
		behind:                    units,
		before:                    units,
		other:                     both("https_proxy", raw+"\r") + "http_proxy=" + url + " # " + passwordPair + "\nNO_PROXY=" + url + "," + raw + "\n",
		"/etc/docker/daemon.json": `{"proxies":{"https-proxy":"` + url + `","no-proxy":"` + raw + `"}}`,
		"/etc/environment":        both("https_proxy", raw) + "NO_PROXY=" + raw + "\n" + n.read("/etc/environment"),
		"/etc/yum.repos.d/x.repo": "[x]\nproxy=" + url + "\nproxy_password=" + password + "\n[" + raw + "]\nproxy=" + raw + "\n",
		"/etc/systemd/system.conf.d/environment.conf": "[Manager]\nDefaultEnvironment=\"HTTPS_PROXY=" + raw + "\" NO_PROXY=" + raw + "\n",
		"/run/eks/nodeadm/config.json":                `{"spec":{"cluster":{"apiServerEndpoint":"` + url + `"},"instance":{"environment":{"default":{"HTTPS_PROXY":"` + url + `","NO_PROXY":"` + raw + `"},"x":{"http_proxy":"` + raw + `"}}}}}`,
		"/var/lib/kubelet/kubeconfig":                 "server: " + url + "\n",
		"/var/log/cloud-init.log":                     "Boothooks script " + url + " " + raw + " " + passwordPair + " execution error\n",
	} {
		n.write(p, text)
	}
	n.environ[100] = map[string]string{"HTTPS_PROXY": raw, "NO_PROXY": url, "HTTP_PROXY": "http://svc:" + password + "\n@x.example:1"}
	r := n.checkAll()
	if want := []string{"NODE003", "NODE004", "NODE005", "NODE009", "NODE010", "NODE011", "NODE015", "NODE016", "NODE017"}; !slices.Equal(r.IDs(verify.Fail), want) {
		t.Errorf("failing checks %v, want %v\n%s", r.IDs(verify.Fail), want, text(t, r))
	}
	hidesAll(t, r)
}
