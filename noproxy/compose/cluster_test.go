package compose_test

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/eksproxy/eksproxy/facts"
	"github.com/eksproxy/eksproxy/noproxy"
	"github.com/eksproxy/eksproxy/noproxy/compose"
)

// serving is a usable interface endpoint.
func serving(id, service string, names ...string) facts.VPCEndpoint {
	return facts.VPCEndpoint{ID: id, Service: service, Type: "Interface", State: "available", PrivateDNS: true, Names: names}
}

func gateway(id, service string) facts.VPCEndpoint {
	return facts.VPCEndpoint{ID: id, Service: service, Type: "Gateway", State: "available"}
}

// cluster is the network of golden with these endpoints.
func cluster(endpoints ...facts.VPCEndpoint) facts.Cluster {
	c := facts.NewCluster()
	c.Network = network()
	c.SetSource(facts.FieldVPCEndpoints, "EC2 (DescribeVpcEndpoints)")
	c.VPCEndpoints = endpoints
	return c
}

func mustCluster(t *testing.T, c facts.Cluster, o compose.Options) compose.Result {
	t.Helper()
	r, err := compose.Cluster(c, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// awsValue is what a value has for endpoints.
func awsValue(r compose.Result) string {
	return slices.DeleteFunc(slices.Clone(r.Entries), func(e noproxy.Entry) bool { return e.Group != noproxy.AWS }).String()
}

// why is what is said about a proxied service; empty where nothing is.
func why(r compose.Result, service string) string {
	var whys []string
	for _, p := range r.Proxied {
		if p.Service == service {
			whys = append(whys, p.Why)
		}
	}
	return strings.Join(whys, "\n")
}

// Without endpoints a cluster's value is a node's.
func TestClusterWithoutEndpoints(t *testing.T) {
	r := mustCluster(t, cluster(), compose.Options{Add: add(".corp.example")})
	wantValue(t, r, golden+",corp.example,.corp.example,*.corp.example")
	if len(r.LeftOut) != 0 || len(r.Warnings) != 0 {
		t.Errorf("left out %v, warnings %q; want none", r.LeftOut, r.Warnings)
	}
	for _, service := range []string{"ec2", "ecr.api", "ecr.dkr", "s3", "sts", "eks", "eks-auth", "logs", "ssm", "kms"} {
		if got := why(r, service); got != "the VPC has no endpoint for it" {
			t.Errorf("%s is proxied because %q", service, got)
		}
	}
}

func TestClusterEndpointsUnknown(t *testing.T) {
	c := facts.Cluster{Node: facts.Node{Network: network()}}
	r := mustCluster(t, c, compose.Options{Add: add(".amazonaws.com")})
	wantValue(t, r, golden+",amazonaws.com,.amazonaws.com,*.amazonaws.com")
	if len(r.Proxied) != 0 {
		t.Errorf("proxied %v, and nothing is known of the endpoints", r.Proxied)
	}
	wantWarning(t, r, "the VPC's endpoints are unknown")
	wantWarning(t, r, "amazonaws.com (proxy.yaml:12) is wide: it takes in services") // BL-016
}

func TestClusterNetworks(t *testing.T) {
	c := cluster()
	c.RemoteNetworks = prefixes("192.168.0.0/16", "172.16.0.0/16", "10.40.0.0/16")
	c.NodeLocalDNS = []netip.Addr{netip.MustParseAddr("169.254.20.10"), netip.MustParseAddr("10.100.0.10"), {}}
	c.SetSource(facts.FieldRemoteNetworks, "EKS (DescribeCluster)")
	c.SetSource(facts.FieldNodeLocalDNS, "Kubernetes")
	r := mustCluster(t, c, compose.Options{})
	value := r.Entries.String()
	for _, want := range []string{",10.40.0.0/16,100.64.0.0/16,172.16.0.0/16,192.168.0.0/16,10.100.0.0/16,", ",10.100.0.1,10.100.0.10,169.254.20.10,ID."} {
		if !strings.Contains(value, want) {
			t.Errorf("value %s\nhas no %s", value, want)
		}
	}
	for _, e := range r.Entries {
		if e.Text == "172.16.0.0/16" && e.Source != "EKS (DescribeCluster)" || e.Text == "169.254.20.10" && e.Source != "Kubernetes" {
			t.Errorf("%+v has another source", e)
		}
	}
	c.RemoteNetworks = prefixes("10.1.2.3/8")
	if _, err := compose.Cluster(c, compose.Options{}); err == nil || !strings.Contains(err.Error(), "has no host bits") {
		t.Errorf("host bits: %v", err)
	}
}

func TestClusterDHCPDomains(t *testing.T) {
	tests := []struct{ domain, want, left, warning string }{
		{"corp.example", ".corp.example,*.corp.example", "", ""},
		{"Corp.Example.", ".Corp.Example,*.Corp.Example", "", ""},
		{"eu-west-1.compute.internal", "", "", ""}, // it is there
		{"ec2.internal", ".ec2.internal,*.ec2.internal", "", ""},
		{"compute.internal", "", ".compute.internal,*.compute.internal", ""},
		{"amazonaws.com", "", ".amazonaws.com,*.amazonaws.com", ""},
		{"eu-west-1.amazonaws.com", "", ".eu-west-1.amazonaws.com,*.eu-west-1.amazonaws.com", ""},
		{"eu-west-1.api.aws", "", ".eu-west-1.api.aws,*.eu-west-1.api.aws", ""},
		{"internal", "", ".internal,*.internal", ""},
		{"com", "", ".com,*.com", ""},
		{"co.uk", "", ".co.uk,*.co.uk", ""},
		{"bmw.de", ".bmw.de,*.bmw.de", "", ""},
		{"a.example b.example", "", "", "clients disagree about separators"},
		{"", "", "", "a domain of the VPC's DHCP options is left out"},
	}
	for _, tt := range tests {
		t.Run(tt.domain, func(t *testing.T) {
			c := cluster()
			c.DHCPDomains = []string{tt.domain}
			r := mustCluster(t, c, compose.Options{Add: add(".test.example")})
			want := golden
			if tt.want != "" {
				want += "," + tt.want
			}
			wantValue(t, r, want+",test.example,.test.example,*.test.example")
			if got := leftOut(r); got != tt.left {
				t.Errorf("left out %s, want %s", got, tt.left)
			}
			if tt.warning != "" {
				wantWarning(t, r, tt.warning)
			} else if len(r.Warnings) != 0 {
				t.Errorf("warnings %q, want none", r.Warnings)
			}
		})
	}
}

func TestClusterEndpointAccess(t *testing.T) {
	tests := []struct {
		name   string
		access *facts.EndpointAccess
		omit   []string
		warns  bool
	}{
		{"not asked", nil, nil, false},
		{"private", &facts.EndpointAccess{Private: true}, nil, false},
		{"both", &facts.EndpointAccess{Public: true, Private: true}, nil, false},
		{"public only", &facts.EndpointAccess{Public: true}, nil, true},
		{"public only, omitted", &facts.EndpointAccess{Public: true}, []string{"endpoint"}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := cluster()
			c.EndpointAccess = tt.access
			r := mustCluster(t, c, compose.Options{Omit: tt.omit})
			warns := slices.ContainsFunc(r.Warnings, func(w string) bool { return strings.Contains(w, "is public only, and ID.gr7") })
			if warns != tt.warns {
				t.Errorf("warnings %q, want one about the endpoint: %t", r.Warnings, tt.warns)
			}
		})
	}
}
