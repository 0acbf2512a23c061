package compose_test

import (
	"slices"
	"testing"

	"github.com/eksproxy/eksproxy/facts"
	"github.com/eksproxy/eksproxy/noproxy"
	"github.com/eksproxy/eksproxy/noproxy/compose"
)

// networks are the kinds of clusters that a value is composed for.
func networks() map[string]facts.Network {
	virginia := network()
	virginia.Region, virginia.EndpointHost = "us-east-1", "ID.gr7.us-east-1.eks.amazonaws.com"
	virginia.ServiceCIDRs = prefixes("172.20.0.0/16")
	china := network()
	china.Region, china.DNSSuffix, china.EndpointHost = "cn-north-1", "amazonaws.com.cn", "ID.yl4.cn-north-1.eks.amazonaws.com.cn"
	return map[string]facts.Network{"Ireland": network(), "Virginia": virginia, "China": china, "a VPC with IPv6": ipv6(), "nothing known": {}}
}

// TestProof: what compose emits is tried on every model. All clients do with
// every target what the value means, but for what no value can mend: addresses
// inside a CIDR, and IPv6 addresses. So the reports are guarded about Pod
// Identity (BL-006), the API server's name (BL-008) and address (BL-009, BL-010,
// BL-021), probes (BL-019), .svc names (BL-020) and China (BL-017), in every
// client; that some depend on reading a CIDR is said (BL-010).
func TestProof(t *testing.T) {
	for name, n := range networks() {
		r := mustCompose(t, n, compose.Options{Add: add(".corp.example", "git.example", "192.168.7.0/24")})
		residue := map[string]bool{}
		if name == "a VPC with IPv6" { // its IPv6 range is left out, and Compose says so
			residue["http://[2001:db8:7::7]/"] = true
		}
		for _, d := range compose.Prove(n, r.Entries) {
			if d.Why != compose.WhyCIDR && d.Why != compose.WhyIPv6 || len(d.Failed) > 0 || len(d.Direct) == 0 || len(d.Proxied) == 0 {
				t.Errorf("%s: %+v", name, d)
			}
			for _, url := range d.Targets {
				residue[url] = true
			}
		}
		checkMeant(t, name, n, r.Entries, residue)
	}
}

// checkMeant holds every client to what the value means for a target.
func checkMeant(t *testing.T, name string, n facts.Network, l noproxy.List, residue map[string]bool) {
	t.Helper()
	env := noproxy.ValueEnvironment(l.String())
	want := map[string]noproxy.Decision{}
	var parsed []noproxy.Target
	for _, target := range compose.Targets(n, l) {
		if residue[target.URL] {
			continue
		}
		p, err := noproxy.ParseTarget(target.URL)
		if err != nil {
			t.Fatal(err)
		}
		parsed = append(parsed, p)
		want[target.URL] = noproxy.Proxied
		if target.Direct {
			want[target.URL] = noproxy.Direct
		}
	}
	for _, e := range noproxy.Explain(env, noproxy.Clients(), parsed) {
		if e.Decision != want[e.URL] && e.Decision != noproxy.Ignored {
			t.Errorf("%s: %s is %s in %s: %s", name, e.URL, e.Decision, e.Client, e.Rule)
		}
	}
}

// TestProofOfIPv6Cluster: its ranges make httpx fail for every host, which is
// told and not hidden.
func TestProofOfIPv6Cluster(t *testing.T) {
	n := ipv6()
	n.ServiceCIDRs = prefixes("fd64:1:2::/108")
	found := compose.Prove(n, mustCompose(t, n, compose.Options{}).Entries)
	if !slices.ContainsFunc(found, func(d compose.Disagreement) bool {
		return d.Why == compose.WhyIPv6Range && slices.Contains(d.Failed, "httpx")
	}) {
		t.Errorf("httpx is not named: %v", found)
	}
}

// TestProofOfBrokenValue: a disagreement that a value could mend is told as such.
func TestProofOfBrokenValue(t *testing.T) {
	l := noproxy.List{{Text: ".corp.example"}}
	found := compose.Prove(facts.Network{}, l)
	if !slices.ContainsFunc(found, func(d compose.Disagreement) bool {
		return d.Why == compose.WhyOther && slices.Contains(d.Targets, "https://www.corp.example/") && slices.Contains(d.Proxied, "AWS SDK Java v2")
	}) {
		t.Errorf("the AWS SDK for Java is not named: %v", found)
	}
}

// TestComposedIsClean: lint finds nothing in what compose emits, but that an
// IPv6 cluster has IPv6 ranges.
func TestComposedIsClean(t *testing.T) {
	for name, n := range networks() {
		r := mustCompose(t, n, compose.Options{Add: add(".corp.example", "git.example", "192.168.7.0/24", "fd00:9::1")})
		if found := noproxy.LintValue(r.Entries.String()); len(found) > 0 {
			t.Errorf("%s: %+v", name, found)
		}
		if fixed := noproxy.Fix(r.Entries.String()); fixed.NoProxy != r.Entries.String() {
			t.Errorf("%s: fixed to %s", name, fixed.NoProxy)
		}
	}
	n := ipv6()
	n.ServiceCIDRs = prefixes("fd64:1:2::/108")
	for _, f := range noproxy.LintValue(mustCompose(t, n, compose.Options{}).Entries.String()) {
		if f.Code != "NP011" || f.Severity != noproxy.SeverityWarning {
			t.Errorf("an IPv6 cluster: %+v", f)
		}
	}
}

// TestTargets: each URL once, and all of them are targets.
func TestTargets(t *testing.T) {
	seen := map[string]bool{}
	for _, target := range compose.Targets(network(), mustCompose(t, network(), compose.Options{}).Entries) {
		if _, err := noproxy.ParseTarget(target.URL); err != nil || seen[target.URL] || target.Name == "" {
			t.Errorf("%+v: %v, seen %v", target, err, seen[target.URL])
		}
		seen[target.URL] = true
	}
	for _, url := range []string{
		"http://169.254.170.23/v1/credentials", "https://10.100.0.1/", "https://ID.gr7.eu-west-1.eks.amazonaws.com/", "http://10.40.0.7/",
		"https://sts.eu-west-1.amazonaws.com/", "https://oidc.eks.eu-west-1.amazonaws.com/id/EXAMPLE",
	} {
		if !seen[url] {
			t.Errorf("%s is no target", url)
		}
	}
}
