package compose

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/eksproxy/eksproxy/noproxy"
)

const omitted = "omitted by noProxy.omit"

func (m IPv6Mode) check() error {
	switch m {
	case "", IPv6Auto, IPv6Always, IPv6Never:
		return nil
	}
	return fmt.Errorf("noProxy.ipv6CIDRs %s: write auto, always or never", noproxy.Quote(string(m)))
}

// omit gives the entries that no element of omits takes out.
func (r *Result) omit(entries noproxy.List, omits []string) noproxy.List {
	matched := make([]bool, len(omits))
	var kept noproxy.List
	for _, e := range entries {
		out := false
		for i, text := range omits {
			if takesOut(strings.TrimSpace(text), e) {
				out, matched[i] = true, true
			}
		}
		if out {
			r.leaveOut(e, omitted)
		} else {
			kept = append(kept, e)
		}
	}
	for i, text := range omits {
		// One file serves nodes too, whose lists never have this group.
		if !matched[i] && !strings.EqualFold(strings.TrimSpace(text), string(noproxy.AWS)) {
			r.warn("noProxy.omit %s matches nothing; write an entry, a zone as in .zone.example, or a group: %s",
				noproxy.Quote(text), groupNames())
		}
	}
	return kept
}

func groupNames() string {
	var names []string
	for _, g := range noproxy.Groups() {
		names = append(names, string(g))
	}
	return strings.Join(names, ", ")
}

// takesOut says whether text names the entry, its zone or its group. The star
// form names only itself: one can drop what is there for Java and keep the zone.
func takesOut(text string, e noproxy.Entry) bool {
	if strings.EqualFold(text, e.Text) || strings.EqualFold(text, string(e.Group)) {
		return true
	}
	zone := strings.TrimPrefix(text, ".")
	bare := strings.TrimPrefix(strings.TrimPrefix(e.Text, "*"), ".")
	return strings.EqualFold(zone, bare)
}

// warnOfOmitted says what breaks without entries that nothing else stands in for.
func (r *Result) warnOfOmitted() {
	for _, g := range []noproxy.Group{noproxy.Loopback, noproxy.Metadata, noproxy.Endpoint} {
		var texts []string
		for _, l := range r.LeftOut {
			if l.Group == g {
				texts = append(texts, l.Text)
			}
		}
		if len(texts) > 0 {
			r.warn("noProxy.omit takes out %s: %s", strings.Join(texts, ", "), breaks(g))
		}
	}
}

func breaks(g noproxy.Group) string {
	switch g {
	case noproxy.Loopback:
		return "programs ask the proxy for their own host, and it answers with its own"
	case noproxy.Metadata:
		return "AWS SDKs ask the proxy for metadata and credentials, and get none or the proxy's own"
	default:
		return "kubelet reaches the API server through the proxy; nodes do not join where the endpoint is private only"
	}
}

// dropIPv6 gives the entries without the IPv6 CIDRs that the mode leaves out.
func (r *Result) dropIPv6(entries noproxy.List, m IPv6Mode, ipv6Service bool) noproxy.List {
	if m == IPv6Always {
		return entries
	}
	why := "an IPv6 CIDR makes httpx 0.28 fail for every host, and no service range is IPv6 (noProxy.ipv6CIDRs is auto)"
	if m == IPv6Never {
		why = "noProxy.ipv6CIDRs is never"
	}
	var kept noproxy.List
	for _, e := range entries {
		autoKeeps := m != IPv6Never && (ipv6Service || e.Group == noproxy.User)
		if isIPv6CIDR(e) && !autoKeeps {
			r.leaveOut(e, why)
		} else {
			kept = append(kept, e)
		}
	}
	return kept
}

func (r *Result) warnOfIPv6() {
	for _, e := range r.Entries {
		if e.Group == noproxy.User && isIPv6CIDR(e) {
			r.warn("%s (%s) makes Python's httpx 0.28 fail for every host; "+
				"write the addresses or the zone instead, or set noProxy.ipv6CIDRs to never", e.Text, e.Source)
		}
	}
}

func isIPv6CIDR(e noproxy.Entry) bool {
	p, err := netip.ParsePrefix(e.Text)
	return err == nil && p.Addr().Is6()
}

func isIPv6Service(e noproxy.Entry) bool { return e.Group == noproxy.Service && isIPv6CIDR(e) }
