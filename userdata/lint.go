package userdata

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"github.com/eksproxy/eksproxy/bootdata"
)

// Severity is how bad a fault is.
type Severity string

// The severities.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
)

// Fault is one fault of user data. It holds no content of the document.
type Fault struct {
	// Code never changes its meaning.
	Code     string   `json:"code"`
	Severity Severity `json:"severity"`
	// Line is one of the document, out of gzip and base64; 0 is the whole.
	Line int `json:"line"`
	// Part counts from 1; 0 is the document.
	Part   int    `json:"part"`
	Title  string `json:"title"`
	Detail string `json:"detail,omitempty"`
	Remedy string `json:"remedy"`
}

// LintOptions says what the document is for. Both may be empty: then only the
// faults that any node would suffer are found.
type LintOptions struct {
	OS  OS
	For Launcher
}

// Lint lists the faults of a document, in its order.
func Lint(raw []byte, o LintOptions) []Fault {
	l := &linter{LintOptions: o, rules: rules()}
	l.document(raw)
	slices.SortStableFunc(l.faults, func(a, b Fault) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Code, b.Code))
	})
	return slices.Compact(l.faults)
}

// linter is one run.
type linter struct {
	LintOptions
	rules  map[string]Rule
	faults []Fault
}

// add takes up a fault; the detail is what was seen, without content.
func (l *linter) add(code string, part, line int, detail string, args ...any) {
	r := l.rules[code]
	if len(args) > 0 {
		detail = fmt.Sprintf(detail, args...)
	}
	l.faults = append(l.faults, Fault{code, r.Severity, line, part, r.Title, detail, r.Remedy})
}

// document looks at the whole.
func (l *linter) document(raw []byte) {
	l.size(raw)
	body, layers, err := bootdata.Unwrap(raw)
	switch {
	case err != nil:
		l.add("UD002", 0, 0, "%v", err)
		return
	case len(bytes.TrimSpace(body)) == 0:
		l.add("UD001", 0, 0, "")
		return
	}
	if slices.Contains(layers, bootdata.LayerGzip) && (l.For == ManagedNodeGroup || l.For == Karpenter) {
		l.add("UD018", 0, 0, "%s takes no gzip", l.For)
	}
	switch {
	case bootdata.IsMIME(body):
		l.mime(body)
	case l.OS == Bottlerocket || looksTOML(body):
		l.settings(body)
	default:
		l.bare(body)
	}
}

// size compares with what EC2 takes: the bytes before base64.
func (l *linter) size(raw []byte) {
	if body, layers, err := bootdata.Unwrap(raw); err == nil && len(layers) > 0 && layers[0] == bootdata.LayerBase64 {
		if raw = body; len(layers) > 1 {
			raw = raw[:0] // gzip in base64: its size is that of base64's content
		}
	}
	if most := room(l.For); len(raw) > most {
		detail := "%d bytes, and EC2 takes %d"
		if most < MaxSize {
			l.add("UD017", 0, 0, detail+"; %s adds a part of its own, which may need %d", len(raw), MaxSize, l.For, ownRoom)
			return
		}
		l.add("UD017", 0, 0, detail, len(raw), MaxSize)
	}
}

// lineEnds notes the first line that ends as on Windows.
func (l *linter) lineEnds(body []byte) {
	if before, _, ok := bytes.Cut(body, []byte("\r\n")); ok {
		l.add("UD003", 0, 1+bytes.Count(before, []byte("\n")), "")
	}
}

// bare looks at a document that is one script or configuration.
func (l *linter) bare(body []byte) {
	l.lineEnds(body)
	kind := bootdata.TypeOf(body)
	if l.For == ManagedNodeGroup {
		l.add("UD020", 0, 1, "it is %s", kindOf(bootdata.Part{ContentType: kind}))
	}
	if l.For == Karpenter && l.OS != Ubuntu && (kind == bootdata.TypeBoothook || l.OS == AL2023 && kind == bootdata.TypeCloudConfig) {
		l.add("UD012", 0, 1, "Karpenter takes a %s without MIME for something else", kindOf(bootdata.Part{ContentType: kind}))
	}
	if kind == bootdata.TypePlain {
		if trimmed := bytes.TrimLeft(body, "\ufeff \t\r\n"); bytes.HasPrefix(trimmed, []byte("#!")) {
			l.add("UD011", 0, 1, "something stands before #!")
			return
		}
		l.add("UD015", 0, 1, "its first line tells no type")
		return
	}
	l.part(bootdata.Part{ContentType: kind, Body: body}, 0, 1)
}

// mime looks at a MIME document.
func (l *linter) mime(body []byte) {
	if l.OS == Bottlerocket {
		l.add("UD021", 0, 1, "it is MIME")
	}
	t := bootdata.ReadText(body)
	for _, f := range t.Faults {
		l.add(codeOf(f.Kind), f.Part, f.Line, "")
	}
	for i, p := range t.Parts {
		l.textPart(p, i+1)
	}
	l.tooLate(t)
}

// textPart looks at one part of a MIME document.
func (l *linter) textPart(p bootdata.TextPart, n int) {
	if _, nested, _ := inside(p); nested {
		return // that is the fault
	}
	transfer := p.Fields.Get("Content-Transfer-Encoding")
	parts, err := p.Parts()
	if err != nil {
		l.add("UD002", n, p.Line, "%v", err)
		return
	}
	encoded := len(parts) > 0 && !bytes.Equal(parts[0].Body, p.Body)
	karpenter := (l.For == Karpenter || l.For == "") && l.OS != AL2 && l.OS != Ubuntu
	if encoded && karpenter && !decodesItself(p, parts[0]) {
		l.add("UD016", n, p.Line, "it is sent as %s", cmp.Or(transfer, "gzip"))
	}
	if encoded {
		p.BodyLine = p.Line // lines of what is decoded are none of the document
	}
	for _, q := range parts {
		before := len(l.faults)
		l.part(q, n, p.BodyLine)
		for i := before; encoded && i < len(l.faults); i++ {
			l.faults[i].Line = p.Line
		}
	}
}

// decodesItself says whether the reader undoes base64 without its header, as
// nodeadm does.
func decodesItself(p bootdata.TextPart, decoded bootdata.Part) bool {
	_, layers, err := bootdata.Unwrap(p.Body)
	return decoded.ContentType == bootdata.TypeNodeConfig && err == nil && len(layers) > 0
}
