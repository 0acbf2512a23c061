package controlplane

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// startLimit is how long the whole control plane may take to answer, on a
// machine that does other things too.
const startLimit = 90 * time.Second

// Options says what to run. The zero value is a control plane without nodes.
type Options struct {
	// Nodes is how many simulated nodes there are from the start.
	Nodes int
	// NoControllers runs the API server alone: what is created stays as it is.
	NoControllers bool
	// Stages is the text of further KWOK stages; a weight of 1 makes them win
	// over what is usual, beside a rule it is up to chance.
	Stages string
	// Rules say what becomes of pods, as SetRules does.
	Rules []Rule
	// ServiceCIDR is the range of Services, 10.100.0.0/16 where it is empty.
	ServiceCIDR string
	// APIServerArgs are further flags of the API server.
	APIServerArgs []string
}

// ControlPlane is a running control plane.
type ControlPlane struct {
	options   Options
	dir       string
	binaries  string
	url       string
	client    *client
	processes []*process
	ports     *os.File // locks those of this control plane
	kwok      *process // also one of the processes
}

// Start runs a control plane until the test ends, and fails the test where a
// component ended before.
func Start(tb testing.TB, o Options) *ControlPlane {
	tb.Helper()
	began := time.Now()
	c, err := Run(tb.Context(), tb.TempDir(), o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Logf("control plane: ready after %.1f s", time.Since(began).Seconds())
	tb.Cleanup(func() {
		if err := c.ended(); err != nil {
			tb.Error(err)
		}
		c.Stop()
	})
	return c
}

// Run starts a control plane whose files are in the folder, and returns when
// it can be used. It stops on Stop, or with this process, not with the context.
func Run(ctx context.Context, dir string, o Options) (*ControlPlane, error) {
	o.ServiceCIDR = cmp.Or(o.ServiceCIDR, "10.100.0.0/16")
	found, err := binaries()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	c := &ControlPlane{options: o, dir: dir, binaries: found}
	if err := c.start(ctx); err != nil {
		c.Stop()
		return nil, fmt.Errorf("starting the control plane: %w", err)
	}
	return c, nil
}

// start starts the components, each as soon as what it needs is there.
func (c *ControlPlane) start(ctx context.Context) error {
	ports, lock, err := takePorts(5)
	if err != nil {
		return err
	}
	c.ports = lock
	c.url = "https://" + local(ports[2])
	if err := c.startEtcd(ports[0], ports[1]); err != nil {
		return err
	}
	if err := errors.Join(writeTokens(c.file("tokens.csv")), writeKeys(c.file("sa.key"), c.file("sa.pub")), writeCertificate(c.CAFile(), c.file("tls.key"))); err != nil {
		return err
	}
	if err := c.startAPIServer(ports[0], ports[2]); err != nil {
		return err
	}
	if _, err := writeKubeconfig(c.dir, admin, c.url, c.CAFile()); err != nil {
		return err
	}
	if c.client, err = newClient(c.url, c.CAFile()); err != nil {
		return err
	}
	if err := c.await(ctx, "/readyz"); err != nil {
		return err
	}
	if c.options.NoControllers {
		return c.await(ctx, "/api/v1/namespaces/default")
	}
	if err := c.startControllers(ports[3], ports[4]); err != nil {
		return err
	}
	if err := c.startKWOK(); err != nil {
		return err
	}
	if err := c.await(ctx, "/api/v1/namespaces/default/serviceaccounts/default"); err != nil {
		return err
	}
	return c.addNodes(ctx, c.options.Nodes)
}

// await waits until the API server answers with what is at a path.
func (c *ControlPlane) await(ctx context.Context, path string) error {
	return c.poll(ctx, path, func() error {
		_, err := c.get(ctx, path)
		return err
	})
}

// poll waits for something, but no longer than the components run.
func (c *ControlPlane) poll(ctx context.Context, what string, try func() error) error {
	for {
		err := try()
		if err == nil {
			return nil
		}
		if ended := c.ended(); ended != nil {
			return ended
		}
		select {
		case <-ctx.Done():
			last := c.processes[len(c.processes)-1]
			return fmt.Errorf("waiting for %s: %w: %w\n%s: %s", what, ctx.Err(), err, last.name, last.tail())
		case <-time.After(25 * time.Millisecond):
		}
	}
}

// ended is an error with the log of the component that ended by itself.
func (c *ControlPlane) ended() error {
	for _, p := range c.processes {
		if p.ended() {
			return fmt.Errorf("%s has ended\n%s", p.name, p.tail())
		}
	}
	return nil
}

// Stop ends all components, those first that use the others.
func (c *ControlPlane) Stop() {
	for _, p := range slices.Backward(c.processes) {
		p.kill()
	}
	c.processes = nil
	if c.ports != nil {
		c.ports.Close()
		c.ports = nil
	}
	if c.client != nil {
		c.client.CloseIdleConnections()
	}
}

// URL is the address of the API server.
func (c *ControlPlane) URL() string { return c.url }

// CAFile is the file with the certificate that the API server is known by.
func (c *ControlPlane) CAFile() string { return c.file("tls.crt") }

// Kubeconfig is the file of the user who may do everything.
func (c *ControlPlane) Kubeconfig() string { return c.file(admin + ".kubeconfig") }

// UserKubeconfig writes the file of one of Users, who has the rights that a
// test bound to the name, and no others.
func (c *ControlPlane) UserKubeconfig(tb testing.TB, user string) string {
	tb.Helper()
	return userKubeconfig(tb, user, c.url, c.CAFile())
}

// userKubeconfig writes the file of a user for this server.
func userKubeconfig(tb testing.TB, user, url, ca string) string {
	tb.Helper()
	if user != admin && !slices.Contains(Users(), user) {
		tb.Fatalf("no user %q, only %q", user, Users())
	}
	path, err := writeKubeconfig(tb.TempDir(), user, url, ca)
	if err != nil {
		tb.Fatal(err)
	}
	return path
}

// file is a file of the control plane.
func (c *ControlPlane) file(name string) string { return filepath.Join(c.dir, name) }
