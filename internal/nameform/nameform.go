// Package nameform knows the forms of names that come from outside, before they get
// into a file, a URL or a request. It knows no network: a name of the right form
// may lead nowhere.
package nameform

import (
	"net/netip"
	"strings"
)

// IsRegion says whether a text has the form of an AWS region, as "us-gov-west-1":
// three words or more of lower-case letters and digits with hyphens between them,
// the first of letters alone and the last a number.
func IsRegion(s string) bool {
	words := strings.Split(s, "-")
	if len(words) < 3 || len(s) > 32 || len(words[0]) < 2 || !all(words[0], isLower) || !all(words[len(words)-1], isDigit) {
		return false
	}
	for _, w := range words {
		if w == "" || !all(w, func(c byte) bool { return isLower(c) || isDigit(c) }) {
			return false
		}
	}
	return true
}

// IsDNS says whether a text has the form of a host name without a dot at its end
// (RFC 1123), in either case.
func IsDNS(s string) bool { return IsName(s) && !strings.Contains(s, "_") }

// IsName is IsDNS where an underscore is taken too, as resolvers do: for names that
// are there already.
func IsName(s string) bool {
	if s == "" || len(s) > 253 {
		return false
	}
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || len(label) > 63 || strings.Trim(label, "-") != label || !all(label, isLabel) {
			return false
		}
	}
	return true
}

// IsDomain says whether a text is a host name of two labels or more in lower case,
// at most 100 bytes long, and no IPv4 address: the domain of a partition's services.
func IsDomain(s string) bool {
	return IsDNS(s) && len(s) <= 100 && strings.Contains(s, ".") && strings.ToLower(s) == s && !isDigit(s[len(s)-1])
}

// IsHost says whether a text is a name that a resolver takes, or an IP address without a zone and
// brackets.
func IsHost(s string) bool {
	if addr, err := netip.ParseAddr(s); err == nil {
		return addr.Zone() == ""
	}
	return IsName(s)
}

func isLower(c byte) bool { return 'a' <= c && c <= 'z' }
func isDigit(c byte) bool { return '0' <= c && c <= '9' }
func isLabel(c byte) bool {
	return isLower(c) || isDigit(c) || 'A' <= c && c <= 'Z' || c == '-' || c == '_'
}

func all(s string, ok func(byte) bool) bool {
	for i := range len(s) {
		if !ok(s[i]) {
			return false
		}
	}
	return true
}
