package noproxy

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// parseName reads a host name or a zone.
func parseName(s string) ([]string, error) {
	if p, ok := rangeOfPattern(s); ok {
		return nil, fmt.Errorf("clients read no address patterns; write the CIDR %s", p)
	}
	name, isZone := cutZone(s)
	// Clients compare texts, and almost none drops the root's dot.
	name = strings.TrimSuffix(name, ".")
	if err := checkName(name); err != nil {
		return nil, err
	}
	if !isZone {
		return []string{name}, nil
	}
	// Strict clients take the bare name for the zone's own host only, Go takes
	// ".zone" for the hosts below it only, and the AWS SDK for Java knows
	// nothing but the star (docs/no-proxy.md).
	return []string{name, "." + name, "*." + name}, nil
}

func cutZone(s string) (name string, isZone bool) {
	if name, ok := strings.CutPrefix(s, "*."); ok {
		return name, true
	}
	return strings.CutPrefix(s, ".")
}

// checkName holds a name without trailing dot to DNS's limits (RFC 1035, 2.3.4)
// and to the characters that names of hosts and services have in practice.
func checkName(name string) error {
	if len(name) > 253 {
		return errors.New("a name has at most 253 characters; write a zone above it, as in .zone.example")
	}
	for label := range strings.SplitSeq(name, ".") {
		switch {
		case label == "":
			return errors.New("a name has no empty label; write a host as in host.example, a zone as in .zone.example")
		case len(label) > 63:
			return errors.New("a label of a name has at most 63 characters; write a zone above it, as in .zone.example")
		case strings.Contains(label, "*"):
			return errors.New("a star stands only in front of a zone; write it as in *.zone.example or .zone.example")
		case strings.ContainsFunc(label, isNotLabel):
			return errors.New("a name is made of letters, digits, - and _; write a host as in host.example")
		}
	}
	if endsInNumber(name) {
		return errors.New("a name does not end in a number; write a whole address, as in 10.0.0.1, or a CIDR, as in 10.0.0.0/8")
	}
	return nil
}

func isNotLabel(r rune) bool {
	letter := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
	digit := '0' <= r && r <= '9'
	return !letter && !digit && r != '-' && r != '_'
}

// rangeOfPattern gives the range that "10.*", "172.17.*" or "192.168." is
// meant to be. No client reads these as prefixes (BL-011).
func rangeOfPattern(s string) (netip.Prefix, bool) {
	for strings.HasSuffix(s, ".*") {
		s = strings.TrimSuffix(s, ".*")
	}
	labels := strings.Split(strings.TrimSuffix(s, "."), ".")
	if len(labels) > 3 {
		return netip.Prefix{}, false
	}
	var octets [4]byte
	for i, label := range labels {
		n, err := strconv.ParseUint(label, 10, 8)
		if err != nil {
			return netip.Prefix{}, false
		}
		octets[i] = byte(n)
	}
	return netip.PrefixFrom(netip.AddrFrom4(octets), 8*len(labels)), true
}

// endsInNumber tells broken IPv4 addresses from names, as URL parsers do
// (WHATWG URL, "ends in a number").
func endsInNumber(name string) bool {
	return isNumber(name[strings.LastIndexByte(name, '.')+1:])
}

func isNumber(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
