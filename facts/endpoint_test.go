package facts_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/eksproxy/eksproxy/facts"
)

// endpoints is a cluster in Ireland with endpoints of each kind; those with
// names of EC2 and those without stand beside each other.
func endpoints() facts.Cluster {
	c := facts.NewCluster()
	c.Region, c.DNSSuffix = "eu-west-1", "amazonaws.com"
	c.VPCEndpoints = []facts.VPCEndpoint{
		{ID: "vpce-09", Service: "s3", Type: "Gateway", State: "available"},
		{ID: "vpce-08", Service: "ecr.dkr", Type: "Interface", State: "available", PrivateDNS: true},
		{ID: "vpce-07", Service: "ecr.api", Type: "Interface", State: "available", PrivateDNS: true},
		{ID: "vpce-06", Service: "eks", Type: "Interface", State: "available", PrivateDNS: true, Names: []string{"EKS.eu-west-1.amazonaws.com.", "eks.eu-west-1.api.aws"}},
		{ID: "vpce-05", Service: "eks-auth", Type: "Interface", State: "available", PrivateDNS: true},
		{ID: "vpce-04", Service: "sts", Type: "Interface", State: "available"},
		{ID: "vpce-03", Service: "logs", Type: "Interface", State: "pending", PrivateDNS: true},
		{ID: "vpce-02", Service: "execute-api", Type: "Interface", State: "available", PrivateDNS: true, Names: []string{"*.execute-api.eu-west-1.amazonaws.com", "*.vip.execute-api.eu-west-1.amazonaws.com"}},
		{ID: "vpce-01", Service: "s3", Type: "Interface", State: "available", PrivateDNS: true, Names: []string{"*.s3.eu-west-1.amazonaws.com", "s3.eu-west-1.amazonaws.com"}},
		{ID: "vpce-00", Service: "kinesis-streams", Type: "Interface", State: "available", PrivateDNS: true},
	}
	return c
}

func TestEndpointFor(t *testing.T) {
	tests := []struct{ host, id string }{
		{"api.ecr.eu-west-1.amazonaws.com", "vpce-07"},
		{"API.ECR.EU-WEST-1.AMAZONAWS.COM.", "vpce-07"},
		{"x.api.ecr.eu-west-1.amazonaws.com", ""},
		{"123456789012.dkr.ecr.eu-west-1.amazonaws.com", "vpce-08"},
		{"a.b.dkr.ecr.eu-west-1.amazonaws.com", "vpce-08"}, // a wildcard covers more labels than one
		{"dkr.ecr.eu-west-1.amazonaws.com", ""},            // but not its own domain
		{".dkr.ecr.eu-west-1.amazonaws.com", ""},
		{"xdkr.ecr.eu-west-1.amazonaws.com", ""},
		{"123456789012.dkr.ecr.eu-central-1.amazonaws.com", ""},
		{"eks.eu-west-1.amazonaws.com", "vpce-06"},
		{"eks.eu-west-1.api.aws", "vpce-06"},
		{"oidc.eks.eu-west-1.amazonaws.com", ""},
		{"fips.eks.eu-west-1.amazonaws.com", ""}, // a FIPS name is served where EC2 says so
		{"eks-auth.eu-west-1.api.aws", "vpce-05"},
		{"eks-auth.eu-west-1.amazonaws.com", ""},
		{"sts.eu-west-1.amazonaws.com", ""},  // private DNS is off
		{"logs.eu-west-1.amazonaws.com", ""}, // pending
		{"s3.eu-west-1.amazonaws.com", "vpce-01"},
		{"bucket.s3.eu-west-1.amazonaws.com", "vpce-01"},
		{"s3.dualstack.eu-west-1.amazonaws.com", "vpce-09"},
		{"bucket.s3.dualstack.eu-west-1.amazonaws.com", "vpce-09"},
		{"bucket.s3.amazonaws.com", ""},
		{"bucket.s3.us-east-1.amazonaws.com", ""},
		{"a.vip.execute-api.eu-west-1.amazonaws.com", "vpce-02"},
		{"kinesis.eu-west-1.amazonaws.com", ""},
		{"kinesis-streams.eu-west-1.amazonaws.com", ""}, // names are not guessed
		{"github.com", ""},
		{"", ""},
		{".", ""},
		{"10.40.0.1", ""},
	}
	for _, tt := range tests {
		t.Run(tt.host, func(t *testing.T) {
			got, ok := endpoints().EndpointFor(tt.host)
			if got.ID != tt.id || ok != (tt.id != "") {
				t.Errorf("EndpointFor(%q) = %q, %t; want %q", tt.host, got.ID, ok, tt.id)
			}
		})
	}
}

