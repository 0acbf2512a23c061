// Package compose turns facts about a network into the NO_PROXY value of an EKS
// cluster, each entry with its reason and source. It owns which entries there
// are and in what order. It asks nobody. A name of an AWS service is added only
// for an endpoint of the VPC that answers to it, which Cluster knows and Compose
// does not (docs/no-proxy.md). Gaps in the facts are for the caller to report.
package compose

import (
	"fmt"
	"slices"

	"github.com/eksproxy/eksproxy/facts"
	"github.com/eksproxy/eksproxy/noproxy"
)

// IPv6Mode says whether IPv6 CIDRs stand in the value. One such entry makes
// httpx 0.28 fail for every host (encode/httpx#3574).
// It does not concern single IPv6 addresses, which are always listed.
type IPv6Mode string

// The modes. Empty means IPv6Auto.
const (
	// IPv6Auto lists them where a service range is IPv6: such a cluster cannot
	// work without.
	IPv6Auto IPv6Mode = "auto"
	// IPv6Always lists all of them.
	IPv6Always IPv6Mode = "always"
	// IPv6Never lists none, not even those that the user added.
	IPv6Never IPv6Mode = "never"
)

// Addition is one entry of the user's: its text as it was written, and where it
// stands, as in "proxy.yaml:12" or "--no-proxy-add".
type Addition struct {
	Text   string `json:"text"`
	Source string `json:"source"`
}

// Options are the user's wishes for the value.
type Options struct {
	// Add are entries to add, in the grammar of noproxy.ParseAddition.
	Add []Addition
	// Omit takes entries out: by text; by zone ("zone" or ".zone" takes out
	// zone, .zone and *.zone); or by the name of a noproxy.Group.
	Omit []string
	// IPv6CIDRs says whether IPv6 CIDRs stand in the value.
	IPv6CIDRs IPv6Mode
}

// LeftOut is an entry that is not in the value, and why. In JSON, "why" stands
// beside the fields of the entry.
type LeftOut struct {
	noproxy.Entry
	Why string `json:"why"`
}

// Result is a composed value and what there is to say about it.
type Result struct {
	Entries  noproxy.List `json:"entries"`
	LeftOut  []LeftOut    `json:"leftOut,omitempty"`
	Warnings []string     `json:"warnings,omitempty"`
	// Proxied are services of AWS without a usable endpoint, sorted: programs ask
	// them through the proxy. Only Cluster gives them, and only where the VPC's
	// endpoints are known; what noProxy.omit takes out is in LeftOut.
	Proxied []Proxied `json:"proxied,omitempty"`
}

// Compose gives the NO_PROXY value for a network. The same facts and options
// give the same bytes, in whatever order ranges were discovered. An unknown fact
// leaves its entries out; a fact or an addition that is no entry is an error.
func Compose(n facts.Network, o Options) (Result, error) {
	if err := o.IPv6CIDRs.check(); err != nil {
		return Result{}, err
	}
	entries, err := fixed(n)
	if err != nil {
		return Result{}, err
	}
	var r Result
	if err := r.fill(n, entries, o); err != nil {
		return Result{}, err
	}
	return r, nil
}

// fill makes the value of what the facts give and what the user wishes.
func (r *Result) fill(n facts.Network, entries noproxy.List, o Options) error {
	ipv6Service := slices.ContainsFunc(entries, isIPv6Service)
	added, err := additions(o.Add)
	if err != nil {
		return err
	}
	r.warnOfUnsaid(n, o)
	entries = r.omit(append(entries, added...), o.Omit)
	entries = r.dropIPv6(entries, o.IPv6CIDRs, ipv6Service)
	for _, e := range entries {
		if !r.Entries.Contains(e.Text) {
			r.Entries = append(r.Entries, e)
		}
	}
	// The user can add again what was left out as a fact.
	r.LeftOut = slices.DeleteFunc(r.LeftOut, func(l LeftOut) bool { return r.Entries.Contains(l.Text) })
	r.warnOfOmitted()
	r.warnOfIPv6()
	return nil
}

func additions(add []Addition) (noproxy.List, error) {
	var l noproxy.List
	for _, a := range add {
		texts, err := noproxy.ParseAddition(a.Text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", a.Source, err)
		}
		for _, text := range texts {
			l = append(l, noproxy.Entry{Text: text, Group: noproxy.User, Reason: "added by the user", Source: a.Source})
		}
	}
	return l, nil
}

func (r *Result) warn(format string, args ...any) {
	r.Warnings = append(r.Warnings, fmt.Sprintf(format, args...))
}

func (r *Result) leaveOut(e noproxy.Entry, why string) {
	r.LeftOut = append(r.LeftOut, LeftOut{Entry: e, Why: why})
}

// warnOfUnsaid names what only the user or the node can tell.
func (r *Result) warnOfUnsaid(n facts.Network, o Options) {
	if n.Region == "" {
		r.warn("the region is unknown: EC2's private names of nodes are left out; write it with --region")
	}
	if len(o.Add) == 0 {
		r.warn("noProxy.add is empty: hosts of the company's own network will be asked through the proxy; " +
			"add its zones and ranges (for example .corp.example, 10.0.0.0/8)")
	}
}
