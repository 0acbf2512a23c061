package noproxy

import (
	"net/netip"
	"strings"
)

func rubyModels() []model {
	plain := rubyModel()
	sdk := rubyModel()
	sdk.name = "AWS SDK Ruby"
	sdk.direct = containerAddresses()
	sdk.info = ClientInfo{
		Aliases:  []string{"aws-sdk-ruby", "aws-sdk-core"},
		Run:      true,
		Versions: "aws-sdk-core 3.168.1",
		Source:   "aws-sdk-core lib/aws-sdk-core/ecs_credentials.rb, instance_profile_credentials.rb",
		Note:     "Container credentials are fetched without proxy; instance metadata is not, unless its address is listed.",
	}
	return []model{plain, sdk}
}

func rubyModel() model {
	http := lowerFirst("HTTP_PROXY").hiding()
	http.final = true
	return model{
		name: "Ruby Net::HTTP",
		info: ClientInfo{
			Aliases:  []string{"Ruby", "Net::HTTP", "fluentd"},
			Run:      true,
			Versions: "Ruby 3.1",
			Source:   "lib/net/http.rb proxy_uri, lib/uri/generic.rb find_proxy",
			Note:     "HTTPS_PROXY is never read: http_proxy serves https too. A host that resolves to loopback or into a listed IPv4 range is direct.",
		},
		http:       []source{http},
		https:      []source{http},
		cgi:        cgiDrops,
		schemeless: formFails,
		loopback:   loopbackRuby,
		lists: []list{{from: lowerFirst("NO_PROXY").hiding(), rules: rules{
			split:    splitRuby,
			bare:     zone,
			dotted:   below,
			host:     formPlain,
			port:     portNumber,
			ranges:   parseRubyRange,
			resolves: true,
			read:     readRuby,
		}}},
	}
}

// splitRuby scans the value with /([^:,\s]+)(?::(\d+))?/, which takes IPv6
// addresses apart.
func splitRuby(value string) []string {
	inHost := func(b byte) bool { return b != ':' && b != ',' && !isBlank(rune(b)) }
	isDigit := func(b byte) bool { return '0' <= b && b <= '9' }
	var elements []string
	for i := 0; i < len(value); {
		start := i
		for i < len(value) && inHost(value[i]) {
			i++
		}
		if i == start {
			i++
			continue
		}
		if i+1 < len(value) && value[i] == ':' && isDigit(value[i+1]) {
			i++
			for i < len(value) && isDigit(value[i]) {
				i++
			}
		}
		elements = append(elements, value[start:i])
	}
	return elements
}

// readRuby holds addresses to their port too; port 0 is a port.
func readRuby(r *rules, text string) ([]element, bool) {
	host, port, ok := r.cutPort(text)
	if !ok || port == 0 && host != text {
		return nil, false
	}
	e, _ := r.nameElement(host)
	elements := []element{e}
	if p, ok := r.ranges(host); ok {
		elements[0] = rangeElement(p, false)
	}
	elements[0].port = port
	return elements, false
}

func otherModels() []model {
	return []model{hyperModel(), dotnetModel()}
}

func hyperModel() model {
	all := upperFirst("ALL_PROXY").hiding()
	return model{
		name: "hyper-util, reqwest",
		info: ClientInfo{
			Aliases:  []string{"hyper-util", "reqwest", "Rust"},
			Run:      true,
			Versions: "reqwest 0.12.28, hyper-util 0.1.21",
			Source:   "hyper-util src/client/proxy/matcher.rs",
			Note:     "A star covers names but no addresses. The AWS SDK for Rust reads the variables from August 2025 on.",
		},
		http:  []source{upperFirst("HTTP_PROXY").hiding(), all},
		https: []source{upperFirst("HTTPS_PROXY").hiding(), all},
		cgi:   cgiDirect,
		lists: []list{{from: upperFirst("NO_PROXY").hiding(), rules: rules{
			split:  splitTrimmedFilled,
			star:   starName,
			bare:   zone,
			dotted: zone,
			host:   formCanonical,
			ranges: parseAnyRange,
			apart:  apartBoth,
		}}},
	}
}

