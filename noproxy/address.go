package noproxy

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// hexadecimal is an IPv6 address as the URL standard and Python write it:
// mapped IPv4 addresses in hexadecimal groups.
func hexadecimal(addr netip.Addr) string {
	if !addr.Is4In6() {
		return addr.String()
	}
	b := addr.As16()
	return fmt.Sprintf("::ffff:%x:%x", binary.BigEndian.Uint16(b[12:14]), binary.BigEndian.Uint16(b[14:]))
}

// parseLooseIPv4 reads what inet_aton and the URL standard read: one to four
// numbers in decimal, octal or hexadecimal, the last of which fills the rest.
func parseLooseIPv4(s string) (netip.Addr, bool) {
	parts := strings.Split(s, ".")
	if len(parts) > 4 {
		return netip.Addr{}, false
	}
	var value uint64
	for i, part := range parts {
		n, ok := parseLooseNumber(part)
		if !ok {
			return netip.Addr{}, false
		}
		if i < len(parts)-1 {
			if n > 255 {
				return netip.Addr{}, false
			}
			value |= n << (8 * (3 - i))
			continue
		}
		if n >= 1<<(8*(4-i)) {
			return netip.Addr{}, false
		}
		value |= n
	}
	var b [4]byte
	binary.BigEndian.PutUint32(b[:], uint32(value))
	return netip.AddrFrom4(b), true
}

func parseLooseNumber(s string) (uint64, bool) {
	base := 10
	switch {
	case strings.HasPrefix(s, "0x"), strings.HasPrefix(s, "0X"):
		s, base = s[2:], 16
	case len(s) > 1 && s[0] == '0':
		s, base = s[1:], 8
	}
	n, err := strconv.ParseUint(s, base, 32)
	return n, err == nil && s[0] != '+'
}

// rangeReader reads an element that stands for a range of addresses. It says
// false where the client takes the text for something else.
type rangeReader func(text string) (netip.Prefix, bool)

// parseCIDR reads ranges as Go does: host bits are cleared, and a range of
// mapped addresses is one of IPv4.
func parseCIDR(text string) (netip.Prefix, bool) {
	p, err := netip.ParsePrefix(text)
	if err != nil {
		return netip.Prefix{}, false
	}
	if p.Addr().Is4In6() && p.Bits() >= 96 {
		p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
	}
	return p.Masked(), true
}

// parseStrictCIDR is parseCIDR where mapped addresses are a family of their
// own.
func parseStrictCIDR(text string) (netip.Prefix, bool) {
	p, err := netip.ParsePrefix(text)
	return p.Masked(), err == nil
}

// parseRequestsCIDR reads ranges as requests does: IPv4 in inet_aton's forms,
// and never /0.
func parseRequestsCIDR(text string) (netip.Prefix, bool) {
	network, bits, found := strings.Cut(text, "/")
	if !found {
		return netip.Prefix{}, false
	}
	addr, ok := parseLooseIPv4(network)
	n, err := strconv.Atoi(bits)
	if !ok || err != nil || n < 1 || n > 32 {
		return netip.Prefix{}, false
	}
	return netip.PrefixFrom(addr, n).Masked(), true
}

// parseCurlCIDR reads an address with or without a length as curl 7.86 to
// 8.17 do, for IPv4 alone: their IPv6 code is never reached, since the host
// comes without its brackets. A length of 0 means the address itself, and atoi
// reads 0 where there is no number.
func parseCurlCIDR(text string) (netip.Prefix, bool) {
	network, length, _ := strings.Cut(text, "/")
	addr, err := netip.ParseAddr(network)
	if err != nil || !addr.Is4() {
		return netip.Prefix{}, false
	}
	bits := atoi(length)
	if bits == 0 {
		bits = 32
	}
	if bits < 0 || bits > 32 {
		return netip.Prefix{}, false
	}
	return netip.PrefixFrom(addr, bits).Masked(), true
}

// parseCurl818CIDR reads them as curl 8.18 does: both families, and nothing
// but a number after the slash.
func parseCurl818CIDR(text string) (netip.Prefix, bool) {
	network, length, found := strings.Cut(text, "/")
	addr, err := netip.ParseAddr(network)
	if err != nil || addr.Zone() != "" || found && !isNumber(length) {
		return netip.Prefix{}, false
	}
	bits := atoi(length)
	if bits == 0 {
		bits = addr.BitLen()
	}
	if bits > addr.BitLen() {
		return netip.Prefix{}, false
	}
	return netip.PrefixFrom(addr, bits).Masked(), true
}

// atoi is C's: the number that the text begins with, or 0.
func atoi(s string) int {
	s = strings.TrimLeft(s, " \t\n\v\f\r")
	end := 0
	for end < len(s) && ('0' <= s[end] && s[end] <= '9' || end == 0 && (s[end] == '-' || s[end] == '+')) {
		end++
	}
	n, err := strconv.Atoi(s[:end])
	if err != nil && end > 9 {
		return 1 << 20 // too large for any address
	}
	return n
}

// parseRubyRange reads what IPAddr reads and URI leaves of an element: IPv4
// with a length or a netmask.
func parseRubyRange(text string) (netip.Prefix, bool) {
	network, length, found := strings.Cut(text, "/")
	addr, err := netip.ParseAddr(network)
	switch {
	case err != nil || !addr.Is4():
		return netip.Prefix{}, false
	case !found:
		return netip.PrefixFrom(addr, 32), true
	case isNumber(length) && (length == "0" || length[0] != '0'):
		p := netip.PrefixFrom(addr, atoi(length))
		return p.Masked(), p.IsValid()
	}
	bits, ok := maskBits(length)
	return netip.PrefixFrom(addr, bits).Masked(), ok
}

// maskBits is the length that a netmask such as 255.255.0.0 stands for.
func maskBits(text string) (int, bool) {
	addr, err := netip.ParseAddr(text)
	if err != nil || !addr.Is4() {
		return 0, false
	}
	b := addr.As4()
	mask := binary.BigEndian.Uint32(b[:])
	bits := 0
	for ; mask&(1<<31) != 0; mask <<= 1 {
		bits++
	}
	return bits, mask == 0
}
