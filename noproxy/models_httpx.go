package noproxy

import (
	"net/netip"
	"strings"
)

// readHTTPX makes the patterns that httpx makes of an element. It minds the
// case of IPv6 addresses.
func readHTTPX(_ *rules, written string) ([]element, bool) {
	text := strings.ToLower(written)
	host, _, _ := strings.Cut(text, "/")
	addr, err := netip.ParseAddr(host)
	switch {
	case text == "*":
		return []element{{kind: kindStar}}, false
	case strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return nil, true
	case strings.Contains(text, "://"):
		return readHTTPXURL(text)
	case err == nil && addr.Is4():
		return []element{{kind: kindExact, name: host, apex: RuleExact}}, false
	case err == nil && strings.Contains(text, "/"):
		return nil, true
	case err == nil:
		return []element{{kind: kindExact, name: written, apex: RuleExact}}, false
	case text == "localhost":
		return []element{{kind: kindExact, name: text, apex: RuleExact}}, false
	}
	return readHTTPXPattern("", "*"+text)
}

// readHTTPXURL reads an element that httpx takes for a pattern as it is.
func readHTTPXURL(text string) ([]element, bool) {
	scheme, rest, _ := strings.Cut(text, ":")
	authority, found := strings.CutPrefix(rest, "//")
	switch {
	case strings.Trim(scheme, "abcdefghijklmnopqrstuvwxyz0123456789+.-") != "":
		return nil, false
	case !found:
		return nil, scheme == "" && strings.HasPrefix(rest, ":")
	case scheme == "all":
		scheme = ""
	}
	return readHTTPXPattern(scheme, authority)
}

// readHTTPXPattern reads host and port of a pattern. A port that is the
// scheme's own never matches, since httpx drops it from the URL.
func readHTTPXPattern(scheme, authority string) ([]element, bool) {
	if i := strings.IndexAny(authority, "/?#"); i >= 0 {
		authority = authority[:i]
	}
	authority = authority[strings.LastIndexByte(authority, '@')+1:]
	var host, port string
	if end := strings.LastIndexByte(authority, ']'); strings.HasPrefix(authority, "[") && end > 0 {
		host, port = authority[1:end], strings.TrimPrefix(authority[end+1:], ":")
		if addr, err := netip.ParseAddr(host); err != nil || !addr.Is6() {
			return nil, true
		}
	} else {
		host, port, _ = strings.Cut(authority, ":")
	}
	// The number may have what Python's int takes.
	if port = strings.TrimPrefix(strings.TrimSpace(port), "+"); port != "" && !isNumber(port) {
		return nil, true
	}
	e := element{kind: kindExact, name: host, apex: RuleExact, scheme: scheme}
	if name, ok := strings.CutPrefix(host, "*."); ok {
		e.kind, e.name = kindBelow, name
	} else if name, ok := strings.CutPrefix(host, "*"); ok {
		e.kind, e.name = kindZone, name
	}
	if host == "" || host == "*" {
		// Without a port the pattern comes after that of the proxy.
		if port == "" {
			return nil, false
		}
		e.kind, e.name = kindInside, ""
	}
	return e.withHTTPXPort(port), false
}

func (e element) withHTTPXPort(port string) []element {
	n := atoi(port)
	switch own := map[string]int{"http": 80, "https": 443}; {
	case port == "":
		return []element{e}
	case n > 65535 || n == 0:
		return nil
	case n == own[e.scheme]:
		return []element{e}
	case n == 80 && e.scheme == "":
		e.scheme = "https"
	case n == 443 && e.scheme == "":
		e.scheme = "http"
	}
	e.port = uint16(n) //nolint:gosec // held to its bits above
	return []element{e}
}
