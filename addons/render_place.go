package addons

import (
	"maps"
	"net/netip"
	"slices"

	"github.com/eksproxy/eksproxy/facts"
	"github.com/eksproxy/eksproxy/noproxy"
)

// Placeholder is a word that stands in rendered files for a fact that is not
// known yet, as before the cluster exists.
type Placeholder struct {
	// Name is the word, as in EKSPROXY_SERVICE_CIDR. It is neither a host nor an
	// address, so that no reader takes it for one.
	Name string
	// Remedy is how the fact is given.
	Remedy string
	// mark is the text that NO_PROXY is composed with.
	mark string
}

// The marks are valid values that nobody has: .invalid of RFC 2606, and the
// range for documentation of RFC 5737.
const (
	markEndpoint = "eksproxy-placeholder-endpoint.invalid"
	markService  = "192.0.2.240/28"
	markAddress  = "192.0.2.241"
	markVPC      = "192.0.2.208/28"
)

// HoldPlaces gives facts in which marks stand for what a NO_PROXY value cannot do
// without and what is not known yet, and the words that Render puts for them.
func HoldPlaces(c facts.Cluster) (facts.Cluster, []Placeholder) {
	var all []Placeholder
	c.Sources, c.Gaps = maps.Clone(c.Sources), slices.Clone(c.Gaps)
	hold := func(field, name, mark, flag string) {
		all = append(all, Placeholder{name, flag, mark})
		c.Fill(field, name)
	}
	if c.EndpointHost == "" {
		c.EndpointHost = markEndpoint
		hold(facts.FieldEndpointHost, "EKSPROXY_CLUSTER_ENDPOINT_HOST", markEndpoint, "--cluster-endpoint")
	}
	if len(c.VPCCIDRs) == 0 {
		c.VPCCIDRs = []netip.Prefix{netip.MustParsePrefix(markVPC)}
		hold(facts.FieldVPCCIDRs, "EKSPROXY_VPC_CIDR", markVPC, "--vpc-cidr")
	}
	if len(c.ServiceCIDRs) == 0 {
		c.ServiceCIDRs = []netip.Prefix{netip.MustParsePrefix(markService)}
		hold(facts.FieldServiceCIDRs, "EKSPROXY_SERVICE_CIDR", markService, "--service-cidr")
		if !c.ServiceAddress.IsValid() {
			hold(facts.FieldServiceAddress, "EKSPROXY_SERVICE_ADDRESS", markAddress, "--service-cidr")
		}
	}
	return c, all
}

// fillPlaces puts the words for the marks. What the user added stays as it is.
func fillPlaces(l noproxy.List, places []Placeholder) noproxy.List {
	l = slices.Clone(l)
	for i := range l {
		for _, p := range places {
			if l[i].Text == p.mark && l[i].Group != noproxy.User {
				l[i].Text = p.Name
			}
		}
	}
	return l
}