// parseAnyRange reads an address or a CIDR and keeps the families apart.
func parseAnyRange(text string) (netip.Prefix, bool) {
	if addr, err := netip.ParseAddr(text); err == nil && addr.Zone() == "" {
		return netip.PrefixFrom(addr, addr.BitLen()), true
	}
	return parseStrictCIDR(text)
}

func dotnetModel() model {
	return model{
		name: ".NET <= 10",
		info: ClientInfo{
			Aliases:  []string{".NET", "dotnet", "HttpClient", "PowerShell"},
			Versions: "read only",
			Source:   "System.Net.Http HttpEnvironmentProxy(.Unix).cs; runtime#61840, #75199",
			Note:     "Ranges come with .NET 11 (runtime#131397). A trailing dot was not looked into.",
		},
		http:        []source{lowerFirst("HTTP_PROXY"), lowerFirst("ALL_PROXY")},
		https:       []source{lowerFirst("HTTPS_PROXY"), lowerFirst("ALL_PROXY")},
		cgi:         cgiDrops,
		cgiVariable: "GATEWAY_INTERFACE",
		lists: []list{{from: lowerFirst("NO_PROXY").hiding(), rules: rules{
			split:  splitTrimmedFilled,
			bare:   exact,
			dotted: zone,
			host:   formWHATWG,
		}}},
	}
}

// lastModels are the AWS runtime, PHP and the proxies that stand beside pods.
func lastModels() []model {
	crt := model{
		name: "AWS CRT",
		info: ClientInfo{
			Aliases:  []string{"aws-c-http", "Mountpoint for S3", "mountpoint-s3"},
			Versions: "read only",
			Source:   "aws-c-http source/no_proxy.c, #413",
			Note:     "Older releases have no NO_PROXY at all (aws-c-http#413).",
		},
		http:  []source{lowerFirst("HTTP_PROXY"), lowerFirst("ALL_PROXY")},
		https: []source{lowerFirst("HTTPS_PROXY"), lowerFirst("ALL_PROXY")},
		lists: []list{{from: lowerFirst("NO_PROXY"), rules: curlRules(splitTrimmedFilled, parseAnyRange, apartBoth)}},
	}
	envoy := model{name: "Envoy", neverReads: true, info: ClientInfo{
		Aliases:   []string{"Istio", "istio-proxy"},
		Versions:  "read only",
		Source:    "envoy#1451, istio#14386",
		Configure: "a tunneling_config in the TCP proxy filter, with the proxy as cluster",
	}}
	return []model{crt, guzzleModel(), envoy}
}

// guzzleModel is Guzzle's list above libcurl's: where the first says no proxy,
// libcurl still reads the environment itself.
func guzzleModel() model {
	below7 := curlModels()[1]
	return model{
		name: "Guzzle",
		info: ClientInfo{
			Aliases:  []string{"guzzlehttp", "aws-sdk-php", "AWS SDK PHP"},
			Run:      true,
			Versions: "7.4.5 with libcurl 7.88.1",
			Source:   "guzzle src/Client.php, src/Utils.php isHostInNoProxy",
			Note:     "Guzzle's own list minds case and reads upper-case variables only; libcurl below it reads NO_PROXY again.",
		},
		http:  []source{only("HTTP_PROXY")},
		https: []source{only("HTTPS_PROXY")},
		lists: []list{{from: only("NO_PROXY"), rules: rules{
			split:     splitNoSpaces,
			star:      starElement,
			bare:      zone,
			dotted:    below,
			allDots:   true,
			mindsCase: true,
			host:      formBeforeColon,
		}}},
		inner: &below7,
	}
}

func isRegexpText(text string) bool { return !strings.ContainsAny(text, `\^$+?()[]{}|`) }
