package compose

import (
	"cmp"
	"net/netip"
	"slices"

	"github.com/eksproxy/eksproxy/facts"
	"github.com/eksproxy/eksproxy/noproxy"
)

// Cluster gives the NO_PROXY value for a cluster: what Compose gives for its
// network, and what only EKS, EC2 and Kubernetes can tell: names of services
// with an endpoint in the VPC, networks of hybrid nodes, the VPC's own domains
// and the addresses of node-local-dns. The same facts and options give the same
// bytes, in whatever order they were found.
func Cluster(c facts.Cluster, o Options) (Result, error) {
	if err := o.IPv6CIDRs.check(); err != nil {
		return Result{}, err
	}
	if c.DNSSuffix == "" && c.Region != "" {
		c.DNSSuffix, _ = noproxy.AWSDomains(c.Region)
	}
	entries, err := fixed(c.Network)
	if err != nil {
		return Result{}, err
	}
	remote, err := remoteNetworks(c)
	if err != nil {
		return Result{}, err
	}
	var r Result
	entries = slices.Concat(entries, remote, nodeLocalDNS(c), r.dhcpDomains(c), r.awsNames(c))
	slices.SortStableFunc(entries, byGroup)
	if err := r.fill(c.Network, entries, o); err != nil {
		return Result{}, err
	}
	r.warnOfPublicEndpoint(c)
	r.tellProxied(c, o)
	return r, nil
}

func byGroup(a, b noproxy.Entry) int {
	groups := noproxy.Groups()
	return cmp.Compare(slices.Index(groups, a.Group), slices.Index(groups, b.Group))
}

func remoteNetworks(c facts.Cluster) (noproxy.List, error) {
	return ranges(sorted(c.RemoteNetworks), noproxy.Entry{
		Group:  noproxy.VPC,
		Reason: "hybrid nodes and their pods: the API server's webhooks and pods call them by address",
		Source: source(c.Network, facts.FieldRemoteNetworks),
	})
}

// nodeLocalDNS stands with the services: it answers in place of theirs. DNS
// itself is no HTTP; scrapers of its metrics and health are.
func nodeLocalDNS(c facts.Cluster) noproxy.List {
	addrs := slices.DeleteFunc(slices.Clone(c.NodeLocalDNS), func(a netip.Addr) bool { return !a.IsValid() })
	slices.SortFunc(addrs, netip.Addr.Compare)
	var l noproxy.List
	for _, addr := range addrs {
		l = append(l, noproxy.Entry{
			Text:   addr.WithZone("").Unmap().String(),
			Group:  noproxy.Service,
			Reason: "node-local-dns on each node: its metrics and health are asked over HTTP",
			Source: source(c.Network, facts.FieldNodeLocalDNS),
		})
	}
	return l
}

// warnOfPublicEndpoint: whether a node has a route to the public endpoint is not
// in the facts, so the entry stays and the user is asked.
func (r *Result) warnOfPublicEndpoint(c facts.Cluster) {
	if a := c.EndpointAccess; a == nil || a.Private || !r.Entries.Contains(c.EndpointHost) {
		return
	}
	r.warn("the cluster's endpoint is public only, and %s is in NO_PROXY: nodes without a NAT gateway do not reach it; "+
		"if the proxy is their only way out, omit it (noProxy.omit: endpoint), or give the cluster private access", c.EndpointHost)
}
