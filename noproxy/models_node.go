package noproxy

import (
	"net/netip"
	"strings"
)

func nodeModels() []model {
	return []model{nodeCoreModel(), undici7Model(), undici6Model(), axiosModel(), proxyFromEnvModel(), gotModel(), awsJSModel()}
}

func nodeCoreModel() model {
	return model{
		name: "Node core http",
		info: ClientInfo{
			Aliases:   []string{"Node", "Node.js", "Node http", "Node https"},
			Run:       true,
			Versions:  "Node 24.22",
			Source:    "lib/internal/http.js ProxyConfig",
			Configure: "node --use-env-proxy, or NODE_USE_ENV_PROXY=1; without it the variables are not read",
			Note:      "Modelled with --use-env-proxy, which serves the global agent only. A proxy without scheme ends the process at its start.",
		},
		http:       []source{lowerFirst("HTTP_PROXY")},
		https:      []source{lowerFirst("HTTPS_PROXY")},
		schemeless: formStops,
		lists: []list{{from: lowerFirst("NO_PROXY"), rules: rules{
			split:    splitTrimmed,
			star:     starElement,
			bare:     exact,
			dotted:   zone,
			starred:  below,
			port:     portExact,
			host:     formCanonical,
			hostPort: formCanonicalPort,
			read:     readNodeCore,
		}}},
	}
}

// readNodeCore reads a span of IPv4 addresses (10.0.0.1-10.0.0.9) beside what
// all read.
func readNodeCore(r *rules, text string) ([]element, bool) {
	elements, _ := r.readElement(text)
	parts := strings.Split(text, "-")
	if len(parts) < 2 {
		return elements, false
	}
	first, err := netip.ParseAddr(strings.TrimSpace(parts[0]))
	last, err2 := netip.ParseAddr(strings.TrimSpace(parts[1]))
	if err == nil && err2 == nil && first.Is4() && last.Is4() {
		elements = append(elements, element{kind: kindSpan, prefix: netip.PrefixFrom(first, 32), last: last})
	}
	return elements, false
}

// undiciModel has the variables that both versions share: the HTTP proxy
// serves https where there is no other.
func undiciModel(name string, r rules) model {
	http := lowerFirst("HTTP_PROXY").hiding()
	return model{
		name:       name,
		http:       []source{http},
		https:      []source{lowerFirst("HTTPS_PROXY").hiding(), http},
		schemeless: formStops,
		lists:      []list{{from: lowerFirst("NO_PROXY").hiding(), rules: r}},
	}
}

func undici7Model() model {
	m := undiciModel("Node fetch, undici 7", rules{
		split:   splitBlanks,
		star:    starValue,
		bare:    zone,
		dotted:  zone,
		starred: zone,
		port:    portNumber,
		host:    formWHATWG,
	})
	m.info = ClientInfo{
		Aliases:   []string{"Node fetch", "fetch", "undici", "undici 7"},
		Run:       true,
		Versions:  "Node 24.22, undici 7.30",
		Source:    "undici lib/dispatcher/env-http-proxy-agent.js",
		Configure: "node --use-env-proxy, or setGlobalDispatcher(new EnvHttpProxyAgent()); without them the variables are not read",
		Note:      "Modelled with --use-env-proxy or the agent.",
	}
	return m
}

func undici6Model() model {
	m := undiciModel("undici 6", rawSuffixRules())
	m.info = ClientInfo{
		Run:       true,
		Versions:  "6.29",
		Source:    "undici lib/dispatcher/env-http-proxy-agent.js",
		Configure: "setGlobalDispatcher(new EnvHttpProxyAgent()); without it the variables are not read",
		Note:      "Modelled with the agent.",
	}
	return m
}

// rawSuffixRules are proxy-from-env's, which undici 6 copied.
func rawSuffixRules() rules {
	return rules{
		split: splitBlanks,
		star:  starElement,
		port:  portNumber,
		host:  formWHATWG,
		read:  readRawSuffix,
	}
}

// readRawSuffix takes what follows a leading star, and all of what begins with
// a dot, for an ending of the host.
func readRawSuffix(r *rules, text string) ([]element, bool) {
	name, port, ok := r.cutPort(text)
	if !ok {
		return nil, false
	}
	rule, rest := exact, name
	switch ending, starred := strings.CutPrefix(name, "*"); {
	case name == "*" && port == 0:
		return []element{{kind: kindStar}}, false
	case strings.HasPrefix(ending, ".") && (starred || name[0] == '.'):
		rule, rest = below, ending[1:]
	case starred:
		rule, rest = suffix, ending
	}
	e, _ := ruledElement(rule, rest, false)
	e.port = port
	return []element{e}, false
}

func proxyFromEnvModel() model {
	return model{
		name: "proxy-from-env",
		info: ClientInfo{
			Aliases:  []string{"proxy-agent"},
			Run:      true,
			Versions: "2.1, by proxy-agent 8",
			Source:   "proxy-from-env/index.js",
			Note:     "A proxy without scheme is taken for one of the target's scheme.",
		},
		http:  []source{lowerFirst("HTTP_PROXY"), lowerFirst("ALL_PROXY")},
		https: []source{lowerFirst("HTTPS_PROXY"), lowerFirst("ALL_PROXY")},
		lists: []list{{from: lowerFirst("NO_PROXY"), rules: rawSuffixRules()}},
	}
}

// axiosModel asks proxy-from-env first and its own list then.
func axiosModel() model {
	m := proxyFromEnvModel()
	m.name = "axios"
	m.info = ClientInfo{
		Run:      true,
		Versions: "1.21.1",
		Source:   "axios lib/helpers/shouldBypassProxy.js, proxy-from-env",
		Note:     "A proxy without scheme is taken for one of the target's scheme, and credentials in its URL are not decoded.",
	}
	m.lists = append(m.lists, list{from: lowerFirst("NO_PROXY"), rules: rules{
		split: splitBlanks,
		star:  starElement,
		host:  formNoDots,
		read:  readAxios,
	}})
	return m
}

func gotModel() model {
	return model{name: "got", neverReads: true, info: ClientInfo{
		Run:       true,
		Versions:  "14.6",
		Source:    "got documentation, tips: proxying",
		Configure: "an agent in the program: got.extend({agent: {http, https}}) with proxy-agent or hpagent",
	}}
}

func awsJSModel() model {
	return model{name: "AWS SDK JS v3", neverReads: true, info: ClientInfo{
		Aliases:   []string{"AWS SDK JS", "AWS SDK JavaScript", "AWS SDK JS v2", "aws-sdk", "@aws-sdk"},
		Run:       true,
		Versions:  "3.1177",
		Source:    "SDK for JavaScript guide: proxies; nodejs/node#64528",
		Configure: "a request handler in the program: new NodeHttpHandler({httpAgent, httpsAgent}) with proxy-agent; --use-env-proxy does not reach it",
		Note:      "Instance metadata and container credentials are direct too.",
	}}
}
