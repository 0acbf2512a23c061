package nodecheck_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/eksproxy/eksproxy/facts"
	"github.com/eksproxy/eksproxy/internal/systemd"
	"github.com/eksproxy/eksproxy/node"
	"github.com/eksproxy/eksproxy/noproxy"
	"github.com/eksproxy/eksproxy/verify"
	"github.com/eksproxy/eksproxy/verify/nodecheck"
)

func fixed[T any](value T, err error) func(context.Context) (T, error) {
	return func(context.Context) (T, error) { return value, err }
}

func text(t *testing.T, r verify.Report) string {
	t.Helper()
	var b strings.Builder
	check(t, r.WriteTable(&b))
	return b.String()
}

// hidesAll looks for the password in every form of the report.
func hidesAll(t *testing.T, r verify.Report) {
	t.Helper()
	data, err := json.Marshal(r)
	check(t, err)
	all := string(data) + text(t, r)
	for _, secret := range []string{password, passwordInURL, passwordPair, "Pa55", "Former"} {
		if strings.Contains(all, secret) {
			t.Errorf("the report shows %q:\n%s", secret, text(t, r))
		}
	}
}

// findings are those with a status.
func findings(r verify.Report, s verify.Status) []verify.Finding {
	return slices.DeleteFunc(slices.Clone(r.Findings), func(f verify.Finding) bool { return f.Status != s })
}

// A good node: exit 0, no warning, and nothing that could not be decided.
func TestGoodNode(t *testing.T) {
	for _, family := range []node.Family{node.AL2, node.AL2023, node.Ubuntu} {
		r := goodNode(t, family).checkAll()
		if r.ExitCode() != 0 || r.Summary.Warn+r.Summary.Unknown+r.Summary.Fail > 0 {
			t.Errorf("%s: exit %d\n%s", family, r.ExitCode(), text(t, r))
		}
		if r.Summary.Pass < 14 {
			t.Errorf("%s: too few passes\n%s", family, text(t, r))
		}
		hidesAll(t, r)
	}
}

// What others do beside ours and does no harm is no finding.
func TestHarmless(t *testing.T) {
	n := goodNode(t, node.AL2023)
	n.write("/etc/environment", "EDITOR=vi\n"+n.read("/etc/environment")+"PAGER=less\n")
	n.write("/etc/dnf/dnf.conf", n.read("/etc/dnf/dnf.conf")+"fastestmirror=1\n")
	n.write(before, "[Service]\nEnvironment=\"HTTPS_PROXY="+proxyURL+"\" https_proxy="+proxyURL+" NO_PROXY=localhost no_proxy=localhost\nEnvironmentFile=-/etc/absent\n")
	n.write("/etc/systemd/system/containerd.service.d/zzz-limits.conf", "[Service]\nLimitNOFILE=1\n")
	n.write("/run/eks/nodeadm/config.json", `{"spec":{"cluster":{"apiServerEndpoint":"https://`+endpoint+`","cidr":"10.100.0.0/16"},"instance":{"environment":{"default":{"HTTPS_PROXY":"`+proxyURL+`","NO_PROXY":"169.254.169.254,localhost"}}}}}`)
	n.write("/etc/docker/daemon.json", `{"live-restore": true}`)
	n.write("/etc/yum.repos.d/a.repo", "[a]\nproxy="+proxyURL+"\n[b]\nproxy=\n")
	if r := n.checkAll(); r.ExitCode() != 0 || r.Summary.Warn > 0 {
		t.Errorf("\n%s", text(t, r))
	}
}

func TestNothingApplied(t *testing.T) {
	n := goodNode(t, node.AL2023)
	n.remove("/var/lib/eksproxy")
	r := n.checkAll()
	fails := findings(r, verify.Fail)
	if len(fails) != 1 || fails[0].ID != "NODE001" || !strings.Contains(fails[0].Evidence, "nothing is applied below "+n.dir) || r.Summary.Skip != len(r.Findings)-1 {
		t.Errorf("\n%s", text(t, r))
	}
}

// With --root, what runs is not asked, and a check whose input nobody gave is
// skipped: nobody to apply again too.
func TestRoot(t *testing.T) {
	n := goodNode(t, node.AL2023)
	n.options.Live, n.options.Services, n.options.Metadata, n.options.Wanted = false, nil, nil, nil
	n.remove("/etc/systemd/system/eksproxy.service")
	n.remove("/var/lib/kubelet")
	_, bundle, _ := n.options.System.Family.TrustStore()
	n.remove(bundle)
	r := n.checkAll()
	if r.ExitCode() != 0 || r.Summary.Warn > 0 {
		t.Errorf("\n%s", text(t, r))
	}
	want := []string{"NODE002", "NODE003", "NODE007", "NODE008", "NODE009", "NODE014", "NODE015", "NODE017"}
	if got := r.IDs(verify.Skip); !slices.Equal(got, want) {
		t.Errorf("skipped %v, want %v", got, want)
	}
}

