package nodecheck_test

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/eksproxy/eksproxy/internal/systemd"
	"github.com/eksproxy/eksproxy/node"
	"github.com/eksproxy/eksproxy/verify"
)

// fault is something wrong with a node, and the checks that must find it.
type fault struct {
	name   string // with the public report where there is one
	id     string
	also   []string // other checks that see the same
	family node.Family
	seed   func(*aNode)
	says   string // part of the evidence
}

const (
	behind = "/etc/systemd/system/containerd.service.d/zzz-local.conf"
	before = "/etc/systemd/system/containerd.service.d/http-proxy.conf"
	other  = "/etc/sysconfig/proxy"
)

func both(name, value string) string {
	return strings.ToUpper(name) + "=" + value + "\n" + strings.ToLower(name) + "=" + value + "\n"
}

// loadsOther is a drop-in that takes variables from the file of others.
const loadsOther = "[Service]\nEnvironmentFile=" + other + "\n"

// faultsOfFiles are in files of ours and of others.
func faultsOfFiles() []fault {
	return []fault{
		{name: "a drop-in is gone", id: "NODE001", seed: func(n *aNode) { n.remove(node.DropInPath("cloud-final")) }, says: "it is missing"},
		{name: "the settings want another list", id: "NODE001", seed: func(n *aNode) {
			world := n.world
			world.EndpointHost = "other.example"
			want, err := desired(n.options.System, n.settings(world))
			n.options.Wanted = fixed(want, err)
		}, says: "the settings want another content"},
		{name: "a drop-in behind ours", id: "NODE004", seed: func(n *aNode) {
			n.write(behind, loadsOther)
			n.write(other, both("https_proxy", "http://old.example:8080"))
		}, says: behind + " decides over our drop-in: it takes HTTPS_PROXY from " + other},
		{name: "a drop-in unsets", id: "NODE004", also: []string{"NODE016"}, seed: func(n *aNode) {
			n.write(behind, "[Service]\nUnsetEnvironment=NO_PROXY no_proxy\n")
		}, says: "it unsets NO_PROXY"},
		{name: "a drop-in drops our file", id: "NODE004", seed: func(n *aNode) { n.write(behind, "[Service]\nEnvironmentFile=\n") }, says: "it drops our EnvironmentFile="},
		{name: "a NodeConfig with another proxy", id: "NODE004", seed: func(n *aNode) {
			n.write("/var/lib/cloud/instance/user-data.txt", "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  instance:\n    environment:\n      default:\n        HTTPS_PROXY: http://svc:"+passwordInURL+"@old.example:1\n")
			n.chmod("/var/lib/cloud/instance/user-data.txt", 0o600)
		}, says: "the NodeConfig decides for nodeadm"},
		{name: "nodeadm's DefaultEnvironment sends metadata through the proxy", id: "NODE004", seed: func(n *aNode) {
			n.write("/etc/systemd/system.conf.d/environment.conf", "[Manager]\nDefaultEnvironment=\"NO_PROXY=localhost\" no_proxy=localhost\n")
		}, says: "NO_PROXY lacks 169.254.169.254"},
		{name: "BL-013 one case only", id: "NODE005", also: []string{"NODE001"}, seed: func(n *aNode) {
			n.replace("/etc/environment", "https_proxy="+proxyURL+"\n", "")
		}, says: "HTTPS_PROXY is set and https_proxy is not"},
		{name: "BL-013 two values in a file of others", id: "NODE005", also: []string{"NODE004"}, seed: func(n *aNode) {
			n.write(behind, loadsOther)
			n.write(other, "HTTPS_PROXY=http://a.example:1\nhttps_proxy=http://b.example:1\n")
		}, says: "HTTPS_PROXY and https_proxy differ"},
		{name: "BL-022 no HTTPS_PROXY", id: "NODE005", also: []string{"NODE016"}, seed: func(n *aNode) {
			n.write("/etc/systemd/system/docker.service.d/http-proxy.conf", "[Service]\nEnvironment=HTTP_PROXY=http://proxy.example:3128 http_proxy=http://proxy.example:3128\n")
		}, says: "https goes direct"},
		{name: "PAM's limit", id: "NODE008", family: node.AL2, seed: func(n *aNode) {
			n.write("/etc/environment", n.read("/etc/environment")+"JAVA_OPTS="+strings.Repeat("x", 1100)+"\n")
		}, says: "JAVA_OPTS has 1110 bytes"},
		{name: "docker's own proxies", id: "NODE009", seed: func(n *aNode) {
			n.write("/etc/docker/daemon.json", `{"proxies": {"https-proxy": "http://old.example:1", "no-proxy": "localhost"}}`)
		}, says: "https-proxy is http://old.example:1"},
		{name: "BL-015 carriage return", id: "NODE010", seed: func(n *aNode) {
			n.write("/etc/environment", both("https_proxy", proxyURL+"\r")+n.read("/etc/environment"))
		}, says: "a control character"},
		{name: "BL-027 a comment behind the value", id: "NODE010", seed: func(n *aNode) {
			n.write("/etc/environment", `NO_PROXY="10.40.0.0/16,.svc" # managed`+"\n"+n.read("/etc/environment"))
		}, says: "it holds #"},
		{name: "BL-008 a URL in NO_PROXY", id: "NODE010", seed: func(n *aNode) {
			n.write("/etc/environment", "no_proxy=https://"+endpoint+"\n"+n.read("/etc/environment"))
		}, says: "an entry is not a URL"},
		{name: "BL-007 brackets", id: "NODE010", seed: func(n *aNode) {
			n.write("/etc/environment", "no_proxy=[fd64:1:2::1]\n"+n.read("/etc/environment"))
		}, says: "in brackets it matches nothing"},
		{name: "BL-011 an address pattern", id: "NODE010", seed: func(n *aNode) {
			n.write("/etc/environment", "no_proxy=172.17.*\n"+n.read("/etc/environment"))
		}, says: "clients read no address patterns"},
		{name: "the record is readable", id: "NODE011", seed: func(n *aNode) { n.chmod(node.StatePath, 0o644) }, says: "mode 0644"},
		{name: "BL-035 the password in an old recipe", id: "NODE011", seed: func(n *aNode) {
			url := "http://svc:" + strings.ReplaceAll(passwordInURL, "%", "%%") + "@proxy.example:3128"
			n.write(before, "[Service]\nEnvironment=HTTPS_PROXY="+url+" https_proxy="+url+"\n")
		}, says: "it holds the proxy's password and everyone can read it"},
		{name: "BL-030 yum's word for dnf", id: "NODE013", seed: func(n *aNode) {
			n.write("/etc/yum.repos.d/x.repo", "[x]\nproxy=_none_\n")
		}, says: "[x] says proxy=_none_"},
		{name: "another proxy for dnf", id: "NODE013", also: []string{"NODE001"}, seed: func(n *aNode) {
			n.replace("/etc/dnf/dnf.conf", "@proxy.example:3128", "@old.example:1")
		}, says: "[main] says proxy=http://old.example:1"},
		{name: "another proxy for apt", id: "NODE013", family: node.Ubuntu, seed: func(n *aNode) {
			n.write("/etc/apt/apt.conf.d/99proxy", "Acquire::http::Proxy \"http://old.example:1\";\n")
		}, says: "Acquire::http::Proxy is http://old.example:1"},
		{name: "the program is gone", id: "NODE014", seed: func(n *aNode) { n.remove("/usr/local/bin/eksproxy") }, says: "is not there"},
	}
}

