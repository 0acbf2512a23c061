// Package ui is how a command speaks: its streams, when it may use colour, and
// how a document is printed. It knows nothing of what is printed.
package ui

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
	"golang.org/x/term"
)

// Streams are the three standard streams of a command: data goes to Out, talk
// to Err.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// ColorModes are the values of --color.
func ColorModes() []string { return []string{"auto", "always", "never"} }

// Color says whether a writer gets colours: --color decides, else NO_COLOR (any
// value but empty, no-color.org) and TERM=dumb, else whether it is a terminal.
func Color(mode string, w io.Writer, getenv func(string) string) bool {
	switch mode {
	case "always":
		return true
	case "never":
		return false
	}
	if getenv("NO_COLOR") != "" || getenv("TERM") == "dumb" {
		return false
	}
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Printer writes talk to a stream.
type Printer struct {
	W     io.Writer
	Color bool
	// Journal says that the stream is read by the journal, which takes the
	// priority from the start of a line (sd-daemon(3)).
	Journal bool
}

// Warn prints what works and should not stay so.
func (p Printer) Warn(format string, args ...any) { p.line("33", "<4>", "warning: ", format, args) }

// Note prints what the user should know.
func (p Printer) Note(format string, args ...any) { p.line("36", "<6>", "note: ", format, args) }

// Line prints one line as it is: how a run ended.
func (p Printer) Line(text string, isError bool) {
	priority := "<6>"
	if isError {
		priority = "<3>"
	}
	p.line("0", priority, "", "%s", []any{text})
}

// Error prints why the command ends: a line a fault, and below it what is
// indented.
func (p Printer) Error(err error) {
	for line := range strings.SplitSeq(err.Error(), "\n") {
		label := "error: "
		if strings.HasPrefix(line, " ") {
			label = ""
		}
		p.line("31", "<3>", label, "%s", []any{line})
	}
}

func (p Printer) line(color, priority, label, format string, args []any) {
	switch {
	case p.Journal:
		label = priority + label
	case p.Color && label != "":
		label = "\x1b[" + color + "m" + label + "\x1b[0m"
	}
	_, _ = fmt.Fprintf(p.W, label+format+"\n", args...)
}

// WriteJSON prints a document, indented.
func WriteJSON(w io.Writer, doc any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(doc)
}

// WriteYAML prints a document with the names and the order of its JSON.
func WriteYAML(w io.Writer, doc any) error {
	data, err := json.Marshal(doc)
	if err != nil {
		return err
	}
	var n yaml.Node
	if err := yaml.Unmarshal(escape(data), &n); err != nil {
		return err
	}
	block(&n)
	enc := yaml.NewEncoder(w)
	enc.SetIndent(2)
	if err := enc.Encode(&n); err != nil {
		return err
	}
	return enc.Close()
}

// escape writes the control characters that can stand in a text of JSON and
// not in YAML as JSON's escapes.
func escape(data []byte) []byte {
	var b []byte
	for _, r := range string(data) {
		if r >= 0x7f && r <= 0x9f {
			b = fmt.Appendf(b, "\\u%04x", r)
			continue
		}
		b = utf8.AppendRune(b, r)
	}
	return b
}

// block takes the flow style and the quotes of JSON from every node that reads
// the same without, for readers of YAML 1.1 too: there, no is false.
func block(n *yaml.Node) {
	n.Style = 0
	for _, c := range n.Content {
		block(c)
	}
	if n.Kind == yaml.ScalarNode && n.Tag == "!!str" {
		_ = n.Encode(n.Value) // a text always has a node
	}
}
