package clustercheck

import (
	"context"
	"net/netip"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/eksproxy/eksproxy/addons"
	"github.com/eksproxy/eksproxy/internal/kube"
	"github.com/eksproxy/eksproxy/noproxy"
	"github.com/eksproxy/eksproxy/verify"
)

// kubernetesService is the API server inside the cluster.
func kubernetesService() kube.Ref {
	return kube.Ref{
		Kind:      kube.Kind{GroupVersionResource: schema.GroupVersionResource{Version: "v1", Resource: "services"}, Kind: "Service"},
		Namespace: "default", Name: "kubernetes",
	}
}

// serviceAddresses are the ClusterIPs of the service kubernetes: what clients in
// pods call (BL-009). Where it may not be read, the facts tell.
func (s *subject) serviceAddresses(ctx context.Context) ([]netip.Addr, error) {
	live, err := s.world.get(ctx, kubernetesService())
	if err == nil && live != nil {
		texts, _, _ := unstructured.NestedStringSlice(live.Object, "spec", "clusterIPs")
		if text, ok, _ := unstructured.NestedString(live.Object, "spec", "clusterIP"); ok && len(texts) == 0 {
			texts = []string{text}
		}
		var all []netip.Addr
		for _, text := range texts {
			if addr, err := netip.ParseAddr(text); err == nil {
				all = append(all, addr)
			}
		}
		if len(all) > 0 {
			return all, nil
		}
	}
	if addr := s.o.Cluster.ServiceAddress; addr.IsValid() {
		return []netip.Addr{addr}, nil
	}
	return nil, err
}

// serviceCovered demands the address of the API server in the cluster, and the
// range that it is from.
func (s *subject) serviceCovered(ctx context.Context) []verify.Finding {
	list, found := s.noProxy(ctx)
	if found != nil {
		return found
	}
	addresses, err := s.serviceAddresses(ctx)
	if err != nil {
		return one(cannot(kubernetesService().String(), err))
	}
	var good []string
	for _, addr := range addresses {
		url := "https://" + inURL(addr.String()) + "/"
		switch {
		case !addons.Direct(list, url):
			found = append(found, fail(addr.String(), s.patch(), "it is the ClusterIP of the service kubernetes and NO_PROXY does not cover it: programs in pods call the API server through the proxy"))
		case !slices.Contains(entries(list), addr.String()):
			found = append(found, warn(addr.String(), s.patch(), "the API server's ClusterIP is covered by a range alone, which not all programs read; through the proxy go %s", few(proxied(list, url))))
		default:
			good = append(good, addr.String())
		}
	}
	for _, p := range s.o.Cluster.ServiceCIDRs {
		if len(found) == 0 && !coversRange(entries(list), p) {
			found = append(found, fail(p.String(), s.patch(), "it is the range of services and NO_PROXY does not cover it"))
		} else {
			good = append(good, p.String())
		}
	}
	if len(found)+len(good) == 0 {
		return skip("neither the service kubernetes nor the range of services is known: give --service-cidr")
	}
	return orPass(found, "covered: %s", strings.Join(good, ", "))
}

// vpcCovered demands each CIDR of the VPC. IPv6 ranges are left out on purpose
// where the services are IPv4 (docs/no-proxy.md).
func (s *subject) vpcCovered(ctx context.Context) []verify.Finding {
	list, found := s.noProxy(ctx)
	if found != nil {
		return found
	}
	if len(s.o.Cluster.VPCCIDRs) == 0 {
		return skip("the CIDRs of the VPC are unknown: give --cluster, --facts or --vpc-cidr")
	}
	var known, left []string
	for _, p := range s.o.Cluster.VPCCIDRs {
		switch {
		case coversRange(entries(list), p):
			known = append(known, p.String())
		case p.Addr().Is6() && !s.isIPv6():
			left = append(left, p.String())
		default:
			found = append(found, fail(p.String(), s.patch(), "the VPC has this CIDR and NO_PROXY does not cover it: pods and nodes there are called through the proxy"))
		}
	}
	note := ""
	if len(left) > 0 {
		note = "; left out, as the services are IPv4: " + strings.Join(left, ", ")
	}
	return orPass(found, "covered: %s%s", strings.Join(known, ", "), note)
}

