package cluster

import (
	"cmp"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"unicode"
)

// parsePrefixes reads ranges, sorted and each once; an empty text is none.
func parsePrefixes(texts []string) ([]netip.Prefix, error) {
	var list []netip.Prefix
	for _, text := range texts {
		if text == "" {
			continue
		}
		p, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, fmt.Errorf("%q is not a CIDR", text)
		}
		list = append(list, p.Masked())
	}
	return sortPrefixes(list), nil
}

func sortPrefixes(list []netip.Prefix) []netip.Prefix {
	slices.SortFunc(list, func(a, b netip.Prefix) int {
		return cmp.Or(a.Addr().Compare(b.Addr()), a.Bits()-b.Bits())
	})
	return slices.Compact(list)
}

// hostOf is the host of a URL, in its case.
func hostOf(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" {
		return "", fmt.Errorf("%q is not the URL of a server", text)
	}
	host := u.Hostname()
	if net.ParseIP(host) == nil && !isName(host) {
		return "", fmt.Errorf("%q is not the name of a host", host)
	}
	return host, nil
}

// isLoopback says whether a host is this machine.
func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback() || strings.EqualFold(host, "localhost")
}

// isRegion accepts words of lower-case letters and digits with hyphens between
// them, the first of letters only and the last a number: "us-gov-west-1".
func isRegion(s string) bool {
	words := strings.Split(s, "-")
	if len(words) < 3 || len(s) > 32 || len(words[0]) < 2 || !hasOnly(words[0], isLower) || !hasOnly(words[len(words)-1], isDigit) {
		return false
	}
	return !slices.ContainsFunc(words, func(w string) bool {
		return w == "" || !hasOnly(w, func(c byte) bool { return isLower(c) || isDigit(c) })
	})
}

// isName accepts a DNS name without a dot at its end.
func isName(s string) bool {
	if len(s) > 253 {
		return false
	}
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || len(label) > 63 || strings.Trim(label, "-") != label ||
			!hasOnly(strings.ToLower(label), func(c byte) bool { return isLower(c) || isDigit(c) || c == '-' || c == '_' }) {
			return false
		}
	}
	return true
}

func isLower(c byte) bool { return 'a' <= c && c <= 'z' }
func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func hasOnly(s string, ok func(byte) bool) bool {
	for i := range len(s) {
		if !ok(s[i]) {
			return false
		}
	}
	return true
}

// oneLine is a text of others without line ends and other controls.
func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
}
