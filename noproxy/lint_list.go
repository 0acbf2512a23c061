package noproxy

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// wide looks for zones that take in more than one organisation can mean.
func (l *linter) wide(where string, texts []string) {
	for _, text := range texts {
		name, isZone := cutZone(text)
		if name == "" || text == "*" || strings.ContainsAny(name, ".:/*") {
			continue
		}
		switch lower := strings.ToLower(name); {
		case lower == "svc" || lower == "localhost":
			// Kubernetes defines the one, everybody the other.
		case lower == "internal":
			l.add(Finding{
				Code: "NP034", Where: where, Entry: text, Clients: l.deciding(text, "http://host.corp.internal/", Direct),
				Message: "it takes in a company's own names as well as those that EC2 gives",
			})
		case isZone || isTopLevel(lower):
			l.add(Finding{
				Code: codeWide, Where: where, Entry: text, Clients: l.deciding(text, "http://somewhere."+name+"/", Direct),
				Message: "it takes in every host below the top-level domain " + lower,
			})
		}
	}
}

// isTopLevel says whether a name of one label is a top-level domain rather than
// a host of the own network.
func isTopLevel(label string) bool {
	switch label {
	case "com", "net", "org", "io", "edu", "gov", "mil", "int", "arpa", "biz", "info", "dev", "app", "cloud", "aws", "local", "lan", "corp", "home":
		return true
	}
	return len(label) == 2 && strings.Trim(label, "abcdefghijklmnopqrstuvwxyz") == ""
}

// forms looks for zones in a form that the AWS SDK for Java, or all others, do
// not read, and gives the entries with what is missing.
func (l *linter) forms(where string, texts []string) []string {
	var out []string
	for _, text := range texts {
		out = append(out, text)
		name, isZone := cutZone(text)
		twin := "*." + name
		if strings.HasPrefix(text, "*") {
			twin = "." + name
		}
		if !isZone || name == "" || containsText(texts, twin) {
			continue
		}
		l.add(Finding{
			Code: "NP032", Where: where, Entry: text, Clients: l.affected(text, text+","+twin),
			Message: "a zone in one form is dead in some clients", Fix: "add " + twin,
		})
		out = append(out, twin)
	}
	return out
}

// literals looks for ranges whose addresses some clients only know as texts,
// and gives the entries with the addresses.
func (l *linter) literals(where string, texts []string) []string {
	lack := func(p netip.Prefix, addresses ...string) []string {
		return slices.DeleteFunc(addresses, func(a string) bool {
			addr := netip.MustParseAddr(a)
			return !p.Contains(addr) || containsText(texts, a)
		})
	}
	for _, text := range slices.Clone(texts) {
		p, err := netip.ParsePrefix(text)
		if err != nil || p.Bits() == 0 || !p.Addr().Is4() {
			continue
		}
		if missing := lack(p, "169.254.169.254", "169.254.170.2", "169.254.170.23"); len(missing) > 0 {
			list := strings.Join(missing, ",")
			l.add(Finding{
				Code: "NP018", Where: where, Entry: text, Clients: l.affected(text, text+","+list),
				Message: "botocore, and others that read no CIDR, ask the proxy for metadata and credentials", Fix: "add " + list,
			})
			texts = append(texts, missing...)
		}
		if missing := l.serviceAddress(p, texts); missing != "" {
			l.add(Finding{
				Code: "NP035", Where: where, Entry: text, Clients: l.affected(text, text+","+missing), Fix: "add " + missing,
				Message: "clients that read no CIDR call the API server (KUBERNETES_SERVICE_HOST) through the proxy",
			})
			texts = append(texts, missing)
		}
	}
	return texts
}

// serviceAddress is the address of the API server in one of the ranges that
// EKS gives to services by itself, where no address of it is listed.
func (*linter) serviceAddress(p netip.Prefix, texts []string) string {
	if s := p.String(); s != "10.100.0.0/16" && s != "172.20.0.0/16" {
		return ""
	}
	for _, text := range texts {
		if addr, err := netip.ParseAddr(text); err == nil && p.Contains(addr) {
			return ""
		}
	}
	return p.Addr().Next().String()
}

// ranges tells an IPv6 range of an IPv6 cluster from others: where a /108, which
// EKS gives to services, is listed with its first
// address, the cluster cannot work without.
func (l *linter) ranges(where string, texts []string) {
	isCluster := slices.ContainsFunc(texts, func(text string) bool {
		p, err := netip.ParsePrefix(text)
		return err == nil && p.Addr().Is6() && p.Bits() == 108 && containsText(texts, p.Masked().Addr().Next().String())
	})
	if !isCluster {
		return
	}
	for i, f := range l.findings {
		if f.Code == codeIPv6Range && f.Where == where {
			l.findings[i].Severity = SeverityWarning
			l.findings[i].Message += fmt.Sprintf("; the list is one of an IPv6 cluster, which cannot work without %s", f.Entry)
		}
	}
}
