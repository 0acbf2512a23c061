package integration

import (
	"net"
	"strings"
	"testing"

	"github.com/eksproxy/eksproxy/integration/awsfake"
	"github.com/eksproxy/eksproxy/integration/program"
)

// What is denied is a gap that says which right is missing; the rest is read.
func TestClusterFactsDenied(t *testing.T) {
	cloud := awsfake.New(awsfake.Site{Name: "blue", Partition: "aws", Region: "eu-west-1", Endpoint: clusterEndpoint})
	for action, fields := range map[string]string{
		"eks:DescribeCluster":             "vpcCIDRs endpointHost serviceCIDRs vpcEndpoints remoteNetworks dhcpDomains",
		"eks:ListFargateProfiles":         "fargateProfiles",
		"eks:DescribeFargateProfile":      "fargateProfiles",
		"eks:ListAddons":                  "addons",
		"eks:DescribeAddon":               "addons",
		"ec2:DescribeVpcs":                "vpcCIDRs dhcpDomains",
		"ec2:DescribeVpcEndpoints":        "vpcEndpoints",
		"ec2:DescribeVpcEndpointServices": "vpcEndpoints",
		"ec2:DescribeDhcpOptions":         "dhcpDomains",
	} {
		t.Run(action, func(t *testing.T) {
			server := awsfake.Start(t, cloud)
			server.Fail(action, awsfake.Denied())
			r := full(t, server.URL, nil, factsOf("blue", "--vpc-cidr", "10.99.0.0/16")...)
			f := readCluster(t, r)
			for field := range strings.FieldsSeq(fields) {
				why := f.gap(field)
				if field == "vpcCIDRs" { // given
					if why != "" {
						t.Errorf("vpcCIDRs: gap %q although they are given", why)
					}
					continue
				}
				if !strings.Contains(why, action+": AccessDeniedException") || !strings.Contains(why, "grant "+action) {
					t.Errorf("%s: gap %q", field, why)
				}
			}
			if !strings.Contains(r.Stderr, "note: ") || !strings.Contains(r.Stderr, action) {
				t.Errorf("stderr says nothing of it:\n%s", r.Stderr)
			}
			same(t, "VPC CIDRs", f.VPCCIDRs, []string{"10.99.0.0/16"})
		})
	}
}

// Where nobody tells anything, or the answer may be another one later, the exit
// code is 3; a cluster that does not exist is 2.
func TestClusterFactsUndecided(t *testing.T) {
	cloud := awsfake.New(awsfake.Site{Name: "blue", Partition: "aws", Region: "eu-west-1", Endpoint: clusterEndpoint})
	expect := func(name string, code int, want string, run func(t *testing.T) program.Result) {
		t.Run(name, func(t *testing.T) {
			if r := run(t); r.Code != code || !strings.Contains(r.Stderr, want) || r.Stdout != "" {
				t.Errorf("exit %d, want %d with %q\n%s%s", r.Code, code, want, r.Stdout, r.Stderr)
			}
		})
	}
	expect("unreachable", 3, "eks:DescribeCluster: ", func(t *testing.T) program.Result {
		t.Helper()
		return full(t, closedPort(t), nil, factsOf("blue")...)
	})
	expect("through a proxy", 3, "(through the proxy 127.0.0.1:", func(t *testing.T) program.Result {
		t.Helper()
		dead := strings.TrimPrefix(closedPort(t), "http://")
		return full(t, "http://aws.example", []string{"HTTP_PROXY=http://u:" + secret.Core + "@" + dead}, factsOf("blue")...)
	})
	expect("all denied", 3, "AccessDeniedException", func(t *testing.T) program.Result {
		t.Helper()
		server := awsfake.Start(t, cloud)
		for _, action := range []string{"eks:DescribeCluster", "eks:ListFargateProfiles", "eks:ListAddons"} {
			server.Fail(action, awsfake.Denied())
		}
		return full(t, server.URL, nil, factsOf("blue")...)
	})
	expect("server errors", 3, "ec2:DescribeVpcs: ", func(t *testing.T) program.Result {
		t.Helper()
		server := awsfake.Start(t, cloud)
		server.Fail("ec2:DescribeVpcs", awsfake.Fault{Status: 503, Code: "Unavailable", Message: "later"})
		return full(t, server.URL, nil, factsOf("blue")...)
	})
	expect("no credentials", 3, "looking for AWS credentials: ", func(t *testing.T) program.Result {
		t.Helper()
		return full(t, "http://127.0.0.1:1", []string{"AWS_ACCESS_KEY_ID=", "AWS_SECRET_ACCESS_KEY="}, factsOf("blue")...)
	})
	expect("no such cluster", 2, "give the right --cluster, --region and --profile", func(t *testing.T) program.Result {
		t.Helper()
		return full(t, awsfake.Start(t, cloud).URL, nil, factsOf("red")...)
	})
	expect("no region", 2, "give --region, or set AWS_REGION", func(t *testing.T) program.Result {
		t.Helper()
		return full(t, closedPort(t), nil, "facts", "cluster", "--cluster", "blue")
	})
	expect("no such profile", 2, "look at --profile", func(t *testing.T) program.Result {
		t.Helper()
		return full(t, closedPort(t), nil, factsOf("blue", "--profile", "nobody")...)
	})
}

// closedPort is an address where nobody listens.
func closedPort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return "http://" + l.Addr().String()
}