// TestEndpointForLonger: a name before a wildcard, a longer wildcard before a
// shorter one, whatever their ids and order are.
func TestEndpointForLonger(t *testing.T) {
	c := facts.NewCluster()
	for id, name := range map[string]string{"1": "*.example", "2": "*.a.example", "3": "x.a.example", "4": "*.A.example"} {
		c.VPCEndpoints = append(c.VPCEndpoints, facts.VPCEndpoint{ID: id, Type: "Interface", State: "available", PrivateDNS: true, Names: []string{name}})
	}
	for host, id := range map[string]string{"x.a.example": "3", "y.a.example": "2", "y.x.a.example": "2", "a.example": "1", "example": ""} {
		if got, _ := c.EndpointFor(host); got.ID != id {
			t.Errorf("EndpointFor(%q) = %q, want %q", host, got.ID, id)
		}
	}
}

func TestServiceReachable(t *testing.T) {
	for service, id := range map[string]string{
		"ecr.api": "vpce-07", "ECR.API": "vpce-07", "s3": "vpce-01", "sts": "", "logs": "", "kms": "", "": "", "kinesis-streams": "vpce-00",
	} {
		got, ok := endpoints().ServiceReachable(service)
		if got.ID != id || ok != (id != "") {
			t.Errorf("ServiceReachable(%q) = %q, %t; want %q", service, got.ID, ok, id)
		}
	}
}

// BL-017: the usual names have the suffix of their partition.
func TestNamesOf(t *testing.T) {
	tests := []struct {
		region, suffix string
		endpoint       facts.VPCEndpoint
		want           []string
	}{
		{"eu-west-1", "amazonaws.com", facts.VPCEndpoint{Service: "sts"}, []string{"sts.eu-west-1.amazonaws.com"}},
		{"cn-north-1", "amazonaws.com.cn", facts.VPCEndpoint{Service: "sts"}, []string{"sts.cn-north-1.amazonaws.com.cn"}},
		{"us-gov-west-1", "amazonaws.com", facts.VPCEndpoint{Service: "ecr.dkr"}, []string{"*.dkr.ecr.us-gov-west-1.amazonaws.com"}},
		{"eusc-de-east-1", "amazonaws.eu", facts.VPCEndpoint{Service: "ecr.api"}, []string{"api.ecr.eusc-de-east-1.amazonaws.eu"}},
		{"eu-west-1", "amazonaws.com", facts.VPCEndpoint{Service: "eks-auth"}, []string{"eks-auth.eu-west-1.api.aws"}},
		{"cn-north-1", "amazonaws.com.cn", facts.VPCEndpoint{Service: "eks-auth"}, []string{"eks-auth.cn-north-1.api.amazonwebservices.com.cn"}},
		{"eusc-de-east-1", "amazonaws.eu", facts.VPCEndpoint{Service: "eks-auth"}, []string{"eks-auth.eusc-de-east-1.amazonaws.eu"}},
		{"us-iso-east-1", "c2s.ic.gov", facts.VPCEndpoint{Service: "eks-auth"}, []string{"eks-auth.us-iso-east-1.c2s.ic.gov"}},
		{"eu-west-1", "amazonaws.com", facts.VPCEndpoint{Service: "s3", Type: "Interface"},
			[]string{"*.s3.eu-west-1.amazonaws.com", "s3.eu-west-1.amazonaws.com"}},
		{"eu-west-1", "amazonaws.com", facts.VPCEndpoint{Service: "s3", Type: "Gateway"}, []string{
			"*.s3.dualstack.eu-west-1.amazonaws.com", "*.s3.eu-west-1.amazonaws.com",
			"s3.dualstack.eu-west-1.amazonaws.com", "s3.eu-west-1.amazonaws.com",
		}},
		{"eu-west-1", "amazonaws.com", facts.VPCEndpoint{Service: "dynamodb", Type: "Gateway"}, []string{"dynamodb.eu-west-1.amazonaws.com"}},
		{"eu-west-1", "amazonaws.com", facts.VPCEndpoint{Service: "ec2", Names: []string{"ec2.eu-west-1.api.aws.", "", "EC2.eu-west-1.API.aws"}}, []string{"ec2.eu-west-1.api.aws"}},
		{"eu-west-1", "amazonaws.com", facts.VPCEndpoint{Service: "com.amazonaws.vpce.eu-west-1.vpce-svc-0a"}, nil},
		{"eu-west-1", "", facts.VPCEndpoint{Service: "sts"}, nil},
		{"", "amazonaws.com", facts.VPCEndpoint{Service: "sts"}, nil},
	}
	for _, tt := range tests {
		c := facts.NewCluster()
		c.Region, c.DNSSuffix = tt.region, tt.suffix
		if diff := cmp.Diff(tt.want, c.NamesOf(tt.endpoint)); diff != "" {
			t.Errorf("%s, %+v (-want +got):\n%s", tt.region, tt.endpoint, diff)
		}
	}
}
