package noproxy

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// Target is what a client is asked to fetch, in the forms in which clients
// compare it. ParseTarget makes it; it does not change.
type Target struct {
	url, scheme string
	host        string // as written, without brackets
	port        uint16 // the URL's, or its scheme's own
	addr        netip.Addr
	resolved    netip.Addr
	class       hostClass
	texts       [hostForms]string
}

// hostClass tells what a host is; many clients hold names and addresses
// against different elements.
type hostClass uint8

const (
	className hostClass = iota
	classIPv4
	classIPv6
	hostClasses
)

// hostForm is one text of the host, in lower case. Which one a client compares
// follows from the parser it reads URLs with.
type hostForm uint8

const (
	formNone          hostForm = iota
	formPlain                  // fd00:0ec2::23
	formBracketed              // [fd00:0ec2::23]
	formNetloc                 // [fd00:0ec2::23]:8080, with a port where the URL has one
	formPlainPort              // fd00:0ec2::23:8080, the same without brackets
	formCanonical              // fd00:ec2::23, and 10.1.2.3 for 0x0a.1.515
	formCanonicalPort          // fd00:ec2::23:80, always with a port
	formWHATWG                 // [fd00:ec2::23]
	formCompressed             // fd00:ec2::23, and 0x0a.1.515 as it is
	formLibcurl                // formCanonical, with ::ffff:10.1.2.3 in dotted form
	formNoDots                 // formLibcurl without the root's dot
	formBeforeColon            // [fd00
	formHTTPX                  // formPlain, with IPv6 as written
	hostForms
)

// URL is the text that was parsed.
func (t Target) URL() string { return t.url }

// Scheme is http or https.
func (t Target) Scheme() string { return t.scheme }

// Host is the host as written, without brackets and port.
func (t Target) Host() string { return t.host }

// Port is the port of the URL, or its scheme's own.
func (t Target) Port() uint16 { return t.port }

// Addr is the address that the host is, without zone; the zero Addr where it
// is a name.
func (t Target) Addr() netip.Addr { return t.addr.WithZone("") }

// ResolvesTo gives the same target with the address that its name stands for.
// Ruby alone asks for it; without it a name other than localhost has none.
func (t Target) ResolvesTo(addr netip.Addr) Target {
	t.resolved = addr.Unmap()
	return t
}

// ParseTarget reads an http or https URL with a host. It resolves nothing.
func ParseTarget(rawURL string) (Target, error) {
	t, err := parseTarget(rawURL)
	if err != nil {
		return Target{}, fmt.Errorf("%s: %w", Quote(rawURL), err)
	}
	return t, nil
}

func parseTarget(rawURL string) (Target, error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		// The error of net/url repeats the whole text, password and all.
		return Target{}, errors.New("this is no URL; write it as in https://host.example/")
	}
	t := Target{url: rawURL, scheme: u.Scheme, host: u.Hostname()}
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return Target{}, errors.New("the scheme is http or https; write it as in https://host.example/")
	case t.host == "":
		return Target{}, errors.New("the URL has no host; write it as in https://host.example/")
	case strings.ContainsFunc(t.host, isNotASCII):
		return Target{}, errors.New("clients compare ASCII names; write it in punycode (xn--...)")
	case strings.ContainsFunc(t.host, isSeparator):
		return Target{}, errors.New("a host has no separators; write it as in https://host.example/")
	}
	if t.port, err = portOf(u); err != nil {
		return Target{}, err
	}
	t.classify()
	t.fillTexts(u.Port())
	return t, nil
}

func portOf(u *url.URL) (uint16, error) {
	switch text := u.Port(); {
	case text != "":
		n, err := strconv.ParseUint(text, 10, 16)
		if err != nil || n == 0 {
			return 0, errors.New("a port is a number from 1 to 65535")
		}
		return uint16(n), nil
	case u.Scheme == "https":
		return 443, nil
	}
	return 80, nil
}

// classify finds what the host is and the address that it stands for.
func (t *Target) classify() {
	if addr, err := netip.ParseAddr(t.host); err == nil {
		t.addr, t.class = addr, classIPv6
		if addr.Is4() {
			t.class = classIPv4
		}
		t.resolved = addr
		return
	}
	if strings.EqualFold(t.host, "localhost") {
		t.resolved = netip.IPv6Loopback()
	}
}

func (t *Target) fillTexts(explicitPort string) {
	plain := strings.ToLower(t.host)
	canonical, compressed, dotted, httpx := plain, plain, plain, plain
	if t.class == classIPv6 {
		httpx = t.host
	}
	switch {
	case t.class == classIPv6 && t.addr.Zone() == "":
		dotted, canonical = t.addr.String(), hexadecimal(t.addr)
		compressed = canonical
	case t.class == className:
		// curl, browsers and Node read 0x0a.1.515 as 10.1.2.3.
		if addr, ok := parseLooseIPv4(strings.TrimSuffix(plain, ".")); ok {
			canonical, dotted = addr.String(), addr.String()
		}
	}
	bracket := func(s string) string {
		if t.class == classIPv6 {
			return "[" + s + "]"
		}
		return s
	}
	withPort := func(s, port string) string {
		if port == "" {
			return s
		}
		return s + ":" + port
	}
	beforeColon, _, _ := strings.Cut(bracket(plain), ":")
	t.texts = [hostForms]string{
		formPlain:         plain,
		formBracketed:     bracket(plain),
		formNetloc:        withPort(bracket(plain), explicitPort),
		formPlainPort:     withPort(plain, explicitPort),
		formCanonical:     canonical,
		formCanonicalPort: withPort(canonical, strconv.Itoa(int(t.port))),
		formWHATWG:        bracket(canonical),
		formCompressed:    compressed,
		formLibcurl:       dotted,
		formNoDots:        strings.TrimRight(dotted, "."),
		formBeforeColon:   beforeColon,
		formHTTPX:         httpx,
	}
}
