package noproxy

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"unicode"
)

// variables looks at the proxy variables as a set.
func (l *linter) variables() {
	for _, names := range [][2]string{{"http_proxy", "HTTP_PROXY"}, {"https_proxy", "HTTPS_PROXY"}, {"no_proxy", "NO_PROXY"}} {
		l.pair(names[0], names[1])
	}
	for _, name := range ProxyVariables() {
		if value := l.env[name]; value != "" && !strings.EqualFold(name, "NO_PROXY") {
			l.proxyURL(name, value)
		}
	}
	l.sides()
}

// pair looks at both cases of a variable.
func (l *linter) pair(lower, upper string) {
	a, hasLower := l.env[lower]
	b, hasUpper := l.env[upper]
	switch {
	case hasLower && a == "" || hasUpper && b == "":
		name := lower
		if hasUpper && b == "" {
			name = upper
		}
		without := maps.Clone(l.env)
		maps.DeleteFunc(without, func(k, v string) bool { return v == "" && strings.EqualFold(k, name) })
		l.add(Finding{
			Code: "NP006", Where: name, Clients: l.changed(l.env, without, l.everyTarget()),
			Message: "it is set and empty: for some clients that hides the other case, for others it does not",
		})
	case hasLower && hasUpper && a != b:
		l.add(Finding{
			Code: "NP012", Where: upper, Clients: l.betweenCases(lower, upper),
			Message: fmt.Sprintf("%s and %s differ, and clients disagree on which of them wins", lower, upper),
		})
	case hasLower != hasUpper:
		set, unset := lower, upper
		if hasUpper {
			set, unset = upper, lower
		}
		both := maps.Clone(l.env)
		both[unset] = l.env[set]
		l.add(Finding{
			Code: "NP013", Where: set, Clients: l.changed(l.env, both, l.everyTarget()),
			Message: fmt.Sprintf("%s is set and %s is not", set, unset), Fix: "set " + unset + " to the same value",
		})
	}
}

// betweenCases are the clients that a difference between the cases divides: all
// that do not take the lower one.
func (l *linter) betweenCases(lower, upper string) []string {
	alike := maps.Clone(l.env)
	alike[upper] = l.env[lower]
	return l.changed(l.env, alike, l.everyTarget())
}

// everyTarget is what the entries are about, and two hosts that no entry is
// about.
func (l *linter) everyTarget() []Target {
	return witnesses(l.env["no_proxy"] + "," + l.env["NO_PROXY"] + ",elsewhere.example")
}

// proxyURL looks at the URL of a proxy. No finding repeats it: it may hold a
// password.
func (l *linter) proxyURL(name, value string) {
	if strings.ContainsFunc(value, unicode.IsControl) || strings.TrimSpace(value) != value {
		l.add(Finding{
			Code: "NP026", Where: name, Message: "the URL holds a control character or a blank: it came from a block scalar, a Windows file or the output of a program",
			Clients: l.withValue(name, strings.TrimSpace(cleanControls(value))),
		})
		value = strings.TrimSpace(cleanControls(value))
	}
	if cleaned := cleanQuotes(value); cleaned != value {
		l.add(Finding{Code: "NP029", Where: name, Message: "quotes are a part of the URL"})
		value = cleaned
	}
	if i := strings.Index(value, " #"); i >= 0 {
		l.add(Finding{Code: "NP028", Where: name, Message: "a comment behind the URL is a part of it"})
		value = strings.TrimSpace(value[:i])
	}
	scheme, rest, ok := strings.Cut(value, "://")
	switch {
	case !ok:
		l.add(Finding{
			Code: "NP014", Where: name, Clients: l.withValue(name, "http://"+value),
			Message: "the URL has no scheme: some clients fail for every request, others guess one",
		})
		rest = value
	case strings.EqualFold(scheme, "https"):
		l.add(Finding{
			Code: "NP015", Where: name, Clients: l.named("wget", "Python urllib", "aiohttp", "Ruby Net::HTTP"),
			Message: "the proxy itself is spoken to over TLS, which some clients do not: they send plain text to its port, or go direct",
		})
	}
	l.userinfo(name, rest)
}

// withValue are the clients that decide otherwise with another value of one
// variable.
func (l *linter) withValue(name, value string) []string {
	env := maps.Clone(l.env)
	env[name] = value
	return l.changed(l.env, env, l.everyTarget())
}

// userinfo looks at user:password in the rest of a URL.
func (l *linter) userinfo(name, rest string) {
	at := strings.LastIndexByte(rest, '@')
	if at < 0 {
		return
	}
	switch user := rest[:at]; {
	case !isEncoded(user):
		l.add(Finding{
			Code: "NP016", Where: name,
			Message: "the user name or the password holds characters that must be percent-encoded: clients cut the URL in different places",
		})
	case strings.Contains(user, "%"):
		l.add(Finding{
			Code: "NP017", Where: name, Clients: l.named("axios", "AWS SDK Java v2"),
			Message: "the credentials are percent-encoded, and some clients send them as they stand",
		})
	}
}

// isEncoded says whether text holds only what user:password holds in a URL.
func isEncoded(text string) bool {
	user, password, _ := strings.Cut(text, ":")
	for _, part := range []string{user, password} {
		_, err := url.PathUnescape(part)
		if err != nil || strings.ContainsFunc(part, isReserved) {
			return false
		}
	}
	return true
}

// unreserved are the characters that stand for themselves in user:password
// (RFC 3986, 3.2.1), and the sign of those that do not.
const unreserved = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~!$&'()*+,;=%"

func isReserved(r rune) bool { return !strings.ContainsRune(unreserved, r) }

// named are the modelled clients with these names.
func (*linter) named(names ...string) []string {
	var found []string
	for _, name := range names {
		for _, c := range FindClients(name) {
			found = append(found, c.Name())
		}
	}
	return found
}

// sides looks for a proxy of one protocol alone, and for one without a list.
func (l *linter) sides() {
	set := func(name string) string {
		if v := l.env[strings.ToLower(name)]; v != "" {
			return v
		}
		return l.env[name]
	}
	httpURL, httpsURL := set("HTTP_PROXY"), set("HTTPS_PROXY")
	if httpURL == "" && httpsURL == "" {
		return
	}
	both := maps.Clone(l.env)
	switch {
	case httpURL == "":
		both["http_proxy"], both["HTTP_PROXY"] = httpsURL, httpsURL
		l.add(Finding{
			Code: "NP023", Where: "HTTPS_PROXY", Clients: l.changed(l.env, both, l.everyTarget()),
			Message: "HTTPS_PROXY is set without HTTP_PROXY: http goes direct, and Ruby and Java look at HTTP_PROXY alone",
		})
	case httpsURL == "":
		both["https_proxy"], both["HTTPS_PROXY"] = httpURL, httpURL
		l.add(Finding{
			Code: "NP024", Where: "HTTP_PROXY", Clients: l.changed(l.env, both, l.everyTarget()),
			Message: "HTTP_PROXY is set without HTTPS_PROXY: https goes direct in most clients",
		})
	}
	if set("NO_PROXY") == "" {
		l.add(Finding{Code: "NP025", Where: "NO_PROXY", Message: "a proxy is set without NO_PROXY: metadata, probes and the API server are asked through it"})
	}
}

// Codes are the codes of findings, each once, sorted.
func Codes(findings []Finding) []string {
	var codes []string
	for _, f := range findings {
		codes = append(codes, f.Code)
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}
