package bootdata

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var byValue = cmpopts.EquateComparable(netip.Addr{}, netip.Prefix{})

func nodeConfigOf(fields string) string {
	return "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  cluster: {" + fields + "}\n"
}

func TestClusterFromNodeConfig(t *testing.T) {
	const host = "0123ABCD.gr7.eu-west-1.eks.amazonaws.com"
	cidr := netip.MustParsePrefix("10.100.0.0/16")
	tests := []struct {
		name, in string
		want     Cluster
	}{
		{"yaml", nodeConfigOf("name: blue, apiServerEndpoint: 'https://" + host + "', cidr: 10.100.0.0/16"),
			Cluster{Name: "blue", EndpointHost: host, ServiceCIDR: cidr, From: FromNodeConfig}},
		{"json", `{"apiVersion":"node.eks.aws/v1alpha1","kind":"NodeConfig","spec":{"cluster":{"cidr":"10.100.3.4/16"}}}`,
			Cluster{ServiceCIDR: cidr, From: FromNodeConfig}},
		{"IPv6 range", nodeConfigOf("cidr: 'fd30:1:2::/108'"),
			Cluster{ServiceCIDR: netip.MustParsePrefix("fd30:1:2::/108"), From: FromNodeConfig}},
		{"other fields of any shape", nodeConfigOf("name: blue") + "  instance: [1]\nstatus: x\n",
			Cluster{Name: "blue", From: FromNodeConfig}},
		{"later part wins field by field",
			multi("b", part(TypeNodeConfig, nodeConfigOf("name: one, cidr: 10.9.0.0/16")), part(TypeNodeConfig, nodeConfigOf("cidr: 10.100.0.0/16"))),
			Cluster{Name: "one", ServiceCIDR: cidr, From: FromNodeConfig}},
		{"an overridden bad value does not matter",
			multi("b", part(TypeNodeConfig, nodeConfigOf("cidr: bad")), part(TypeNodeConfig, nodeConfigOf("cidr: 10.100.0.0/16"))),
			Cluster{ServiceCIDR: cidr, From: FromNodeConfig}},
		{"several documents", nodeConfigOf("name: one") + "---\nkind: Other\nspec: {cluster: {name: no}}\n---\n" + nodeConfigOf("cidr: 10.100.0.0/16"),
			Cluster{Name: "one", ServiceCIDR: cidr, From: FromNodeConfig}},
		{"no cluster in it", nodeConfigOf(""), Cluster{From: FromNodeConfig}},
		{"wins over bootstrap.sh",
			multi("b", part(TypeShell, "#!/bin/sh\n/etc/eks/bootstrap.sh green"), part(TypeNodeConfig, nodeConfigOf("name: blue"))),
			Cluster{Name: "blue", From: FromNodeConfig}},
		{"gives way where it names no cluster",
			multi("b", part(TypeShell, "#!/bin/sh\n/etc/eks/bootstrap.sh green"), part(TypeNodeConfig, nodeConfigOf(""))),
			Cluster{Name: "green", From: FromBootstrap}},
		{"another group", "apiVersion: example.org/v1 # not node.eks.aws/\nkind: NodeConfig\nspec: {cluster: {name: blue}}", Cluster{}},
		{"neither", "#cloud-config\na: b", Cluster{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { checkCluster(t, tt.in, tt.want) })
	}
}

func checkCluster(t *testing.T, in string, want Cluster) {
	t.Helper()
	doc, err := Parse([]byte(in))
	if err != nil {
		t.Fatal(err)
	}
	got, err := doc.Cluster()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, byValue); diff != "" {
		t.Errorf("cluster (-want +got):\n%s", diff)
	}
}

func TestClusterErrors(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"name", nodeConfigOf(`name: "a\n` + secret + `"`), "spec.cluster.name is not a name"},
		{"endpoint", nodeConfigOf("apiServerEndpoint: 'https://a b" + secret + "'"), "spec.cluster.apiServerEndpoint is neither"},
		{"endpoint without host", nodeConfigOf("apiServerEndpoint: 'https:///" + secret + "'"), "apiServerEndpoint holds no valid host"},
		{"newline trick", nodeConfigOf(`apiServerEndpoint: "a\n` + secret + `"`), "apiServerEndpoint"},
		{"cidr", nodeConfigOf("cidr: " + secret), "spec.cluster.cidr is not a CIDR"},
		{"everything", nodeConfigOf("cidr: 0.0.0.0/0"), "too wide"},
		{"type", nodeConfigOf("name: [" + secret + "]"), "parsing the NodeConfig"},
		{"broken", nodeConfigOf("name: *" + secret), "parsing the NodeConfig"},
		{"script endpoint", "#!/bin/sh\nbootstrap.sh a --apiserver-endpoint 'x/../ " + secret + "'\nbootstrap.sh --apiserver-endpoint '|" + secret + "'", "bootstrap.sh: --apiserver-endpoint"},
		{"script range", "#!/bin/sh\nbootstrap.sh a --service-ipv6-cidr " + secret, "bootstrap.sh: --service-ipv6-cidr is not a CIDR"},
		{"script name", "#!/bin/sh\nbootstrap.sh '" + secret + ";'", "cluster name is not"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			doc, err := Parse([]byte(tt.in))
			if err != nil {
				t.Fatal(err)
			}
			got, err := doc.Cluster()
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("got %v, error %v, want %q", got, err, tt.want)
			}
			if strings.Contains(err.Error(), secret) {
				t.Errorf("error shows content: %v", err)
			}
		})
	}
}

// BL-008: the API gives the endpoint as a URL; NO_PROXY needs the bare host.
func TestBL008EndpointHost(t *testing.T) {
	tests := []struct{ in, want string }{
		{"https://0123ABCD.gr7.eu-west-1.eks.amazonaws.com", "0123ABCD.gr7.eu-west-1.eks.amazonaws.com"},
		{"https://host.example.:443/path?q=1", "host.example"},
		{"host.example:6443", "host.example"},
		{"host.example/path", "host.example"},
		{"Host", "Host"},
		{"HTTPS://user:pass@host.example", "host.example"},
		{"10.0.0.1:443", "10.0.0.1"},
		{"fd00::1", "fd00::1"},
		{"https://[fd00::1]:443", "fd00::1"},
		{"", ""},
	}
	for _, tt := range tests {
		if got, err := endpointHost(tt.in); err != nil || got != tt.want {
			t.Errorf("endpointHost(%q) = %q, %v; want %q", tt.in, got, err, tt.want)
		}
	}
	bad := []string{"https://", ".", "a..b", "-a", "a-", "a,b", "a\nb", "a\x00", "*.a", "fe80::1%eth0", "ümlaut", "$HOST",
		strings.Repeat("a", 64), strings.Repeat("a.", 130) + "a"}
	for _, in := range bad {
		if got, err := endpointHost(in); err == nil {
			t.Errorf("endpointHost(%q) = %q, want an error", in, got)
		}
	}
}
