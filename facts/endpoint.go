package facts

import (
	"cmp"
	"slices"
	"strings"
)

// NamesOf are the DNS names that resolve to an endpoint, in lower case, without
// the root's dot and sorted: those that EC2 gave, else the usual ones of the
// service. A name "*.x" stands for every host below x, and not for x.
//
// Usual names are told for services alone whose names are known for sure
// (docs/no-proxy.md), and only in the classic domain: FIPS and dual-stack names
// are an endpoint's where EC2 says so. Without a region and a DNS suffix there
// are none. Whether the endpoint is Usable is another question.
func (c Cluster) NamesOf(e VPCEndpoint) []string {
	names := e.Names
	if len(names) == 0 {
		names = c.usualNames(e)
	}
	var cleaned []string
	for _, name := range names {
		if name = dnsName(name); name != "" {
			cleaned = append(cleaned, name)
		}
	}
	slices.Sort(cleaned)
	return slices.Compact(cleaned)
}

func (c Cluster) usualNames(e VPCEndpoint) []string {
	if c.Region == "" || c.DNSSuffix == "" {
		return nil
	}
	in := "." + c.Region + "." + c.DNSSuffix
	switch e.Service {
	case "ecr.api":
		return []string{"api.ecr" + in}
	case "ecr.dkr": // the account stands in front
		return []string{"*.dkr.ecr" + in}
	case "eks-auth":
		return []string{"eks-auth." + c.Region + "." + dualStackSuffix(c.DNSSuffix)}
	case "s3":
		names := []string{"s3" + in, "*.s3" + in}
		if e.Type == "Gateway" { // it works by address, so by every name of S3 in the region
			names = append(names, "s3.dualstack"+in, "*.s3.dualstack"+in)
		}
		return names
	}
	if slices.Contains(plainServices(), e.Service) {
		return []string{e.Service + in}
	}
	return nil
}

// plainServices have their own name as the first label of their host. Others
// have not (the endpoint "kinesis-streams" is kinesis.R), so none is guessed.
func plainServices() []string {
	return []string{
		"aps-workspaces", "autoscaling", "dynamodb", "ec2", "ec2messages", "eks", "elasticfilesystem", "elasticloadbalancing",
		"events", "fsx", "kms", "logs", "monitoring", "secretsmanager", "sns", "sqs", "ssm", "ssmmessages", "sts", "xray",
	}
}

// dualStackSuffix is where EKS Auth lives, which has no classic name; in the
// partitions that are not named here it has the classic domain.
func dualStackSuffix(classic string) string {
	switch classic {
	case "amazonaws.com":
		return "api.aws"
	case "amazonaws.com.cn":
		return "api.amazonwebservices.com.cn"
	default:
		return classic
	}
}

// EndpointFor is the usable endpoint that serves a host name. Names are matched
// as DNS matches them (RFC 4592): a host's own name before a wildcard, a longer
// wildcard before a shorter one, and a wildcard covers any number of labels, but
// not its own domain. Of endpoints that match alike it is the one with the first
// id.
func (c Cluster) EndpointFor(host string) (VPCEndpoint, bool) {
	host = dnsName(host)
	var found VPCEndpoint
	best := 0
	for _, e := range byID(c.VPCEndpoints) {
		if !e.Usable() {
			continue
		}
		for _, name := range c.NamesOf(e) {
			if m := matchedLength(name, host); m > best {
				found, best = e, m
			}
		}
	}
	return found, best > 0
}

// matchedLength is how much of the host a name matches, and zero for nothing. A
// wildcard matches less than the host is long.
func matchedLength(name, host string) int {
	if name == host {
		return len(host)
	}
	zone, isWildcard := strings.CutPrefix(name, "*")
	if isWildcard && len(host) > len(zone) && strings.HasPrefix(zone, ".") && strings.HasSuffix(host, zone) {
		return len(zone)
	}
	return 0
}

// ServiceReachable is the usable endpoint for a service, by the name that
// VPCEndpoint.Service has; the one with the first id where there are more, as
// for S3.
func (c Cluster) ServiceReachable(service string) (VPCEndpoint, bool) {
	for _, e := range byID(c.VPCEndpoints) {
		if e.Usable() && strings.EqualFold(e.Service, service) {
			return e, true
		}
	}
	return VPCEndpoint{}, false
}

// byID makes answers independent of the order in which endpoints were found.
func byID(endpoints []VPCEndpoint) []VPCEndpoint {
	return slices.SortedStableFunc(slices.Values(endpoints), func(a, b VPCEndpoint) int { return cmp.Compare(a.ID, b.ID) })
}

// dnsName writes a name as names are compared.
func dnsName(name string) string { return strings.ToLower(strings.TrimSuffix(name, ".")) }
