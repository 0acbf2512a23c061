package noproxy

import (
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// goModels are net/http and its module, which changed places in one thing:
// which case of a variable wins (go#79656).
func goModels() []model {
	std := goModel(upperFirst)
	std.name = "Go std <= 1.26"
	std.info = ClientInfo{
		Aliases:  []string{"Go", "net/http", "kubelet", "containerd", "dockerd", "CRI-O", "kubectl", "SSM agent", "AWS SDK Go v2", "nodeadm"},
		Run:      true,
		Versions: "1.26.8",
		Source:   "net/http, vendor/golang.org/x/net/http/httpproxy/proxy.go",
		Note:     "The SDK for Go asks the proxy for instance metadata and container credentials unless their addresses are listed.",
	}
	module := goModel(lowerFirst)
	module.name = "x/net >= 0.59"
	module.info = ClientInfo{
		Aliases:  []string{"x/net", "golang.org/x/net", "httpproxy"},
		Run:      true,
		Versions: "0.62.0",
		Source:   "golang.org/x/net/http/httpproxy/proxy.go; go#79656",
		Note:     "Modules before 0.59 let the upper case win, as the standard library does.",
	}
	return []model{std, module}
}

func goModel(order func(string) source) model {
	return model{
		http:     []source{order("HTTP_PROXY")},
		https:    []source{order("HTTPS_PROXY")},
		cgi:      cgiFails,
		loopback: loopbackGo,
		lists: []list{{from: order("NO_PROXY"), rules: rules{
			split:  splitTrimmedFilled,
			star:   starElement,
			bare:   zone,
			dotted: below,
			host:   formPlain,
			apart:  apartBoth,
			ranges: parseCIDR,
			unmaps: true,
			read:   readGo,
		}}},
	}
}

// readGo reads a range, or a host with or without port. Brackets without a
// port are part of the name, which no host has.
func readGo(r *rules, text string) ([]element, bool) {
	if text == "*" {
		return []element{{kind: kindStar}}, false
	}
	if p, ok := r.ranges(text); ok {
		return []element{rangeElement(p, true)}, false
	}
	host, port := text, ""
	if h, p, err := net.SplitHostPort(text); err == nil {
		host, port = h, p
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if host == "" || port != "" && (err != nil || number == 0 || strconv.FormatUint(number, 10) != port) {
		return nil, false
	}
	if addr, err := netip.ParseAddr(host); err == nil && addr.Zone() == "" {
		addr = addr.Unmap()
		e := rangeElement(netip.PrefixFrom(addr, addr.BitLen()), true)
		e.port = uint16(number)
		return []element{e}, false
	}
	if strings.HasPrefix(host, "*.") {
		host = host[1:]
	}
	e, _ := r.nameElement(host)
	e.port = uint16(number)
	return []element{e}, false
}
