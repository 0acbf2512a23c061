package noproxy

import (
	"net/netip"
	"strings"
)

// element is one element of a NO_PROXY value, prepared for comparison.
type element struct {
	text   string // as written, for people
	kind   elementKind
	name   string // what the host is compared with, in the client's case
	port   uint16 // 0: any
	scheme string // "": any
	ported bool   // the host with its port is compared too
	apex   RuleID // the rule where the host is the name itself
	prefix netip.Prefix
	unmaps bool       // ::ffff:10.1.2.3 is 10.1.2.3
	last   netip.Addr // of a span
}

type elementKind uint8

const (
	kindExact    elementKind = iota // the name alone
	kindZone                        // the name and what is below it
	kindBelow                       // what is below the name
	kindSuffix                      // what ends in the name, dots or none
	kindStar                        // every host
	kindPrefix                      // what begins with the name
	kindInside                      // what has the name in it
	kindPattern                     // . is one character, * any number
	kindRange                       // addresses
	kindSpan                        // addresses from prefix's to last
	kindLoopback                    // loopback in any form
)

// fits is false for most names that the element does not cover. It is what
// makes a long list fast.
func (e *element) fits(host string) bool {
	rest := len(host) - len(e.name)
	if e.kind == kindPattern && e.apex == RuleExact { // no star: as many characters
		return rest == 0
	}
	return rest == 0 || e.kind > kindBelow || rest > 0 && host[rest-1] == '.'
}

// match says whether the element covers the host, and by which rule. port is
// the host with its port where the client compares that too.
func (e *element) match(host, port string, t *Target) RuleID {
	if e.port != 0 && e.port != t.port || e.scheme != "" && e.scheme != t.scheme {
		return RuleNone
	}
	if rule := e.matchText(host, t); rule != RuleNone || !e.ported || port == "" {
		return rule
	}
	return e.matchText(port, t)
}

func (e *element) matchText(host string, t *Target) RuleID {
	switch e.kind {
	case kindStar:
		return RuleStar
	case kindExact:
		if host == e.name {
			return e.apex
		}
	case kindZone:
		if host == e.name {
			return e.apex
		}
		if isBelow(host, e.name) {
			return RuleZone
		}
	case kindBelow:
		if isBelow(host, e.name) {
			return RuleZone
		}
	case kindSuffix:
		if strings.HasSuffix(host, e.name) {
			return RuleSuffix
		}
	default:
		return e.matchRarely(host, t)
	}
	return RuleNone
}

func (e *element) matchRarely(host string, t *Target) RuleID {
	switch {
	case e.kind == kindRange:
		return e.matchAddress(t)
	case e.kind == kindSpan && !t.addr.Less(e.prefix.Addr()) && !e.last.Less(t.addr):
		return RuleRange
	case e.kind == kindLoopback && isAnyLoopback(host, t.addr):
		return RuleLoopbackEntry
	case e.kind == kindPrefix && strings.HasPrefix(host, e.name),
		e.kind == kindInside && strings.Contains(host, e.name),
		e.kind == kindPattern && matchPattern(e.name, host):
		return RulePattern
	}
	return RuleNone
}

func (e *element) matchAddress(t *Target) RuleID {
	addr, rule := t.addr.WithZone(""), RuleRange
	if e.prefix.IsSingleIP() {
		rule = RuleAddress
	}
	switch {
	case t.class == className:
		addr, rule = t.resolved, RuleResolved
	case e.unmaps:
		addr = addr.Unmap()
	}
	if e.prefix.Contains(addr) {
		return rule
	}
	return RuleNone
}

// isBelow says whether the host ends in a dot and the name.
func isBelow(host, name string) bool {
	dot := len(host) - len(name) - 1
	return dot >= 0 && host[dot] == '.' && host[dot+1:] == name
}

// isAnyLoopback is axios' notion of it, which has the unspecified addresses.
func isAnyLoopback(host string, addr netip.Addr) bool {
	addr = addr.Unmap()
	return host == "localhost" || addr.IsLoopback() || addr.IsUnspecified()
}

// matchPattern matches a regular expression of nothing but characters, dots
// for one and stars for any number of them. What follows the last star must be
// the host's end, which settles most elements at once.
func matchPattern(pattern, host string) bool {
	star := strings.LastIndexByte(pattern, '*')
	tail := pattern[star+1:]
	rest := len(host) - len(tail)
	switch {
	case rest < 0 || star < 0 && rest > 0 || !matchDots(tail, host[rest:]):
		return false
	case star <= 0:
		return true
	}
	return matchStars(pattern[:star+1], host[:rest])
}

// matchDots compares texts of one length, from the end: ends differ most.
func matchDots(pattern, text string) bool {
	for i := len(pattern) - 1; i >= 0; i-- {
		if pattern[i] != '.' && pattern[i] != text[i] {
			return false
		}
	}
	return true
}

// matchStars tries a star longer where what follows it does not match.
func matchStars(pattern, host string) bool {
	star, mark := -1, 0
	p := 0
	for h := 0; h < len(host); {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, h
			p++
		case p < len(pattern) && (pattern[p] == '.' || pattern[p] == host[h]):
			p++
			h++
		case star >= 0:
			mark++
			p, h = star+1, mark
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}
