package node

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/eksproxy/eksproxy/internal/rootfs"
	"github.com/eksproxy/eksproxy/internal/systemd"
	"github.com/eksproxy/eksproxy/proxyconfig"
)

// host is a running system for tests: services, their environments, and what
// was asked of it.
type host struct {
	units      map[string]systemd.Unit
	env        map[int]map[string]string
	containers bool
	did        []string
	fail       string
}

func (h *host) Unit(_ context.Context, name string) (systemd.Unit, error) { return h.units[name], nil }

func (h *host) Reload(context.Context) error { return h.do("reload") }

func (h *host) TryRestart(_ context.Context, name string) error { return h.do("restart " + name) }

func (h *host) do(what string) error {
	if what == h.fail {
		return errors.New("no such luck")
	}
	h.did = append(h.did, what)
	return nil
}

// running describes the host to package node.
func (h *host) running(restart bool) Running {
	return Running{
		Services: h, Restart: restart,
		Environ:    func(pid int) (map[string]string, error) { return h.env[pid], nil },
		Containers: func() (bool, error) { return h.containers, nil },
		Command:    func(_ context.Context, name string, _ ...string) error { return h.do(name) },
	}
}

// active is a service that runs since long ago without a proxy.
func active(pid int) systemd.Unit {
	return systemd.Unit{Loaded: true, Active: "active", MainPID: pid, Started: time.Now().Add(-time.Hour)}
}

// newHost runs containerd, kubelet, docker and the SSM agent, and has nodeadm
// behind it.
func newHost() *host {
	return &host{
		units: map[string]systemd.Unit{
			"containerd": active(1), "kubelet": active(2), "amazon-ssm-agent": active(3), "docker": active(4),
			"nodeadm-run": {Loaded: true, Active: "inactive", Ended: true}, "cloud-final": {Loaded: true, Active: "active"},
		},
		env: map[int]map[string]string{},
	}
}

// adopt makes every process run with what is wanted, as after a restart.
func (h *host) adopt(p *Prepared) {
	for _, u := range h.units {
		h.env[u.MainPID] = p.environment
	}
}

// activate plans and applies with the host.
func activate(t *testing.T, root *rootfs.Root, h *host, s proxyconfig.Settings, restart bool) *Prepared {
	t.Helper()
	p, err := Prepare(root, desire(t, root, s, proxyconfig.Node{}))
	check(t, err)
	check(t, p.AddRunning(t.Context(), h.running(restart)))
	h.did = nil
	_, err = p.Apply(t.Context(), "")
	check(t, err)
	return p
}

func bothRuntimes() tree {
	return baseTree(AL2023).with(tree{"/usr/lib/systemd/system/docker.service": file("")})
}

// Everything once, in order, the SSM agent last; then nothing.
func TestRunningSystem(t *testing.T) {
	root, h := plant(t, bothRuntimes()), newHost()
	p := activate(t, root, h, settings(true), true)
	want := []string{"reload", "restart containerd", "restart docker", "restart kubelet", "restart amazon-ssm-agent"}
	if diff := cmp.Diff(want, h.did); diff != "" {
		t.Errorf("did (-want +got):\n%s", diff)
	}
	h.adopt(p)
	p = activate(t, root, h, settings(true), true)
	if len(h.did)+len(p.Pending()) > 0 {
		t.Errorf("a second run did %q", h.did)
	}
	s := settings(true)
	s.NoProxy = list("other")
	activate(t, root, h, s, true)
	if len(h.did) != 4 || h.did[0] != "restart containerd" {
		t.Errorf("other settings did %q: a reload is not needed, the drop-ins stay", h.did)
	}
}

// A kill between the files and their effects is made up for.
func TestRunningSystemAfterAKill(t *testing.T) {
	root, h := plant(t, bothRuntimes()), newHost()
	applyTo(t, root, settings(false), proxyconfig.Node{}) // as if killed before the reload
	u := h.units["kubelet"]
	u.NeedDaemonReload = true
	h.units["kubelet"] = u
	activate(t, root, h, settings(false), true)
	if len(h.did) != 5 || h.did[0] != "reload" {
		t.Errorf("did %q", h.did)
	}
	u.NeedDaemonReload = false // reloaded, and killed before the restarts
	h.units["kubelet"] = u
	activate(t, root, h, settings(false), true)
	if len(h.did) != 4 || h.did[0] != "restart containerd" {
		t.Errorf("did %q", h.did)
	}
}

