package noproxy

import "strings"

func javaModels() []model { return []model{jdkModel(), awsJavaModel()} }

// jdkModel reads system properties, which an Environment holds under their own
// names: http.proxyHost, https.proxyHost and http.nonProxyHosts.
func jdkModel() model {
	return model{
		name:       "JDK",
		neverReads: true,
		info: ClientInfo{
			Aliases:   []string{"Java", "JVM", "HttpURLConnection", "java.net.http"},
			Run:       true,
			Versions:  "17",
			Source:    "java.base sun/net/spi/DefaultProxySelector.java",
			Configure: "-Dhttp.proxyHost, -Dhttp.proxyPort, -Dhttps.proxyHost, -Dhttps.proxyPort and -Dhttp.nonProxyHosts, for example in JAVA_TOOL_OPTIONS",
			Note:      "nonProxyHosts has pipes for commas, and stars only at the ends of an element; loopback is direct unless it is set and empty.",
		},
		http:  []source{only("http.proxyHost")},
		https: []source{only("https.proxyHost")},
		lists: []list{{
			from:   only("http.nonProxyHosts"),
			always: "localhost|127.*|[::1]|0.0.0.0|[::0]",
			rules:  rules{split: splitPipes, host: formBracketed, read: readJDK},
		}},
	}
}

// readJDK reads a star at either end of an element.
func readJDK(_ *rules, text string) ([]element, bool) {
	name, first := strings.CutPrefix(text, "*")
	name, last := strings.CutSuffix(name, "*")
	e := element{name: name, apex: RuleExact}
	switch {
	case first && last, text == "*":
		e.kind = kindInside
	case first:
		e.kind = kindSuffix
	case last:
		e.kind = kindPrefix
	default:
		e.kind = kindExact
	}
	return []element{e}, false
}

func awsJavaModel() model {
	http := lowerFirst("HTTP_PROXY")
	return model{
		name: "AWS SDK Java v2",
		info: ClientInfo{
			Aliases:  []string{"aws-sdk-java-v2", "AWS SDK Java"},
			Versions: "2.21 and newer, read only",
			Source:   "aws-sdk-java-v2 ProxyEnvironmentSetting, SDK guide http-config-proxy-support, #4735",
			Note:     "Modelled with the Apache client, to which the HTTP variable serves https too; Netty and CRT read HTTPS_PROXY. One system property hides all variables. Elements are regular expressions with * for any text.",
		},
		http:       []source{http},
		https:      []source{http},
		schemeless: formDropped,
		direct:     append(metadataAddresses(), containerAddresses()...),
		lists: []list{{from: lowerFirst("NO_PROXY"), rules: rules{
			split: splitCommasFilled,
			host:  formBracketed,
			read:  readAWSJava,
		}}},
	}
}

// readAWSJava leaves elements with other signs of regular expressions out: no
// host is made of what they could match.
func readAWSJava(_ *rules, text string) ([]element, bool) {
	if !isRegexpText(text) {
		return nil, false
	}
	e := element{kind: kindPattern, name: text}
	if !strings.Contains(text, "*") {
		e.apex = RuleExact
	}
	return []element{e}, false
}
