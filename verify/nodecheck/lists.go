package nodecheck

import (
	"context"
	"net/netip"
	"slices"
	"strings"

	"github.com/eksproxy/eksproxy/node"
	"github.com/eksproxy/eksproxy/verify"
)

// metadataLiterals demands the five addresses as texts: botocore and others
// read no CIDR.
func (s *subject) metadataLiterals(context.Context) []verify.Finding {
	literals := []string{metadataAddress, "fd00:ec2::254", "169.254.170.2", "169.254.170.23", "fd00:ec2::23"}
	lists := map[string][]string{node.ProxyEnvPath: s.noProxy()}
	if f, err := s.read(etcEnvironment); err == nil && s.record.Wrote(etcEnvironment) {
		lists[etcEnvironment] = entries(envOf(parseEnv(f.Data))["NO_PROXY"])
	}
	var found []verify.Finding
	for _, p := range []string{node.ProxyEnvPath, etcEnvironment} {
		list := lists[p]
		if len(list) == 0 {
			continue
		}
		lack := missing(literals, list)
		switch {
		case slices.Contains(lack, metadataAddress):
			found = append(found, fail(p, s.apply(), "NO_PROXY lacks %s: programs ask the proxy for instance metadata", strings.Join(lack, ", ")))
		case len(lack) > 0:
			found = append(found, warn(p, s.apply(), "NO_PROXY lacks %s: credentials of EKS Pod Identity or metadata over IPv6 are asked through the proxy", strings.Join(lack, ", ")))
		}
	}
	if len(s.noProxy()) == 0 && len(found) == 0 {
		return skip(noList)
	}
	return orPass(found, "all %d addresses", len(literals))
}

// narrower compares the NO_PROXY of each unit that has a proxy with ours: CNI
// plugins are children of the runtime and call the API server with its list.
func (s *subject) narrower(context.Context) []verify.Finding {
	ours := s.noProxy()
	if len(ours) == 0 {
		return skip(noList)
	}
	var found []verify.Finding
	var good []string
	for _, name := range s.serviceNames() {
		env := s.effective(s.service(name))
		if env["HTTPS_PROXY"].value+env["https_proxy"].value+env["HTTP_PROXY"].value+env["http_proxy"].value == "" {
			continue
		}
		bad := false
		for _, v := range []string{"NO_PROXY", "no_proxy"} {
			if lack := missing(ours, entries(env[v].value)); !bad && len(lack) > 0 {
				bad = true
				where := env[v].source
				if where == "" {
					where = "nobody"
				}
				found = append(found, fail(name, "systemctl cat "+name+"; take NO_PROXY out of the file named here, then systemctl daemon-reload && systemctl try-restart "+name,
					"its %s, set by %s, lacks %s", v, where, few(lack)))
			}
		}
		if !bad {
			good = append(good, name)
		}
	}
	return orPass(found, "%d entries in %s", len(ours), strings.Join(good, ", "))
}

// few are the first entries of a list, and how many more there are.
func few(list []string) string {
	const most = 6
	if len(list) <= most {
		return strings.Join(list, ", ")
	}
	return strings.Join(list[:most], ", ") + ", ..."
}

// coversHost says whether a NO_PROXY value covers a host in every client: by
// its own text, or by its zone; an address also by a range.
func coversHost(list []string, host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	addr, err := netip.ParseAddr(host)
	if err == nil {
		return coversRange(list, netip.PrefixFrom(addr, addr.BitLen()))
	}
	return slices.ContainsFunc(list, func(e string) bool {
		e = strings.ToLower(strings.TrimPrefix(e, "*"))
		return e == host || strings.HasPrefix(e, ".") && strings.HasSuffix(host, e)
	})
}

// coversRange says whether one of the entries holds a whole range.
func coversRange(list []string, p netip.Prefix) bool {
	return slices.ContainsFunc(list, func(e string) bool {
		if addr, err := netip.ParseAddr(e); err == nil {
			return p.IsSingleIP() && addr == p.Addr()
		}
		entry, err := netip.ParsePrefix(e)
		return err == nil && entry.Bits() <= p.Bits() && entry.Contains(p.Addr())
	})
}
