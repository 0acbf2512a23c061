package noproxy

// curlModels are libcurl by version. git and PHP's extension follow the
// library that they are linked with.
func curlModels() []model {
	old := rules{split: splitCurlOld, star: starValue, bare: zone, dotted: zone, host: formLibcurl}
	blank := curlRules(splitCurlBlank, parseCurlCIDR, apartIPv4)
	comma := curlRules(splitCurlComma, parseCurlCIDR, apartIPv4)
	newest := curlRules(splitCurlComma, parseCurl818CIDR, apartBoth)
	return []model{
		curlModel("curl < 7.86", "7.83.1", "lib/url.c check_noproxy", old),
		curlModel("curl 7.86-8.8", "7.88.1, 8.1.2", "lib/noproxy.c", blank),
		curlModel("curl 8.9-8.17", "8.9.0, 8.15.0", "lib/noproxy.c (ff2aaed)", comma),
		curlModel("curl >= 8.18", "8.19.0", "lib/noproxy.c", newest),
	}
}

func curlRules(split splitter, ranges rangeReader, apart apartRule) rules {
	return rules{
		split:   split,
		star:    starValue,
		bare:    zone,
		dotted:  zone,
		rootDot: true,
		host:    formNoDots,
		ranges:  ranges,
		apart:   apart,
	}
}

func curlModel(name, versions, file string, r rules) model {
	note := "Plain http is proxied by http_proxy in lower case only. git lets an empty no_proxy hide NO_PROXY."
	if name == "curl 7.86-8.8" {
		note += " 7.86.0 itself lacked the match of zones (curl#9813)."
	}
	return model{
		name: name,
		info: ClientInfo{
			Aliases:  []string{"curl", "libcurl", "git", "PHP ext-curl", "PHP", "pycurl"},
			Run:      true,
			Versions: versions,
			Source:   file + ", docs/libcurl/opts/CURLOPT_NOPROXY.md",
			Note:     note,
		},
		http:  []source{only("http_proxy"), lowerFirst("ALL_PROXY")},
		https: []source{lowerFirst("HTTPS_PROXY"), lowerFirst("ALL_PROXY")},
		lists: []list{{from: lowerFirst("NO_PROXY"), rules: r}},
	}
}

// packageModels are the downloaders of packages and files.
func packageModels() []model {
	dnf := curlModels()[2]
	dnf.name = "dnf"
	dnf.info = ClientInfo{
		Aliases:  []string{"librepo", "microdnf", "yum4"},
		Run:      true,
		Versions: "librepo 1.14 with libcurl 7.88.1; modelled with 8.9-8.17, as in Amazon Linux 2023",
		Source:   "librepo/handle.c: CURLOPT_PROXY only, never CURLOPT_NOPROXY",
		Note:     "proxy= in dnf.conf replaces the proxy variables; NO_PROXY of the environment counts all the same.",
	}
	return []model{wgetModel(), aptModel(), dnf}
}

func wgetModel() model {
	return model{
		name: "wget",
		info: ClientInfo{
			Run:      true,
			Versions: "1.21.3",
			Source:   "src/retr.c getproxy, src/host.c sufmatch",
			Note:     "Upper-case variables are not read. An https:// proxy is an error for http, and spoken to in plain text for https.",
		},
		http:      []source{only("http_proxy")},
		https:     []source{only("https_proxy")},
		tlsOnHTTP: formFails,
		lists: []list{{from: only("no_proxy"), rules: rules{
			split:  splitWget,
			bare:   zone,
			dotted: below,
			host:   formPlain,
		}}},
	}
}

func aptModel() model {
	return model{
		name: "apt",
		info: ClientInfo{
			Aliases:  []string{"apt-get"},
			Run:      true,
			Versions: "2.6.1",
			Source:   "methods/http.cc, apt-pkg/contrib/strutl.cc CheckDomainList",
			Note:     "Upper-case variables are not read, https falls back to http_proxy, and Acquire::http::Proxy replaces the variables but not no_proxy.",
		},
		http:       []source{only("http_proxy")},
		https:      []source{{names: []string{"https_proxy"}, final: true}, only("http_proxy")},
		schemeless: formFails,
		lists: []list{{from: only("no_proxy"), rules: rules{
			split: splitCommasFilled,
			bare:  suffix,
			host:  formPlain,
		}}},
	}
}
