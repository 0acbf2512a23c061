package facts

import "strings"

// FargateProfileLabel is the label by which a pod chooses its profile.
const FargateProfileLabel = "eks.amazonaws.com/fargate-profile"

// ProfileFor is the Fargate profile that takes a pod, by the rules of EKS's user
// guide ("Define which Pods use AWS Fargate when launched"):
//
//   - a profile takes a pod that one of its selectors matches; that there are at
//     most five of them is a quota that AWS raises on request, and no rule;
//   - of several profiles it is the one that the pod's FargateProfileLabel names,
//     else the one whose name sorts first. A label that names a profile that does
//     not match, or does not exist, chooses nothing;
//   - a profile that is being made or deleted takes none.
//
// EKS's admission sets the label too, so that a pod that is there keeps its
// profile.
func (c Cluster) ProfileFor(namespace string, labels map[string]string) (FargateProfile, bool) {
	var found FargateProfile
	ok := false
	for _, p := range c.FargateProfiles {
		if !p.takes(namespace, labels) {
			continue
		}
		if p.Name == labels[FargateProfileLabel] {
			return p, true
		}
		if !ok || p.Name < found.Name {
			found, ok = p, true
		}
	}
	return found, ok
}

func (p FargateProfile) takes(namespace string, labels map[string]string) bool {
	if p.Status != "" && !strings.EqualFold(p.Status, "ACTIVE") {
		return false
	}
	for _, s := range p.Selectors {
		if s.matches(namespace, labels) {
			return true
		}
	}
	return false
}

// matches says whether the namespace matches and each of the selector's labels
// matches one of the pod's, key and value. EKS takes no selector without a
// namespace, so that one matches nothing.
func (s FargateSelector) matches(namespace string, labels map[string]string) bool {
	if s.Namespace == "" || !matchWildcards(s.Namespace, namespace) {
		return false
	}
	for key, value := range s.Labels {
		if !hasLabel(labels, key, value) {
			return false
		}
	}
	return true
}

// hasLabel says whether one label has both: a key that matches and a value that
// matches in two labels are no match.
func hasLabel(labels map[string]string, key, value string) bool {
	for k, v := range labels {
		if matchWildcards(key, k) && matchWildcards(value, v) {
			return true
		}
	}
	return false
}

// matchWildcards says whether a whole text matches a pattern: * is any run of
// characters, also none, ? is exactly one, and all else is itself. It takes back
// the last star only, so that no pattern makes it slow.
func matchWildcards(pattern, text string) bool {
	ps, ts := []rune(pattern), []rune(text)
	p, star, mark := 0, -1, 0
	for t := 0; t < len(ts); {
		switch {
		case p < len(ps) && ps[p] == '*':
			star, mark = p, t
			p++
		case p < len(ps) && (ps[p] == '?' || ps[p] == ts[t]):
			p++
			t++
		case star >= 0: // the star takes one more
			mark++
			p, t = star+1, mark
		default:
			return false
		}
	}
	for p < len(ps) && ps[p] == '*' {
		p++
	}
	return p == len(ps)
}
