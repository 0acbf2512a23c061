package cluster

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/eksproxy/eksproxy/facts"
	"github.com/eksproxy/eksproxy/internal/nameform"
)

// network asks EC2 about the cluster's VPC.
func (r *reader) network(ctx context.Context) error {
	if r.facts.VPC == "" {
		if r.facts.Sources[facts.FieldAutoMode] == sourceEKS { // else DescribeCluster was refused, which is said already
			r.gap("EKS tells no VPC of the cluster", "wait until the cluster is active", facts.FieldVPCCIDRs, facts.FieldVPCEndpoints, facts.FieldDHCPDomains)
		}
		return nil
	}
	dhcp, err := r.vpc(ctx)
	if err != nil {
		return err
	}
	if err := r.endpoints(ctx); err != nil {
		return err
	}
	return r.dhcpDomains(ctx, dhcp)
}

// vpc reads the ranges of the VPC, and returns the id of its DHCP options.
func (r *reader) vpc(ctx context.Context) (dhcp string, err error) {
	out, err := r.EC2.DescribeVpcs(ctx, &ec2.DescribeVpcsInput{VpcIds: []string{r.facts.VPC}})
	if known, err := r.answered(ofAWS("ec2:DescribeVpcs", err), facts.FieldVPCCIDRs, facts.FieldDHCPDomains); !known {
		return "", err
	}
	if len(out.Vpcs) == 0 {
		r.gap("EC2 does not know "+r.facts.VPC, "use the account of the VPC", facts.FieldVPCCIDRs, facts.FieldDHCPDomains)
		return "", nil
	}
	v := out.Vpcs[0]
	list, err := parsePrefixes(blocksOf(v))
	switch {
	case err != nil:
		r.gap("EC2 tells a block of "+r.facts.VPC+" that is none: "+err.Error(), "look at the VPC", facts.FieldVPCCIDRs)
	case len(list) == 0:
		r.gap("EC2 tells none of "+r.facts.VPC, "look at the VPC", facts.FieldVPCCIDRs)
	default:
		r.facts.VPCCIDRs = list
		r.fill(facts.FieldVPCCIDRs, sourceEC2)
	}
	return aws.ToString(v.DhcpOptionsId), nil
}

// blocksOf are all blocks that are associated now, of both families.
func blocksOf(v types.Vpc) []string {
	texts := []string{}
	for _, b := range v.CidrBlockAssociationSet {
		if b.CidrBlockState == nil || b.CidrBlockState.State == types.VpcCidrBlockStateCodeAssociated {
			texts = append(texts, aws.ToString(b.CidrBlock))
		}
	}
	for _, b := range v.Ipv6CidrBlockAssociationSet {
		if b.Ipv6CidrBlockState == nil || b.Ipv6CidrBlockState.State == types.VpcCidrBlockStateCodeAssociated {
			texts = append(texts, aws.ToString(b.Ipv6CidrBlock))
		}
	}
	return texts
}

