package compose_test

import (
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/eksproxy/eksproxy/facts"
	"github.com/eksproxy/eksproxy/noproxy"
	"github.com/eksproxy/eksproxy/noproxy/compose"
)

// private is a cluster with the endpoints of AWS's guide for private clusters.
func private(region, suffix string) facts.Cluster {
	var es []facts.VPCEndpoint
	for i, service := range []string{"ec2", "ecr.api", "ecr.dkr", "sts", "eks", "eks-auth", "logs", "elasticloadbalancing", "autoscaling", "ssm", "kms", "sqs"} {
		es = append(es, serving("vpce-"+string(rune('a'+i)), service))
	}
	es = append(es, gateway("vpce-z", "s3"), serving("vpce-y", "xray"))
	es[len(es)-1].State = "pending"
	c := cluster(es...)
	c.Region, c.DNSSuffix = region, suffix
	c.EndpointHost = "ID.gr7." + region + ".eks." + suffix
	c.DHCPDomains = []string{"corp.example"}
	c.RemoteNetworks = prefixes("192.168.0.0/16")
	return c
}

func partitions() map[string]string {
	return map[string]string{"eu-west-1": "amazonaws.com", "us-east-1": "amazonaws.com", "us-west-2": "amazonaws.com", "us-gov-west-1": "amazonaws.com", "cn-north-1": "amazonaws.com.cn", "eusc-de-east-1": "amazonaws.eu"}
}

// TestClusterProof is the check of TestProof for clusters, in every partition
// (BL-017): each client reaches what has an endpoint past the proxy, and the EKS
// API, its issuers, other regions and the internet through it. Only addresses
// inside a CIDR and IPv6 addresses are not alike.
func TestClusterProof(t *testing.T) {
	for region, suffix := range partitions() {
		c := private(region, suffix)
		r := mustCluster(t, c, compose.Options{Add: add(".intranet.example")})
		residue := map[string]bool{}
		for _, d := range compose.ProveCluster(c, r.Entries) {
			if d.Why != compose.WhyCIDR && d.Why != compose.WhyIPv6 || len(d.Failed) > 0 {
				t.Errorf("%s: %+v", region, d)
			}
			for _, url := range d.Targets {
				residue[url] = true
			}
		}
		targets := slices.DeleteFunc(compose.ClusterTargets(c, r.Entries), func(t compose.Target) bool { return residue[t.URL] })
		checkTargets(t, region, targets, r.Entries)
		direct := map[string]bool{}
		for _, target := range targets {
			direct[target.URL] = target.Direct
		}
		in := "." + region + "." + suffix
		_, dualStack := noproxy.AWSDomains(region)
		want := map[string]bool{
			"https://sts" + in + "/": true, "https://api.ecr" + in + "/": true, "https://123456789012.dkr.ecr" + in + "/v2/": true,
			"https://prod-" + region + "-starport-layer-bucket.s3" + in + "/layer": true, "https://s3" + in + "/bucket/key": true,
			"https://al2023-repos-" + region + "-de612dc2.s3.dualstack" + in + "/": true,
			"https://eks" + in + "/": false, "https://oidc.eks" + in + "/id/EXAMPLE": false, "https://xray" + in + "/": false,
			"https://oidc-eks." + region + "." + dualStack + "/id/EXAMPLE": false, "https://github.com/": false, "https://public.ecr.aws/v2/": false,
			"https://bucket.s3." + suffix + "/": false,
		}
		for url, w := range want {
			if got, ok := direct[url]; !ok || got != w {
				t.Errorf("%s: %s is a target: %t, direct: %t; want %t", region, url, ok, got, w)
			}
		}
	}
}

