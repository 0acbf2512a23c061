package facts_test

import (
	"slices"
	"testing"

	"github.com/eksproxy/eksproxy/facts"
)

// profile is one of one selector; labels are keys and values by turns.
func profile(name, namespace string, labels ...string) facts.FargateProfile {
	s := facts.FargateSelector{Namespace: namespace}
	for i := 0; i < len(labels); i += 2 {
		if s.Labels == nil {
			s.Labels = map[string]string{}
		}
		s.Labels[labels[i]] = labels[i+1]
	}
	return facts.FargateProfile{Name: name, Selectors: []facts.FargateSelector{s}}
}

func withStatus(p facts.FargateProfile, status string) facts.FargateProfile {
	p.Status = status
	return p
}

func joined(name string, parts ...facts.FargateProfile) facts.FargateProfile {
	p := facts.FargateProfile{Name: name}
	for _, part := range parts {
		p.Selectors = append(p.Selectors, part.Selectors...)
	}
	return p
}

type labels = map[string]string

// The patterns of one selector: what takes a pod, and what does not.
func TestFargateSelectors(t *testing.T) {
	tests := []struct {
		name      string
		profile   facts.FargateProfile
		namespace string
		pod       labels
		want      bool
	}{
		{"namespace", profile("p", "shop"), "shop", nil, true},
		{"namespace, pod has labels", profile("p", "shop"), "shop", labels{"app": "web"}, true},
		{"another namespace", profile("p", "shop"), "shopping", nil, false},
		{"end of a namespace", profile("p", "shop"), "my-shop", nil, false},
		{"case of a namespace", profile("p", "Shop"), "shop", nil, false},
		{"no namespace in the selector", profile("p", ""), "shop", nil, false},
		{"no namespace at all", profile("p", ""), "", nil, false},
		{"star alone", profile("p", "*"), "shop", nil, true},
		{"star takes nothing", profile("p", "shop*"), "shop", nil, true},
		{"star takes a run", profile("p", "prod-*"), "prod-eu-shop", nil, true},
		{"star is anchored in front", profile("p", "prod-*"), "my-prod-eu", nil, false},
		{"star in front", profile("p", "*-prod"), "eu-prod", nil, true},
		{"star in front is anchored behind", profile("p", "*-prod"), "eu-prod-2", nil, false},
		{"star in the middle", profile("p", "a*z"), "abcz", nil, true},
		{"star in the middle takes nothing", profile("p", "a*z"), "az", nil, true},
		{"star does not use a character twice", profile("p", "ab*ba"), "aba", nil, false},
		{"stars take back", profile("p", "*ab*abc"), "ababab-abc", nil, true},
		{"two stars", profile("p", "**"), "", nil, true},
		{"one character", profile("p", "team-?"), "team-a", nil, true},
		{"one character is not none", profile("p", "team-?"), "team-", nil, false},
		{"one character is not two", profile("p", "team-?"), "team-ab", nil, false},
		{"one character in front", profile("p", "?hop"), "shop", nil, true},
		{"question mark and star: at least one", profile("p", "team-?*"), "team-", nil, false},
		{"question mark and star", profile("p", "team-?*"), "team-abc", nil, true},
		{"star and question mark", profile("p", "*?"), "a", nil, true},
		{"a dot is itself", profile("p", "a.b"), "axb", nil, false},
		{"brackets are themselves", profile("p", "[ab]"), "a", nil, false},
		{"a plus is itself", profile("p", "a+"), "aa", nil, false},
		{"a backslash is itself", profile("p", `a\*`), "a*", nil, false},
		{"a backslash and a star", profile("p", `a\*`), `a\b`, nil, true},
		{"a pipe is itself", profile("p", "a|b"), "a", nil, false},
		{"a caret is itself", profile("p", "^shop$"), "shop", nil, false},
		{"one character is one letter", profile("p", "*", "team", "m?nchen"), "shop", labels{"team": "münchen"}, true},
		{"label", profile("p", "shop", "app", "web"), "shop", labels{"app": "web", "tier": "1"}, true},
		{"label, no labels", profile("p", "shop", "app", "web"), "shop", nil, false},
		{"label, another value", profile("p", "shop", "app", "web"), "shop", labels{"app": "api"}, false},
		{"label, another namespace", profile("p", "shop", "app", "web"), "bank", labels{"app": "web"}, false},
		{"all labels", profile("p", "shop", "app", "web", "tier", "1"), "shop", labels{"app": "web", "tier": "1"}, true},
		{"one of two labels", profile("p", "shop", "app", "web", "tier", "1"), "shop", labels{"app": "web"}, false},
		{"empty value", profile("p", "shop", "app", ""), "shop", labels{"app": ""}, true},
		{"empty value is no wildcard", profile("p", "shop", "app", ""), "shop", labels{"app": "web"}, false},
		{"star as a value", profile("p", "shop", "app", "*"), "shop", labels{"app": ""}, true},
		{"star as a value needs the key", profile("p", "shop", "app", "*"), "shop", labels{"tier": "1"}, false},
		{"wildcard in a value", profile("p", "shop", "app", "web-??"), "shop", labels{"app": "web-eu"}, true},
		{"wildcard in a key", profile("p", "shop", "*.example/fargate", "true"), "shop", labels{"a.example/fargate": "true"}, true},
		{"wildcard in a key, slash", profile("p", "shop", "team*", "a"), "shop", labels{"team.example/name": "a"}, true},
		{"key of one label, value of another", profile("p", "shop", "a*", "1"), "shop", labels{"ab": "2", "b": "1"}, false},
		{"two labels fit the key, one the value", profile("p", "shop", "a*", "1"), "shop", labels{"ab": "2", "ac": "1"}, true},
		{"one label fits two pairs", profile("p", "shop", "a*", "1", "*b", "1"), "shop", labels{"ab": "1"}, true},
		{"no selectors", facts.FargateProfile{Name: "p"}, "shop", nil, false},
		{"second selector", joined("p", profile("", "bank"), profile("", "shop", "app", "web")), "shop", labels{"app": "web"}, true},
		{"selectors are not mixed", joined("p", profile("", "bank"), profile("", "shop", "app", "web")), "shop", nil, false},
		{"sixth selector", joined("p", profile("", "a"), profile("", "b"), profile("", "c"), profile("", "d"), profile("", "e"), profile("", "shop")), "shop", nil, true},
		{"active", withStatus(profile("p", "shop"), "ACTIVE"), "shop", nil, true},
		{"being made", withStatus(profile("p", "shop"), "CREATING"), "shop", nil, false},
		{"not made", withStatus(profile("p", "shop"), "CREATE_FAILED"), "shop", nil, false},
		{"being deleted", withStatus(profile("p", "shop"), "DELETING"), "shop", nil, false},
		{"not deleted", withStatus(profile("p", "shop"), "DELETE_FAILED"), "shop", nil, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := facts.Cluster{FargateProfiles: []facts.FargateProfile{tt.profile}}
			if got, ok := c.ProfileFor(tt.namespace, tt.pod); ok != tt.want || ok && got.Name != "p" {
				t.Errorf("ProfileFor(%q, %v) = %q, %t; want %t", tt.namespace, tt.pod, got.Name, ok, tt.want)
			}
		})
	}
}

