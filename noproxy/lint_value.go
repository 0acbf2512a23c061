package noproxy

import (
	"fmt"
	"strings"
	"unicode"
)

// characters looks at the characters of a whole value, and gives it without
// those that no entry has.
func (l *linter) characters(where, value string) string {
	text := value
	steps := []struct {
		code, message string
		clean         func(string) string
	}{
		{"NP026", "the value holds a control character: it came from a block scalar, a Windows file or the output of a program", cleanControls},
		{"NP029", "quotes are a part of the value, and an entry with one matches nothing", cleanQuotes},
		{"NP028", "a comment behind the value is a part of it", cleanComment},
	}
	for _, s := range steps {
		cleaned := s.clean(text)
		if cleaned == text {
			continue
		}
		l.add(Finding{Code: s.code, Where: where, Message: s.message, Clients: l.affected(text, cleaned)})
		text = cleaned
	}
	return text
}

// cleanControls takes control characters away: at the ends they are nothing,
// elsewhere a comma. A tab is white space like a blank.
func cleanControls(text string) string {
	isControl := func(r rune) bool { return unicode.IsControl(r) && r != '\t' }
	if !strings.ContainsFunc(text, isControl) {
		return text
	}
	return strings.Join(strings.FieldsFunc(text, isControl), ",")
}

func cleanQuotes(text string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("\"'`“”‘’„«»", r) {
			return -1
		}
		return r
	}, text)
}

func cleanComment(text string) string {
	before, _, _ := strings.Cut(text, "#")
	if before == text {
		return text
	}
	return strings.TrimSpace(before)
}

// separators cuts a value into its elements, as they were meant.
func (l *linter) separators(where, text string) []string {
	if text == "" {
		return nil
	}
	if strings.ContainsAny(text, ";|") {
		cleaned := strings.Map(func(r rune) rune {
			if r == ';' || r == '|' {
				return ','
			}
			return r
		}, text)
		l.add(Finding{Code: "NP002", Where: where, Message: "a semicolon or a pipe separates nothing: both sides are dead", Clients: l.affected(text, cleaned)})
		text = cleaned
	}
	if strings.ContainsFunc(text, unicode.IsSpace) {
		cleaned := strings.Join(strings.FieldsFunc(text, isSeparator), ",")
		l.add(Finding{
			Code: codeBlank, Where: where, Clients: l.affected(text, cleaned),
			Message: "white space: some clients keep it as a part of the entry, some end the list there",
		})
		text = strings.Join(trimmed(text), ",")
	}
	pieces := strings.Split(text, ",")
	if n := countEmpty(pieces); n > 0 {
		l.add(Finding{Code: "NP007", Where: where, Message: fmt.Sprintf("%d empty entries: a comma too many", n)})
	}
	return strings.FieldsFunc(text, isSeparator)
}

// trimmed are the elements of a value, with blanks inside one as separators.
func trimmed(text string) []string {
	var texts []string
	for element := range strings.SplitSeq(text, ",") {
		texts = append(texts, strings.Join(strings.Fields(element), ","))
	}
	return texts
}

func countEmpty(pieces []string) int {
	n := 0
	for _, p := range pieces {
		if p == "" {
			n++
		}
	}
	return n
}
