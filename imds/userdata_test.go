package imds

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/eksproxy/eksproxy/facts"
)

func TestUserData(t *testing.T) {
	const config = "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  cluster: "
	const boot = "#!/bin/bash\n/etc/eks/bootstrap.sh blue "
	gaps := func(endpoint, services string) (out []facts.Gap) {
		if endpoint != "" {
			out = append(out, facts.Gap{Field: "endpointHost", Why: endpoint, Remedy: "give --cluster-endpoint"})
		}
		if services != "" {
			out = append(out, facts.Gap{Field: "serviceCIDRs", Why: services, Remedy: "give --service-cidr"})
		}
		return out
	}
	network := func(host, cidr, address, source string) (n facts.Network) {
		n.EndpointHost = host
		if host != "" {
			n.SetSource("endpointHost", source)
		}
		if cidr != "" {
			n.ServiceCIDRs = []netip.Prefix{netip.MustParsePrefix(cidr)}
			n.SetSource("serviceCIDRs", source)
		}
		if address != "" {
			n.ServiceAddress = netip.MustParseAddr(address)
			n.SetSource("serviceAddress", source)
		}
		return n
	}
	const fromConfig, fromBoot = "user data (NodeConfig)", "user data (bootstrap.sh)"
	tests := []struct {
		name, in string
		want     facts.Node
	}{
		{"none", "", facts.Node{Gaps: gaps("no user data", "no user data")}},
		{"blank", " \n", facts.Node{Gaps: gaps("no user data", "no user data")}},
		{"foreign", "#cloud-config\na: b", facts.Node{Gaps: gaps("the user data names no cluster", "the user data names no cluster")}},
		// BL-008: the API gives the endpoint as a URL; NO_PROXY needs the bare host.
		{"BL-008 NodeConfig", config + "{name: blue, apiServerEndpoint: 'https://A.example:443/', cidr: 10.100.0.0/16}",
			facts.Node{ClusterName: "blue", Network: network("A.example", "10.100.0.0/16", "", fromConfig)}},
		{"NodeConfig without cluster", config + "{}",
			facts.Node{Gaps: gaps("NodeConfig gives no spec.cluster.apiServerEndpoint", "NodeConfig gives no spec.cluster.cidr")}},
		{"bootstrap.sh", boot + "--apiserver-endpoint https://a.example --dns-cluster-ip 10.100.0.10",
			facts.Node{ClusterName: "blue", Network: network("a.example", "10.100.0.0/16", "10.100.0.1", fromBoot)}},
		{"bootstrap.sh with own range", boot + "--dns-cluster-ip 10.9.0.10",
			facts.Node{ClusterName: "blue", Network: network("", "", "10.9.0.1", fromBoot),
				Gaps: gaps("bootstrap.sh call gives no --apiserver-endpoint", "bootstrap.sh gives --dns-cluster-ip, whose range is not one of EKS's defaults")}},
		{"bootstrap.sh with the name alone", boot,
			facts.Node{ClusterName: "blue", Gaps: gaps("bootstrap.sh call gives no --apiserver-endpoint",
				"bootstrap.sh call tells no range by --dns-cluster-ip or --service-ipv6-cidr")}},
		{"broken document", "\x1f\x8bhunter2", facts.Node{Gaps: gaps("decompressing the user data: unexpected EOF", "decompressing the user data: unexpected EOF")}},
		{"broken value", config + "{cidr: hunter2}",
			facts.Node{Gaps: gaps("reading the NodeConfig: spec.cluster.cidr is not a CIDR", "reading the NodeConfig: spec.cluster.cidr is not a CIDR")}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got facts.Node
			addUserData(&got, tt.in)
			if diff := cmp.Diff(tt.want, got, byValue); diff != "" {
				t.Errorf("node (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReadTakesUserData(t *testing.T) {
	f := newFake(t)
	f.answers[userDataPath] = "#!/bin/sh\nbootstrap.sh blue --apiserver-endpoint https://a.example"
	got, err := f.client().node(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got.EndpointHost != "a.example" || got.Sources["endpointHost"] != "user data (bootstrap.sh)" {
		t.Errorf("endpoint is %q from %q", got.EndpointHost, got.Sources["endpointHost"])
	}
	if len(got.Gaps) != 1 || !strings.Contains(got.Gaps[0].Why, "--dns-cluster-ip") {
		t.Errorf("gaps are %v, want the service range", got.Gaps)
	}
}
