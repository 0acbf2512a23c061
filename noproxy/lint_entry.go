package noproxy

import (
	"fmt"
	"net"
	"net/netip"
	"strings"
)

// The codes that are named in more than one place.
const (
	codeBlank     = "NP001"
	codePort      = "NP004"
	codeURL       = "NP005"
	codeStar      = "NP008"
	codeWide      = "NP009"
	codeBrackets  = "NP010"
	codeIPv6Range = "NP011"
	codePattern   = "NP027"
	codeRange     = "NP030"
	codeNoEntry   = "NP031"
)

// formFault is a fault in the form of one element.
type formFault struct {
	code, message string
	// fixed is what to write instead; empty where that cannot be told.
	fixed string
}

// examine looks at the form of one element without white space and separators.
// It gives the first fault; the fixed text may have another.
func examine(text string) formFault {
	switch {
	case text == "*":
		return formFault{code: codeStar, message: "a star is read as every host by some clients, as nothing by others"}
	case text == ".":
		return formFault{code: codeWide, message: "a dot alone matches every host in some clients"}
	case strings.Contains(text, "://") || strings.Contains(text, "@"):
		return formFault{codeURL, "an entry is a host and not a URL", hostInURL(text)}
	}
	if host, port := cutPort(text); port != 0 {
		return formFault{codePort, fmt.Sprintf("many clients compare no port, so that %s does not match there", Quote(text)), host}
	}
	if strings.Contains(text, "/") {
		return examineRange(text)
	}
	if addr, err := netip.ParseAddr(unbracket(text)); err == nil {
		if unbracket(text) != text && addr.Zone() == "" {
			return formFault{codeBrackets, "an address in brackets matches in few clients, and makes httpx fail for every host", addr.Unmap().String()}
		}
		return examineRest(text)
	}
	if p, ok := rangeOfPattern(text); ok {
		return formFault{codePattern, "an address pattern is no entry: almost no client reads it", p.String()}
	}
	if name := strings.TrimRight(text, "."); name != text && name != "" {
		return formFault{"NP003", "with a dot at the end it matches in few clients", name}
	}
	return examineRest(text)
}

// examineRest takes what is no entry in the portable grammar.
func examineRest(text string) formFault {
	if _, err := ParseAddition(text); err != nil {
		return formFault{code: codeNoEntry, message: err.Error()}
	}
	return formFault{}
}

func examineRange(text string) formFault {
	address, bits, _ := strings.Cut(text, "/")
	if bare := unbracket(address); bare != address {
		return formFault{codeBrackets, "a range in brackets matches nowhere, and makes httpx fail for every host", bare + "/" + bits}
	}
	p, err := netip.ParsePrefix(text)
	switch {
	case err != nil && strings.Count(address, ":") < 2 && !endsInNumber(address):
		return formFault{codeURL, "an entry has no path", address}
	case err != nil:
		return formFault{code: codeRange, message: "this is no range: a CIDR is a whole address and a prefix length"}
	case p.Bits() == 0:
		return formFault{code: codeWide, message: "the range covers every address"}
	case p != p.Masked():
		return formFault{codeRange, "clients differ on a CIDR with host bits", p.Masked().String()}
	case p.Addr().Is6():
		return formFault{code: codeIPv6Range, message: "an IPv6 CIDR makes httpx 0.28 fail for every host"}
	}
	return formFault{}
}

// hostInURL is the host in a text that looks like a URL; empty where none is
// found.
func hostInURL(text string) string {
	if _, rest, ok := strings.Cut(text, "://"); ok {
		text = rest
	}
	text, _, _ = strings.Cut(text, "/")
	if i := strings.LastIndexByte(text, '@'); i >= 0 {
		text = text[i+1:]
	}
	host, _ := cutPort(text)
	return unbracket(host)
}

// repair gives the entries that an element means; false where that cannot be
// told.
func repair(text string) (repaired []string, ok bool) {
	for piece := range strings.FieldsFuncSeq(text, isSeparator) {
		for range 4 {
			f := examine(piece)
			if f.code == "" || f.code == codeIPv6Range {
				break
			}
			if f.fixed == "" {
				return nil, false
			}
			piece = f.fixed
		}
		repaired = append(repaired, piece)
	}
	return repaired, len(repaired) > 0
}

// witnessURLs are requests that an element is about: to the host itself, to one
// below it, to an address in its range.
func witnessURLs(text string) []string {
	if p, err := netip.ParsePrefix(text); err == nil {
		addr := AddressIn(p)
		return []string{"http://" + net.JoinHostPort(addr.String(), "80") + "/"}
	}
	if p, ok := rangeOfPattern(text); ok {
		return witnessURLs(p.String())
	}
	host, port := cutPort(hostInURL(text))
	if port != 0 {
		return append(witnessURLs(host), fmt.Sprintf("http://%s:%d/", host, port))
	}
	host = unbracket(strings.Trim(host, "."))
	if addr, err := netip.ParseAddr(host); err == nil {
		if addr.Is6() {
			host = "[" + host + "]"
		}
		return []string{"http://" + host + "/", "https://" + host + "/"}
	}
	name := strings.TrimPrefix(host, "*.")
	return []string{"http://" + name + "/", "http://www." + name + "/", "https://www." + name + "/"}
}

// AddressIn is an address in the range that stands in no list by itself: not
// its first ones.
func AddressIn(p netip.Prefix) netip.Addr {
	addr := p.Masked().Addr()
	for range 7 {
		if next := addr.Next(); p.Contains(next) {
			addr = next
		}
	}
	return addr
}