// What cannot be decided is unknown: exit 3.
func TestUnknown(t *testing.T) {
	for name, tt := range map[string]struct {
		id   string
		seed func(*aNode)
	}{
		"metadata does not answer": {"NODE007", func(n *aNode) {
			n.options.Metadata = fixed(facts.Node{}, errors.New("GET http://169.254.169.254: no answer"))
		}},
		"the settings cannot be composed": {"NODE001", func(n *aNode) {
			n.options.Wanted = fixed(node.Desired{}, errors.New("reading the credentials: denied"))
		}},
		"systemd does not answer": {"NODE002", func(n *aNode) {
			n.options.Services, n.options.ServicesErr = nil, systemd.ErrNotRunning
		}},
		"a process is gone": {"NODE003", func(n *aNode) {
			n.options.Environ = func(int) (map[string]string, error) { return nil, os.ErrNotExist }
		}},
		"daemon.json is not JSON":     {"NODE009", func(n *aNode) { n.write("/etc/docker/daemon.json", "{") }},
		"the record is of the future": {"NODE001", func(n *aNode) { n.write(node.StatePath, `{"format": 99}`) }},
		"a check panics with a password": {"NODE007", func(n *aNode) {
			n.options.Metadata = func(context.Context) (facts.Node, error) { panic("http://svc:" + password + "@proxy.example") }
		}},
		"a check hangs": {"NODE007", func(n *aNode) {
			n.options.Limit = 50 * time.Millisecond
			n.options.Metadata = func(context.Context) (facts.Node, error) {
				time.Sleep(500 * time.Millisecond)
				return facts.Node{}, nil
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			n := goodNode(t, node.AL2023)
			tt.seed(n)
			r := n.checkAll()
			if r.ExitCode() != 3 || !slices.Contains(r.IDs(verify.Unknown), tt.id) {
				t.Errorf("exit %d\n%s", r.ExitCode(), text(t, r))
			}
			for _, f := range findings(r, verify.Unknown) {
				if f.Remedy == "" {
					t.Errorf("%s has no remedy", f.ID)
				}
			}
			hidesAll(t, r)
		})
	}
}

func isPodIdentity(e noproxy.Entry) bool {
	return e.Text == "169.254.170.23" || e.Text == "fd00:ec2::23"
}

func TestWarnings(t *testing.T) {
	for name, tt := range map[string]struct {
		id   string
		seed func(*aNode)
	}{
		"nobody applies again": {"NODE014", func(n *aNode) { n.remove("/etc/systemd/system/eksproxy.service") }},
		"a certificate expires": {"NODE012", func(n *aNode) {
			n.options.Now = func() time.Time { return time.Date(2119, 12, 20, 0, 0, 0, 0, time.UTC) }
		}},
		"Environment= has no effect": {"NODE004", func(n *aNode) {
			n.write(before, "[Service]\nEnvironment=HTTPS_PROXY=http://old.example:1 https_proxy=http://old.example:1\n")
		}},
		"BL-006 Pod Identity": {"NODE006", func(n *aNode) {
			n.options.Wanted = nil
			world := n.settings(n.world)
			world.NoProxy = slices.DeleteFunc(slices.Clone(world.NoProxy), isPodIdentity)
			n.install(world)
		}},
		"one case in a file that ours overrides": {"NODE005", func(n *aNode) {
			n.write(before, loadsOther)
			n.write(other, "HTTPS_PROXY="+proxyURL+"\n")
		}},
		"a repository with another proxy": {"NODE013", func(n *aNode) { n.write("/etc/yum.repos.d/x.repo", "[x]\nproxy=http://old.example:1\n") }},
	} {
		t.Run(name, func(t *testing.T) {
			n := goodNode(t, node.AL2023)
			tt.seed(n)
			r := n.checkAll()
			if got := r.IDs(verify.Warn); r.ExitCode() != 0 || !slices.Equal(got, []string{tt.id}) {
				t.Errorf("warnings of %v, want %s\n%s", got, tt.id, text(t, r))
			}
		})
	}
}

// A boothook that applies is as good as the unit.
func TestBoothookApplies(t *testing.T) {
	for p, script := range map[string]string{
		"/var/lib/cloud/instance/boothooks/part-001": "#!/bin/sh\n/usr/local/bin/eksproxy node apply\n",
		"/var/lib/cloud/instance/user-data.txt":      "#cloud-boothook\n#!/bin/sh\n/usr/local/bin/eksproxy node apply\n",
	} {
		n := goodNode(t, node.AL2023)
		n.remove("/etc/systemd/system/eksproxy.service")
		n.write(p, script)
		if r := n.checkAll(); r.Summary.Warn > 0 || r.ExitCode() != 0 {
			t.Errorf("%s:\n%s", p, text(t, r))
		}
	}
}

// An id never changes, and each check says what fails it and what helps.
func TestRegistry(t *testing.T) {
	last := ""
	for _, c := range nodecheck.Checks(nodecheck.Options{}) {
		if c.ID <= last || c.Title == "" || c.Fails == "" || c.Remedy == "" {
			t.Errorf("%+v after %s", c, last)
		}
		last = c.ID
	}
	if last != "NODE017" {
		t.Errorf("the last id is %s", last)
	}
}

// A setting that is missing goes into the configuration that the next boot
// reads; to install again keeps the timer and --on-failure.
func TestRemedyOfAMissingSetting(t *testing.T) {
	n := goodNode(t, node.AL2023)
	n.replace("/var/lib/kubelet/kubeconfig", endpoint, "private.eks.example")
	n.write(node.ConfigPath, "apiVersion: eksproxy.dev/v1alpha1\nkind: ProxyConfig\n")
	n.write(node.ServicePath, "[Service]\nExecStart=/usr/local/bin/eksproxy node apply --on-failure stop\n")
	n.write(node.RefreshTimerPath, "[Timer]\nOnActiveSec=30m0s\nOnUnitActiveSec=30m0s\n")
	failed := findings(n.checkAll(), verify.Fail)
	want := "eksproxy node install --on-failure stop --refresh 30m0s --cluster-endpoint https://private.eks.example && eksproxy node apply"
	if len(failed) != 1 || failed[0].ID != "NODE015" || failed[0].Remedy != want {
		t.Errorf("found %+v", failed)
	}
}
