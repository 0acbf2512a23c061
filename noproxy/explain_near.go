package noproxy

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// nearMisses say of each entry that a reader may take for a match of the
// target why it is none, in a client that asks the proxy. alone says whether
// the client goes direct with an entry alone: then the list around it is why.
func nearMisses(value string, t Target, alone func(text string) bool) []string {
	var misses []string
	blank := false
	for raw := range strings.SplitSeq(value, ",") {
		text := strings.TrimSpace(raw)
		var why string
		switch pieces := strings.FieldsFunc(text, isSeparator); {
		case len(pieces) > 1:
			why = missAmong(pieces, t, alone)
		case raw != text && covers(text, t) && alone(text):
			why = "this client keeps the blank in front of it or behind it"
		case blank && covers(text, t) && alone(text):
			why = "this client ends the list at the blank before it"
		default:
			why = missReason(text, t)
		}
		if miss := fmt.Sprintf("`%s` does not match: %s", text, why); why != "" && !slices.Contains(misses, miss) {
			misses = append(misses, miss)
		}
		blank = blank || strings.ContainsAny(raw, " \t")
	}
	return misses
}

// missAmong is about an element that holds several.
func missAmong(pieces []string, t Target, alone func(text string) bool) string {
	for _, piece := range pieces {
		switch {
		case !covers(piece, t):
		case alone(piece):
			return "a blank, a semicolon or a pipe does not separate entries in this client"
		default:
			return missReason(piece, t)
		}
	}
	return ""
}

// missReason is why one element does not match; empty where nobody would think
// that it does.
func missReason(text string, t Target) string {
	if addr, err := netip.ParseAddr(t.Host()); err == nil {
		return missOfAddress(text, addr.WithZone("").Unmap(), t)
	}
	return missOfName(text, t)
}

// covers says whether an entry is meant for the target, whatever a client makes
// of it.
func covers(text string, t Target) bool {
	host := strings.TrimSuffix(t.Host(), ".")
	if addr, err := netip.ParseAddr(host); err == nil {
		if p, err := netip.ParsePrefix(text); err == nil {
			return p.Contains(addr)
		}
		other, err := netip.ParseAddr(unbracket(text))
		return err == nil && other == addr
	}
	name, _ := cutZone(text)
	return strings.EqualFold(host, name) || hasSuffixFold(host, "."+name)
}

func hasSuffixFold(s, end string) bool {
	return len(s) >= len(end) && strings.EqualFold(s[len(s)-len(end):], end)
}

func missOfAddress(text string, addr netip.Addr, t Target) string {
	if p, err := netip.ParsePrefix(text); err == nil {
		if !p.Contains(addr) {
			return ""
		}
		if addr.Is6() {
			return "this client reads no IPv6 CIDR"
		}
		return "this client reads no CIDR"
	}
	if p, ok := rangeOfPattern(text); ok {
		if p.Contains(addr) {
			return fmt.Sprintf("it is no address; the range is %s", p)
		}
		return ""
	}
	host, port := cutPort(text)
	other, err := netip.ParseAddr(unbracket(host))
	switch {
	case err != nil || other != addr:
		return ""
	case port != 0 && port != t.Port():
		return fmt.Sprintf("it is for port %d only", port)
	case port != 0:
		return "this client does not read the port"
	case strings.HasPrefix(text, "["):
		return "this client does not read an address in brackets"
	case text != t.Host():
		return "this client compares addresses as texts"
	case addr.Is6():
		return "this client does not read an IPv6 address without brackets"
	}
	return ""
}

// cutPort cuts a numeric port off a host or an address in brackets; 0 is none.
func cutPort(text string) (host string, port uint16) {
	i := strings.LastIndexByte(text, ':')
	if i < 0 || strings.Count(text, ":") > 1 && !strings.HasSuffix(text[:i], "]") {
		return text, 0
	}
	n, err := strconv.ParseUint(text[i+1:], 10, 16)
	if err != nil {
		return text, 0
	}
	return text[:i], uint16(n)
}

func missOfName(text string, t Target) string {
	if _, rest, ok := strings.Cut(text, "://"); ok {
		if host, _, _ := strings.Cut(rest, "/"); covers(host, t) {
			return "an entry is a host and not a URL"
		}
		return ""
	}
	host, port := cutPort(text)
	if port != 0 && covers(host, t) {
		if port != t.Port() {
			return fmt.Sprintf("it is for port %d only", port)
		}
		return "this client does not read the port, or not where the URL leaves it out"
	}
	name, isZone := cutZone(text)
	switch target := t.Host(); {
	case name == "" || strings.ContainsAny(name, "*/:"):
		return ""
	case strings.EqualFold(target, name+".") || hasSuffixFold(target, "."+name+"."):
		return "the host ends in a dot"
	case strings.EqualFold(target+".", name) || hasSuffixFold(target+".", "."+name):
		return "the entry ends in a dot"
	case strings.EqualFold(target, name):
		return missOfApex(text, isZone)
	case hasSuffixFold(target, "."+name):
		return missBelow(text, name, isZone)
	default:
		return missInside(name, target)
	}
}

// missOfApex is about a host that is the entry's own name.
func missOfApex(text string, isZone bool) string {
	if isZone {
		return "it covers the hosts below " + strings.TrimLeft(text, "*.") + " and not this one, in this client"
	}
	return "this client looks at upper and lower case"
}

// missBelow is about a host below the entry's name.
func missBelow(text, name string, isZone bool) string {
	switch {
	case !isZone:
		return "it covers that host alone, in this client"
	case strings.HasPrefix(text, "*"):
		return "this client reads no star"
	}
	return "this client reads only *." + name
}

// missInside is about a host that has the entry's name in its middle, or that
// differs from it in few labels.
func missInside(name, host string) string {
	zone := strings.Split(strings.ToLower(name), ".")
	labels := strings.Split(strings.ToLower(host), ".")
	for i := 0; i+len(zone) < len(labels); i++ {
		if slices.Equal(labels[i:i+len(zone)], zone) {
			rest := labels[i+len(zone):]
			if len(rest) < 2 {
				rest = labels[i:]
			}
			return "the host ends in " + strings.Join(rest, ".")
		}
	}
	// Two labels in common at the end, and the first label somewhere.
	if len(zone) < 3 || len(labels) < 3 || !slices.Equal(labels[len(labels)-2:], zone[len(zone)-2:]) {
		return ""
	}
	if i := slices.Index(labels, zone[0]); i >= 0 {
		return "the host ends in " + strings.Join(labels[i:], ".")
	}
	return ""
}
