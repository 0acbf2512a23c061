package bootdata

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// word is a shell word. Where it is not known before the script runs, known is
// false and the text is empty.
type word struct {
	text  string
	known bool
}

// variables are those that a script sets.
type variables map[string]word

// assign takes up NAME=VALUE words.
func (v variables) assign(assigns []*syntax.Assign) {
	for _, a := range assigns {
		switch {
		case a.Name == nil || a.Naked: // "export NAME" changes no value
		case a.Append || a.Index != nil || a.Array != nil:
			v.set(a.Name.Value, word{})
		default:
			v.set(a.Name.Value, v.word(a.Value))
		}
	}
}

// set keeps a value. A variable with two values is unknown from then on: which
// branch of the script runs is not known.
func (v variables) set(name string, w word) {
	if old, ok := v[name]; ok && old != w {
		w = word{}
	}
	v[name] = w
}

func (v variables) words(ws []*syntax.Word) []word {
	out := make([]word, len(ws))
	for i, w := range ws {
		out[i] = v.word(w)
	}
	return out
}

// word joins the parts of a word if all are literal. No word, as in NAME=, is
// the empty text.
func (v variables) word(w *syntax.Word) word {
	if w == nil {
		return word{known: true}
	}
	return v.join(w.Parts, false)
}

func (v variables) join(parts []syntax.WordPart, quoted bool) word {
	var b strings.Builder
	for _, p := range parts {
		w := v.part(p, quoted)
		if !w.known {
			return word{}
		}
		b.WriteString(w.text)
	}
	return word{b.String(), true}
}

func (v variables) part(p syntax.WordPart, quoted bool) word {
	switch p := p.(type) {
	case *syntax.Lit:
		return word{unescape(p.Value, quoted), true}
	case *syntax.SglQuoted:
		// $'...' has escapes of its own; nobody writes a host that way.
		return known(p.Value, !p.Dollar || !strings.Contains(p.Value, `\`))
	case *syntax.DblQuoted:
		return v.join(p.Parts, true)
	case *syntax.ParamExp:
		if !isPlain(p) {
			return word{}
		}
		w := v[p.Param.Value]
		// Without quotes the shell would split it into several words.
		return known(w.text, w.known && (quoted || !strings.ContainsAny(w.text, " \t\n*?[")))
	default:
		return word{}
	}
}

func known(text string, ok bool) word {
	if !ok {
		return word{}
	}
	return word{text, true}
}

// isPlain says whether the expansion is $NAME or ${NAME} and nothing else.
func isPlain(p *syntax.ParamExp) bool {
	return p.Param != nil && !p.Excl && !p.Length && !p.Width && !p.IsSet &&
		p.Index == nil && p.Slice == nil && p.Repl == nil && p.Names == 0 && p.Exp == nil
}

// unescape drops the backslashes that the shell drops.
func unescape(s string, quoted bool) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && (!quoted || strings.IndexByte("\"\\$`", s[i+1]) >= 0) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
