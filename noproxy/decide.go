package noproxy

import "slices"

// Decide says what the client does with a request. It allocates nothing. The
// zero Target is a failure.
func (m *Matcher) Decide(t Target) Verdict { return m.decide(&t) }

func (m *Matcher) decide(t *Target) Verdict {
	p := &m.http
	if t.scheme == "https" {
		p = &m.https
	}
	switch {
	case t.host == "":
		return Verdict{Decision: Failed}
	case m.ignored:
		return Verdict{Decision: Ignored, Rule: RuleNeverReads}
	case m.model.goesDirect(t):
		return Verdict{Decision: Direct, Rule: endpointRule(t), Proxy: p.variable}
	case m.failed.Decision != "":
		return m.failed
	case p.variable == "" && m.inner != nil:
		return m.inner.decide(t)
	case p.variable == "":
		return Verdict{Decision: Direct, Rule: p.absent}
	case p.cgi:
		return Verdict{Decision: Failed, Rule: RuleCGI, Proxy: p.variable}
	case m.model.loopback.covers(t):
		return Verdict{Decision: Direct, Rule: RuleLoopback, Proxy: p.variable}
	}
	if entry, rule := m.listed(t); rule != RuleNone {
		if m.inner != nil {
			return m.inner.decide(t)
		}
		return Verdict{Direct, entry, rule, p.variable}
	}
	return m.proxied(p, t)
}

// proxied is the verdict where no list of the client's own holds the host.
func (m *Matcher) proxied(p *preparedProxy, t *Target) Verdict {
	if m.inner != nil {
		if entry, rule := m.inner.listed(t); rule != RuleNone {
			return Verdict{Direct, entry, rule, p.variable}
		}
	}
	switch p.form {
	case formFails:
		return Verdict{Decision: Failed, Rule: RuleBadProxy, Proxy: p.variable}
	case formDropped:
		return Verdict{Decision: Direct, Rule: RuleProxyDropped, Proxy: p.variable}
	default:
		return Verdict{Decision: Proxied, Rule: RuleNotListed, Proxy: p.variable}
	}
}

// listed finds the first element that covers the host.
func (m *Matcher) listed(t *Target) (entry string, rule RuleID) {
	for i := range m.lists {
		l := &m.lists[i]
		host, port := t.texts[l.host], t.texts[l.hostPort]
		if port == host {
			port = ""
		}
		elements := l.elements[t.class]
		for j := range elements {
			e := &elements[j]
			if !e.fits(host) && port == "" {
				continue
			}
			if rule := e.match(host, port, t); rule != RuleNone {
				return e.text, rule
			}
		}
	}
	return "", RuleNone
}

func (c *model) goesDirect(t *Target) bool {
	return t.class != className && slices.Contains(c.direct, t.addr)
}

func endpointRule(t *Target) RuleID {
	if slices.Contains(metadataAddresses(), t.addr) {
		return RuleMetadata
	}
	return RuleCredentials
}
