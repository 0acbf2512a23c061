package noproxy

import (
	"errors"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// patterns are the entries as Java's clients read them: hosts, "*.zone", and
// "10.40.*" for a range. address writes an IPv6 address.
func patterns(l List, address func(netip.Addr) (string, error)) (texts []string, left []Omission) {
	for _, e := range l {
		found, err := patternsOf(e.Text, address)
		if err != nil {
			left = append(left, Omission{e.Text, err.Error()})
		}
		for _, text := range found {
			if !slices.Contains(texts, text) {
				texts = append(texts, text)
			}
		}
	}
	return texts, left
}

func patternsOf(text string, address func(netip.Addr) (string, error)) ([]string, error) {
	if name, isZone := cutZone(text); isZone {
		return []string{"*." + name}, nil
	}
	if p, err := netip.ParsePrefix(text); err == nil {
		return octetPatterns(p)
	}
	if addr, err := netip.ParseAddr(text); err == nil && addr.Is6() {
		pattern, err := address(addr)
		if err != nil {
			return nil, err
		}
		return []string{pattern}, nil
	}
	return []string{text}, nil
}

// bracketed is an IPv6 address as the JDK compares it.
func bracketed(addr netip.Addr) (string, error) { return "[" + addr.String() + "]", nil }

// noIPv6 says that the AWS SDK for Java 2 has no form for IPv6.
func noIPv6(netip.Addr) (string, error) {
	return "", errors.New("the AWS SDK for Java 2 matches no IPv6 address")
}

// octetPatterns are the patterns that cover an IPv4 range exactly: one that ends
// between two octets becomes up to 128.
func octetPatterns(p netip.Prefix) ([]string, error) {
	if p.Addr().Is6() {
		return nil, errors.New("in Java there is no form for an IPv6 range")
	}
	p = p.Masked()
	whole := p.Bits() / 8
	octets := p.Addr().As4()
	if p.IsSingleIP() {
		return []string{p.Addr().String()}, nil
	}
	var b strings.Builder
	for _, o := range octets[:whole] {
		b.WriteString(strconv.Itoa(int(o)) + ".")
	}
	prefix := b.String()
	if p.Bits()%8 == 0 {
		return []string{prefix + "*"}, nil
	}
	count := 1 << (8 - p.Bits()%8)
	var texts []string
	for i := range count {
		text := prefix + strconv.Itoa(int(octets[whole])+i)
		if whole < 3 {
			text += ".*"
		}
		texts = append(texts, text)
	}
	return texts, nil
}

// String is the omission in a sentence.
func (o Omission) String() string {
	return strings.Join([]string{o.Entry, o.Why}, ": ")
}
