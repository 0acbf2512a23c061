package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/eksproxy/eksproxy/facts"
	"github.com/eksproxy/eksproxy/internal/nameform"
)

const system = "kube-system"

// fieldsOfKubernetes are those that nobody else can tell.
func fieldsOfKubernetes() []string {
	return []string{facts.FieldClusterDomain, facts.FieldDaemonSets, facts.FieldNodeLocalDNS}
}

// readKubernetes asks the API server, unless it is one of another cluster.
func (r *reader) readKubernetes(ctx context.Context) error {
	if r.Kubernetes == nil {
		r.gap("Kubernetes was not asked", "give --kubeconfig or --context", fieldsOfKubernetes()...)
		return nil
	}
	if err := r.sameCluster(); err != nil {
		if r.Named {
			return err
		}
		r.gap("Kubernetes was not asked: "+err.cause(), "give --context", fieldsOfKubernetes()...)
		return nil
	}
	err := r.askKubernetes(ctx)
	if e, ok := errors.AsType[*Error](err); ok && r.told && r.Name != "" && !r.Named && ctx.Err() == nil {
		r.gap(e.Call+": "+e.cause(), "give --context", fieldsOfKubernetes()...)
		return nil
	}
	return err
}

// Another says that EKS told the endpoint of the cluster, and that this URL
// leads to another host.
func Another(f facts.Cluster, server string) bool {
	host, err := hostOf(server)
	return f.Sources[facts.FieldEndpointHost] == sourceEKS && (err != nil || !strings.EqualFold(host, f.EndpointHost))
}

// sameCluster compares the kubeconfig's server with the endpoint that EKS tells.
func (r *reader) sameCluster() *Error {
	host, _ := hostOf(r.Server)
	if r.OtherEndpoint || !Another(r.facts, r.Server) {
		return nil
	}
	return &Error{
		Kind: OtherCluster, Call: "comparing the clusters",
		Err: fmt.Errorf("the server of %s is %s, and the endpoint of the cluster %s is %s",
			cmp.Or(r.Kubeconfig, "the kubeconfig"), cmp.Or(host, "unknown"), r.Name, r.endpoint),
		Remedy: "give the --context of this cluster, or --allow-other-endpoint where another name leads to the same server",
	}
}

