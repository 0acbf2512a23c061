package compose

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/eksproxy/eksproxy/facts"
	"github.com/eksproxy/eksproxy/noproxy"
)

// Disagreement is what a value cannot make all clients do alike.
type Disagreement struct {
	// Why is the kind, one of the constants below.
	Why string `json:"why"`
	// Targets are the URLs that it concerns.
	Targets []string `json:"targets"`
	// Direct, Proxied and Failed are the clients by what they do.
	Direct  []string `json:"direct"`
	Proxied []string `json:"proxied,omitempty"`
	Failed  []string `json:"failed,omitempty"`
}

// The kinds of disagreement that no value can take away, and the rest.
const (
	WhyCIDR      = "addresses inside a CIDR, for clients that match only listed ones"
	WhyIPv6      = "IPv6 addresses, for clients that match none without brackets, which break others"
	WhyIPv6Range = "an IPv6 CIDR, for clients that read none or fail for every host"
	WhyOther     = "entries that clients read otherwise"
)

// Prove tries a composed value on every modelled client, and gives what they do
// not do alike: nothing is hidden that a value cannot mend.
func Prove(n facts.Network, l noproxy.List) []Disagreement { return prove(Targets(n, l), l) }

// ProveCluster is Prove on the targets of a cluster: the names that its
// endpoints serve, and those that stay behind the proxy.
func ProveCluster(c facts.Cluster, l noproxy.List) []Disagreement {
	return prove(ClusterTargets(c, l), l)
}

func prove(on []Target, l noproxy.List) []Disagreement {
	var targets []noproxy.Target
	for _, target := range on {
		if t, err := noproxy.ParseTarget(target.URL); err == nil { // a fact that is no host is for Compose to refuse
			targets = append(targets, t)
		}
	}
	clients := noproxy.Clients()
	items := noproxy.Explain(noproxy.ValueEnvironment(l.String()), clients, targets)
	var found []Disagreement
	for i, t := range targets {
		d := Disagreement{Why: why(t, l), Targets: []string{t.URL()}}
		for _, e := range items[i*len(clients) : (i+1)*len(clients)] {
			switch e.Decision {
			case noproxy.Direct:
				d.Direct = append(d.Direct, e.Client)
			case noproxy.Proxied:
				d.Proxied = append(d.Proxied, e.Client)
			case noproxy.Failed:
				d.Failed = append(d.Failed, e.Client)
			default: // those that ignore the variables do not count
			}
		}
		if kinds(d) > 1 {
			found = merge(found, d)
		}
	}
	return found
}

// kinds is how many kinds of decisions there are.
func kinds(d Disagreement) int {
	n := 0
	for _, clients := range [][]string{d.Direct, d.Proxied, d.Failed} {
		if len(clients) > 0 {
			n++
		}
	}
	return n
}

// merge puts targets together on which the clients differ in the same way.
func merge(found []Disagreement, d Disagreement) []Disagreement {
	for i, f := range found {
		if f.Why == d.Why && slices.Equal(f.Direct, d.Direct) && slices.Equal(f.Proxied, d.Proxied) && slices.Equal(f.Failed, d.Failed) {
			found[i].Targets = append(found[i].Targets, d.Targets...)
			return found
		}
	}
	return append(found, d)
}

// why is the kind of a disagreement about a target.
func why(t noproxy.Target, l noproxy.List) string {
	addr, err := netip.ParseAddr(t.Host())
	switch {
	case slices.ContainsFunc(l, isIPv6CIDR) && (err != nil || addr.Is4() || !l.Contains(addr.String())):
		return WhyIPv6Range
	case err != nil:
		return WhyOther
	case addr.Is6():
		return WhyIPv6
	case !l.Contains(addr.String()):
		return WhyCIDR
	}
	return WhyOther
}

// Summary is what Prove found in a line for each kind; which client differs on
// which target is in the disagreements themselves.
func Summary(found []Disagreement) []string {
	var lines []string
	for _, kind := range []string{WhyCIDR, WhyIPv6, WhyIPv6Range, WhyOther} {
		var targets, proxied, failed []string
		for _, d := range found {
			if d.Why == kind {
				targets = union(targets, d.Targets)
				proxied, failed = union(proxied, d.Proxied), union(failed, d.Failed)
			}
		}
		if len(targets) == 0 {
			continue
		}
		line := fmt.Sprintf("not alike in all clients: %s, as %s", kind, few(targets))
		if len(proxied) > 0 {
			line += "; through the proxy in " + strings.Join(proxied, "; ")
		}
		if len(failed) > 0 {
			line += "; an error in " + strings.Join(failed, "; ")
		}
		lines = append(lines, line)
	}
	return lines
}

// union adds to a list what it does not have yet.
func union(list, more []string) []string {
	for _, text := range more {
		if !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	return list
}

// few are the first texts of a list, and how many more there are.
func few(texts []string) string {
	const most = 4
	if len(texts) <= most {
		return strings.Join(texts, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(texts[:most], ", "), len(texts)-most)
}
