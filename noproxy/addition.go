package noproxy

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"unicode"
)

// ParseAddition reads what a user may add to a NO_PROXY value (noProxy.add,
// --no-proxy-add) and gives the entries that mean it in every client: a host,
// an address and a CIDR are one entry, a zone (".zone" or "*.zone") is three.
// Everything else, such as a URL, a port or an address pattern, is dead in some
// client and refused (BL-011, BL-014); the error says what to write instead.
func ParseAddition(text string) ([]string, error) {
	entries, err := parseAddition(strings.TrimSpace(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", Quote(text), err)
	}
	return entries, nil
}

func parseAddition(s string) ([]string, error) {
	if err := checkCharacters(s); err != nil {
		return nil, err
	}
	switch {
	case s == "*":
		return nil, errors.New("not all clients read a star alone; leave both proxies empty instead")
	case s == ".":
		// dotnet/runtime#75199
		return nil, errors.New("a dot alone matches every host in some clients; write the zone, as in .zone.example")
	case strings.Contains(s, "@"):
		return nil, errors.New("an entry has no user name and password; write the host alone")
	case strings.Contains(s, "://"):
		return nil, fmt.Errorf("an entry is not a URL; write the host%s", hostOfURL(s))
	case strings.Contains(s, "/"):
		return parseRange(s)
	}
	if ip, err := netip.ParseAddr(unbracket(s)); err == nil {
		return parseAddress(ip)
	}
	if strings.ContainsAny(s, ":[]") {
		return nil, refusePort(s)
	}
	return parseName(s)
}

func checkCharacters(s string) error {
	switch {
	case s == "":
		return errors.New("an entry is not empty; write a host, a .zone, an address or a CIDR")
	case strings.ContainsFunc(s, isSeparator):
		return errors.New("clients disagree about separators; write one entry each: repeat the flag or the list item")
	case strings.ContainsFunc(s, unicode.IsControl):
		return errors.New("an entry has no control characters; write it without them")
	case strings.ContainsFunc(s, isNotASCII):
		return errors.New("clients compare ASCII names; write it in punycode (xn--...)")
	}
	return nil
}

func isSeparator(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(",;|", r) }

func isNotASCII(r rune) bool { return r > unicode.MaxASCII }

// parseAddress gives IPv6 bare: brackets never match in Go and break httpx
// 0.28 for every host (BL-007, encode/httpx#3574).
func parseAddress(ip netip.Addr) ([]string, error) {
	if ip.Zone() != "" {
		return nil, fmt.Errorf("a zone holds on one host only; write the address without it: %s", ip.WithZone(""))
	}
	return []string{ip.Unmap().String()}, nil
}

// parseRange reads a CIDR. Host bits are refused, not cleared: clients differ
// on them, and only the user knows which of the two was meant.
func parseRange(s string) ([]string, error) {
	p, err := netip.ParsePrefix(s)
	if err != nil {
		return nil, refusePath(s)
	}
	// Only a prefix of at least 96 bits has the whole IPv4 mark in it.
	if p.Addr().Is4In6() && p.Bits() >= 96 {
		p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
	}
	switch {
	case p.Bits() == 0:
		return nil, errors.New("the range covers every address; leave both proxies empty instead")
	case p != p.Masked():
		return nil, fmt.Errorf("a CIDR has no host bits; write the range %s or the single address %s", p.Masked(), p.Addr())
	}
	return []string{p.String()}, nil
}

// refusePath says what is wrong with text that has a slash and is no CIDR.
func refusePath(s string) error {
	host, _, _ := strings.Cut(s, "/")
	if strings.Count(host, ":") > 1 || endsInNumber(host) {
		return errors.New("a CIDR is a whole address and a prefix length; write it as in 10.0.0.0/8 or fd00:1::/32")
	}
	return fmt.Errorf("an entry has no path; write the host%s", suggestion(host))
}

// refusePort says what is wrong with text that has a colon or brackets and is
// no address.
func refusePort(s string) error {
	i := strings.LastIndexByte(s, ':')
	if i > 0 && isNumber(s[i+1:]) {
		return fmt.Errorf("not all clients read ports; write the host without port%s", suggestion(unbracket(s[:i])))
	}
	return errors.New("this is no IPv6 address; write it bare, as in fd00:ec2::254")
}

func unbracket(s string) string {
	if strings.HasPrefix(s, "[") && strings.HasSuffix(s, "]") {
		return s[1 : len(s)-1]
	}
	return s
}

func hostOfURL(s string) string {
	u, err := url.Parse(s)
	if err != nil {
		return suggestion("")
	}
	return suggestion(u.Hostname())
}

// suggestion ends a sentence with the host that the user should write; one
// that would be refused too is not proposed.
func suggestion(host string) string {
	ip, err := netip.ParseAddr(host)
	if err == nil && ip.Zone() == "" {
		return ": " + ip.Unmap().String()
	}
	if _, err := parseName(host); err == nil {
		return ": " + host
	}
	return " alone"
}

// Quote prepares text that a user wrote for a message: quoted, cut after 60
// bytes, and without what stands before an @, which may be a password.
func Quote(text string) string {
	if i := strings.LastIndexByte(text, '@'); i >= 0 {
		text = "***" + text[i:]
	}
	if len(text) > 60 {
		return fmt.Sprintf("%q...", text[:60])
	}
	return fmt.Sprintf("%q", text)
}
