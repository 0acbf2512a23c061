package addons

import (
	"fmt"
	"slices"
	"strings"
)

// judge says what becomes of the proxy, the worst first.
func (b *AheadAddon) judge(next *Schema) (Outlook, string) {
	if len(b.Refused) > 0 {
		var at []string
		for _, r := range b.Refused {
			at = append(at, strings.TrimPrefix(fmt.Sprintf("%s (%s)", r.Pointer, r.Why), " "))
		}
		return OutlookRefused, "EKS refuses the update with the values that are there: " + strings.Join(at, ", ")
	}
	var set []string
	for _, c := range b.Claimed {
		if c.Default != nil {
			set = append(set, c.String())
		}
	}
	if len(set) > 0 {
		return OutlookLost, "the version sets these itself, and no variable of eksproxy holds against that: " + strings.Join(set, ", ")
	}
	outlook, why := OutlookKept, "no component of it that eksproxy knows gets the variables"
	for i, r := range b.Routes {
		o, w := r.judge(next)
		if i == 0 || o.rank() > outlook.rank() {
			outlook, why = o, r.Component+": "+w
		}
	}
	return outlook, why
}

// rank orders outlooks, the worst last.
func (o Outlook) rank() int {
	return slices.Index([]Outlook{OutlookKept, OutlookReady, OutlookMoves, OutlookUnknown, OutlookLost, OutlookRefused}, o)
}

func (r AheadRoute) judge(next *Schema) (Outlook, string) {
	pointer, byEKS := strings.CutPrefix(r.Now, RouteEKS+" ")
	switch {
	case byEKS && !next.hasPlace(pointer):
		return OutlookLost, fmt.Sprintf("the version has no %s, which carries the variables now: they are gone from the update until eksproxy addons patch runs again (%s)", pointer, r.Then)
	case byEKS && r.Then != r.Now:
		return OutlookMoves, fmt.Sprintf("%s goes on carrying the variables, and the next eksproxy addons patch takes %s", pointer, r.Then)
	case byEKS:
		return OutlookKept, pointer + " goes on carrying the variables"
	case r.Now == aheadInCluster && r.Then == aheadInCluster:
		return OutlookKept, "the variables in the cluster are eksproxy's own, which an update leaves"
	case r.Now == aheadInCluster:
		return OutlookMoves, fmt.Sprintf("the variables in the cluster stay, and the next eksproxy addons patch takes %s", r.Then)
	}
	return OutlookReady, fmt.Sprintf("eksproxy addons patch after the update takes %s", r.Then)
}

// hasPlace says that a schema has a place at a pointer.
func (s *Schema) hasPlace(pointer string) bool {
	return s != nil && slices.ContainsFunc(s.Places(), func(p Place) bool { return p.Pointer == pointer })
}