// endpointCovered demands the host of the cluster's endpoint.
func (s *subject) endpointCovered(ctx context.Context) []verify.Finding {
	list, found := s.noProxy(ctx)
	host := s.o.Cluster.EndpointHost
	switch {
	case found != nil:
		return found
	case host == "":
		return skip("the host of the cluster's endpoint is unknown: give --cluster or --cluster-endpoint")
	case addons.Direct(list, "https://"+inURL(host)+"/"):
		return pass("covered: %s", host)
	}
	w, err := s.find(ctx, kubeProxyRef())
	if err != nil {
		return one(cannot(kubeProxyRef().String(), err))
	}
	if w != nil && takesSettings(w) {
		return skip("%s is not covered, and kube-proxy takes this list: see %s", host, idKubeProxy)
	}
	return one(fail(host, s.patch(), "it is the host of the cluster's endpoint and NO_PROXY does not cover it: who calls the API server by its name goes through the proxy"))
}

// metadataCovered demands the addresses that give pods their credentials. Of
// those in IPv6 a cluster with IPv4 services needs none.
func (s *subject) metadataCovered(ctx context.Context) []verify.Finding {
	list, found := s.noProxy(ctx)
	if found != nil {
		return found
	}
	for _, need := range []struct{ addr, what string }{
		{"169.254.169.254", "instance metadata"},
		{"169.254.170.23", "the credentials of EKS Pod Identity"},
		{"fd00:ec2::254", "instance metadata over IPv6"},
		{"fd00:ec2::23", "the credentials of EKS Pod Identity over IPv6"},
	} {
		url := "http://" + inURL(need.addr) + "/"
		switch covered := addons.Direct(list, url); {
		case !covered && (!strings.Contains(need.addr, ":") || s.isIPv6()):
			found = append(found, fail(need.addr, s.patch(), "NO_PROXY does not cover it: %s go through the proxy, which answers with its own or not at all", need.what))
		case !covered:
			found = append(found, warn(need.addr, s.patch(), "NO_PROXY does not cover it: where pods ask for %s, that goes through the proxy", need.what))
		case !slices.Contains(entries(list), need.addr):
			found = append(found, warn(need.addr, s.patch(), "%s: the address is covered by a range alone, which not all programs read; through the proxy go %s", need.what, few(proxied(list, url))))
		}
	}
	return orPass(found, "all four addresses")
}

// isIPv6 says that the cluster's services are IPv6.
func (s *subject) isIPv6() bool {
	return slices.ContainsFunc(s.o.Cluster.ServiceCIDRs, func(p netip.Prefix) bool { return p.Addr().Is6() }) || s.o.Cluster.ServiceAddress.Is6()
}

// proxied are the modelled clients that send a URL to the proxy.
func proxied(list, url string) []string {
	target, err := noproxy.ParseTarget(url)
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range noproxy.Explain(noproxy.ValueEnvironment(list), noproxy.Clients(), []noproxy.Target{target}) {
		if e.Decision == noproxy.Proxied {
			names = append(names, e.Client)
		}
	}
	return names
}

// coversRange says whether one of the entries holds a whole range.
func coversRange(list []string, p netip.Prefix) bool {
	return slices.ContainsFunc(list, func(e string) bool {
		entry, err := netip.ParsePrefix(e)
		return err == nil && entry.Bits() <= p.Bits() && entry.Contains(p.Addr())
	})
}

// inURL writes a host as URLs do.
func inURL(host string) string {
	if strings.Contains(host, ":") && !strings.HasPrefix(host, "[") {
		return "[" + host + "]"
	}
	return host
}
