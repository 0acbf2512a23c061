package compose

import (
	"slices"
	"strings"

	"github.com/eksproxy/eksproxy/facts"
	"github.com/eksproxy/eksproxy/noproxy"
)

// dhcpDomains gives the zones of the VPC's DHCP options, which stand with EC2's:
// programs find hosts of the VPC by them. One that is no zone of the company's is
// left out, and one that EC2 has anyway is not listed twice.
func (r *Result) dhcpDomains(c facts.Cluster) noproxy.List {
	domains := slices.Clone(c.DHCPDomains)
	slices.Sort(domains)
	var l noproxy.List
	for _, domain := range slices.Compact(domains) {
		entries, err := zone(strings.Trim(domain, "."), noproxy.Entry{
			Group:  noproxy.EC2,
			Reason: "hosts of the VPC by the domain of its DHCP options",
			Source: source(c.Network, facts.FieldDHCPDomains),
		})
		if err != nil {
			r.warn("a domain of the VPC's DHCP options is left out: %v", err)
			continue
		}
		if why := notOwn(c, strings.ToLower(bareName(entries[0].Text))); why != "" {
			for _, e := range entries {
				r.leaveOut(e, why)
			}
			continue
		}
		l = append(l, entries...)
	}
	return l
}

// notOwn says why a domain is not one that a VPC has for itself; empty where it
// may be.
func notOwn(c facts.Cluster, domain string) string {
	classic, dualStack := noproxy.AWSDomains(c.Region)
	for _, aws := range []string{c.DNSSuffix, classic, dualStack, "amazonaws.com", "aws"} {
		if aws != "" && isIn(domain, strings.ToLower(aws)) {
			return "it is a domain of AWS, and hosts in it are public; only names with an endpoint in the VPC are listed"
		}
	}
	switch {
	case domain == "compute.internal":
		return "it takes in the private names of every region"
	case isPublicSuffix(domain):
		return "it is a whole public domain; add the zones in it that are your own (noProxy.add)"
	}
	return ""
}

// isIn says whether a name is a domain or below it.
func isIn(name, domain string) bool {
	return name == domain || strings.HasSuffix(name, "."+domain)
}

// isPublicSuffix says whether a name is a domain under which anyone may have a
// name, as "com" and "co.uk". It knows the usual forms, not the whole list of
// publicsuffix.org, which is larger than this program.
func isPublicSuffix(name string) bool {
	labels := strings.Split(name, ".")
	if len(labels) != 2 || len(labels[1]) != 2 {
		return len(labels) < 2
	}
	return slices.Contains([]string{"ac", "co", "com", "edu", "go", "gob", "gov", "mil", "ne", "net", "or", "org"}, strings.ToLower(labels[0]))
}
