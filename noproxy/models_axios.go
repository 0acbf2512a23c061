package noproxy

import (
	"net/netip"
	"strings"
)

// readAxios reads an element as axios' own list does: addresses in any
// notation, loopback names for each other, and a star only in front.
func readAxios(_ *rules, text string) ([]element, bool) {
	if text == "*" {
		return []element{{kind: kindStar}}, false
	}
	if strings.Contains(text, "/") {
		p, ok := parseAxiosCIDR(text)
		if !ok {
			return nil, false
		}
		return []element{rangeElement(p, true)}, false
	}
	host, port, ok := cutAxiosPort(text)
	host = strings.TrimRight(host, ".")
	if host == "" || !ok {
		return nil, false
	}
	elements := readAxiosHost(host)
	for i := range elements {
		elements[i].port = port
	}
	return elements, false
}

func readAxiosHost(host string) []element {
	if addr, ok := parseAxiosAddr(host); ok {
		elements := []element{rangeElement(netip.PrefixFrom(addr, addr.BitLen()), true)}
		if isAnyLoopback("", addr) {
			elements = append(elements, element{kind: kindLoopback})
		}
		return elements
	}
	if host == "localhost" {
		return []element{{kind: kindExact, name: host, apex: RuleExact}, {kind: kindLoopback}}
	}
	name := strings.TrimPrefix(host, "*")
	if rest, dotted := strings.CutPrefix(name, "."); dotted {
		return []element{{kind: kindBelow, name: rest}}
	}
	return []element{{kind: kindExact, name: name, apex: RuleExact}}
}

// cutAxiosPort takes the port from name:port and [address]:port. A port of 0
// is no port, one too large never matches.
func cutAxiosPort(text string) (host string, port uint16, ok bool) {
	host, rest := text, ""
	if inner, after, found := strings.Cut(text, "]"); found && strings.HasPrefix(text, "[") {
		host, rest = inner[1:], after
	} else if strings.Count(text, ":") == 1 {
		if name, number, _ := strings.Cut(text, ":"); isNumber(number) {
			host, rest = name, ":"+number
		}
	}
	number, found := strings.CutPrefix(rest, ":")
	if !found || !isNumber(number) {
		return host, 0, true
	}
	n := atoi(number)
	return host, uint16(n & 0xffff), n <= 0xffff
}

func parseAxiosAddr(host string) (netip.Addr, bool) {
	if addr, err := netip.ParseAddr(host); err == nil && addr.Zone() == "" {
		return addr.Unmap(), true
	}
	if !strings.Contains(host, ".") {
		return netip.Addr{}, false
	}
	return parseLooseIPv4(host)
}

func parseAxiosCIDR(text string) (netip.Prefix, bool) {
	base, length, _ := strings.Cut(text, "/")
	if strings.HasPrefix(base, "[") != strings.HasSuffix(base, "]") {
		return netip.Prefix{}, false
	}
	bare := unbracket(base)
	addr, ok := parseAxiosAddr(bare)
	if !ok || bare != base && !strings.Contains(bare, ":") || !isNumber(length) || len(length) > 1 && length[0] == '0' {
		return netip.Prefix{}, false
	}
	bits := atoi(length)
	if addr.Is4() && strings.Contains(bare, ":") {
		bits -= 96
	}
	if bits < 0 || bits > addr.BitLen() {
		return netip.Prefix{}, false
	}
	return netip.PrefixFrom(addr, bits).Masked(), true
}
