package noproxy

import (
	"net/netip"
	"strings"
)

// The addresses at which AWS hands out credentials: the container agents of
// ECS and EKS Pod Identity, and instance metadata.
func containerAddresses() []netip.Addr {
	return []netip.Addr{
		netip.AddrFrom4([4]byte{169, 254, 170, 2}),
		netip.AddrFrom4([4]byte{169, 254, 170, 23}),
		netip.MustParseAddr("fd00:ec2::23"),
	}
}

func metadataAddresses() []netip.Addr {
	return []netip.Addr{netip.AddrFrom4([4]byte{169, 254, 169, 254}), netip.MustParseAddr("fd00:ec2::254")}
}

func pythonModels() []model {
	return []model{urllibModel(), requestsModel(), botocoreModel(), httpxModel(), aiohttpModel(), urllib3Model()}
}

// urllibRules are proxy_bypass_environment, which the others build on. It sees
// the host in the form that its caller has.
func urllibRules(host, hostPort hostForm) rules {
	r := rules{
		split:    splitTrimmedFilled,
		star:     starValue,
		bare:     zone,
		dotted:   zone,
		allDots:  true,
		host:     host,
		hostPort: hostPort,
	}
	if hostPort != formNone {
		r.port = portText
	}
	return r
}

// pythonModel reads the variables as getproxies_environment does: an empty
// variable in lower case takes the other one away.
func pythonModel(name string, all bool, lists ...list) model {
	m := model{
		name:  name,
		http:  []source{lowerFirst("HTTP_PROXY").hiding()},
		https: []source{lowerFirst("HTTPS_PROXY").hiding()},
		cgi:   cgiDrops,
		lists: lists,
	}
	if all {
		m.http = append(m.http, lowerFirst("ALL_PROXY").hiding())
		m.https = append(m.https, lowerFirst("ALL_PROXY").hiding())
	}
	return m
}

func urllibModel() model {
	m := pythonModel("Python urllib", false,
		list{from: lowerFirst("NO_PROXY").hiding(), rules: urllibRules(formBracketed, formNetloc)})
	m.info = ClientInfo{
		Aliases:  []string{"urllib", "urllib.request"},
		Run:      true,
		Versions: "CPython 3.11",
		Source:   "Lib/urllib/request.py getproxies_environment, proxy_bypass_environment",
		Note:     "To an https:// proxy it speaks plain text.",
	}
	return m
}

func botocoreModel() model {
	m := urllibModel()
	m.name = "botocore, AWS CLI"
	m.direct = containerAddresses()
	m.info = ClientInfo{
		Aliases:  []string{"botocore", "boto3", "AWS CLI", "aws", "s3transfer"},
		Run:      true,
		Versions: "1.43.11",
		Source:   "botocore/utils.py should_bypass_proxies, ContainerMetadataFetcher",
		Note:     "Instance metadata is asked through the proxy unless the literal address is listed; container credentials never are.",
	}
	return m
}

func requestsModel() model {
	own := urllibRules(formPlain, formPlainPort)
	own.split, own.star = splitNoSpaces, starNothing
	own.ranges, own.apart = parseRequestsElement, apartIPv4
	m := pythonModel("requests, pip", true,
		list{from: lowerFirst("NO_PROXY"), rules: own},
		list{from: lowerFirst("NO_PROXY").hiding(), rules: urllibRules(formPlain, formNone)})
	m.info = ClientInfo{
		Aliases:  []string{"requests", "pip", "Python requests"},
		Run:      true,
		Versions: "requests 2.34.2, pip 26.3",
		Source:   "requests/utils.py should_bypass_proxies, select_proxy",
		Note:     "IPv6 ranges are not read (requests#7148). Before 2.34, as in pip 23.2, an entry also covered hosts that end in it in the middle of a label.",
	}
	return m
}

func parseRequestsElement(text string) (netip.Prefix, bool) {
	if addr, err := netip.ParseAddr(text); err == nil && addr.Is4() {
		return netip.PrefixFrom(addr, 32), true
	}
	return parseRequestsCIDR(text)
}

