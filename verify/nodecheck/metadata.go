package nodecheck

import (
	"context"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/eksproxy/eksproxy/facts"
	"github.com/eksproxy/eksproxy/noproxy"
	"github.com/eksproxy/eksproxy/verify"
)

// metadataNow compares what the world says now with our NO_PROXY: a VPC can
// gain a CIDR, and a node can be launched into another cluster.
func (s *subject) metadataNow(ctx context.Context) []verify.Finding {
	list := s.noProxy()
	switch {
	case s.metadata == nil:
		return skip("with --root, give --facts or --imds-endpoint to compare with")
	case len(list) == 0:
		return skip(noList)
	}
	now, err := s.metadata(ctx)
	if err != nil {
		return one(undecided("instance metadata", "curl -sS --noproxy '*' -X PUT -H 'X-aws-ec2-metadata-token-ttl-seconds: 60' http://169.254.169.254/latest/api/token", "%v", err))
	}
	wanted, without := s.wantedList(ctx)
	var found []verify.Finding
	var known, left []string
	for _, p := range now.VPCCIDRs {
		switch {
		case coversRange(list, p):
			known = append(known, p.String())
		case without && !coversRange(wanted, p), !without && leftOutIPv6(list, p):
			left = append(left, p.String())
		default:
			found = append(found, fail(p.String(), s.apply(), "the VPC has this CIDR and NO_PROXY does not cover it: pods and nodes there are called through the proxy"))
		}
	}
	if host := now.EndpointHost; host != "" && !coversHost(list, host) && (!without || coversHost(wanted, host)) {
		found = append(found, fail(host, s.apply(), "the user data names this endpoint of the cluster (%s) and NO_PROXY does not", now.Sources[facts.FieldEndpointHost]))
	}
	note := ""
	if len(left) > 0 {
		note = "; left out by the settings: " + strings.Join(left, ", ")
	}
	return orPass(found, "covered: %s%s", strings.Join(known, ", "), note)
}

// wantedList is the NO_PROXY that the settings compose now, which may leave
// something out on purpose; false where there are no settings.
func (s *subject) wantedList(ctx context.Context) ([]string, bool) {
	if s.wanted == nil {
		return nil, false
	}
	desired, err := s.wanted(ctx)
	if err != nil {
		return nil, false
	}
	return texts(desired.Settings.NoProxy), true
}

func texts(l noproxy.List) []string {
	out := make([]string, len(l))
	for i, e := range l {
		out[i] = e.Text
	}
	return out
}

// leftOutIPv6 says whether an IPv6 range is left out as all of them are, where
// the cluster's services are IPv4 (docs/no-proxy.md).
func leftOutIPv6(list []string, p netip.Prefix) bool {
	for _, e := range list {
		if entry, err := netip.ParsePrefix(e); err == nil && entry.Addr().Is6() {
			return false
		}
	}
	return p.Addr().Is6()
}

// place is what is known of the cluster, and who says so.
type place struct {
	hosts, ranges map[string]string
}

// covered demands that NO_PROXY has the cluster's endpoint by its name, as a
// range never matches a name, and the addresses of services.
func (s *subject) covered(ctx context.Context) []verify.Finding {
	list := s.noProxy()
	if len(list) == 0 {
		return skip(noList)
	}
	known := s.place(ctx)
	var found []verify.Finding
	var good []string
	for _, host := range sortedKeys(known.hosts) {
		if coversHost(list, host) {
			good = append(good, host)
			continue
		}
		found = append(found, fail(host, s.withSetting("--cluster-endpoint https://"+host), "%s names this endpoint of the cluster and NO_PROXY does not cover it", known.hosts[host]))
	}
	for _, r := range sortedKeys(known.ranges) {
		p, err := netip.ParsePrefix(r)
		switch {
		case err != nil:
		case !coversRange(list, p):
			found = append(found, fail(r, s.withSetting("--service-cidr "+r), "%s names this range of services and NO_PROXY does not cover it", known.ranges[r]))
		case len(missing([]string{first(p)}, list)) > 0:
			found = append(found, warn(first(p), s.apply(), "the API server's service address stands in NO_PROXY by its range alone, which many clients do not read"))
		default:
			good = append(good, r)
		}
	}
	if len(found)+len(good) == 0 {
		return skip("neither endpoint nor service range is known: give --cluster-endpoint and --service-cidr")
	}
	return orPass(found, "covered: %s", strings.Join(good, ", "))
}

// first is the first address of a service range, which is the API server's.
func first(p netip.Prefix) string {
	if p.IsSingleIP() {
		return p.Addr().String()
	}
	return p.Masked().Addr().Next().String()
}

// place collects what flags, the kubelet, nodeadm and metadata say.
func (s *subject) place(ctx context.Context) place {
	k := place{hosts: map[string]string{}, ranges: map[string]string{}}
	k.network(s.o.Known, "the command line or configuration")
	for _, p := range []string{"/var/lib/kubelet/kubeconfig", "/etc/kubernetes/kubelet/kubeconfig", "/var/lib/kubelet/bootstrap-kubeconfig"} {
		if f, err := s.read(p); err == nil && f.Exists {
			k.host(serverOf(f.Data), p)
		}
	}
	for _, source := range s.nodeConfigSources() {
		for _, c := range source.configs {
			k.host(c.Spec.Cluster.Endpoint, source.path)
			k.cidr(c.Spec.Cluster.CIDR, source.path)
		}
	}
	if s.metadata != nil && len(k.ranges) == 0 {
		if now, err := s.metadata(ctx); err == nil {
			k.network(facts.Network{ServiceCIDRs: now.ServiceCIDRs}, "instance metadata")
		}
	}
	return k
}

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }

func (k place) network(n facts.Network, source string) {
	k.host(n.EndpointHost, source)
	for _, p := range n.ServiceCIDRs {
		k.cidr(p.String(), source)
	}
}

// host notes the host of a URL, or a bare host, once.
func (k place) host(text, source string) {
	if _, rest, ok := strings.Cut(text, "://"); ok {
		text = rest
	}
	text, _, _ = strings.Cut(text, "/")
	if inner, ok := strings.CutPrefix(text, "["); ok {
		text, _, _ = strings.Cut(inner, "]")
	} else if strings.Count(text, ":") == 1 {
		text, _, _ = strings.Cut(text, ":")
	}
	if _, ok := k.hosts[strings.ToLower(text)]; !ok && text != "" {
		k.hosts[strings.ToLower(text)] = source
	}
}

func (k place) cidr(text, source string) {
	if _, ok := k.ranges[text]; !ok && text != "" {
		k.ranges[text] = source
	}
}

// serverOf is the server of a kubeconfig.
func serverOf(data []byte) string {
	for line := range strings.Lines(string(data)) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(line), "server:"); ok {
			return strings.Trim(strings.TrimSpace(value), `"'`)
		}
	}
	return ""
}
