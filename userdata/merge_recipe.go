package userdata

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/eksproxy/eksproxy/bootdata"
)

// recipes finds what the published recipes wrote, and takes it out to adopt it.
func (m *merger) recipes() {
	var left []piece
	for i, p := range m.pieces {
		r := recipe{}
		if !m.Remove && !p.ours && len(p.decoded) == 1 {
			r = findRecipe(p.decoded[0])
		}
		switch {
		case len(r.cut) == 0:
		case !m.Adopt && r.whole:
			m.note("part %d is the published recipe for a proxy and stays beside ours; --adopt replaces it", i+1)
		case !m.Adopt:
			m.note("part %d has lines of the published recipe for a proxy, which stay beside ours; --adopt replaces them", i+1)
		case r.whole:
			m.note("part %d, the published recipe for a proxy, is replaced", i+1)
			m.clean = false
			continue
		default:
			m.note("lines of the published recipe for a proxy in part %d are replaced", i+1)
			m.clean = false
			p = p.with(r.rest(p.decoded[0].Body))
		}
		left = append(left, p)
	}
	m.pieces = left
}

// with is the part with another body, which is not encoded.
func (p piece) with(body []byte) piece {
	p.fields = slices.DeleteFunc(slices.Clone(p.fields), func(f bootdata.Field) bool {
		return strings.EqualFold(f.Name, "Content-Transfer-Encoding")
	})
	p.body = body
	p.decoded = []bootdata.Part{{ContentType: p.decoded[0].ContentType, Header: p.decoded[0].Header, Body: body}}
	return p
}

// recipe is what a script has of the published recipes.
type recipe struct {
	cut   [][2]int // statements that write settings of a proxy
	whole bool     // there is nothing else in it
}

var (
	// proxyFile is a file that the recipes write.
	proxyFile = regexp.MustCompile(`^(/etc/environment|/etc/yum\.conf|/etc/dnf/dnf\.conf|/etc/profile\.d/\S*proxy\S*|/etc/apt/apt\.conf\.d/\S*proxy\S*|/etc/systemd/system/(docker|containerd|kubelet|sandbox-image|amazon-ssm-agent)\.service\.d/\S+)$`)
	proxyWord = regexp.MustCompile(`(?i)(https?_proxy|no_proxy|proxy *=|EnvironmentFile=/etc/environment|Acquire::)`)
	// proxyName is a variable that the recipes set on the way.
	proxyName = regexp.MustCompile(`(?i)^(.*proxy.*|mac|token|vpc_?cidrs?.*|imds.*)$`)
	proxyDir  = regexp.MustCompile(`^/etc/systemd/system/(docker|containerd|kubelet|sandbox-image|amazon-ssm-agent)\.service\.d/?$`)
	proxyUnit = regexp.MustCompile(`^(docker|containerd|kubelet|sandbox-image)(\.service)?$`)
)

// findRecipe looks at each statement of a script.
func findRecipe(p bootdata.Part) recipe {
	if !p.IsShell() {
		return recipe{}
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(bytes.NewReader(p.Body), "")
	if err != nil {
		return recipe{}
	}
	r := recipe{whole: true}
	at := 0
	for _, s := range file.Stmts {
		switch text := p.Body[s.Pos().Offset():statementEnd(p.Body, s)]; {
		case writesProxy(s, string(text)):
			if int(s.Pos().Offset()) < at {
				return recipe{} // two here documents on one line
			}
			at = statementEnd(p.Body, s)
			r.cut = append(r.cut, [2]int{int(s.Pos().Offset()), at})
		case !aroundProxy(s):
			r.whole = false
		}
	}
	if _, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(bytes.NewReader(r.rest(p.Body)), ""); err != nil {
		return recipe{}
	}
	return r
}

// statementEnd is where the lines of a statement end, with those of a here
// document and its last word.
func statementEnd(body []byte, s *syntax.Stmt) int {
	end := int(s.End().Offset())
	for _, redirect := range s.Redirs {
		if redirect.Hdoc != nil {
			end = max(end, lineEnd(body, int(redirect.Hdoc.End().Offset())))
		}
	}
	return end
}

func lineEnd(body []byte, i int) int {
	if n := bytes.IndexByte(body[i:], '\n'); n >= 0 {
		return i + n
	}
	return len(body)
}

// writesProxy says whether the statement writes a setting of a proxy to one of
// the files of the recipes.
func writesProxy(s *syntax.Stmt, text string) bool {
	if !proxyWord.MatchString(text) {
		return false
	}
	for _, r := range s.Redirs {
		if (r.Op == syntax.AppOut || r.Op == syntax.RdrOut) && r.Word != nil && proxyFile.MatchString(unquoted(r.Word)) {
			return true
		}
	}
	words := wordsOf(s)
	return len(words) > 1 && words[0] == "tee" && slices.ContainsFunc(words[1:], proxyFile.MatchString)
}

// aroundProxy says whether the statement does nothing but prepare or follow up.
func aroundProxy(s *syntax.Stmt) bool {
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok {
		return false
	}
	if len(call.Args) == 0 {
		return !slices.ContainsFunc(call.Assigns, func(a *syntax.Assign) bool { return a.Name == nil || !proxyName.MatchString(a.Name.Value) })
	}
	words := wordsOf(s)
	if len(words) > 3 && words[0] == "cloud-init-per" {
		words = words[3:] // FREQUENCY NAME COMMAND
	}
	args := slices.DeleteFunc(slices.Clone(words[1:]), func(w string) bool { return strings.HasPrefix(w, "-") })
	switch words[0] {
	case "mkdir":
		return all(args, proxyDir.MatchString)
	case "touch":
		return all(args, proxyFile.MatchString)
	case "set":
		return true
	case "systemctl":
		return len(args) > 0 && (args[0] == "daemon-reload" || len(args) > 1 && (args[0] == "restart" || args[0] == "enable") && all(args[1:], proxyUnit.MatchString))
	}
	return false
}

func all(words []string, test func(string) bool) bool {
	return len(words) > 0 && !slices.ContainsFunc(words, func(w string) bool { return !test(w) })
}

func wordsOf(s *syntax.Stmt) []string {
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok {
		return nil
	}
	var out []string
	for _, w := range call.Args {
		out = append(out, unquoted(w))
	}
	return out
}

// unquoted is a word that is the same whatever the variables hold, else empty.
func unquoted(w *syntax.Word) string {
	var out strings.Builder
	for _, part := range w.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			out.WriteString(part.Value)
		case *syntax.SglQuoted:
			out.WriteString(part.Value)
		case *syntax.DblQuoted:
			out.WriteString(unquoted(&syntax.Word{Parts: part.Parts}))
		default:
			return ""
		}
	}
	return out.String()
}

// rest is the script without the statements.
func (r recipe) rest(body []byte) []byte {
	var out []byte
	at := 0
	for _, c := range r.cut {
		out = append(out, body[at:c[0]]...)
		if at = c[1]; at < len(body) && body[at] == '\n' && (len(out) == 0 || out[len(out)-1] == '\n') {
			at++
		}
	}
	return append(out, body[at:]...)
}
