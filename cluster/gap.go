package cluster

import (
	"slices"
	"strings"

	"github.com/eksproxy/eksproxy/facts"
)

// fill records where fields came from, and drops their gaps.
func (r *reader) fill(field, source string) { r.facts.Fill(field, source) }

// gap notes that fields are unknown, and why. To the remedy comes the flag that
// gives the field by itself. Two reasons for the same field stand in one gap.
func (r *reader) gap(why, remedy string, fields ...string) {
	for _, field := range fields {
		ways := remedy
		if flag := flagFor(field); flag != "" && !strings.Contains(ways, flag) {
			ways += " or " + flag
		}
		i := slices.IndexFunc(r.facts.Gaps, func(g facts.Gap) bool { return g.Field == field })
		if i < 0 {
			r.facts.Gaps = append(r.facts.Gaps, facts.Gap{Field: field, Why: why, Remedy: ways})
			continue
		}
		g := &r.facts.Gaps[i]
		if !strings.Contains(g.Why, why) {
			g.Why += "; " + why
		}
		if !strings.Contains(g.Remedy, remedy) {
			g.Remedy += "; " + remedy
		}
	}
}

// flagFor is the flag by which the user gives a field.
func flagFor(field string) string {
	switch field {
	case facts.FieldVPCCIDRs:
		return "--vpc-cidr"
	case facts.FieldServiceCIDRs:
		return "--service-cidr"
	case facts.FieldEndpointHost:
		return "--cluster-endpoint"
	case facts.FieldClusterDomain:
		return "--cluster-domain"
	case facts.FieldRegion, facts.FieldDNSSuffix:
		return "--region"
	}
	return ""
}

// answered sorts out the error of a call. It returns true where there was an
// answer; false and no error where the call was refused, which leaves the
// fields unknown.
func (r *reader) answered(e *Error, fields ...string) (bool, error) {
	switch {
	case e == nil:
		r.told = true
		return true, nil
	case e.Kind == Unreachable:
		return false, e
	case r.denied == nil:
		r.denied = e
	}
	r.gap(e.Call+": "+e.cause(), e.Remedy, fields...)
	return false, nil
}
