package integration

import (
	"fmt"
	"net/http/httputil"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/eksproxy/eksproxy/integration/container"
	"github.com/eksproxy/eksproxy/integration/metadata"
	"github.com/eksproxy/eksproxy/integration/moto"
	"github.com/eksproxy/eksproxy/integration/program"
)

// motoAddress is where the node reaches Secrets Manager and SSM: in the VPC, and
// covered by no CIDR of it before the rotation.
const motoAddress = container.ProxyIP + ":4566"

// everyTwoSeconds makes the timer of install --refresh fast.
const everyTwoSeconds = "[Timer]\nOnActiveSec=\nOnUnitActiveSec=\nOnActiveSec=2s\nOnUnitActiveSec=2s\nRandomizedDelaySec=0\nAccuracySec=100ms\n"

// refreshed is a node with a fast timer, and what can change under it.
type refreshed struct {
	*container.Container
	site     *container.Site
	moto     moto.Server
	metadata *metadata.Server
}

// rotated is the password after the rotation; both have the same core.
func rotated() string { return "next-" + secret.Password }

// ofRole is an instance in a VPC of these blocks that has a role.
func ofRole(blocks ...string) metadata.Instance {
	i := metadata.NewInstance(blocks...)
	i.Role = "node-role"
	return i
}

// newRefreshed is a node whose VPC does not have the near registry's address
// yet. Its flags name what fill puts into moto.
func newRefreshed(t *testing.T, variables []string, fill func(moto.Server) []string) refreshed {
	t.Helper()
	site := container.NewSite(t, container.SquidOptions{User: secret.User, Password: secret.Password})
	r := refreshed{site: site, moto: moto.Start(t, "127.0.0.1"), metadata: metadata.NewServer(ofRole("100.64.0.0/16"))}
	target, err := url.Parse(r.moto.URL)
	if err != nil {
		t.Fatal(err)
	}
	container.Serve(t, site.Proxy, motoAddress, httputil.NewSingleHostReverseProxy(target))
	r.Container = container.New(t, container.Options{
		Network: site.Network, Trust: []string{site.CA.PEM}, Units: "ubuntu", Metadata: r.metadata,
	})
	installInto(t, r.Container, append([]string{"--os", "ubuntu", "--runtime", "containerd", "--refresh", "1m"}, fill(r.moto)...)...)
	variables = append(variables, aws("http://"+motoAddress)...)
	drop := "[Service]\nEnvironment=" + strings.Join(variables, " ") + "\n"
	r.WriteFile(t, "/etc/systemd/system/eksproxy.service.d/test.conf", []byte(drop), 0o644)
	r.WriteFile(t, "/etc/systemd/system/eksproxy-refresh.service.d/test.conf", []byte(drop), 0o644)
	r.WriteFile(t, "/etc/systemd/system/eksproxy-refresh.timer.d/test.conf", []byte(everyTwoSeconds), 0o644)
	return r
}

// outcomes is how the runs of the timer ended so far: true where one changed
// something.
func (r refreshed) outcomes(t *testing.T) []bool {
	t.Helper()
	var changed []bool
	ended := regexp.MustCompile(`^(unchanged: \d+ files|\d+ changed, 0 not done)`)
	for line := range strings.Lines(r.Journal(t, "-u", "eksproxy-refresh", "-o", "cat")) {
		if found := ended.FindString(line); found != "" {
			changed = append(changed, !strings.HasPrefix(found, "unchanged"))
		}
	}
	return changed
}

// awaitRefresh waits until the files and containerd have this, and says how
// long that took.
func (r refreshed) awaitRefresh(t *testing.T, words ...string) {
	t.Helper()
	begin := time.Now()
	has := func(text string) bool {
		return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) })
	}
	await(t, "the timer to bring the files up to date", func() bool { return has(r.ReadFile(t, "/etc/eksproxy/proxy.env")) })
	for _, unit := range []string{"containerd", kubelets()["ubuntu"]} {
		await(t, unit+" to run with them", func() bool { return has(environOf(t, r.Container, unit)) })
	}
	t.Logf("%5.2f s  refresh, until all run with it", time.Since(begin).Seconds())
	checkEnviron(t, r.Container, "containerd", kubelets()["ubuntu"])
}

// stampsOf is a text that any write below these folders changes. The first look
// into a folder can make overlayfs write to it.
func stampsOf(t *testing.T, c *container.Container, dirs ...string) string {
	t.Helper()
	c.Must(t, append([]string{"find"}, dirs...)...)
	return c.Must(t, append([]string{"find"}, append(dirs, "-printf", `%p %i %m %T@ %C@\n`)...)...)
}

// checkNextRun waits for the run of the timer after so many, and fails the test
// where it writes or restarts anything.
func (r refreshed) checkNextRun(t *testing.T) {
	t.Helper()
	state := func() string {
		return stampsOf(t, r.Container, "/etc", "/usr/local", "/var/lib/eksproxy") +
			fmt.Sprintf("containerd %d\nkubelet %d\n", r.MainPID(t, "containerd"), r.MainPID(t, kubelets()["ubuntu"]))
	}
	before, runs := state(), len(r.outcomes(t))
	await(t, "two more runs of the timer", func() bool { return len(r.outcomes(t)) >= runs+2 })
	if diff := program.Diff(before, state()); diff != "" {
		t.Errorf("runs with nothing to do did:\n%s", diff)
	}
	if slices.Contains(r.outcomes(t)[runs:], true) {
		t.Errorf("the runs after that were not unchanged:\n%s", r.Journal(t, "-u", "eksproxy-refresh", "-o", "cat"))
	}
}

