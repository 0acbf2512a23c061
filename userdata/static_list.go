package userdata

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/eksproxy/eksproxy/noproxy"
	"github.com/eksproxy/eksproxy/noproxy/compose"
	"github.com/eksproxy/eksproxy/templates"
)

// segments is NO_PROXY around the CIDRs of the VPC, which a script learns at
// boot: what compose puts before them, and behind them.
type segments struct {
	before, vpc, after, user noproxy.List
	// omit are the CIDRs that the user takes out, as they are compared.
	omit []string
	// none says that the user takes out all CIDRs of the VPC, six that IPv6
	// ones are listed.
	none, six bool
}

// composed is the NO_PROXY value for the facts that are known now.
func (in Input) composed() (noproxy.List, error) {
	r, err := compose.Compose(in.Facts.Network, in.options())
	return r.Entries, err
}

func (in Input) options() compose.Options {
	o := compose.Options{IPv6CIDRs: compose.IPv6Mode(in.Config.NoProxy.IPv6CIDRs)}
	for _, item := range in.Config.NoProxy.Add {
		o.Add = append(o.Add, compose.Addition{Text: item.Text, Source: item.Origin.String()})
	}
	for _, item := range in.Config.NoProxy.Omit {
		o.Omit = append(o.Omit, item.Text)
	}
	return o
}

func (in Input) segments() (segments, error) {
	all, err := in.composed()
	if err != nil {
		return segments{}, fmt.Errorf("composing NO_PROXY: %w", err)
	}
	// Without the VPC's: an entry that is one of them too must not be lost
	// where metadata says otherwise.
	network := in.Facts.Network
	network.VPCCIDRs = nil
	others, err := compose.Compose(network, in.options())
	if err != nil {
		return segments{}, fmt.Errorf("composing NO_PROXY: %w", err)
	}
	s := segments{six: in.listsIPv6()}
	for _, e := range all {
		if e.Group == noproxy.VPC {
			s.vpc = append(s.vpc, e)
		}
	}
	for _, e := range others.Entries {
		switch e.Group {
		case noproxy.Loopback, noproxy.Metadata:
			s.before = append(s.before, e)
		case noproxy.User:
			s.user = append(s.user, e)
		default:
			s.after = append(s.after, e)
		}
	}
	for _, item := range in.Config.NoProxy.Omit {
		s.takeOut(item.Text)
	}
	return s, nil
}

// takeOut notes what an element of noProxy.omit means for CIDRs of the VPC.
func (s *segments) takeOut(text string) {
	text = strings.TrimSpace(text)
	if strings.EqualFold(text, string(noproxy.VPC)) {
		s.none = true
	}
	if p, err := netip.ParsePrefix(strings.TrimPrefix(text, ".")); err == nil {
		s.omit = append(s.omit, p.String())
	}
}

// listsIPv6 says whether compose lists IPv6 CIDRs of the VPC.
func (in Input) listsIPv6() bool {
	switch compose.IPv6Mode(in.Config.NoProxy.IPv6CIDRs) {
	case compose.IPv6Always:
		return true
	case compose.IPv6Never:
		return false
	default:
		return slices.ContainsFunc(in.Facts.ServiceCIDRs, func(p netip.Prefix) bool { return p.Addr().Is6() })
	}
}

// script sets no_proxy, and where it is made to fit something, fixed to it
// without the user's entries.
func (s segments) script(fits bool) string {
	ask, omit, fixed, after := "", "", "", slices.Concat(s.after, s.user)
	if fits {
		after, fixed = s.after, "fixed=$no_proxy\nadd '"+short(s.user)+"'\n"
	}
	if !s.none {
		kinds, awk, other := "vpc-ipv4-cidr-blocks", templates.UserDataVPC4, ""
		if s.six {
			kinds, awk, other = kinds+" vpc-ipv6-cidr-blocks", templates.UserDataVPC6+templates.UserDataVPC4, " && !/:/"
		}
		ask = fill(templates.UserDataMetadata, "%AWK%", fill(awk, "%OTHER%", other)) + fill(templates.UserDataAsk, "%KINDS%", kinds)
	}
	if len(s.omit) > 0 {
		omit = "vpc=$(echo \"$vpc\" | tr , '\\n' | grep -Fxv -e " + strings.Join(s.omit, " -e ") + " | paste -s -d , -)\n"
	}
	return fill(templates.UserDataList, "%BEFORE%", s.before.String(), "%VPC%", s.vpc.String(),
		"%AFTER%", short(after), "%ASK%", ask, "%OMIT%", omit, "%FIXED%", fixed)
}

// short writes the three forms of a zone as one: they are most of a long list.
func short(l noproxy.List) string {
	var texts []string
	for i := 0; i < len(l); i++ {
		name := l[i].Text
		if i+2 < len(l) && l[i+1].Text == "."+name && l[i+2].Text == "*."+name {
			name, i = "+"+name, i+2
		}
		texts = append(texts, name)
	}
	return strings.Join(texts, ",")
}
