package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/tools/pager"

	"github.com/eksproxy/eksproxy/facts"
	"github.com/eksproxy/eksproxy/internal/nameform"
)

type deployment = appsv1.Deployment

// statusError is an answer of the API server that is an error.
type statusError interface {
	error
	apierrors.APIStatus
}

// pageSize is how many objects are asked for at once, as kubectl does.
const pageSize = 500

// again makes a request until the answer is definite, at most three times. A
// read may be repeated; client-go itself waits for Retry-After. A server that
// hangs is not asked again: the client has waited for long.
func again[T any](ctx context.Context, ask func(context.Context) (T, error)) (out T, err error) {
	pause := wait.Backoff{Duration: 200 * time.Millisecond, Factor: 2, Jitter: 0.2, Steps: 3}
	_ = wait.ExponentialBackoffWithContext(ctx, pause, func(ctx context.Context) (bool, error) {
		out, err = ask(ctx)
		status, definite := errors.AsType[statusError](err)
		hung, _ := errors.AsType[net.Error](err)
		return err == nil || hung != nil && hung.Timeout() ||
			definite && status.Status().Code < 500 && !apierrors.IsTooManyRequests(err), nil
	})
	if err == nil && ctx.Err() != nil {
		err = ctx.Err()
	}
	return out, err
}

// list reads all pages; where a page has expired, the whole anew.
func list(ctx context.Context, ask func(context.Context, metav1.ListOptions) (runtime.Object, error), each func(runtime.Object)) error {
	pages := pager.New(func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
		return again(ctx, func(ctx context.Context) (runtime.Object, error) { return ask(ctx, o) })
	})
	pages.PageSize = pageSize
	return pages.EachListItem(ctx, metav1.ListOptions{}, func(o runtime.Object) error {
		each(o)
		return nil
	})
}

// serviceCIDRs are the ServiceCIDR objects, which Kubernetes has since 1.33. A
// cluster may have others beside the one that EKS tells.
func (r *reader) serviceCIDRs(ctx context.Context) error {
	var texts []string
	err := list(ctx, func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
		return r.Kubernetes.NetworkingV1().ServiceCIDRs().List(ctx, o)
	}, func(o runtime.Object) {
		if s, ok := o.(*networkingv1.ServiceCIDR); ok && s.DeletionTimestamp == nil {
			texts = append(texts, s.Spec.CIDRs...)
		}
	})
	e := ofKubernetes("listing ServiceCIDRs", "list on servicecidrs.networking.k8s.io", err)
	if e != nil && e.Kind == NotFound {
		if r.facts.ServiceCIDRs == nil {
			r.gap("this Kubernetes has no ServiceCIDR objects", "give --cluster NAME", facts.FieldServiceCIDRs)
		}
		return nil
	}
	var fields []string
	if r.facts.ServiceCIDRs == nil {
		fields = []string{facts.FieldServiceCIDRs}
	}
	if known, err := r.answered(e, fields...); !known {
		return err
	}
	found, err := parsePrefixes(texts)
	if err != nil {
		return nil //nolint:nilerr // the API server checks them, so this is another API: what EKS told stays
	}
	all := sortPrefixes(append(slices.Clone(r.facts.ServiceCIDRs), found...))
	switch {
	case len(all) == 0:
		r.gap("the cluster has no ServiceCIDR objects", "give --cluster NAME", facts.FieldServiceCIDRs)
	case slices.Equal(all, r.facts.ServiceCIDRs):
	case r.facts.ServiceCIDRs != nil:
		r.fill(facts.FieldServiceCIDRs, sourceEKS+", "+sourceKubernetes+" (ServiceCIDR objects)")
	default:
		r.fill(facts.FieldServiceCIDRs, sourceKubernetes+" (ServiceCIDR objects)")
	}
	r.facts.ServiceCIDRs = all
	return nil
}

// daemonSets are those of kube-system, with the addresses of node-local-dns.
func (r *reader) daemonSets(ctx context.Context) error {
	var found []facts.Workload
	var local []netip.Addr
	err := list(ctx, func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
		return r.Kubernetes.AppsV1().DaemonSets(system).List(ctx, o)
	}, func(o runtime.Object) {
		d, ok := o.(*appsv1.DaemonSet)
		if !ok {
			return
		}
		pod := d.Spec.Template.Spec
		found = append(found, facts.Workload{
			Namespace: system, Kind: "DaemonSet", Name: d.Name,
			InitContainers: namesOf(pod.InitContainers), Containers: namesOf(pod.Containers),
		})
		if d.Name == "node-local-dns" || d.Labels["k8s-app"] == "node-local-dns" {
			local = append(local, localIPs(pod.Containers)...)
		}
	})
	e := ofKubernetes("listing the DaemonSets of kube-system", "list on daemonsets.apps in kube-system", err)
	if known, err := r.answered(e, facts.FieldDaemonSets, facts.FieldNodeLocalDNS); !known {
		return err
	}
	slices.SortFunc(found, func(a, b facts.Workload) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(local, netip.Addr.Compare)
	r.facts.DaemonSets, r.facts.NodeLocalDNS = found, slices.Compact(local)
	r.fill(facts.FieldDaemonSets, sourceKubernetes)
	if len(local) > 0 {
		r.fill(facts.FieldNodeLocalDNS, sourceKubernetes+" (DaemonSet kube-system/node-local-dns)")
	}
	return nil
}

