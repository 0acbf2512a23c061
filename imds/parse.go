package imds

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
)

// maxInterfaces is well above what the largest instance type has.
const maxInterfaces = 256

// family is one of the two lists of blocks that an interface has, by its path.
type family string

const (
	ipv4 family = "vpc-ipv4-cidr-blocks"
	ipv6 family = "vpc-ipv6-cidr-blocks"
)

// allows says whether a VPC can have the block. One that holds half the
// internet would switch the proxy off without a word.
func (f family) allows(p netip.Prefix) bool {
	if f == ipv4 {
		return p.Addr().Is4() && p.Bits() >= 8
	}
	return p.Addr().Is6() && !p.Addr().Is4In6() && p.Bits() >= 16
}

// parseCIDRs reads one CIDR a line. A line with anything else in it is an
// error, so that no answer can smuggle text into a file.
func parseCIDRs(body string, f family) ([]netip.Prefix, error) {
	var out []netip.Prefix
	for line := range strings.SplitSeq(body, "\n") {
		line = strings.TrimSuffix(line, "\r")
		if line == "" {
			continue
		}
		p, err := netip.ParsePrefix(line)
		if err != nil {
			return nil, notA("a CIDR", line)
		}
		if !f.allows(p) {
			return nil, notA("a CIDR that a VPC can have in "+string(f), line)
		}
		out = append(out, p.Masked())
	}
	return out, nil
}

// parseMACs reads the listing of interfaces, whose lines end in "/" or not.
func parseMACs(body string) ([]string, error) {
	var out []string
	for line := range strings.SplitSeq(body, "\n") {
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\r"), "/")
		if line == "" {
			continue
		}
		if !isMAC(line) {
			return nil, notA("a MAC address", line)
		}
		out = append(out, line)
	}
	if len(out) == 0 {
		return nil, errors.New("no interface is listed")
	}
	if len(out) > maxInterfaces {
		return nil, fmt.Errorf("%d interfaces are listed, want at most %d", len(out), maxInterfaces)
	}
	return out, nil
}

// isMAC accepts six bytes in hex with colons, the way EC2 writes them.
func isMAC(s string) bool {
	if len(s) != len("00:00:00:00:00:00") {
		return false
	}
	for i := range len(s) {
		if i%3 == 2 && s[i] != ':' || i%3 != 2 && !strings.ContainsRune("0123456789abcdefABCDEF", rune(s[i])) {
			return false
		}
	}
	return true
}

// trimLineEnd drops one line end: some stand-ins for EC2 send it.
func trimLineEnd(s string) string {
	return strings.TrimSuffix(strings.TrimSuffix(s, "\n"), "\r")
}

// notA is the error about a value, of which it shows the beginning.
func notA(what, got string) error {
	const most = 40
	if len(got) > most {
		return fmt.Errorf("%q... is not %s", got[:most], what)
	}
	return fmt.Errorf("%q is not %s", got, what)
}

// comparePrefix orders by family, then address, then the wider block first.
func comparePrefix(a, b netip.Prefix) int {
	if c := a.Addr().Compare(b.Addr()); c != 0 {
		return c
	}
	return a.Bits() - b.Bits()
}