// endpoints reads the endpoints in the VPC, with the names that resolve to them.
func (r *reader) endpoints(ctx context.Context) error {
	var found []types.VpcEndpoint
	pages := ec2.NewDescribeVpcEndpointsPaginator(r.EC2, &ec2.DescribeVpcEndpointsInput{
		Filters: []types.Filter{{Name: aws.String("vpc-id"), Values: []string{r.facts.VPC}}},
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if known, err := r.answered(ofAWS("ec2:DescribeVpcEndpoints", err), facts.FieldVPCEndpoints); !known {
			return err
		}
		found = append(found, page.VpcEndpoints...)
	}
	slices.SortFunc(found, func(a, b types.VpcEndpoint) int {
		return cmp.Compare(aws.ToString(a.VpcEndpointId), aws.ToString(b.VpcEndpointId))
	})
	names, err := r.serviceNames(ctx, found)
	if err != nil {
		return err
	}
	list := make([]facts.VPCEndpoint, 0, len(found))
	for _, e := range found {
		list = append(list, r.endpointFact(e, names))
	}
	r.facts.VPCEndpoints = list
	r.facts.SetSource(facts.FieldVPCEndpoints, sourceEC2) // a gap about their names stays
	if names != nil {
		r.fill(facts.FieldVPCEndpoints, sourceEC2)
	}
	return nil
}

// serviceNames are the private names of the services that these endpoints are
// for, by the full name of the service; nil where that was refused. The DNS
// entries of an endpoint are no substitute: they lack the wildcards of ecr.dkr
// and all but the first name of kinesis-streams.
func (r *reader) serviceNames(ctx context.Context, list []types.VpcEndpoint) (map[string][]string, error) {
	var services []string
	for _, e := range list {
		// The names of others' services are in the entries; and one that is not
		// shown to this account would make the call fail.
		if name := aws.ToString(e.ServiceName); hasPrivateDNS(e) && r.serviceOf(name) != name {
			services = append(services, name)
		}
	}
	slices.Sort(services)
	names := map[string][]string{}
	for chunk := range slices.Chunk(slices.Compact(services), 100) {
		err := r.describeServices(ctx, chunk, func(s types.ServiceDetail) {
			for _, n := range s.PrivateDnsNames {
				names[aws.ToString(s.ServiceName)] = append(names[aws.ToString(s.ServiceName)], aws.ToString(n.PrivateDnsName))
			}
		})
		switch e := ofAWS("ec2:DescribeVpcEndpointServices", err); {
		case e == nil:
		case e.Kind == Unreachable:
			return nil, e
		default:
			r.gap("names of services that have several may be missing: "+e.Call+": "+e.cause(), e.Remedy, facts.FieldVPCEndpoints)
			return nil, nil
		}
	}
	return names, nil
}

// describeServices goes through all pages: the SDK has no paginator for them.
func (r *reader) describeServices(ctx context.Context, names []string, each func(types.ServiceDetail)) error {
	in := &ec2.DescribeVpcEndpointServicesInput{ServiceNames: names}
	for {
		out, err := r.EC2.DescribeVpcEndpointServices(ctx, in)
		if err != nil {
			return err
		}
		for _, s := range out.ServiceDetails {
			each(s)
		}
		if aws.ToString(out.NextToken) == "" {
			return nil
		}
		in.NextToken = out.NextToken
	}
}

// hasPrivateDNS says that the names of the service lead to the endpoint from
// inside the VPC.
func hasPrivateDNS(e types.VpcEndpoint) bool {
	onlyInbound := e.DnsOptions != nil && aws.ToBool(e.DnsOptions.PrivateDnsOnlyForInboundResolverEndpoint)
	return strings.EqualFold(string(e.VpcEndpointType), "interface") && aws.ToBool(e.PrivateDnsEnabled) && !onlyInbound
}

func (r *reader) endpointFact(e types.VpcEndpoint, services map[string][]string) facts.VPCEndpoint {
	f := facts.VPCEndpoint{
		ID: aws.ToString(e.VpcEndpointId), Service: r.serviceOf(aws.ToString(e.ServiceName)), Type: string(e.VpcEndpointType),
		State: strings.ToLower(string(e.State)), PrivateDNS: hasPrivateDNS(e),
	}
	if !f.PrivateDNS {
		return f
	}
	var names []string
	for _, d := range e.DnsEntries {
		if name := aws.ToString(d.DnsName); !strings.HasPrefix(name, "vpce-") && !strings.HasPrefix(name, "*.vpce-") {
			names = append(names, name)
		}
	}
	names = append(names, services[aws.ToString(e.ServiceName)]...)
	if services == nil && len(r.facts.NamesOf(f)) > 0 {
		return f // the usual names are known, and complete
	}
	for _, name := range names {
		// Route 53 writes the star as \052.
		if name = strings.ToLower(strings.TrimSuffix(strings.Replace(name, `\052.`, "*.", 1), ".")); nameform.IsName(strings.TrimPrefix(name, "*.")) {
			f.Names = append(f.Names, name)
		}
	}
	slices.Sort(f.Names)
	f.Names = slices.Compact(f.Names)
	return f
}

// serviceOf is the name without the partition's prefix and the region, as in
// com.amazonaws.eu-west-1.ecr.api or cn.com.amazonaws.cn-north-1.ecr.api. A
// service of another region, or of someone else, keeps its full name.
func (r *reader) serviceOf(name string) string {
	prefix, service, ok := strings.Cut(name, "."+r.facts.Region+".")
	classic, _, _ := Suffixes(r.facts.Region)
	labels := strings.Split(classic, ".")
	slices.Reverse(labels)
	if ok && (prefix == "com.amazonaws" || prefix == strings.Join(labels, ".")) && !strings.HasPrefix(service, "vpce-") {
		return service
	}
	return name
}

// dhcpDomains reads the domain names that the VPC gives to its machines.
func (r *reader) dhcpDomains(ctx context.Context, id string) error {
	if !strings.HasPrefix(id, "dopt-") {
		return nil // "default" has none; where the VPC is unknown it is said already
	}
	var domains []string
	pages := ec2.NewDescribeDhcpOptionsPaginator(r.EC2, &ec2.DescribeDhcpOptionsInput{DhcpOptionsIds: []string{id}})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if known, err := r.answered(ofAWS("ec2:DescribeDhcpOptions", err), facts.FieldDHCPDomains); !known {
			return err
		}
		for _, o := range page.DhcpOptions {
			domains = append(domains, domainsOf(o)...)
		}
	}
	r.facts.DHCPDomains = domains
	r.fill(facts.FieldDHCPDomains, sourceEC2)
	return nil
}

// domainsOf are the domain names of one set. Several may stand in one value
// with blanks between.
func domainsOf(o types.DhcpOptions) []string {
	var domains []string
	for _, c := range o.DhcpConfigurations {
		if aws.ToString(c.Key) != "domain-name" {
			continue
		}
		for _, v := range c.Values {
			for name := range strings.FieldsSeq(aws.ToString(v.Value)) {
				if nameform.IsName(strings.TrimSuffix(name, ".")) {
					domains = append(domains, strings.TrimSuffix(name, "."))
				}
			}
		}
	}
	return domains
}
