package compose_test

import (
	"encoding/json"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/eksproxy/eksproxy/facts"
	"github.com/eksproxy/eksproxy/noproxy"
	"github.com/eksproxy/eksproxy/noproxy/compose"
)

const golden = "localhost,127.0.0.1,::1,169.254.169.254,fd00:ec2::254,169.254.170.2,169.254.170.23,fd00:ec2::23," +
	"10.40.0.0/16,100.64.0.0/16,10.100.0.0/16,10.100.0.1,ID.gr7.eu-west-1.eks.amazonaws.com," +
	".svc,*.svc,.cluster.local,*.cluster.local,.eu-west-1.compute.internal,*.eu-west-1.compute.internal"

func prefixes(texts ...string) []netip.Prefix {
	var ps []netip.Prefix
	for _, text := range texts {
		ps = append(ps, netip.MustParsePrefix(text))
	}
	return ps
}

// network is the cluster that golden belongs to.
func network() facts.Network {
	return facts.Network{
		Region:       "eu-west-1",
		DNSSuffix:    "amazonaws.com",
		VPCCIDRs:     prefixes("100.64.0.0/16", "10.40.0.0/16"),
		ServiceCIDRs: prefixes("10.100.0.0/16"),
		EndpointHost: "ID.gr7.eu-west-1.eks.amazonaws.com",
	}
}

// ipv6 is the same cluster with a VPC that has an IPv6 block too.
func ipv6() facts.Network {
	n := network()
	n.VPCCIDRs = append(n.VPCCIDRs, prefixes("2001:db8:7::/56")...)
	return n
}

func add(texts ...string) []compose.Addition {
	var as []compose.Addition
	for _, text := range texts {
		as = append(as, compose.Addition{Text: text, Source: "proxy.yaml:12"})
	}
	return as
}

func mustCompose(t *testing.T, n facts.Network, o compose.Options) compose.Result {
	t.Helper()
	r, err := compose.Compose(n, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func wantValue(t *testing.T, r compose.Result, want string) {
	t.Helper()
	if diff := cmp.Diff(strings.Split(want, ","), strings.Split(r.Entries.String(), ",")); diff != "" {
		t.Errorf("value (-want +got):\n%s", diff)
	}
}

func wantWarning(t *testing.T, r compose.Result, part string) {
	t.Helper()
	if !slices.ContainsFunc(r.Warnings, func(w string) bool { return strings.Contains(w, part) }) {
		t.Errorf("no warning says %q: %q", part, r.Warnings)
	}
}

func TestComposeGolden(t *testing.T) {
	r := mustCompose(t, network(), compose.Options{Add: add(".corp.example")})
	wantValue(t, r, golden+",corp.example,.corp.example,*.corp.example")
	if len(r.LeftOut) != 0 || len(r.Warnings) != 0 {
		t.Errorf("left out %v, warnings %q; want none", r.LeftOut, r.Warnings)
	}
}

func TestComposeNothingKnown(t *testing.T) {
	r := mustCompose(t, facts.Network{}, compose.Options{})
	wantValue(t, r, "localhost,127.0.0.1,::1,169.254.169.254,fd00:ec2::254,169.254.170.2,169.254.170.23,fd00:ec2::23,"+
		".svc,*.svc,.cluster.local,*.cluster.local")
	wantWarning(t, r, "the region is unknown")
	wantWarning(t, r, "noProxy.add is empty")
}

func TestComposeFacts(t *testing.T) {
	tests := []struct {
		name    string
		change  func(*facts.Network)
		contain string
	}{
		{"us-east-1 has its own zone", func(n *facts.Network) { n.Region = "us-east-1" },
			",.ec2.internal,*.ec2.internal"},
		{"another region of another partition", func(n *facts.Network) { n.Region = "us-gov-west-1" },
			",.us-gov-west-1.compute.internal,*.us-gov-west-1.compute.internal"},
		{"another cluster domain", func(n *facts.Network) { n.ClusterDomain = "k8s.example." },
			",.svc,*.svc,.k8s.example,*.k8s.example,"},
		{"given service address", func(n *facts.Network) { n.ServiceAddress = netip.MustParseAddr("10.100.0.9") },
			",10.100.0.0/16,10.100.0.9,ID."},
		{"service address without its range", func(n *facts.Network) {
			n.ServiceCIDRs, n.ServiceAddress = nil, netip.MustParseAddr("::ffff:172.20.0.1")
		}, ",100.64.0.0/16,172.20.0.1,ID."},
		{"two service ranges", func(n *facts.Network) { n.ServiceCIDRs = prefixes("fd64:1:2::/108", "10.100.0.0/16") },
			",10.100.0.0/16,fd64:1:2::/108,10.100.0.1,fd64:1:2::1,ID."},
		{"service range of one address", func(n *facts.Network) { n.ServiceCIDRs = prefixes("10.100.0.0/32") },
			",10.100.0.0/32,ID."},
		{"sorted as numbers", func(n *facts.Network) {
			n.VPCCIDRs = prefixes("100.64.0.0/16", "20.0.0.0/8", "3.0.0.0/8", "20.0.0.0/16")
		},
			",3.0.0.0/8,20.0.0.0/8,20.0.0.0/16,100.64.0.0/16,"},
		{"unknown among the ranges", func(n *facts.Network) { n.VPCCIDRs = append(n.VPCCIDRs, netip.Prefix{}) },
			",fd00:ec2::23,10.40.0.0/16,100.64.0.0/16,10.100.0.0/16,"},
		{"endpoint is an address", func(n *facts.Network) { n.EndpointHost = "[FD00:1::10]" },
			",10.100.0.1,fd00:1::10,.svc,"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := network()
			tt.change(&n)
			if value := mustCompose(t, n, compose.Options{}).Entries.String(); !strings.Contains(value, tt.contain) {
				t.Errorf("value %s\nhas no %s", value, tt.contain)
			}
		})
	}
}

// Facts come from metadata and files: what is no entry must not reach a value.
func TestComposeRefuses(t *testing.T) {
	tests := []struct {
		name   string
		change func(*facts.Network, *compose.Options)
		want   string
	}{
		{"addition", func(_ *facts.Network, o *compose.Options) { o.Add = add("10.*") },
			`proxy.yaml:12: "10.*": clients read no address patterns; write the CIDR 10.0.0.0/8`},
		{"mode", func(_ *facts.Network, o *compose.Options) { o.IPv6CIDRs = "on" },
			`noProxy.ipv6CIDRs "on": write auto, always or never`},
		{"two lines as region", func(n *facts.Network, _ *compose.Options) { n.Region = "eu-west-1\nX" },
			`region (given): ".eu-west-1\nX.compute.internal": `},
		{"list as cluster domain", func(n *facts.Network, _ *compose.Options) { n.ClusterDomain = "a,b" },
			`clusterDomain (given): ".a,b": `},
		{"zone as endpoint", func(n *facts.Network, _ *compose.Options) { n.EndpointHost = ".amazonaws.com" },
			`endpointHost (given): ".amazonaws.com": the endpoint is one host`},
		{"range as endpoint", func(n *facts.Network, _ *compose.Options) { n.EndpointHost = "10.0.0.0/8" },
			`endpointHost (given): "10.0.0.0/8": the endpoint is one host`},
		{"host bits", func(n *facts.Network, _ *compose.Options) {
			n.VPCCIDRs = prefixes("10.40.1.0/16")
			n.SetSource(facts.FieldVPCCIDRs, "--vpc-cidr")
		}, `vpc range (--vpc-cidr): "10.40.1.0/16": a CIDR has no host bits; write the range 10.40.0.0/16 or`},
		{"every address", func(n *facts.Network, _ *compose.Options) { n.ServiceCIDRs = prefixes("0.0.0.0/0") },
			`service range (given): "0.0.0.0/0": the range covers every address`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n, o := network(), compose.Options{}
			tt.change(&n, &o)
			r, err := compose.Compose(n, o)
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("Compose = %s, %v; want the error %s...", r.Entries, err, tt.want)
			}
		})
	}
}

