package noproxy

import (
	"slices"
	"strings"
)

// Contains says whether an entry with this text is in the list. Case does not
// count: of all clients only Guzzle looks at it (docs/no-proxy.md).
func (l List) Contains(text string) bool {
	return slices.ContainsFunc(l, func(e Entry) bool { return strings.EqualFold(e.Text, text) })
}

// Fit makes the value fit a reader that takes at most limit bytes, such as
// Amazon Linux 2's pam_env, which cuts lines over 1023 bytes (linux-pam 1.1.8).
// A value cut in the middle ends in an entry that means something else, so
// whole entries are left out, those that the fewest clients need first: star
// forms, then dotted twins of a bare name, then what the user added, then any;
// in each of these steps from the end. left has them in that order.
func (l List) Fit(limit int) (kept, left List) {
	kept = slices.Clone(l)
	size := len(l.String())
	steps := []func(Entry) bool{
		isStar,
		func(e Entry) bool { return kept.hasBare(e) },
		func(e Entry) bool { return e.Group == User },
		func(Entry) bool { return true },
	}
	for _, expendable := range steps {
		for i := len(kept) - 1; i >= 0 && size > limit; i-- {
			if !expendable(kept[i]) {
				continue
			}
			size -= len(kept[i].Text) + len(",")
			left = append(left, kept[i])
			kept = slices.Delete(kept, i, i+1)
		}
	}
	return kept, left
}

func isStar(e Entry) bool { return strings.HasPrefix(e.Text, "*.") }

// hasBare says whether e is ".x" and "x" is in the list.
func (l List) hasBare(e Entry) bool {
	name, dotted := strings.CutPrefix(e.Text, ".")
	return dotted && l.Contains(name)
}