// checkLogin pulls a fresh image through the proxy, and fails the test where
// squid did not accept it at once.
func (r refreshed) checkLogin(t *testing.T, tag string) {
	t.Helper()
	image := r.site.Hidden.Host + "/test/fresh:" + tag
	r.site.Hidden.Push(t, image)
	since := len(r.site.Squid.Requests(t))
	checkPull(t, r.Container, image, "")
	for _, request := range r.site.Squid.Await(t, since, container.RegistryName) {
		if request.Status != 200 || request.User != secret.User {
			t.Errorf("squid saw: %+v", request)
		}
	}
}

// Acceptance 2: while a container runs the VPC gains a CIDR and the password
// changes. The timer brings both to the files and to containerd, the container
// stays, and the run after that does nothing.
func TestRotationOnANode(t *testing.T) {
	t.Parallel()
	r := newRefreshed(t, nil, func(m moto.Server) []string {
		arn := m.PutSecret(t, "corp/proxy", fields(t, "username", secret.User, "password", secret.Password))
		return []string{"--http-proxy", "http://" + container.ProxyIP + ":3128", "--credentials-from", "secretsmanager:" + arn}
	})
	r.Boot(t)
	checkHealthy(t, r.Container)
	r.checkLogin(t, "before")
	checkPull(t, r.Container, r.site.Near.Image, "")
	if got := r.site.Near.Peers(0); !slices.Equal(got, []string{container.ProxyIP}) {
		t.Errorf("before the VPC had its address, the near registry was asked by %q", got)
	}
	image := r.site.Hidden.PushProgram(t)
	checkPull(t, r.Container, image, "")
	task, daemon := r.Run(t, image, "app"), r.MainPID(t, "containerd")
	await(t, "a run of the timer", func() bool { return len(r.outcomes(t)) > 0 })
	r.checkNextRun(t)

	r.metadata.Set(ofRole("100.64.0.0/16", "10.77.1.0/24"))
	r.moto.PutSecret(t, "corp/proxy", fields(t, "username", secret.User, "password", rotated()))
	r.site.Squid.SetPassword(t, rotated())
	r.awaitRefresh(t, "10.77.1.0/24", ":next-p%40s")
	if now := r.MainPID(t, "containerd"); now == daemon {
		t.Errorf("containerd runs as process %d still", now)
	}
	r.checkLogin(t, "after")
	if now := r.Task(t, "app"); now != task || task == 0 {
		t.Errorf("the container runs as process %d, was %d", now, task)
	}
	since := len(r.site.Near.Requests())
	checkPull(t, r.Container, r.site.Near.Image, "")
	if got := r.site.Near.Peers(since); !slices.Equal(got, []string{container.NodeIP}) {
		t.Errorf("now that the VPC has its address, the near registry was asked by %q", got)
	}
	r.checkNextRun(t)
	checkKept(t, r)
}

// checkKept takes the secret away: the node stays as it is.
func checkKept(t *testing.T, r refreshed) {
	t.Helper()
	r.moto.DeleteSecret(t, "corp/proxy")
	await(t, "the timer to miss the secret", func() bool {
		return strings.Contains(r.Journal(t, "-u", "eksproxy-refresh", "-o", "cat"), "used the credentials kept in /etc/eksproxy/credentials")
	})
	r.checkNextRun(t)
	r.Reboot(t)
	checkHealthy(t, r.Container)
	r.checkLogin(t, "kept")
}

// Credentials and the whole configuration come from SSM, and both change.
func TestRotationInSSM(t *testing.T) {
	t.Parallel()
	config := func(zone string) string {
		return "apiVersion: eksproxy.dev/v1alpha1\nkind: ProxyConfig\nspec:\n  httpProxy: http://" + container.ProxyIP + ":3128\n" +
			"  node: {os: ubuntu, runtime: containerd}\n  noProxy: {add: [" + zone + "]}\n  credentials: {from: \"ssm:/corp/login\"}\n"
	}
	r := newRefreshed(t, []string{"EKSPROXY_CONFIG=ssm:/corp/config"}, func(m moto.Server) []string {
		m.PutParameter(t, "/corp/login", "SecureString", login())
		m.PutParameter(t, "/corp/config", "String", config(".old.example"))
		return []string{"--http-proxy", "http://" + container.ProxyIP + ":3128", "--credentials-from", "ssm:/corp/login"}
	})
	r.Boot(t)
	checkHealthy(t, r.Container)
	r.checkLogin(t, "before")
	r.moto.PutParameter(t, "/corp/login", "SecureString", secret.User+":"+rotated())
	r.moto.PutParameter(t, "/corp/config", "String", config(".new.example"))
	r.site.Squid.SetPassword(t, rotated())
	r.awaitRefresh(t, ".new.example", ":next-p%40s")
	r.checkLogin(t, "after")
	r.checkNextRun(t)
}
