package awsfake

import (
	"fmt"
	"strings"
)

// Cloud is what AWS has: EKS in the words of its JSON, EC2 in its XML.
type Cloud struct {
	Name                                string
	Cluster                             map[string]any
	Fargate, Addons                     map[string]map[string]any
	VPCs, Endpoints, Services, DHCPSets []string
}

// items are what a call of EC2 lists, and the element around them.
func (c Cloud) items(action string) (items []string, set string) {
	switch action {
	case "DescribeVpcs":
		return c.VPCs, "vpcSet"
	case "DescribeVpcEndpoints":
		return c.Endpoints, "vpcEndpointSet"
	case "DescribeVpcEndpointServices":
		return c.Services, "serviceDetailSet"
	case "DescribeDhcpOptions":
		return c.DHCPSets, "dhcpOptionsSet"
	}
	return nil, "unknownSet"
}

// Site is where a cluster is.
type Site struct {
	Name, Partition, Region, Endpoint string
}

// New is a cluster with a bit of everything: a second block and IPv6 in the VPC,
// a block that is gone, hybrid nodes, three Fargate profiles and add-ons, and
// endpoints of each sort.
func New(s Site) Cloud {
	c := Cloud{Name: s.Name, Cluster: clusterOf(s), Fargate: map[string]map[string]any{}, Addons: map[string]map[string]any{}}
	for _, name := range []string{"batch", "default", "web"} {
		c.Fargate[name] = map[string]any{
			"fargateProfileName": name, "clusterName": s.Name, "status": "ACTIVE",
			"selectors": []any{map[string]any{"namespace": name + "-*", "labels": map[string]string{"runs-on": "fargate"}}},
		}
	}
	for name, version := range map[string]string{"vpc-cni": "v1.21.1-eksbuild.1", "kube-proxy": "v1.36.0-eksbuild.2", "coredns": "v1.13.1-eksbuild.1"} {
		c.Addons[name] = map[string]any{"addonName": name, "clusterName": s.Name, "addonVersion": version, "status": "ACTIVE"}
	}
	c.Addons["vpc-cni"]["configurationValues"] = `{"env":{"ENABLE_PREFIX_DELEGATION":"true"}}`
	c.Addons["coredns"]["status"] = "DEGRADED"
	c.Addons["coredns"]["health"] = map[string]any{"issues": []any{map[string]any{"code": "InsufficientNumberOfReplicas", "message": "not enough\nreplicas"}}}
	c.VPCs = []string{`<vpcId>vpc-1</vpcId><cidrBlock>10.40.0.0/16</cidrBlock><dhcpOptionsId>dopt-1</dhcpOptionsId><cidrBlockAssociationSet>` +
		block("cidrBlock", "10.40.0.0/16", "associated") + block("cidrBlock", "100.64.0.0/16", "associated") + block("cidrBlock", "10.41.0.0/16", "disassociated") +
		`</cidrBlockAssociationSet><ipv6CidrBlockAssociationSet>` + block("ipv6CidrBlock", "2a05:d018:1::/56", "associated") + `</ipv6CidrBlockAssociationSet>`}
	c.DHCPSets = []string{`<dhcpOptionsId>dopt-1</dhcpOptionsId><dhcpConfigurationSet><item><key>domain-name</key><valueSet>` +
		`<item><value>corp.example ` + s.Region + `.compute.internal</value></item></valueSet></item><item><key>domain-name-servers</key>` +
		`<valueSet><item><value>AmazonProvidedDNS</value></item></valueSet></item></dhcpConfigurationSet>`}
	in := "." + s.Region + ".amazonaws.com"
	service := "com.amazonaws." + s.Region + "."
	c.Endpoints = []string{
		endpoint("vpce-05", service+"ecr.dkr", "Interface", "available", true, "dkr.ecr"+in),
		endpoint("vpce-01", service+"s3", "Gateway", "available", false),
		endpoint("vpce-02", service+"kinesis-streams", "Interface", "available", true, "kinesis"+in),
		endpoint("vpce-03", service+"sts", "Interface", "pending", true, "sts"+in),
		endpoint("vpce-04", service+"ec2", "Interface", "available", false),
	}
	c.Services = []string{
		serviceDetail(service+"ecr.dkr", "dkr.ecr"+in, "*.dkr.ecr"+in),
		serviceDetail(service+"kinesis-streams", "kinesis"+in, "*.data-kinesis"+in, "*.control-kinesis"+in),
		serviceDetail(service+"sts", "sts"+in),
	}
	return c
}

func clusterOf(s Site) map[string]any {
	return map[string]any{
		"name": s.Name, "arn": "arn:" + s.Partition + ":eks:" + s.Region + ":123456789012:cluster/" + s.Name,
		"version": "1.36", "status": "ACTIVE", "endpoint": s.Endpoint,
		"certificateAuthority":    map[string]string{"data": "Y2VydGlmaWNhdGU="},
		"kubernetesNetworkConfig": map[string]any{"serviceIpv4Cidr": "10.100.0.0/16", "ipFamily": "ipv4"},
		"resourcesVpcConfig": map[string]any{
			"vpcId": "vpc-1", "subnetIds": []string{"subnet-1"}, "endpointPublicAccess": true, "endpointPrivateAccess": true,
			"publicAccessCidrs": []string{"192.0.2.0/24"},
		},
		"remoteNetworkConfig": map[string]any{
			"remoteNodeNetworks": []any{map[string]any{"cidrs": []string{"10.200.0.0/16"}}},
			"remotePodNetworks":  []any{map[string]any{"cidrs": []string{"10.201.0.0/16"}}},
		},
	}
}

// block is an association of a VPC's block.
func block(element, cidr, state string) string {
	return fmt.Sprintf("<item><associationId>a</associationId><%[1]s>%[2]s</%[1]s><%[1]sState><state>%[3]s</state></%[1]sState></item>", element, cidr, state)
}

// endpoint is a VPC endpoint; an interface has a name of its own beside those.
func endpoint(id, service, kind, state string, private bool, names ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<vpcEndpointId>%s</vpcEndpointId><vpcId>vpc-1</vpcId><serviceName>%s</serviceName><vpcEndpointType>%s</vpcEndpointType>"+
		"<state>%s</state><privateDnsEnabled>%t</privateDnsEnabled><dnsEntrySet>", id, service, kind, state, private)
	if kind == "Interface" {
		names = append(names, id+"-x.svc.eu-west-1.vpce.amazonaws.com")
	}
	for _, name := range names {
		fmt.Fprintf(&b, "<item><dnsName>%s</dnsName><hostedZoneId>Z</hostedZoneId></item>", name)
	}
	return b.String() + "</dnsEntrySet>"
}

func serviceDetail(name string, names ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<serviceName>%s</serviceName><privateDnsName>%s</privateDnsName><privateDnsNameSet>", name, names[0])
	for _, n := range names {
		fmt.Fprintf(&b, "<item><privateDnsName>%s</privateDnsName></item>", n)
	}
	return b.String() + "</privateDnsNameSet>"
}
