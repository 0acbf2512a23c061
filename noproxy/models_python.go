package noproxy

import (
	"net/netip"
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
		split:     splitTrimmedFilled,
		star:      starElement,
		host:      formHTTPX,
		mindsCase: true,
		read:      readHTTPX,
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
