package noproxy

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// NoChange is the edit of a Change where no edit makes the clients agree.
const NoChange = "none"

// Change is the smallest edit of NO_PROXY that makes the clients agree on a
// URL.
type Change struct {
	URL string `json:"url"`
	// Edit is the edit in words, or NoChange.
	Edit string `json:"change"`
	// Decision is what the clients then do, and NoProxy the edited value.
	Decision Decision `json:"decision,omitempty"`
	NoProxy  string   `json:"noProxy,omitempty"`
}

// SmallestChange searches the edit that makes all modelled clients agree on a
// target: one entry added (the literal address or the exact host, then the
// missing forms of a zone), one replaced, one dropped, then two of these. No
// edit is taken that changes what clients do with one of the other targets on
// which they agree already.
func SmallestChange(env Environment, t Target, others []Target) Change {
	s := newSearch(env.WithProxies(), others)
	for _, e := range candidates(s.texts, t) {
		if d, ok := s.agree(e.texts, t); ok {
			return Change{URL: t.URL(), Edit: e.words, Decision: d, NoProxy: strings.Join(e.texts, ",")}
		}
	}
	return Change{URL: t.URL(), Edit: NoChange}
}

// edit is a list after an edit, and the edit in words.
type edit struct {
	words string
	texts []string
}

// search evaluates edits on every model.
type search struct {
	env     Environment
	clients []Client
	texts   []string
	// kept are the targets on which the clients agree, and how they decide.
	kept map[Target]Decision
}

func newSearch(env Environment, others []Target) *search {
	s := &search{env: env, clients: Clients(), kept: map[Target]Decision{}}
	if value := env.NoProxyValue(); value != "" {
		s.texts = strings.Split(value, ",")
	}
	matchers := prepareAll(env, s.clients)
	for _, t := range others {
		if d, ok := agreed(matchers, t); ok {
			s.kept[t] = d
		}
	}
	return s
}

// agree says whether the clients agree on the target with another list, and
// still do what they did with the targets that are kept.
func (s *search) agree(texts []string, t Target) (Decision, bool) {
	matchers := prepareAll(s.env.withNoProxy(strings.Join(texts, ",")), s.clients)
	d, ok := agreed(matchers, t)
	if !ok {
		return d, false
	}
	for other, before := range s.kept {
		if after, ok := agreed(matchers, other); !ok || after != before {
			return d, false
		}
	}
	return d, true
}

// agreed is the decision that all clients take which read the variables, if
// they take the same and it is no error.
func agreed(matchers []*Matcher, t Target) (Decision, bool) {
	var first Decision
	for _, m := range matchers {
		d := m.Decide(t).Decision
		switch {
		case d == Ignored:
		case d == Failed || first != "" && d != first:
			return d, false
		default:
			first = d
		}
	}
	return first, true
}

// candidates are the edits in the order of their size.
func candidates(texts []string, t Target) []edit {
	adds := additionsFor(texts, t)
	single := slices.Concat([]edit{{"write no_proxy and NO_PROXY alike", texts}}, adds, replacements(texts), drops(texts))
	// Of two edits, one replaces or drops what is in the way of the other.
	double := []edit{}
	for _, first := range slices.Concat(replacements(texts), drops(texts)) {
		for _, second := range additionsFor(first.texts, t) {
			double = append(double, edit{first.words + " and " + second.words, second.texts})
		}
	}
	return slices.Concat(single, double)
}

// additionsFor are the edits that only add: the host itself, then missing forms
// of a zone that is there in another form.
func additionsFor(texts []string, t Target) []edit {
	var edits []edit
	add := func(more ...string) {
		more = slices.DeleteFunc(more, func(text string) bool { return containsText(texts, text) })
		if len(more) > 0 {
			edits = append(edits, edit{"add " + strings.Join(more, ","), slices.Concat(texts, more)})
		}
	}
	host := t.Host()
	add(host)
	if addr, err := netip.ParseAddr(host); err == nil {
		if addr.Is6() {
			add("[" + host + "]")
			add(host, "["+host+"]")
		}
		return edits
	}
	for _, text := range texts {
		if !covers(strings.TrimSpace(text), t) {
			continue
		}
		name, _ := cutZone(strings.TrimSpace(text))
		add("." + name)
		add("*." + name)
		add(name, "."+name, "*."+name)
	}
	return edits
}

// replacements are the edits that write one entry as every client reads it.
func replacements(texts []string) []edit {
	var edits []edit
	for i, text := range texts {
		repaired, ok := repair(text)
		if !ok || slices.Equal(repaired, []string{text}) {
			continue
		}
		words := fmt.Sprintf("replace %q by %s", text, strings.Join(repaired, ","))
		edits = append(edits, edit{words, slices.Replace(slices.Clone(texts), i, i+1, repaired...)})
	}
	return edits
}

func drops(texts []string) []edit {
	var edits []edit
	for i, text := range texts {
		words := "drop " + strings.TrimSpace(text)
		if strings.TrimSpace(text) == "" {
			words = "drop the empty entry"
		}
		edits = append(edits, edit{words, slices.Delete(slices.Clone(texts), i, i+1)})
	}
	return edits
}
