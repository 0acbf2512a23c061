package noproxy

import (
	"net/netip"
	"strconv"
	"strings"
)

// nameRule says which hosts an element that is a name covers.
type nameRule uint8

const (
	asBare    nameRule = iota // a mark in front is part of the name
	exact                     // the host itself
	zone                      // the host and what is below it
	below                     // what is below it
	suffix                    // what ends in it, be it in the middle of a label
	unmatched                 // no host
)

// starRule says what an element "*" does.
type starRule uint8

const (
	starNothing starRule = iota
	starValue            // every host, where it is the whole value
	starElement          // every host, as any element
	starName             // every name, but no address
)

// portRule says how a port in an element is read.
type portRule uint8

const (
	portNone   portRule = iota // it is part of the name
	portText                   // the text is compared with host:port
	portExact                  // the same, for whole elements only
	portNumber                 // what follows the last colon is compared with the port
)

// apartRule says which hosts are compared with addresses only.
type apartRule uint8

const (
	apartNone apartRule = iota
	apartIPv4
	apartBoth
)

// rules are how a client reads one list.
type rules struct {
	split splitter
	star  starRule
	// bare, dotted and starred are for "x", ".x" and "*.x".
	bare, dotted, starred nameRule
	// allDots takes every leading dot away, not one.
	allDots bool
	// rootDot takes trailing dots away, from elements and hosts.
	rootDot bool
	// mindsCase compares elements as they are written.
	mindsCase bool
	host      hostForm
	port      portRule
	hostPort  hostForm
	apart     apartRule
	// ranges reads addresses and ranges; without it they are texts.
	ranges rangeReader
	// unmaps takes ::ffff:10.1.2.3 for 10.1.2.3.
	unmaps bool
	// resolves compares ranges with the address of a name.
	resolves bool
	// read replaces the reading of an element, where options do not do. bad
	// means that no request can be made with such an element.
	read func(r *rules, text string) (elements []element, bad bool)
}

// compile reads one element.
func (r *rules) compile(written string) (elements []element, bad bool) {
	text := written
	if !r.mindsCase {
		text = strings.ToLower(text)
	}
	read := (*rules).readElement
	if r.read != nil {
		read = r.read
	}
	elements, bad = read(r, text)
	for i := range elements {
		elements[i].text = strings.TrimSpace(written)
	}
	return elements, bad
}

func (r *rules) readElement(text string) ([]element, bool) {
	if text == "*" && r.star >= starElement {
		return []element{{kind: kindStar}}, false
	}
	if r.ranges != nil {
		if p, ok := r.ranges(text); ok {
			return []element{rangeElement(p, r.unmaps)}, false
		}
	}
	if r.rootDot {
		text = strings.TrimSuffix(text, ".")
	}
	name, port, ok := r.cutPort(text)
	if !ok {
		return nil, false
	}
	e, ok := r.nameElement(name)
	if !ok {
		return nil, false
	}
	e.port = port
	e.ported = r.port == portText || r.port == portExact && e.kind == kindExact
	return []element{e}, false
}

func rangeElement(p netip.Prefix, unmaps bool) element {
	return element{kind: kindRange, prefix: p, unmaps: unmaps}
}

// nameElement reads a name by the mark in front of it.
func (r *rules) nameElement(text string) (element, bool) {
	rule, name := r.bare, text
	switch rest, starred := strings.CutPrefix(text, "*."); {
	case starred && r.starred != asBare:
		rule, name = r.starred, rest
	case strings.HasPrefix(text, ".") && r.dotted != asBare:
		rule, name = r.dotted, text[1:]
		if r.allDots {
			name = strings.TrimLeft(name, ".")
		}
	}
	return ruledElement(rule, name, name != text)
}

func ruledElement(rule nameRule, name string, marked bool) (element, bool) {
	e := element{name: name, apex: RuleExact}
	if marked {
		e.apex = RuleApex
	}
	switch rule {
	case exact:
		e.kind = kindExact
	case zone:
		e.kind = kindZone
	case below:
		e.kind = kindBelow
	case suffix:
		e.kind = kindSuffix
	default:
		return element{}, false
	}
	return e, true
}

// cutPort takes the port from an element. It says false where the element is
// void.
func (r *rules) cutPort(text string) (name string, port uint16, ok bool) {
	i := strings.LastIndexByte(text, ':')
	if r.port == portNumber && i > 0 && isNumber(text[i+1:]) {
		n, err := strconv.ParseUint(text[i+1:], 10, 16)
		return text[:i], uint16(n), err == nil
	}
	return text, 0, true
}

// covers says which hosts an element is held against.
func (r *rules) covers(e *element, class hostClass) bool {
	isRange := e.kind == kindRange || e.kind == kindSpan
	switch {
	case class == className:
		return !isRange || r.resolves
	case e.kind == kindStar:
		return r.star != starName
	case r.apart == apartBoth, r.apart == apartIPv4 && class == classIPv4:
		return isRange
	}
	return true
}