func (r *reader) askKubernetes(ctx context.Context) error {
	for _, step := range []func(context.Context) error{
		r.version, r.serviceAddress, r.serviceCIDRs, r.clusterDomain, r.serverOfKubeProxy, r.daemonSets, r.autoMode, r.regionOfNodes,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// version is asked first: everyone may, so it shows whether the server can be
// reached at all.
func (r *reader) version(ctx context.Context) error {
	asker := discovery.ToServerVersionInterfaceWithContext(r.Kubernetes.Discovery())
	v, err := again(ctx, asker.ServerVersionWithContext)
	if known, err := r.answered(ofKubernetes("getting the version of Kubernetes", "get on /version", err)); !known {
		return err
	}
	r.facts.KubernetesVersion = v.Major + "." + strings.TrimRight(v.Minor, "+")
	return nil
}

// serviceAddress is the ClusterIP of default/kubernetes, which programs in pods
// call by number.
func (r *reader) serviceAddress(ctx context.Context) error {
	const call = "getting the Service default/kubernetes"
	s, err := again(ctx, func(ctx context.Context) (*corev1.Service, error) {
		return r.Kubernetes.CoreV1().Services("default").Get(ctx, "kubernetes", metav1.GetOptions{})
	})
	if known, err := r.answered(ofKubernetes(call, "get on the Service default/kubernetes", err)); !known {
		if r.facts.ServiceCIDRs == nil {
			r.gap(call+" was refused", "grant get on the Service default/kubernetes, or give --service-cidr", facts.FieldServiceAddress)
		}
		return err
	}
	if addr, err := netip.ParseAddr(s.Spec.ClusterIP); err == nil {
		r.facts.ServiceAddress = addr
		r.fill(facts.FieldServiceAddress, sourceKubernetes+" (Service default/kubernetes)")
	}
	return nil
}

// clusterDomain is the zone of CoreDNS, else that of kube-dns.
func (r *reader) clusterDomain(ctx context.Context) error {
	m, known, err := r.configMap(ctx, "coredns", facts.FieldClusterDomain)
	if err != nil {
		return err
	}
	domain, source := zoneOf(m.Data["Corefile"]), sourceKubernetes+" (ConfigMap kube-system/coredns)"
	if !known {
		domain, err = r.domainOfKubeDNS(ctx)
		source = sourceKubernetes + " (Deployment kube-system/kube-dns)"
	}
	if err != nil {
		return err
	}
	if domain == "" {
		r.gap("neither CoreDNS nor kube-dns in kube-system tells it; cluster.local is taken", "give --cluster-domain", facts.FieldClusterDomain)
		return nil
	}
	r.facts.ClusterDomain = domain
	r.fill(facts.FieldClusterDomain, source)
	return nil
}

// domainOfKubeDNS is the argument --domain of kube-dns, the DNS server before
// CoreDNS.
func (r *reader) domainOfKubeDNS(ctx context.Context) (string, error) {
	list, err := r.workloadArgs(ctx, "kube-dns")
	for _, arg := range list {
		if value, ok := strings.CutPrefix(strings.TrimLeft(arg, "-"), "domain="); ok && nameform.IsName(strings.TrimSuffix(value, ".")) {
			return strings.TrimSuffix(value, "."), err
		}
	}
	return "", err
}

// workloadArgs are the arguments of all containers of a Deployment in
// kube-system.
func (r *reader) workloadArgs(ctx context.Context, name string) ([]string, error) {
	call := "getting the Deployment kube-system/" + name
	d, err := again(ctx, func(ctx context.Context) (*deployment, error) {
		return r.Kubernetes.AppsV1().Deployments(system).Get(ctx, name, metav1.GetOptions{})
	})
	var args []string
	switch e := ofKubernetes(call, "", err); {
	case e == nil:
	case e.Kind == Unreachable:
		return nil, e
	default:
		return nil, nil // it is the last of several places, so the gap names the first
	}
	for _, c := range d.Spec.Template.Spec.Containers {
		args = append(append(args, c.Command...), c.Args...)
	}
	return args, nil
}

// serverOfKubeProxy is the endpoint where EKS did not tell it: the server that
// kube-proxy calls, else that of the kubeconfig.
func (r *reader) serverOfKubeProxy(ctx context.Context) error {
	if r.facts.EndpointHost != "" {
		return nil
	}
	m, known, err := r.configMap(ctx, "kube-proxy")
	if err != nil {
		return err
	}
	if known {
		for _, key := range []string{"kubeconfig", "kubeconfig.conf"} { // of EKS, of kubeadm
			if host := serverIn(m.Data[key]); host != "" {
				r.facts.EndpointHost = host
				r.fill(facts.FieldEndpointHost, sourceKubernetes+" (ConfigMap kube-system/kube-proxy)")
				return nil
			}
		}
	}
	host, invalid := hostOf(r.Server)
	if invalid != nil {
		r.gap("neither EKS nor kube-proxy tells it, and the kubeconfig: "+invalid.Error(), "give --cluster NAME", facts.FieldEndpointHost)
		return nil //nolint:nilerr // it is a gap
	}
	r.facts.EndpointHost = host
	r.fill(facts.FieldEndpointHost, cmp.Or(r.Kubeconfig, "the kubeconfig"))
	if isLoopback(host) {
		r.gap("the server of "+cmp.Or(r.Kubeconfig, "the kubeconfig")+" is "+host+", a loopback address, which the loopback entries cover: nodes and pods call another name",
			"give --cluster NAME", facts.FieldEndpointHost)
	}
	return nil
}

// serverIn is the host of the server in the text of a kubeconfig.
func serverIn(text string) string {
	c, err := clientcmd.Load([]byte(text))
	if err != nil {
		return ""
	}
	name := c.CurrentContext
	if current := c.Contexts[name]; current != nil {
		name = current.Cluster
	}
	if of := c.Clusters[name]; of != nil {
		host, _ := hostOf(of.Server)
		return host
	}
	return ""
}

// configMap reads one of kube-system. It is not known where it is absent or may
// not be read; the latter is a gap of the fields.
func (r *reader) configMap(ctx context.Context, name string, fields ...string) (*corev1.ConfigMap, bool, error) {
	what := "the ConfigMap kube-system/" + name
	m, err := again(ctx, func(ctx context.Context) (*corev1.ConfigMap, error) {
		return r.Kubernetes.CoreV1().ConfigMaps(system).Get(ctx, name, metav1.GetOptions{})
	})
	e := ofKubernetes("getting "+what, "get on "+what, err)
	if e != nil && e.Kind == NotFound {
		r.told = true
		return &corev1.ConfigMap{}, false, nil
	}
	if known, err := r.answered(e, fields...); !known {
		return &corev1.ConfigMap{}, false, err
	}
	return m, true, nil
}
