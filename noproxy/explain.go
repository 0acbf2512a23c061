package noproxy

import (
	"maps"
	"slices"
	"strings"
)

// NotModelled stands where a decision would: nothing is known about a client
// with this name, and nothing is guessed.
const NotModelled Decision = "not modelled"

// AssumedProxy is the proxy of an environment that gives none: what a client
// makes of a list is then told as if both URLs were set.
const AssumedProxy = "http://proxy.example:3128"

// Explanation is what one client does with one URL, and why.
type Explanation struct {
	URL      string   `json:"url"`
	Client   string   `json:"client"`
	Decision Decision `json:"decision"`
	// Entry is the deciding element of NO_PROXY; empty where none decided.
	Entry string `json:"entry"`
	Rule  string `json:"rule"`
	// NearMisses say why entries that a reader may take for a match are none.
	NearMisses []string `json:"nearMisses,omitempty"`
	// Configure is how to give the client a proxy where it does not read the
	// variables by itself.
	Configure string `json:"configure,omitempty"`
}

// ProxyVariables are the names of the variables that clients read, both cases,
// in the order in which they are documented.
func ProxyVariables() []string {
	return []string{
		"http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "no_proxy", "NO_PROXY", "all_proxy", "ALL_PROXY",
	}
}

// ValueEnvironment is an environment with this NO_PROXY value in both cases and
// no proxy. An empty value is an unset variable.
func ValueEnvironment(noProxy string) Environment {
	env := Environment{}
	if noProxy != "" {
		env.setNoProxy(noProxy)
	}
	return env
}

// WithProxies gives the environment as it is if it sets a proxy, and else with
// AssumedProxy for http and https.
func (e Environment) WithProxies() Environment {
	for _, name := range []string{"http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"} {
		if e[name] != "" {
			return e
		}
	}
	env := Environment{}
	maps.Copy(env, e)
	for _, name := range []string{"http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY"} {
		env[name] = AssumedProxy
	}
	return env
}

func (e Environment) setNoProxy(value string) {
	e["no_proxy"], e["NO_PROXY"] = value, value
}

// withNoProxy gives a copy with this value in both cases.
func (e Environment) withNoProxy(value string) Environment {
	env := Environment{}
	maps.Copy(env, e)
	delete(env, "no_proxy")
	delete(env, "NO_PROXY")
	if value != "" {
		env.setNoProxy(value)
	}
	return env
}

// NoProxyValue is the value that an environment means: where the two cases
// differ, the entries of both.
func (e Environment) NoProxyValue() string {
	lower, upper := e["no_proxy"], e["NO_PROXY"]
	switch {
	case lower == upper || upper == "":
		return lower
	case lower == "":
		return upper
	}
	texts := strings.Split(lower, ",")
	for text := range strings.SplitSeq(upper, ",") {
		if !containsText(texts, text) {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, ",")
}

func containsText(texts []string, text string) bool {
	for _, t := range texts {
		if strings.EqualFold(strings.TrimSpace(t), strings.TrimSpace(text)) {
			return true
		}
	}
	return false
}

// Explain says what each client does with each URL, URL by URL. Where the
// environment sets no proxy, both URLs are taken as set.
func Explain(env Environment, clients []Client, targets []Target) []Explanation {
	env = env.WithProxies()
	matchers := prepareAll(env, clients)
	value := env.NoProxyValue()
	items := make([]Explanation, 0, len(clients)*len(targets))
	for _, t := range targets {
		for i, c := range clients {
			v := matchers[i].Decide(t)
			item := Explanation{
				URL: t.URL(), Client: c.Name(), Decision: v.Decision, Entry: v.Entry, Rule: v.Rule.String(),
				Configure: c.Info().Configure,
			}
			if v.Decision == Proxied {
				item.NearMisses = nearMisses(value, t, func(text string) bool {
					return c.Prepare(env.withNoProxy(text)).Decide(t).Decision == Direct
				})
			}
			items = append(items, item)
		}
	}
	return items
}

// Unknown explains that nothing is known about a client.
func Unknown(name string, t Target) Explanation {
	return Explanation{URL: t.URL(), Client: name, Decision: NotModelled, Rule: "no model of this client"}
}

// Differing are the URLs on which clients decide otherwise than others, in the
// order of the items. Clients that ignore the variables, and those that are not
// modelled, do not count.
func Differing(items []Explanation) []string {
	first := map[string]Decision{}
	var urls []string
	for _, item := range items {
		if item.Decision == Ignored || item.Decision == NotModelled {
			continue
		}
		d, seen := first[item.URL]
		switch {
		case !seen:
			first[item.URL] = item.Decision
		case d != item.Decision && !slices.Contains(urls, item.URL):
			urls = append(urls, item.URL)
		}
	}
	return urls
}

// prepareAll prepares each client for one environment.
func prepareAll(env Environment, clients []Client) []*Matcher {
	matchers := make([]*Matcher, len(clients))
	for i, c := range clients {
		matchers[i] = c.Prepare(env)
	}
	return matchers
}
