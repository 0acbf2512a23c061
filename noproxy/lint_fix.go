package noproxy

import "strings"

// Fixed is a NO_PROXY value without the faults that can be taken away.
type Fixed struct {
	NoProxy string `json:"noProxy"`
	// Left are the faults of the value that have no safe fix.
	Left []Finding `json:"left,omitempty"`
	// Lost are decisions that were direct in some clients and are no longer,
	// because no form of the entry is read by all.
	Lost []DecisionChange `json:"lost,omitempty"`
}

// Fix takes away what is wrong with a NO_PROXY value and can be put right: what
// was direct in all clients stays direct in all.
func Fix(value string) Fixed {
	texts := new(linter).value("NO_PROXY", value)
	// What was added may be in the reach of another rule.
	for range 3 {
		texts = new(linter).value("NO_PROXY", strings.Join(texts, ","))
	}
	f := Fixed{NoProxy: strings.Join(texts, ",")}
	f.Left = LintValue(f.NoProxy)
	targets := witnesses(value + "," + f.NoProxy)
	for _, c := range Decisions(ValueEnvironment(value), ValueEnvironment(f.NoProxy), Clients(), targets) {
		if c.Before == Direct {
			f.Lost = append(f.Lost, c)
		}
	}
	return f
}

// OfValue says that a value which is written in both cases of NO_PROXY takes the
// fault away, or leaves it as one of the value: it is not one of the proxies.
func (f Finding) OfValue() bool {
	switch f.Code {
	case "NP006", "NP014", "NP015", "NP016", "NP017", "NP023", "NP024", "NP025":
		return false
	}
	return strings.HasSuffix(strings.ToUpper(f.Where), "NO_PROXY")
}
