package noproxy

import (
	"net/netip"
	"slices"
	"strings"
)

// model is what tells one client from another.
type model struct {
	name string
	info ClientInfo
	// neverReads is for clients without these variables. Where it has sources
	// all the same, they are properties, and count where one is set.
	neverReads  bool
	http, https []source
	cgi         cgiRule
	cgiVariable string // REQUEST_METHOD where empty
	// schemeless and tls are what becomes of proxies written as host:port and
	// https://host:port.
	schemeless, tls proxyForm
	// tlsOnHTTP is for https:// proxies of http targets, where that differs.
	tlsOnHTTP proxyForm
	lists     []list
	loopback  loopbackRule
	// direct are credential endpoints that the SDK reaches past any proxy.
	direct []netip.Addr
	// inner is the library below, asked where this client gives it no proxy;
	// its list is asked in any case.
	inner *model
}

// list is one reading of a NO_PROXY variable. A client may have several.
type list struct {
	from  source
	rules rules
	// always is read after the value, except where that is set and empty.
	always string
}

// loopbackRule says which hosts are direct without an entry.
type loopbackRule uint8

const (
	loopbackNone loopbackRule = iota
	loopbackGo                // localhost in lower case, and loopback addresses
	loopbackRuby              // what resolves to loopback
)

func (r loopbackRule) covers(t *Target) bool {
	switch r {
	case loopbackGo:
		return t.host == "localhost" || t.addr.Unmap().IsLoopback()
	case loopbackRuby:
		return !t.resolved.Is4In6() && t.resolved.IsLoopback()
	default:
		return false
	}
}

// proxyForm says what a client does with a proxy URL of some form.
type proxyForm uint8

const (
	formWorks   proxyForm = iota
	formFails             // the request that it would serve fails
	formStops             // every request fails
	formDropped           // the request goes direct
)

// Matcher is a client prepared for one environment. It is safe for concurrent
// use.
type Matcher struct {
	model   *model
	ignored bool
	http    preparedProxy
	https   preparedProxy
	failed  Verdict // where every request fails
	lists   []preparedList
	inner   *Matcher
}

type preparedProxy struct {
	variable string
	form     proxyForm
	cgi      bool // a request that it serves fails
	absent   RuleID
}

type preparedList struct {
	host, hostPort hostForm
	elements       [hostClasses][]element
}

// Prepare reads the environment as the client does.
func (c Client) Prepare(env Environment) *Matcher { return c.model.prepare(env) }

func (c *model) prepare(env Environment) *Matcher {
	m := &Matcher{model: c, http: c.prepareProxy(c.http, env, true), https: c.prepareProxy(c.https, env, false)}
	m.ignored = c.neverReads && m.http.variable == "" && m.https.variable == ""
	for i := range c.lists {
		m.prepareList(&c.lists[i], env)
	}
	for _, p := range []preparedProxy{m.http, m.https} {
		if p.form == formStops {
			m.failed = Verdict{Decision: Failed, Rule: RuleBadProxy, Proxy: p.variable}
		}
	}
	if c.inner != nil {
		m.inner = c.inner.prepare(env)
	}
	return m
}

// prepareProxy finds the variable for a scheme and what its value does.
func (c *model) prepareProxy(sources []source, env Environment, isHTTP bool) preparedProxy {
	p := preparedProxy{absent: RuleNoProxySet}
	if c.isCGI(env) {
		switch c.cgi {
		case cgiDirect:
			return preparedProxy{absent: RuleCGI}
		case cgiFails:
			p.cgi = isHTTP
		case cgiDrops:
			if sources = withoutUpper(sources); isHTTP && env["HTTP_PROXY"] != "" {
				p.absent = RuleCGI
			}
		default:
		}
	}
	var value string
	if p.variable, value = lookup(sources, env); p.variable != "" && !c.neverReads {
		p.form = c.formOf(value, isHTTP)
	}
	return p
}

// isCGI says whether the variable is there that only a CGI program has. Go
// alone wants a value in it.
func (c *model) isCGI(env Environment) bool {
	name := "REQUEST_METHOD"
	if c.cgiVariable != "" {
		name = c.cgiVariable
	}
	value, set := env[name]
	return set && (value != "" || c.cgi != cgiFails)
}

// formOf says what the client does with a proxy written so.
func (c *model) formOf(value string, isHTTP bool) proxyForm {
	scheme, _, found := strings.Cut(value, "://")
	switch {
	case !found:
		return c.schemeless
	case strings.EqualFold(scheme, "https") && isHTTP:
		return max(c.tls, c.tlsOnHTTP)
	case strings.EqualFold(scheme, "https"):
		return c.tls
	}
	return formWorks
}

func (m *Matcher) prepareList(l *list, env Environment) {
	_, value, _ := l.from.lookup(env)
	texts := l.rules.split(value)
	if l.always != "" && (value != "" || !l.isSet(env)) {
		texts = append(texts, l.rules.split(l.always)...)
	}
	if value == "" && l.always == "" {
		return
	}
	r := &l.rules
	if value == "*" && r.star == starValue {
		star := element{text: value, kind: kindStar}
		m.lists = append(m.lists, preparedList{elements: [hostClasses][]element{{star}, {star}, {star}}})
		return
	}
	p := preparedList{host: r.host, hostPort: r.hostPort}
	for _, text := range texts {
		elements, bad := r.compile(text)
		if bad && m.failed.Decision == "" {
			m.failed = Verdict{Decision: Failed, Entry: strings.TrimSpace(text), Rule: RuleBadEntry}
		}
		for _, e := range elements {
			if e.kind == kindStar && r.star == starElement {
				// A star ends the reading, so what is bad does no harm.
				m.failed = Verdict{}
				m.lists = append(m.lists, preparedList{elements: [hostClasses][]element{{e}, {e}, {e}}})
				return
			}
			p.add(r, e)
		}
	}
	m.lists = append(m.lists, p)
}

func (l *list) isSet(env Environment) bool {
	return slices.ContainsFunc(l.from.names, func(name string) bool { _, set := env[name]; return set })
}

func (p *preparedList) add(r *rules, e element) {
	for class := range hostClasses {
		if r.covers(&e, class) {
			p.elements[class] = append(p.elements[class], e)
		}
	}
}
