package proxyconfig

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

const nameBytes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-"

func parseRegion(s string) (string, error) {
	if strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" || strings.Count(s, "-") < 2 || len(s) > 40 {
		return "", fmt.Errorf("%q is not an AWS region; write it as in eu-west-1", clip(s))
	}
	return s, nil
}

// parseEndpoint takes the API server as a URL or a host and returns the host,
// in the case in which it was given.
func parseEndpoint(s string) (string, error) {
	host := s
	if i := strings.Index(host, "://"); i >= 0 {
		host = host[i+3:]
	}
	host, _, _ = strings.Cut(host, "/")
	if addr, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return addr.String(), nil
	}
	if h, port, ok := cutPort(host); ok && isPort(port) {
		host = h
	}
	if addr, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return addr.String(), nil
	}
	if !isDNSName(strings.TrimSuffix(host, ".")) {
		return "", fmt.Errorf("%q is not a cluster endpoint; write the URL or the host that aws eks describe-cluster prints", clip(s))
	}
	return strings.TrimSuffix(host, "."), nil
}

func isPort(s string) bool {
	n, err := strconv.ParseUint(s, 10, 16)
	return err == nil && n > 0
}

func parseDomain(s string) (string, error) {
	d := strings.Trim(s, ".")
	if !isDNSName(d) {
		return "", fmt.Errorf("%q is not a DNS domain; write it as in cluster.local", clip(s))
	}
	return d, nil
}

// isDNSName checks letters, digits and hyphens between single dots.
func isDNSName(s string) bool {
	if s == "" || len(s) > 253 {
		return false
	}
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || len(label) > 63 || strings.Trim(label, nameBytes) != "" {
			return false
		}
	}
	return true
}

func appendCIDR(to *[]netip.Prefix, s string) error {
	p, err := netip.ParsePrefix(s)
	switch {
	case err != nil:
		return fmt.Errorf("%q is not a CIDR; write it as in 10.40.0.0/16", clip(s))
	case p != p.Masked():
		return fmt.Errorf("%q has host bits; write %s", clip(s), p.Masked())
	case p.Bits() == 0:
		return fmt.Errorf("%q is every address; give the ranges of the VPC or the services", clip(s))
	}
	if !slices.Contains(*to, p) {
		*to = append(*to, p)
	}
	return nil
}
