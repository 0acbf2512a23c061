package compose_test

import (
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/eksproxy/eksproxy/facts"
	"github.com/eksproxy/eksproxy/noproxy/compose"
)

// For whatever facts and options, the value is one that every client can split,
// and the order in which ranges were discovered does not change a byte.
func TestComposeProperties(t *testing.T) {
	for seed := range uint64(2000) {
		rnd := rand.New(rand.NewPCG(seed, 0))
		n, o := randomNetwork(rnd), randomOptions(rnd)
		r, err := compose.Compose(n, o)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		seen := map[string]bool{}
		for text := range strings.SplitSeq(r.Entries.String(), ",") {
			key := strings.ToLower(text)
			// A value without any entry is one empty text.
			if seen[key] || strings.ContainsFunc(text, unicode.IsSpace) || text == "" && len(r.Entries) > 0 {
				t.Errorf("seed %d: %q stands twice, is empty or has white space in %s", seed, text, r.Entries)
			}
			seen[key] = true
		}
		shuffle(rnd, n.VPCCIDRs)
		shuffle(rnd, n.ServiceCIDRs)
		again, err := compose.Compose(n, o)
		if err != nil {
			t.Fatalf("seed %d, shuffled: %v", seed, err)
		}
		if diff := cmp.Diff(r, again); diff != "" {
			t.Errorf("seed %d: shuffled ranges give another result:\n%s", seed, diff)
		}
	}
}

func shuffle(rnd *rand.Rand, ps []netip.Prefix) {
	rnd.Shuffle(len(ps), func(i, j int) { ps[i], ps[j] = ps[j], ps[i] })
}

func randomNetwork(rnd *rand.Rand) facts.Network {
	n := facts.Network{
		Region:        pick(rnd, "", "us-east-1", "eu-west-1", "cn-north-1"),
		VPCCIDRs:      randomPrefixes(rnd),
		ServiceCIDRs:  randomPrefixes(rnd),
		EndpointHost:  pick(rnd, "", "ID.gr7.eu-west-1.eks.amazonaws.com", "LOCALHOST", "10.40.0.9", "[fd00::9]"),
		ClusterDomain: pick(rnd, "", "svc", "cluster.local.", "k8s.Example"),
	}
	if rnd.IntN(2) == 0 {
		n.ServiceAddress = randomAddr(rnd)
	}
	return n
}

func randomOptions(rnd *rand.Rand) compose.Options {
	o := compose.Options{IPv6CIDRs: compose.IPv6Mode(pick(rnd, "", "auto", "always", "never"))}
	for range rnd.IntN(5) {
		o.Add = append(o.Add, add(pick(rnd, " .svc", "*.K8S.example", "localhost", "10.40.0.0/16", "fd00:1::/32",
			"[::1]", "corp.example.\n", ".ec2.internal", "10.100.0.1"))...)
	}
	for range rnd.IntN(3) {
		o.Omit = append(o.Omit, pick(rnd, "loopback", "metadata", "user", "cluster", "svc", " .corp.example", "10.40.0.0/16", "", "none"))
	}
	return o
}

func pick(rnd *rand.Rand, texts ...string) string { return texts[rnd.IntN(len(texts))] }

// randomPrefixes draws from few addresses, so that duplicates happen.
func randomPrefixes(rnd *rand.Rand) []netip.Prefix {
	var ps []netip.Prefix
	for range rnd.IntN(4) {
		a := randomAddr(rnd)
		ps = append(ps, netip.PrefixFrom(a, 1+rnd.IntN(a.BitLen())).Masked())
	}
	return ps
}

func randomAddr(rnd *rand.Rand) netip.Addr {
	if rnd.IntN(3) == 0 {
		return netip.AddrFrom16([16]byte{0: 0xfd, 5: byte(rnd.IntN(2)), 15: byte(rnd.IntN(2))})
	}
	return netip.AddrFrom4([4]byte{10, byte(rnd.IntN(3)), 0, byte(rnd.IntN(2))})
}