func namesOf(containers []corev1.Container) []string {
	var names []string
	for _, c := range containers {
		names = append(names, c.Name)
	}
	return names
}

// localIPs are the addresses after -localip, as in -localip 169.254.20.10,10.100.0.10.
// What is no address is a placeholder of the manifest.
func localIPs(containers []corev1.Container) []netip.Addr {
	var found []netip.Addr
	for _, c := range containers {
		words := append(slices.Clone(c.Command), c.Args...)
		for i, word := range words {
			name, value, inOne := strings.Cut(strings.TrimLeft(word, "-"), "=")
			if name != "localip" {
				continue
			}
			if !inOne && i+1 < len(words) {
				value = words[i+1]
			}
			for text := range strings.SplitSeq(value, ",") {
				if addr, err := netip.ParseAddr(strings.TrimSpace(text)); err == nil {
					found = append(found, addr)
				}
			}
		}
	}
	return found
}

// autoMode says, where EKS did not, whether EKS runs the nodes: the API server
// has Auto Mode's NodeClass, and either no aws-node runs or a node has the label.
// The kind alone may be left over from an Auto Mode that was switched off.
func (r *reader) autoMode(ctx context.Context) error {
	if r.facts.Sources[facts.FieldAutoMode] != "" {
		return nil
	}
	asker := discovery.ToServerResourcesInterfaceWithContext(r.Kubernetes.Discovery())
	kinds, err := again(ctx, func(ctx context.Context) (*metav1.APIResourceList, error) {
		return asker.ServerResourcesForGroupVersionWithContext(ctx, "eks.amazonaws.com/v1")
	})
	e := ofKubernetes("looking for eks.amazonaws.com/v1", "get on /apis/*", err)
	if e != nil && e.Kind != NotFound {
		_, err := r.answered(e, facts.FieldAutoMode)
		return err
	}
	isNodeClass := func(k metav1.APIResource) bool { return k.Name == "nodeclasses" }
	isCNI := func(w facts.Workload) bool { return w.Name == "aws-node" }
	auto := e == nil && slices.ContainsFunc(kinds.APIResources, isNodeClass)
	if auto && slices.ContainsFunc(r.facts.DaemonSets, isCNI) || auto && r.facts.Sources[facts.FieldDaemonSets] == "" {
		node, known, err := r.node(ctx, "eks.amazonaws.com/compute-type=auto", facts.FieldAutoMode)
		if !known {
			return err
		}
		auto = node != nil
	}
	r.facts.AutoMode = auto
	r.fill(facts.FieldAutoMode, sourceKubernetes)
	return nil
}

// regionOfNodes is the region where AWS was not asked and the user gave none: it
// stands in the endpoint's name, else on a node.
func (r *reader) regionOfNodes(ctx context.Context) error {
	if r.facts.Region != "" || r.Region != "" {
		return nil
	}
	if region := regionOf(r.facts.EndpointHost); region != "" {
		r.facts.Region = region
		r.fill(facts.FieldRegion, "the endpoint's name")
		return nil
	}
	node, known, err := r.node(ctx, "", facts.FieldRegion)
	if !known || node == nil {
		return err
	}
	if region := node.Labels["topology.kubernetes.io/region"]; nameform.IsRegion(region) {
		r.facts.Region = region
		r.fill(facts.FieldRegion, fmt.Sprintf("%s (Node %s)", sourceKubernetes, node.Name))
	}
	return nil
}

// node is any one with these labels; nil where there is none.
func (r *reader) node(ctx context.Context, labels string, fields ...string) (*corev1.Node, bool, error) {
	nodes, err := again(ctx, func(ctx context.Context) (*corev1.NodeList, error) {
		return r.Kubernetes.CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: labels, Limit: 1})
	})
	known, err := r.answered(ofKubernetes("listing nodes", "list on nodes", err), fields...)
	if !known || len(nodes.Items) == 0 {
		return nil, known, err
	}
	return &nodes.Items[0], true, nil
}