func TestNotRestarted(t *testing.T) {
	const dropIn = "/etc/systemd/system/kubelet.service.d/zzz.conf"
	for name, c := range map[string]struct {
		files   tree
		change  func(*host)
		restart bool
		absent  []string
		note    string
	}{
		"never":               {nil, nil, false, []string{"containerd", "docker", "kubelet", "amazon-ssm-agent"}, "--restart never"},
		"nodeadm to come":     {nil, func(h *host) { h.units["nodeadm-run"] = systemd.Unit{Loaded: true, Active: "inactive"} }, true, []string{"containerd", "kubelet"}, "nodeadm-run has not finished in this boot"},
		"docker's containers": {nil, func(h *host) { h.containers = true }, true, []string{"docker"}, "live-restore is off"},
		"not running":         {nil, func(h *host) { h.units["docker"] = systemd.Unit{Loaded: true, Active: "inactive"} }, true, []string{"docker"}, ""},
		"others decide":       {tree{dropIn: file("[Service]\nEnvironmentFile=/etc/x\n"), "/etc/x": file("HTTP_PROXY=y\n")}, nil, true, []string{"kubelet"}, "a drop-in of others decides"},
	} {
		root, h := plant(t, bothRuntimes().with(c.files)), newHost()
		if c.change != nil {
			c.change(h)
		}
		p := activate(t, root, h, settings(false), c.restart)
		did := strings.Join(h.did, ",") + ","
		for _, unit := range []string{"containerd", "docker", "kubelet", "amazon-ssm-agent"} {
			absent := strings.Contains(strings.Join(c.absent, ","), unit)
			if restarted := strings.Contains(did, "restart "+unit+","); restarted == absent {
				t.Errorf("%s: %s restarted: %v", name, unit, restarted)
			}
		}
		if !strings.Contains(strings.Join(p.Notes, "\n"), c.note) {
			t.Errorf("%s: notes %q", name, p.Notes)
		}
	}
	root, h := plant(t, bothRuntimes().with(tree{"/etc/docker/daemon.json": file(`{"live-restore": true}`)})), newHost()
	h.containers = true
	if activate(t, root, h, settings(false), true); !strings.Contains(strings.Join(h.did, ","), "restart docker") {
		t.Errorf("with live-restore docker is not restarted: %q", h.did)
	}
}

// The trust store is rebuilt where it lacks the certificate (BL-034), and what
// runs with the older one is restarted; revert takes it out again.
func TestTrustStore(t *testing.T) {
	const bundle = "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem"
	ca := proxyconfig.CA{PEM: []byte("-----BEGIN CERTIFICATE-----\nQUJD\n-----END CERTIFICATE-----\n"), Subject: "CN=corp"}
	root, h := plant(t, bothRuntimes().with(tree{bundle: file("# public\n")})), newHost()
	s := settings(false)
	s.CAs = []proxyconfig.CA{ca}
	p := activate(t, root, h, s, true)
	if len(h.did) < 3 || h.did[1] != "update-ca-trust" || h.did[2] != "restart containerd" {
		t.Errorf("did %q", h.did)
	}
	h.adopt(p)
	write(t, root, bundle, "# public\n"+string(ca.PEM)) // what the command does
	check(t, os.Chtimes(filepath.Join(root.Dir(), bundle), time.Now(), time.Now()))
	if activate(t, root, h, s, true); len(h.did) != 4 || h.did[0] != "restart containerd" {
		t.Errorf("killed before the restarts, the next run did %q", h.did)
	}
	for name, u := range h.units {
		u.Started = time.Now().Add(time.Minute)
		h.units[name] = u
	}
	if activate(t, root, h, s, true); len(h.did) > 0 {
		t.Errorf("a second run did %q", h.did)
	}
	back, err := PrepareRevert(root)
	check(t, err)
	check(t, back.AddRunning(t.Context(), h.running(true)))
	h.did = nil
	_, err = back.Apply(t.Context(), "")
	check(t, err)
	want := []string{"reload", "update-ca-trust", "restart containerd", "restart docker", "restart kubelet", "restart amazon-ssm-agent"}
	sorted := strings.Join(h.did, ",")
	if len(h.did) != len(want) || !strings.HasPrefix(sorted, "reload,update-ca-trust,restart ") || !strings.HasSuffix(sorted, "restart amazon-ssm-agent") {
		t.Errorf("revert did %q", h.did)
	}
}

// What cannot be done is an error that says how far it came, and the next run
// does the rest.
func TestRestartFails(t *testing.T) {
	root, h := plant(t, bothRuntimes()), newHost()
	h.fail = "restart docker"
	p, err := Prepare(root, desire(t, root, settings(false), proxyconfig.Node{}))
	check(t, err)
	check(t, p.AddRunning(t.Context(), h.running(true)))
	o, err := p.Apply(t.Context(), "")
	if err == nil || !strings.Contains(err.Error(), "applying systemctl try-restart docker: no such luck") || o.Left[0].ID != "run:restart docker" {
		t.Errorf("error %v, left %v", err, o.Left)
	}
	h.fail = ""
	activate(t, root, h, settings(false), true)
	if !strings.Contains(strings.Join(h.did, ","), "restart docker") {
		t.Errorf("the next run did %q", h.did)
	}
}
