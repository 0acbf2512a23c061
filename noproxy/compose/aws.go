package compose

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/eksproxy/eksproxy/facts"
	"github.com/eksproxy/eksproxy/noproxy"
)

// servedName is a DNS name that an endpoint answers to.
type servedName struct {
	text string // as in "sts.eu-west-1.amazonaws.com" or "*.dkr.ecr.eu-west-1.amazonaws.com"
	by   facts.VPCEndpoint
}

// servedNames are the names of usable endpoints, each once. They are in the
// order of the names and not of the ids, so that an endpoint that is made anew
// does not change the value: a changed value rolls every pod.
func servedNames(c facts.Cluster) []servedName {
	var names []servedName
	for _, e := range c.VPCEndpoints {
		if !e.Usable() {
			continue
		}
		for _, text := range c.NamesOf(e) {
			names = append(names, servedName{text, e})
		}
	}
	slices.SortFunc(names, func(a, b servedName) int {
		return cmp.Or(
			cmp.Compare(bareName(a.text), bareName(b.text)),
			-cmp.Compare(a.text, b.text), // the host itself before the star: letters sort behind it
			cmp.Compare(a.by.ID, b.by.ID), cmp.Compare(a.by.Service, b.by.Service), cmp.Compare(a.by.Type, b.by.Type))
	})
	return slices.CompactFunc(names, func(a, b servedName) bool { return a.text == b.text })
}

// awsNames gives the entries for them. A name that some client would read as
// more than the endpoint answers to is left out: through the proxy it works, and
// the host that it takes along would not work past it.
func (r *Result) awsNames(c facts.Cluster) noproxy.List {
	var l noproxy.List
	for _, name := range servedNames(c) {
		entries, err := name.entries(c)
		if err != nil {
			r.warn("a DNS name of endpoint %s (%s) is left out: %v", oneWord(name.by.ID), oneWord(name.by.Service), err)
			continue
		}
		why := tooWide(entries[0].Text)
		if why == "" {
			l = append(l, entries...)
			continue
		}
		for _, e := range entries {
			r.leaveOut(e, why)
		}
	}
	return l
}

// entries are the forms of a name that all clients read: a host is one, and a
// wildcard the two that name the hosts below a zone. The zone's own host is
// another name, which an endpoint has or has not (S3 by path has one).
func (n servedName) entries(c facts.Cluster) (noproxy.List, error) {
	texts, err := noproxy.ParseAddition(n.text)
	if err != nil {
		return nil, err
	}
	e := noproxy.Entry{
		Text:   texts[0],
		Group:  noproxy.AWS,
		Reason: n.reason(),
		Source: cmp.Or(oneWord(n.by.ID), source(c.Network, facts.FieldVPCEndpoints)),
	}
	if _, err := netip.ParseAddr(e.Text); err == nil || strings.Contains(e.Text, "/") {
		return nil, fmt.Errorf("%s is an address, and an endpoint has names", noproxy.Quote(n.text))
	}
	if len(texts) == 1 {
		return noproxy.List{e}, nil
	}
	return zone(bareName(n.text), e)
}

func (n servedName) reason() string {
	if n.by.Type == "Gateway" {
		return oneWord(n.by.Service) + ": the VPC has a gateway endpoint for it"
	}
	return oneWord(n.by.Service) + ": this name resolves to its interface endpoint in the VPC"
}

// oneWord is an id or a name of a service as it is; a text that is neither, from
// a file of facts, is quoted and stays on its line.
func oneWord(text string) string {
	if strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return noproxy.Quote(text)
	}
	return text
}

// tooWide says why an entry takes in hosts that no endpoint answers to; empty
// where it does not. The models of package noproxy decide, in lint's rules: so
// nothing is composed that lint refuses.
func tooWide(text string) string {
	if isPublicSuffix(bareName(text)) {
		return "it is a whole public domain"
	}
	for _, f := range noproxy.LintValue(text) {
		if f.Code == "NP021" && hasIssuers(text) || f.Code == "NP022" || f.Code == "NP033" {
			return f.Message + "; so read it " + few(f.Clients)
		}
	}
	return ""
}

// hasIssuers says whether issuers of IRSA are below EKS's name: in the classic
// domain they are (oidc.eks.R), and in the dual-stack one beside it (oidc-eks.R),
// where apt alone would take them along, which asks none.
func hasIssuers(text string) bool {
	_, dualStack := noproxy.AWSDomains(noproxy.RegionOf(text))
	return !isIn(strings.ToLower(bareName(text)), dualStack)
}

// bareName is a name without the mark of a zone.
func bareName(text string) string { return strings.TrimPrefix(strings.TrimPrefix(text, "*"), ".") }