// Which of several profiles it is, in whatever order they stand.
func TestFargateChoice(t *testing.T) {
	choose := func(name string) labels { return labels{facts.FargateProfileLabel: name} }
	tests := []struct {
		name     string
		profiles []facts.FargateProfile
		pod      labels
		want     string
	}{
		{"none", nil, nil, ""},
		{"first by name", []facts.FargateProfile{profile("b", "shop"), profile("a", "*"), profile("c", "shop")}, nil, "a"},
		{"first that matches", []facts.FargateProfile{profile("b", "shop"), profile("a", "bank")}, nil, "b"},
		{"digits before letters", []facts.FargateProfile{profile("a", "shop"), profile("10", "shop"), profile("9", "shop")}, nil, "10"},
		{"the more exact one does not win", []facts.FargateProfile{profile("b", "shop", "app", "web"), profile("a", "*")}, labels{"app": "web"}, "a"},
		{"chosen by label", []facts.FargateProfile{profile("a", "shop"), profile("b", "shop")}, choose("b"), "b"},
		{"chosen one does not match", []facts.FargateProfile{profile("a", "shop"), profile("b", "bank")}, choose("b"), "a"},
		{"chosen one does not exist", []facts.FargateProfile{profile("a", "shop"), profile("b", "shop")}, choose("c"), "a"},
		{"chosen one is being deleted", []facts.FargateProfile{profile("a", "shop"), withStatus(profile("b", "shop"), "DELETING")}, choose("b"), "a"},
		{"choice alone is no match", []facts.FargateProfile{profile("b", "bank")}, choose("b"), ""},
		{"a choice is no pattern", []facts.FargateProfile{profile("a", "shop"), profile("b", "shop")}, choose("?"), "a"},
		{"first by name is being deleted", []facts.FargateProfile{withStatus(profile("a", "shop"), "DELETING"), profile("b", "shop")}, nil, "b"},
		{"the label counts as a label", []facts.FargateProfile{profile("a", "shop", facts.FargateProfileLabel, "x")}, choose("x"), "a"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for range 2 {
				got, ok := facts.Cluster{FargateProfiles: tt.profiles}.ProfileFor("shop", tt.pod)
				if got.Name != tt.want || ok != (tt.want != "") {
					t.Errorf("ProfileFor = %q, %t; want %q", got.Name, ok, tt.want)
				}
				slices.Reverse(tt.profiles)
			}
		})
	}
}

// FuzzFargateWildcards holds the matcher to the definition of its wildcards.
func FuzzFargateWildcards(f *testing.F) {
	for _, seed := range [][2]string{{"*", ""}, {"a*b?c", "axxbyc"}, {"*ab*abc", "abababc"}, {"??", "ü"}, {"\xff*", "\xfe"}, {"**?", "a"}, {".+", "ab"}} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, pattern, text string) {
		if len(pattern) > 12 || len(text) > 24 { // the definition takes exponential time
			return
		}
		c := facts.Cluster{FargateProfiles: []facts.FargateProfile{profile("p", "n", "k", pattern)}}
		_, got := c.ProfileFor("n", labels{"k": text})
		if want := defined([]rune(pattern), []rune(text)); got != want {
			t.Errorf("%q takes %q: %t, want %t", pattern, text, got, want)
		}
	})
}

// defined says what a pattern means, one character at a time.
func defined(pattern, text []rune) bool {
	switch {
	case len(pattern) == 0:
		return len(text) == 0
	case pattern[0] == '*':
		return defined(pattern[1:], text) || len(text) > 0 && defined(pattern, text[1:])
	case len(text) == 0:
		return false
	}
	return (pattern[0] == '?' || pattern[0] == text[0]) && defined(pattern[1:], text[1:])
}
