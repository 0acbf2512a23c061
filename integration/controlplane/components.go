package controlplane

import (
	"path/filepath"
	"slices"
	"strconv"
)

// serviceIssuer is who ServiceAccount tokens say made them.
const serviceIssuer = "https://kubernetes.default.svc"

// startEtcd starts the store. It syncs no file: its data ends with the test.
func (c *ControlPlane) startEtcd(client, peer int) error {
	own, other := "http://"+local(client), "http://"+local(peer)
	return c.launch("etcd", "--name", "t", "--initial-cluster", "t="+other,
		"--data-dir", filepath.Join(c.dir, "etcd"), "--unsafe-no-fsync", "--log-level", "warn",
		"--listen-client-urls", own, "--advertise-client-urls", own,
		"--listen-peer-urls", other, "--initial-advertise-peer-urls", other)
}

// startAPIServer starts the API server.
func (c *ControlPlane) startAPIServer(etcd, port int) error {
	args := []string{
		"--etcd-servers", "http://" + local(etcd), "--bind-address", "127.0.0.1",
		"--advertise-address", "127.0.0.1", "--secure-port", strconv.Itoa(port),
		"--tls-cert-file", c.CAFile(), "--tls-private-key-file", c.file("tls.key"), "--token-auth-file", c.file("tokens.csv"),
		"--authorization-mode", "Node,RBAC", "--service-cluster-ip-range", c.options.ServiceCIDR,
		"--service-account-issuer", serviceIssuer, "--service-account-key-file", c.file("sa.pub"),
		"--service-account-signing-key-file", c.file("sa.key"), "--endpoint-reconciler-type", "none",
		"--allow-privileged=true", "--enable-priority-and-fairness=false",
	}
	if c.options.NoControllers {
		// Nobody makes the ServiceAccount without which it refuses every pod.
		args = append(args, "--disable-admission-plugins=ServiceAccount")
	}
	return c.launch("kube-apiserver", slices.Concat(args, c.options.APIServerArgs)...)
}

// startControllers starts the controllers and the scheduler.
func (c *ControlPlane) startControllers(manager, scheduler int) error {
	user := "system:kube-controller-manager"
	args, err := c.componentArgs(user, manager)
	if err != nil {
		return err
	}
	// With one shared identity nearly every controller would be forbidden.
	args = append(args, "--use-service-account-credentials=true",
		"--service-account-private-key-file", c.file("sa.key"), "--root-ca-file", c.CAFile(),
		"--concurrent-daemonset-syncs=4")
	if err := c.launch("kube-controller-manager", args...); err != nil {
		return err
	}
	if args, err = c.componentArgs("system:kube-scheduler", scheduler); err != nil {
		return err
	}
	return c.launch("kube-scheduler", args...)
}

// componentArgs are the flags that both take. Their default rate of requests
// is made for a server that others need too.
func (c *ControlPlane) componentArgs(user string, port int) ([]string, error) {
	config, err := writeKubeconfig(c.dir, user, c.url, c.CAFile())
	if err != nil {
		return nil, err
	}
	return []string{
		"--kubeconfig", config, "--authentication-kubeconfig", config, "--authorization-kubeconfig", config,
		"--bind-address", "127.0.0.1", "--secure-port", strconv.Itoa(port),
		"--tls-cert-file", c.CAFile(), "--tls-private-key-file", c.file("tls.key"), "--leader-elect=false",
		"--kube-api-qps=500", "--kube-api-burst=1000",
	}, nil
}

// launch starts a program of the control plane and remembers it.
func (c *ControlPlane) launch(name string, args ...string) error {
	p, err := launch(c.dir, filepath.Join(c.binaries, name), args...)
	if err == nil {
		c.processes = append(c.processes, p)
	}
	return err
}
