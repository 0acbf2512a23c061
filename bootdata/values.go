package bootdata

import (
	"errors"
	"net/netip"
	"net/url"
	"strings"

	"github.com/eksproxy/eksproxy/internal/nameform"
)

// isClusterName says whether EKS would allow the name.
func isClusterName(s string) bool {
	return len(s) <= 100 && isAlnum(s[0]) && hasOnly(s, "-_")
}

// endpointHost takes the host out of a URL or host; the empty text stays so.
func endpointHost(s string) (string, error) {
	if s == "" {
		return "", nil
	}
	host := s
	// A bare IPv6 address has colons that a URL would take for a port.
	if _, err := netip.ParseAddr(s); err != nil {
		if !strings.Contains(s, "://") {
			s = "https://" + s
		}
		u, err := url.Parse(s)
		if err != nil {
			return "", errors.New("is neither a URL nor a host") // the cause quotes it
		}
		host = u.Hostname()
	}
	host = strings.TrimSuffix(host, ".")
	if !nameform.IsHost(host) {
		return "", errors.New("holds no valid host")
	}
	return host, nil
}

// hasOnly says whether s has only ASCII letters, digits and the extra ones.
func hasOnly(s, extra string) bool {
	for i := range len(s) {
		if !isAlnum(s[i]) && strings.IndexByte(extra, s[i]) < 0 {
			return false
		}
	}
	return true
}

func isAlnum(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// serviceCIDR parses a range; the empty text is the zero prefix. A range that
// holds half the internet would switch the proxy off without a word.
func serviceCIDR(s string) (netip.Prefix, error) {
	if s == "" {
		return netip.Prefix{}, nil
	}
	p, err := netip.ParsePrefix(s)
	if err != nil || p.Addr().Is4In6() {
		return netip.Prefix{}, errors.New("is not a CIDR") // the cause quotes it
	}
	if p.Addr().Is4() && p.Bits() < 8 || p.Addr().Is6() && p.Bits() < 16 {
		return netip.Prefix{}, errors.New("is too wide for service addresses")
	}
	return p.Masked(), nil
}

// fromDNSServer concludes from the address of the cluster's DNS: EKS gives it
// the tenth of the range and the API server the first. Only of EKS's default
// ranges is the size known.
func fromDNSServer(s string) (netip.Addr, netip.Prefix) {
	dns, err := netip.ParseAddr(s)
	if err != nil || !dns.Is4() || dns.As4()[3] != 10 {
		return netip.Addr{}, netip.Prefix{}
	}
	b := dns.As4()
	b[3] = 1
	api := netip.AddrFrom4(b)
	if s == "10.100.0.10" || s == "172.20.0.10" {
		return api, netip.PrefixFrom(api, 16).Masked()
	}
	return api, netip.Prefix{}
}