func TestComposeSources(t *testing.T) {
	n := network()
	n.SetSource(facts.FieldVPCCIDRs, "instance metadata")
	r := mustCompose(t, n, compose.Options{Add: add("git.corp.example", "10.40.0.0/16")})
	want := map[string]string{
		"localhost":                    "always",
		"10.40.0.0/16":                 "instance metadata", // the fact stands first and stays
		"10.100.0.0/16":                "given",
		"10.100.0.1":                   "first address of 10.100.0.0/16",
		".svc":                         "always",
		".cluster.local":               "default",
		"*.eu-west-1.compute.internal": "given",
		"git.corp.example":             "proxy.yaml:12",
	}
	got := map[string]string{}
	for _, e := range r.Entries {
		if _, asked := want[e.Text]; asked {
			got[e.Text] = e.Source
		}
		if e.Reason == "" || strings.Contains(e.Reason, "\n") {
			t.Errorf("%s: reason %q is not one line", e.Text, e.Reason)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("sources (-want +got):\n%s", diff)
	}
}

func TestComposeUserEntriesThatAreThere(t *testing.T) {
	r := mustCompose(t, network(), compose.Options{Add: add("LOCALHOST", "id.GR7.eu-west-1.eks.amazonaws.com", "a.example", "A.example", ".svc")})
	wantValue(t, r, golden+",a.example,svc")
}

func TestLeftOutJSON(t *testing.T) {
	l := compose.LeftOut{Entry: noproxy.Entry{Text: ".svc", Group: noproxy.Cluster, Reason: "r", Source: "s"}, Why: "w"}
	got, err := json.Marshal(l)
	if want := `{"entry":".svc","group":"cluster","reason":"r","source":"s","why":"w"}`; err != nil || string(got) != want {
		t.Errorf("Marshal = %s, %v; want %s", got, err, want)
	}
}
