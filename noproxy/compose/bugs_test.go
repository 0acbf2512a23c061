package compose_test

import (
	"strings"
	"testing"

	"github.com/eksproxy/eksproxy/facts"
	"github.com/eksproxy/eksproxy/noproxy/compose"
)

// Public bug reports (docs/bug-reports.md) that the right value prevents, each with
// the input of the report. What a client makes of an entry is not tested here.
func TestBugReports(t *testing.T) {
	china := facts.Network{
		Region: "cn-north-1", DNSSuffix: "amazonaws.com.cn", EndpointHost: "ID.yl4.cn-north-1.eks.amazonaws.com.cn",
	}
	ipv6Cluster := network()
	ipv6Cluster.ServiceCIDRs = prefixes("fd64:1:2::/108")
	upper := network()
	upper.EndpointHost = "0123ABCD.gr7.eu-west-1.eks.amazonaws.com"
	custom := network()
	custom.ServiceCIDRs = prefixes("172.20.0.0/16")
	twice := network()
	twice.VPCCIDRs = prefixes("100.64.0.0/16", "10.40.0.0/16", "100.64.0.0/16", "10.40.0.0/16")

	tests := []struct {
		name      string
		network   facts.Network
		add       []string
		has, lack string // entries, comma separated
	}{
		{"BL-005 every block of the VPC, once", twice, nil, "10.40.0.0/16,100.64.0.0/16", ""},
		{"BL-006 credentials of EKS Pod Identity", network(), nil, "169.254.170.23,fd00:ec2::23,169.254.170.2", ""},
		{"BL-007 IPv6 is bare, never bracketed", ipv6Cluster, nil, "fd64:1:2::1,fd64:1:2::/108,fd00:ec2::23", "[fd64:1:2::1]"},
		// The report proposes lower case; the order says "exact host", and only
		// Guzzle looks at case.
		{"BL-008 the exact endpoint host, case kept", upper, nil, "0123ABCD.gr7.eu-west-1.eks.amazonaws.com", ""},
		{"BL-009 the service range of this cluster", custom, nil, "172.20.0.0/16,172.20.0.1", "10.100.0.0/16,10.100.0.1"},
		{"BL-010 the service address for clients without CIDRs", network(), nil, "10.100.0.0/16,10.100.0.1,.svc", ""},
		{"BL-011 a star is also written as a zone", network(), []string{"*.corp.example"}, ".corp.example,*.corp.example", ""},
		{"BL-012 dotted and bare form of a zone", network(), []string{".corp.example"}, "corp.example,.corp.example", ""},
		{"BL-014 blanks around elements", network(), []string{" .svc", "10.9.0.0/16 "}, ".svc,10.9.0.0/16", " .svc,10.9.0.0/16 "},
		{"BL-017 China", china, nil, "ID.yl4.cn-north-1.eks.amazonaws.com.cn,.cn-north-1.compute.internal,*.cn-north-1.compute.internal", ""},
		{"BL-019 pod addresses, for kubelet's probes", network(), nil, "100.64.0.0/16", ""},
		{"BL-020 service names and the compute domain", network(), nil, ".svc,.cluster.local,.eu-west-1.compute.internal", ".internal"},
		{"BL-021 what CNI plugins call", custom, nil, "172.20.0.0/16,172.20.0.1,10.40.0.0/16,169.254.169.254", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := mustCompose(t, tt.network, compose.Options{Add: add(tt.add...)})
			texts := map[string]int{}
			for _, e := range r.Entries {
				texts[e.Text]++
			}
			for text := range strings.SplitSeq(tt.has, ",") {
				if texts[text] != 1 {
					t.Errorf("%s stands %d times in %s, want once", text, texts[text], r.Entries)
				}
			}
			for text := range strings.SplitSeq(tt.lack, ",") {
				if texts[text] != 0 {
					t.Errorf("%s stands in %s", text, r.Entries)
				}
			}
		})
	}
}

// BL-017: the endpoint is the only AWS name, and it is
// given; no name of a service is built, in any partition.
func TestNoAWSServiceName(t *testing.T) {
	for region, suffix := range map[string]string{
		"eu-west-1": "amazonaws.com", "us-gov-west-1": "amazonaws.com", "cn-north-1": "amazonaws.com.cn", "eusc-de-east-1": "amazonaws.eu",
	} {
		r := mustCompose(t, facts.Network{Region: region, DNSSuffix: suffix}, compose.Options{})
		for _, e := range r.Entries {
			if strings.Contains(e.Text, "amazonaws") || strings.Contains(e.Text, "aws") {
				t.Errorf("%s: %s is a name of AWS", region, e.Text)
			}
		}
	}
}
