package bootdata

import (
	"cmp"
	"fmt"
	"net/netip"
)

// The values of Cluster.From.
const (
	FromNodeConfig = "NodeConfig"
	FromBootstrap  = "bootstrap.sh"
)

// Cluster is what user data says about the cluster. A zero field is unknown.
type Cluster struct {
	Name string
	// EndpointHost is the API server without scheme and port, in the case in
	// which it was given.
	EndpointHost string
	// ServiceCIDR is the range of service addresses, without host bits.
	ServiceCIDR netip.Prefix
	// ServiceAddress is the address of the service "kubernetes", where a
	// script tells it.
	ServiceAddress netip.Addr
	// From is FromNodeConfig or FromBootstrap; empty where neither is there.
	From string
}

// Cluster reads the NodeConfig parts, and where they name no cluster the calls
// of bootstrap.sh. Later parts win field by field.
func (d Document) Cluster() (Cluster, error) {
	config, err := d.nodeConfig()
	if err != nil {
		return Cluster{}, err
	}
	if !config.empty() {
		return config.cluster()
	}
	script := d.bootstrap()
	if script.from == "" {
		script = config
	}
	return script.cluster()
}

// claim is what was written about the cluster, not checked yet.
type claim struct {
	from                            string
	name, endpoint, cidr, dnsServer string
}

func (c claim) empty() bool {
	return c.name == "" && c.endpoint == "" && c.cidr == "" && c.dnsServer == ""
}

// over returns c with what it leaves open taken from an earlier claim.
func (c claim) over(earlier claim) claim {
	return claim{
		from:      cmp.Or(c.from, earlier.from),
		name:      cmp.Or(c.name, earlier.name),
		endpoint:  cmp.Or(c.endpoint, earlier.endpoint),
		cidr:      cmp.Or(c.cidr, earlier.cidr),
		dnsServer: cmp.Or(c.dnsServer, earlier.dnsServer),
	}
}

// cluster checks the claim. Its errors name the field, never the value.
func (c claim) cluster() (Cluster, error) {
	fields := map[string][3]string{
		FromNodeConfig: {"spec.cluster.name", "spec.cluster.apiServerEndpoint", "spec.cluster.cidr"},
		FromBootstrap:  {"cluster name", "--apiserver-endpoint", "--service-ipv6-cidr"},
	}[c.from]
	out := Cluster{From: c.from, Name: c.name}
	if c.name != "" && !isClusterName(c.name) {
		return Cluster{}, fmt.Errorf("reading the %s: %s is not a name that EKS allows", c.from, fields[0])
	}
	var err error
	if out.EndpointHost, err = endpointHost(c.endpoint); err != nil {
		return Cluster{}, fmt.Errorf("reading the %s: %s %w", c.from, fields[1], err)
	}
	if out.ServiceCIDR, err = serviceCIDR(c.cidr); err != nil {
		return Cluster{}, fmt.Errorf("reading the %s: %s %w", c.from, fields[2], err)
	}
	if c.dnsServer != "" && c.cidr == "" {
		out.ServiceAddress, out.ServiceCIDR = fromDNSServer(c.dnsServer)
	}
	return out, nil
}
