package compose

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/eksproxy/eksproxy/facts"
	"github.com/eksproxy/eksproxy/noproxy"
)

// forJava is why a zone has its star form too: see docs/no-proxy.md.
const forJava = "; this is the form that the AWS SDK for Java reads"

// fixed gives the entries that every cluster needs (docs/no-proxy.md), in
// the order of the groups.
func fixed(n facts.Network) (noproxy.List, error) {
	l := slices.Concat(loopback(), metadata())
	for _, group := range []func(facts.Network) (noproxy.List, error){vpc, service, endpoint, cluster, ec2} {
		entries, err := group(n)
		if err != nil {
			return nil, err
		}
		l = append(l, entries...)
	}
	return l, nil
}

func loopback() noproxy.List {
	const reason = "a program's calls to its own host: most clients send even these to the proxy"
	return always(noproxy.Loopback, [][2]string{
		{"localhost", reason}, {"127.0.0.1", reason}, {"::1", reason},
	})
}

// metadata lists literals and no range: botocore and other clients read no CIDR.
func metadata() noproxy.List {
	const unlessListed = ": AWS SDKs ask the proxy for it unless the literal is listed"
	return always(noproxy.Metadata, [][2]string{
		{"169.254.169.254", "instance metadata over IPv4" + unlessListed},
		{"fd00:ec2::254", "instance metadata over IPv6" + unlessListed},
		{"169.254.170.2", "container credentials (AWS_CONTAINER_CREDENTIALS_RELATIVE_URI)" + unlessListed},
		{"169.254.170.23", "credentials of EKS Pod Identity over IPv4" + unlessListed},
		{"fd00:ec2::23", "credentials of EKS Pod Identity over IPv6" + unlessListed},
	})
}

func always(g noproxy.Group, textsAndReasons [][2]string) noproxy.List {
	var l noproxy.List
	for _, e := range textsAndReasons {
		l = append(l, noproxy.Entry{Text: e[0], Group: g, Reason: e[1], Source: "always"})
	}
	return l
}

func vpc(n facts.Network) (noproxy.List, error) {
	return ranges(sorted(n.VPCCIDRs), noproxy.Entry{
		Group:  noproxy.VPC,
		Reason: "nodes and pods of the VPC: kubelet's probes and pods call them by address",
		Source: source(n, facts.FieldVPCCIDRs),
	})
}

func service(n facts.Network) (noproxy.List, error) {
	cidrs := sorted(n.ServiceCIDRs)
	l, err := ranges(cidrs, noproxy.Entry{
		Group:  noproxy.Service,
		Reason: "Kubernetes services: programs in the cluster call them by address",
		Source: source(n, facts.FieldServiceCIDRs),
	})
	if err != nil {
		return nil, err
	}
	address := noproxy.Entry{
		Group:  noproxy.Service,
		Reason: "the API server inside the cluster (KUBERNETES_SERVICE_HOST): many clients read no CIDR",
	}
	if n.ServiceAddress.IsValid() {
		address.Text = n.ServiceAddress.WithZone("").Unmap().String()
		address.Source = source(n, facts.FieldServiceAddress)
		return append(l, address), nil
	}
	for _, cidr := range cidrs {
		if first := cidr.Addr().Next(); cidr.Contains(first) {
			address.Text = first.Unmap().String()
			address.Source = "first address of " + cidr.String()
			l = append(l, address)
		}
	}
	return l, nil
}

// endpoint keeps the case of the name: only Guzzle looks at it, and URLs carry
// the name as EKS gave it.
func endpoint(n facts.Network) (noproxy.List, error) {
	if n.EndpointHost == "" {
		return nil, nil
	}
	texts, err := noproxy.ParseAddition(n.EndpointHost)
	if err == nil && (len(texts) != 1 || strings.Contains(texts[0], "/")) {
		err = fmt.Errorf("%s: the endpoint is one host; write its name or address", noproxy.Quote(n.EndpointHost))
	}
	if err != nil {
		return nil, factError(n, facts.FieldEndpointHost, err)
	}
	return noproxy.List{{
		Text:   texts[0],
		Group:  noproxy.Endpoint,
		Reason: "kubelet and kube-proxy reach the API server by exactly this host; a CIDR never matches a name",
		Source: source(n, facts.FieldEndpointHost),
	}}, nil
}

func cluster(n facts.Network) (noproxy.List, error) {
	services := noproxy.Entry{
		Group:  noproxy.Cluster,
		Reason: "short names of services, as in webhook.shop.svc: a CIDR never matches a name",
		Source: "always",
	}
	full := noproxy.Entry{
		Group:  noproxy.Cluster,
		Reason: "full names of services: .svc does not match them",
		Source: "default",
	}
	domain := "cluster.local"
	if n.ClusterDomain != "" {
		domain, full.Source = n.ClusterDomain, source(n, facts.FieldClusterDomain)
	}
	l, err := zone("svc", services)
	if err != nil {
		return nil, err
	}
	names, err := zone(domain, full)
	if err != nil {
		return nil, factError(n, facts.FieldClusterDomain, err)
	}
	return append(l, names...), nil
}

// ec2 lists the zone of EC2's private names, which is the same in every
// partition (BL-017), and not ".internal", which companies use themselves.
func ec2(n facts.Network) (noproxy.List, error) {
	if n.Region == "" {
		return nil, nil
	}
	name := n.Region + ".compute.internal"
	if n.Region == "us-east-1" {
		name = "ec2.internal"
	}
	l, err := zone(name, noproxy.Entry{
		Group:  noproxy.EC2,
		Reason: "private names that EC2 gives to nodes",
		Source: source(n, facts.FieldRegion),
	})
	if err != nil {
		return nil, factError(n, facts.FieldRegion, err)
	}
	return l, nil
}

// zone gives ".name" and "*.name". It leaves the bare name out: these zones
// have no host of their own.
func zone(name string, e noproxy.Entry) (noproxy.List, error) {
	texts, err := noproxy.ParseAddition("." + name)
	if err != nil {
		return nil, err
	}
	below, star := e, e
	below.Text, star.Text = texts[1], texts[2]
	star.Reason += forJava
	return noproxy.List{below, star}, nil
}

// ranges holds facts to the rules for additions, so that a fact with host bits
// or of every address is an error and not a dead or a boundless entry.
func ranges(cidrs []netip.Prefix, e noproxy.Entry) (noproxy.List, error) {
	var l noproxy.List
	for _, cidr := range cidrs {
		texts, err := noproxy.ParseAddition(cidr.String())
		if err != nil {
			return nil, fmt.Errorf("%s range (%s): %w", e.Group, e.Source, err)
		}
		e.Text = texts[0]
		l = append(l, e)
	}
	return l, nil
}

// sorted orders by address as numbers, IPv4 first, and drops the zero prefix,
// which says that nothing is known.
func sorted(cidrs []netip.Prefix) []netip.Prefix {
	valid := slices.DeleteFunc(slices.Clone(cidrs), func(p netip.Prefix) bool { return !p.IsValid() })
	slices.SortFunc(valid, netip.Prefix.Compare)
	return valid
}

// source says where a fact came from.
func source(n facts.Network, field string) string {
	if s := n.Sources[field]; s != "" {
		return s
	}
	return "given"
}

func factError(n facts.Network, field string, err error) error {
	return fmt.Errorf("%s (%s): %w", field, source(n, field), err)
}
