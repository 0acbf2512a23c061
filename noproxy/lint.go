package noproxy

import (
	"slices"
	"strings"
)

// Severity is how bad a fault is.
type Severity string

// The severities. With an error some client decides otherwise than the value
// means, or fails; with a warning the value is read alike and is seldom meant.
const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
)

// Finding is a fault in the proxy variables of a process.
type Finding struct {
	Code     string   `json:"code"`
	Severity Severity `json:"severity"`
	// Where is the variable, as in "NO_PROXY".
	Where string `json:"where"`
	// Entry is the element of NO_PROXY; empty where the fault is elsewhere.
	Entry   string `json:"entry,omitempty"`
	Message string `json:"message"`
	// Clients are the clients that the fault concerns: where the models can
	// tell, those that decide otherwise with the fault than without it.
	Clients []string `json:"clients,omitempty"`
	// Fix is what to write instead.
	Fix string `json:"fix"`
}

// Lint looks for faults in the proxy variables of one process. Both cases of
// NO_PROXY with the same value are looked at once.
func Lint(env Environment) []Finding {
	l := newLinter(env)
	l.variables()
	lower, hasLower := env["no_proxy"]
	upper, hasUpper := env["NO_PROXY"]
	switch {
	case hasUpper && (lower == upper || !hasLower):
		l.value("NO_PROXY", upper)
	case hasLower && !hasUpper:
		l.value("no_proxy", lower)
	case hasLower && hasUpper:
		l.value("no_proxy", lower)
		l.value("NO_PROXY", upper)
	}
	return l.findings
}

// LintValue looks for faults in a NO_PROXY value.
func LintValue(value string) []Finding {
	l := newLinter(ValueEnvironment(value))
	l.value("NO_PROXY", value)
	return l.findings
}

// maxJudged bounds the findings for which the models are asked: a value of
// thousands of faults is one that nobody reads to the end.
const maxJudged = 100

// linter collects the findings about one environment. Without clients it tells
// the faults alone.
type linter struct {
	env      Environment
	clients  []Client
	findings []Finding
}

func newLinter(env Environment) *linter {
	return &linter{env: env, clients: Clients()}
}

// tells says that the models are not asked, only the faults told.
func (l *linter) tells() bool { return len(l.clients) == 0 || len(l.findings) > maxJudged }

// add records a finding of a rule.
func (l *linter) add(f Finding) {
	if f.Severity == "" {
		f.Severity = lintRule(f.Code).Severity
	}
	if f.Fix == "" {
		f.Fix = lintRule(f.Code).Fix
	}
	l.findings = append(l.findings, f)
}

// value looks at one NO_PROXY value, and gives the entries of the value that
// has none of the faults which can be put right without a loss.
func (l *linter) value(where, value string) []string {
	text := l.characters(where, value)
	pieces := l.separators(where, text)
	var texts []string
	for _, piece := range pieces {
		for _, repaired := range l.entry(where, piece) {
			if containsText(texts, repaired) {
				l.add(Finding{Code: "NP036", Where: where, Entry: piece, Message: "the entry stands twice"})
				continue
			}
			texts = append(texts, repaired)
		}
	}
	return l.list(where, texts)
}

// entry looks at the form of one element, and gives what it should be.
func (l *linter) entry(where, piece string) []string {
	text := piece
	// A text may have several faults, as http://[fd00::1]:80/ has.
	for range 4 {
		f := examine(text)
		if f.code == "" {
			return []string{text}
		}
		finding := Finding{Code: f.code, Where: where, Entry: piece, Message: f.message}
		if f.fixed == "" {
			finding.Clients = l.withoutFix(f.code, text)
			l.add(finding)
			return []string{text}
		}
		finding.Fix = "write " + f.fixed
		finding.Clients = l.affected(text, f.fixed)
		l.add(finding)
		text = f.fixed
	}
	return []string{text}
}

// list looks at the entries together, and gives those that should stand there.
func (l *linter) list(where string, texts []string) []string {
	l.wide(where, texts)
	l.aws(where, texts)
	l.ranges(where, texts)
	texts = l.forms(where, texts)
	return l.literals(where, texts)
}

// affected are the clients that decide otherwise with one value than with the
// other, on what the entries of both are about.
func (l *linter) affected(before, after string) []string {
	if l.tells() {
		return nil
	}
	return l.changed(l.env.withNoProxy(before), l.env.withNoProxy(after), witnesses(before+","+after))
}

// changed are the clients that decide otherwise in one environment than in the
// other on one of the targets.
func (l *linter) changed(before, after Environment, targets []Target) []string {
	if l.tells() {
		return nil
	}
	was, is := prepareAll(before.WithProxies(), l.clients), prepareAll(after.WithProxies(), l.clients)
	var names []string
	for i, c := range l.clients {
		if slices.ContainsFunc(targets, func(t Target) bool { return was[i].Decide(t).Decision != is[i].Decide(t).Decision }) {
			names = append(names, c.Name())
		}
	}
	return names
}

// deciding are the clients that decide so on a target with one entry alone, and
// otherwise without it.
func (l *linter) deciding(entry, url string, d Decision) []string {
	t, err := ParseTarget(url)
	if err != nil || l.tells() {
		return nil
	}
	with := prepareAll(ValueEnvironment(entry).WithProxies(), l.clients)
	without := prepareAll(ValueEnvironment("").WithProxies(), l.clients)
	var names []string
	for i, c := range l.clients {
		if with[i].Decide(t).Decision == d && without[i].Decide(t).Decision != d {
			names = append(names, c.Name())
		}
	}
	return names
}

// withoutFix are the clients that a fault concerns which cannot be put right.
func (l *linter) withoutFix(code, text string) []string {
	switch code {
	case codeStar, codeWide:
		return l.deciding(text, "http://somewhere.example/", Direct)
	case codeIPv6Range:
		return l.deciding(text, "http://somewhere.example/", Failed)
	}
	return nil
}

// witnesses are targets that the entries of a value are about.
func witnesses(value string) []Target {
	var targets []Target
	for text := range strings.FieldsFuncSeq(value, isSeparator) {
		for _, url := range witnessURLs(text) {
			if t, err := ParseTarget(url); err == nil {
				targets = append(targets, t)
			}
		}
	}
	return targets
}
