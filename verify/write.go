package verify

import (
	"fmt"
	"io"
	"strings"
)

// WriteTable prints the report for a terminal: a line a finding, below it the
// remedy where there is something to do.
func (r Report) WriteTable(w io.Writer) error {
	for _, f := range r.Findings {
		_, _ = fmt.Fprintf(w, "%-7s  %s  %s: %s\n", f.Status, f.ID, f.Check, f.line())
		if f.Remedy != "" {
			_, _ = fmt.Fprintf(w, "%9sremedy: %s\n", "", oneLine(f.Remedy))
		}
	}
	_, err := fmt.Fprintf(w, "\n%s\n", r.Summary)
	return err
}

// WriteMarkdown prints the report for a ticket.
func (r Report) WriteMarkdown(w io.Writer) error {
	_, _ = fmt.Fprintf(w, "**%s**\n\n| status | id | check | target | evidence | remedy |\n| --- | --- | --- | --- | --- | --- |\n", r.Summary)
	for _, f := range r.Findings {
		remedy := ""
		if f.Remedy != "" {
			remedy = code(f.Remedy)
		}
		if _, err := fmt.Fprintf(w, "| %s | %s | %s | %s | %s | %s |\n", f.Status, f.ID, cell(f.Check), cell(f.Target), cell(f.Evidence), remedy); err != nil {
			return err
		}
	}
	return nil
}

func (f Finding) line() string {
	if f.Target == "" {
		return oneLine(f.Evidence)
	}
	return oneLine(f.Target) + ": " + oneLine(f.Evidence)
}

// oneLine keeps what was read from files from writing lines of its own, or
// commands to a terminal.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case r < 0x20 || r >= 0x7f && r <= 0x9f:
			return '?'
		}
		return r
	}, s)
}

func cell(s string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "*", `\*`).Replace(oneLine(s))
}

// code is a text in a cell that can be pasted.
func code(s string) string {
	fence := "`"
	if strings.Contains(s, fence) {
		fence = "``"
	}
	return fence + strings.ReplaceAll(oneLine(s), "|", `\|`) + fence
}