// checkTargets holds every client to what is meant.
func checkTargets(t *testing.T, name string, targets []compose.Target, l noproxy.List) {
	t.Helper()
	want := map[string]noproxy.Decision{}
	var parsed []noproxy.Target
	for _, target := range targets {
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
	for _, e := range noproxy.Explain(noproxy.ValueEnvironment(l.String()), noproxy.Clients(), parsed) {
		if e.Decision != want[e.URL] && e.Decision != noproxy.Ignored {
			t.Errorf("%s: %s is %s in %s: %s", name, e.URL, e.Decision, e.Client, e.Rule)
		}
	}
}

// TestClusterIsClean: lint finds nothing in what is composed.
func TestClusterIsClean(t *testing.T) {
	for region, suffix := range partitions() {
		r := mustCluster(t, private(region, suffix), compose.Options{Add: add(".intranet.example")})
		if found := noproxy.LintValue(r.Entries.String()); len(found) > 0 {
			t.Errorf("%s: %+v", region, found)
		}
	}
}

// For whatever facts: the same bytes in any order, no entry without source and
// reason, and none that takes a host along for which there is no endpoint.
func TestClusterProperties(t *testing.T) {
	for seed := range uint64(60) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		c := randomCluster(rnd)
		r := mustCluster(t, c, compose.Options{})
		for _, e := range r.Entries {
			if e.Source == "" || e.Reason == "" || strings.ContainsAny(e.Text+e.Source+e.Reason, "\r\n") {
				t.Errorf("seed %d: %+v", seed, e)
			}
			if e.Group == noproxy.AWS {
				checkNarrow(t, c, e)
			}
		}
		shuffleAny(rnd, c.VPCEndpoints)
		shuffleAny(rnd, c.DHCPDomains)
		shuffleAny(rnd, c.NodeLocalDNS)
		shuffleAny(rnd, c.RemoteNetworks)
		for _, e := range c.VPCEndpoints {
			shuffleAny(rnd, e.Names)
		}
		if diff := cmp.Diff(r, mustCluster(t, c, compose.Options{})); diff != "" {
			t.Errorf("seed %d: another order gives another result:\n%s", seed, diff)
		}
	}
}

func checkNarrow(t *testing.T, c facts.Cluster, e noproxy.Entry) {
	t.Helper()
	for _, target := range compose.ClusterTargets(c) {
		if !target.Direct || strings.Contains(target.URL, "internal") {
			continue
		}
		if p, err := noproxy.ParseTarget(target.URL); err != nil || goesDirect(e.Text, p) {
			t.Errorf("%s takes %s along: %v", e.Text, target.URL, err)
		}
	}
	for _, host := range []string{
		"oidc.eks.eu-west-1.amazonaws.com", "oidc.eks.us-east-1.amazonaws.com", "oidc-eks.eu-west-1.api.aws", "hybrid-assets.eks.amazonaws.com",
		"public.ecr.aws", "bucket.s3.amazonaws.com", "bucket.s3.ap-south-1.amazonaws.com", "iam.amazonaws.com", "github.com", "example.co.uk",
	} {
		p, err := noproxy.ParseTarget("https://" + host + "/")
		if err != nil || goesDirect(e.Text, p) {
			t.Errorf("%s (%s) takes %s along: %v", e.Text, e.Source, host, err)
		}
	}
}

// goesDirect asks a client that reads a bare name as a zone, and no loopback.
func goesDirect(value string, target noproxy.Target) bool {
	client, _ := noproxy.FindClient("requests")
	for _, e := range noproxy.Explain(noproxy.ValueEnvironment(value), []noproxy.Client{client}, []noproxy.Target{target}) {
		if e.Decision == noproxy.Direct {
			return true
		}
	}
	return false
}

func shuffleAny[T any](rnd *rand.Rand, s []T) {
	rnd.Shuffle(len(s), func(i, j int) { s[i], s[j] = s[j], s[i] })
}

func randomCluster(rnd *rand.Rand) facts.Cluster {
	c := facts.NewCluster()
	c.Network = randomNetwork(rnd)
	c.EndpointHost, c.DNSSuffix = "", pick(rnd, "", "amazonaws.com", "amazonaws.com.cn")
	for range rnd.IntN(8) {
		e := facts.VPCEndpoint{
			ID: pick(rnd, "", "vpce-1", "vpce-2", "vpce-3"), Service: pick(rnd, "s3", "sts", "eks", "ecr.dkr", "eks-auth", "x\ny"),
			Type: pick(rnd, "Interface", "Interface", "Gateway", "Resource"), State: pick(rnd, "available", "available", "pending"), PrivateDNS: rnd.IntN(4) > 0,
		}
		for range rnd.IntN(3) {
			e.Names = append(e.Names, pick(rnd, "sts.eu-west-1.amazonaws.com", "*.amazonaws.com", "eks.us-east-1.amazonaws.com", "*.eu-west-1.amazonaws.com",
				"aws", "*.s3.eu-west-1.amazonaws.com", "s3.eu-west-1.amazonaws.com", "*.api.aws", "*.co.uk", "a b", "", "*.vendor.example"))
		}
		c.VPCEndpoints = append(c.VPCEndpoints, e)
	}
	for range rnd.IntN(3) {
		c.DHCPDomains = append(c.DHCPDomains, pick(rnd, "corp.example", "CORP.example", "eu-west-1.compute.internal", "com", "a\nb", ""))
		c.NodeLocalDNS = append(c.NodeLocalDNS, netip.AddrFrom4([4]byte{169, 254, 20, byte(rnd.IntN(3))}))
		c.RemoteNetworks = append(c.RemoteNetworks, randomPrefixes(rnd)...)
	}
	return c
}