// faultsOfTheSystem are in what runs, in what the world says, and in lists.
func faultsOfTheSystem() []fault {
	return []fault{
		{name: "BL-028 no daemon-reload", id: "NODE002", seed: func(n *aNode) {
			n.change("kubelet", func(u *systemd.Unit) { u.NeedDaemonReload = true })
		}, says: "NeedDaemonReload=yes"},
		{name: "the drop-in is not loaded", id: "NODE002", seed: func(n *aNode) {
			n.change("containerd", func(u *systemd.Unit) { u.DropIns, u.EnvironmentFiles = nil, nil })
		}, says: "DropInPaths"},
		{name: "a file is read behind ours", id: "NODE002", seed: func(n *aNode) {
			n.write(other, both("https_proxy", "http://old.example:1"))
			n.change("containerd", func(u *systemd.Unit) { u.EnvironmentFiles = append(u.EnvironmentFiles, other) })
		}, says: "read behind ours"},
		{name: "BL-028 the process has the old proxy", id: "NODE003", seed: func(n *aNode) {
			env := n.environOf(0)
			env["HTTPS_PROXY"] = "http://svc:" + passwordInURL + "@old.example:1"
			n.environ[100] = env
		}, says: "process 100 has HTTPS_PROXY=http://old.example:1"},
		{name: "the process has the old password", id: "NODE003", seed: func(n *aNode) {
			env := n.environOf(0)
			env["https_proxy"] = "http://svc:Former%21pass@proxy.example:3128"
			n.environ[101] = env
		}, says: "another user or password"},
		{name: "the process has no proxy", id: "NODE003", seed: func(n *aNode) { n.environ[101] = map[string]string{} }, says: "has no HTTP_PROXY"},
		{name: "metadata through the proxy", id: "NODE006", also: []string{"NODE001"}, seed: func(n *aNode) {
			n.replace(node.ProxyEnvPath, "169.254.169.254,", "")
		}, says: "NO_PROXY lacks 169.254.169.254"},
		{name: "a new CIDR", id: "NODE007", also: []string{"NODE001"}, seed: func(n *aNode) {
			n.world.VPCCIDRs = append(n.world.VPCCIDRs, netip.MustParsePrefix("100.64.0.0/16"))
		}, says: "the VPC has this CIDR"},
		{name: "another cluster", id: "NODE007", also: []string{"NODE001"}, seed: func(n *aNode) { n.world.EndpointHost = "other.gr7.eu-west-1.eks.amazonaws.com" }, says: "names this endpoint"},
		{name: "an expired certificate", id: "NODE012", seed: func(n *aNode) {
			n.options.Now = func() time.Time { return time.Date(2121, 1, 1, 0, 0, 0, 0, time.UTC) }
		}, says: "CN=Example Root CA expired on 2120-01-01"},
		{name: "BL-034 the trust store lacks it", id: "NODE012", seed: func(n *aNode) {
			_, bundle, _ := n.options.System.Family.TrustStore()
			n.write(bundle, "# roots\n")
		}, says: "the trust store lacks"},
		{name: "BL-034 the runtime is older than it", id: "NODE012", seed: func(n *aNode) {
			n.change("containerd", func(u *systemd.Unit) { u.Started = time.Now().Add(-3 * time.Hour) })
		}, says: "before the trust store was made"},
		{name: "kubelet calls another endpoint", id: "NODE015", seed: func(n *aNode) {
			n.replace("/var/lib/kubelet/kubeconfig", endpoint, "private.eks.example")
		}, says: "/var/lib/kubelet/kubeconfig names this endpoint"},
		{name: "BL-010 services are not covered", id: "NODE015", seed: func(n *aNode) {
			n.options.Known.ServiceCIDRs = []netip.Prefix{netip.MustParsePrefix("172.20.0.0/16")}
		}, says: "names this range of services"},
		{name: "BL-021 the runtime's list is narrower", id: "NODE016", seed: func(n *aNode) {
			n.write("/etc/systemd/system/docker.service.d/http-proxy.conf", loadsOther)
			n.write(other, both("https_proxy", proxyURL)+both("no_proxy", ".registry.corp.example"))
		}, says: "its NO_PROXY, set by " + other + ", lacks localhost"},
		{name: "BL-048 a boothook did not succeed", id: "NODE017", seed: func(n *aNode) {
			n.write("/var/log/cloud-init.log", n.read("/var/log/cloud-init.log")+"WARNING Boothooks script /var/lib/cloud/instance/boothooks/part-001 execution error\n")
		}, says: "part-001 execution error"},
	}
}

// Every fault is found by its check, with a remedy; no other check is wrong
// about it, and nothing shows the password.
func TestSeededFaults(t *testing.T) {
	faults := append(faultsOfFiles(), faultsOfTheSystem()...)
	if len(faults) < 15 {
		t.Fatalf("%d faults", len(faults))
	}
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			family := f.family
			if family == "" {
				family = node.AL2023
			}
			n := goodNode(t, family)
			f.seed(n)
			r := n.checkAll()
			if r.ExitCode() != 1 {
				t.Errorf("exit code %d, want 1", r.ExitCode())
			}
			want := append([]string{f.id}, f.also...)
			slices.Sort(want)
			if got := r.IDs(verify.Fail); !slices.Equal(got, want) {
				t.Errorf("failing checks %v, want %v\n%s", got, want, text(t, r))
			}
			if !slices.ContainsFunc(r.Findings, func(x verify.Finding) bool {
				return x.ID == f.id && x.Status == verify.Fail && x.Remedy != "" && strings.Contains(x.Evidence, f.says)
			}) {
				t.Errorf("no finding of %s with a remedy says %q\n%s", f.id, f.says, text(t, r))
			}
			hidesAll(t, r)
		})
	}
}
