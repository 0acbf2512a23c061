package proxyconfig

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/eksproxy/eksproxy/internal/nameform"
)

func parseRegion(s string) (string, error) {
	if !nameform.IsRegion(s) {
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
	if !nameform.IsDNS(strings.TrimSuffix(host, ".")) {
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
	if !nameform.IsDNS(d) {
		return "", fmt.Errorf("%q is not a DNS domain; write it as in cluster.local", clip(s))
	}
	return d, nil
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