func httpxModel() model {
	m := pythonModel("httpx", true, list{from: lowerFirst("NO_PROXY").hiding(), rules: rules{
		split: splitTrimmedFilled,
		star:  starElement,
		host:  formPlain,
		read:  readHTTPX,
	}})
	m.info = ClientInfo{
		Aliases:  []string{"OpenAI SDK for Python", "Anthropic SDK for Python"},
		Run:      true,
		Versions: "0.28.1",
		Source:   "httpx/_utils.py get_environment_proxies, URLPattern; encode/httpx#3574",
		Note:     "An IPv6 range or brackets in NO_PROXY end every request in InvalidURL.",
	}
	return m
}

func aiohttpModel() model {
	m := pythonModel("aiohttp", false,
		list{from: lowerFirst("NO_PROXY").hiding(), rules: urllibRules(formCompressed, formNone)})
	m.schemeless, m.tls = formFails, formDropped
	m.info = ClientInfo{
		Run:       true,
		Versions:  "3.8.4",
		Source:    "aiohttp/helpers.py get_env_proxy_for_url",
		Configure: "aiohttp.ClientSession(trust_env=True); without it the variables are not read",
		Note:      "Modelled with trust_env=True. 3.8 drops https:// proxies without an error.",
	}
	return m
}

func urllib3Model() model {
	return model{name: "urllib3", neverReads: true, info: ClientInfo{
		Run:       true,
		Versions:  "2.7.0",
		Source:    "urllib3/poolmanager.py",
		Configure: "urllib3.ProxyManager(url) in the program; it has no NO_PROXY of its own",
	}}
}

// readHTTPX makes the patterns that httpx makes of an element.
func readHTTPX(_ *rules, text string) ([]element, bool) {
	host, _, _ := strings.Cut(text, "/")
	addr, err := netip.ParseAddr(host)
	switch {
	case text == "*":
		return []element{{kind: kindStar}}, false
	case strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return nil, true
	case strings.Contains(text, "://"):
		scheme, rest, _ := strings.Cut(text, "://")
		if scheme == "all" {
			scheme = ""
		}
		return readHTTPXPattern(scheme, rest)
	case err == nil && addr.Is4():
		return []element{{kind: kindExact, name: host, apex: RuleExact}}, false
	case err == nil && strings.Contains(text, "/"):
		return nil, true
	case err == nil:
		return []element{{kind: kindExact, name: text, apex: RuleExact}}, false
	case text == "localhost":
		return []element{{kind: kindExact, name: text, apex: RuleExact}}, false
	}
	return readHTTPXPattern("", "*"+text)
}

// readHTTPXPattern reads host and port of a pattern. A port that is the
// scheme's own never matches, since httpx drops it from the URL.
func readHTTPXPattern(scheme, authority string) ([]element, bool) {
	if i := strings.IndexAny(authority, "/?#"); i >= 0 {
		authority = authority[:i]
	}
	authority = authority[strings.LastIndexByte(authority, '@')+1:]
	host, port := authority, ""
	if end := strings.LastIndexByte(authority, ']'); strings.HasPrefix(authority, "[") && end > 0 {
		host, port = authority[1:end], strings.TrimPrefix(authority[end+1:], ":")
		if addr, err := netip.ParseAddr(host); err != nil || !addr.Is6() {
			return nil, true
		}
	} else {
		host, port, _ = strings.Cut(authority, ":")
	}
	if port != "" && !isNumber(port) {
		return nil, true
	}
	e := element{kind: kindExact, name: host, apex: RuleExact, scheme: scheme}
	if name, ok := strings.CutPrefix(host, "*."); ok {
		e.kind, e.name = kindBelow, name
	} else if name, ok := strings.CutPrefix(host, "*"); ok {
		e.kind, e.name = kindZone, name
	}
	if host == "" || host == "*" {
		// Without a port the pattern comes after that of the proxy.
		if port == "" {
			return nil, false
		}
		e.kind, e.name = kindInside, ""
	}
	return e.withHTTPXPort(port), false
}

func (e element) withHTTPXPort(port string) []element {
	n := atoi(port)
	switch own := map[string]int{"http": 80, "https": 443}; {
	case port == "":
		return []element{e}
	case n > 65535 || n == 0:
		return nil
	case n == own[e.scheme]:
		return []element{e}
	case n == 80 && e.scheme == "":
		e.scheme = "https"
	case n == 443 && e.scheme == "":
		e.scheme = "http"
	}
	e.port = uint16(n) //nolint:gosec // held to its bits above
	return []element{e}
}
