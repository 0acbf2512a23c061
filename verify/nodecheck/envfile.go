package nodecheck

import (
	"slices"
	"strings"

	"github.com/eksproxy/eksproxy/node"
)

// assignment is a line of an environment file that sets one of the six
// variables.
type assignment struct {
	name, value string
	line        int
	// exported says that the line begins with "export ", which PAM takes off
	// and systemd takes for a part of the name.
	exported bool
}

// parseEnv reads the assignments of an environment file. A value that stands
// in a pair of quotes is read without them; all else stays as it is written,
// blanks and carriage returns too: that is what is looked at.
func parseEnv(data []byte) []assignment {
	var out []assignment
	n := 0
	for line := range strings.Lines(string(data)) {
		n++
		line = strings.TrimLeft(strings.TrimSuffix(line, "\n"), " \t")
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		rest, exported := strings.CutPrefix(line, "export ")
		if a, ok := assign(rest); ok {
			a.line, a.exported = n, exported
			out = append(out, a)
		}
	}
	return out
}

// assign reads NAME=value where the name is one of the six.
func assign(text string) (assignment, bool) {
	name, value, ok := strings.Cut(text, "=")
	name = strings.TrimSpace(name)
	if !ok || !slices.Contains(node.Variables(), name) {
		return assignment{}, false
	}
	return assignment{name: name, value: unquote(value)}, true
}

func unquote(value string) string {
	if trimmed := strings.TrimRight(value, " \t"); len(trimmed) >= 2 {
		quote, inner := trimmed[0], trimmed[1:len(trimmed)-1]
		if (quote == '"' || quote == '\'') && trimmed[len(trimmed)-1] == quote && !strings.Contains(inner, string(quote)) {
			return inner
		}
	}
	return value
}

// envOf is what a reader makes of the assignments: the last one wins.
func envOf(list []assignment) map[string]string {
	env := map[string]string{}
	for _, a := range list {
		env[a.name] = strings.TrimSpace(a.value)
	}
	return env
}

// bare is a proxy's URL without user information and without a slash at the
// end, for comparing which proxy is meant.
func bare(value string) string {
	value = strings.TrimSuffix(strings.TrimSpace(value), "/")
	scheme, rest, ok := strings.Cut(value, "://")
	if !ok {
		scheme, rest = "http", value
	}
	if at := strings.LastIndexByte(rest, '@'); at >= 0 {
		rest = rest[at+1:]
	}
	return strings.ToLower(scheme + "://" + rest)
}

// isList says whether a variable holds a list, not a proxy.
func isList(name string) bool { return strings.EqualFold(name, "no_proxy") }

// splitWords cuts the value of Environment= at its blanks, and takes the quotes
// and the doubled percent signs of systemd.exec(5) off.
func splitWords(value string) []string {
	var words []string
	var b strings.Builder
	quote, inside := rune(0), false
	for _, r := range strings.ReplaceAll(value, "%%", "%") {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '"' || r == '\''):
			quote, inside = r, true
		case quote == 0 && (r == ' ' || r == '\t'):
			if inside {
				words = append(words, b.String())
			}
			b.Reset()
			inside = false
		default:
			b.WriteRune(r)
			inside = true
		}
	}
	if inside {
		words = append(words, b.String())
	}
	return words
}
