package plan

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
)

// WriteTable prints the plan for a person: a line a change, then the notes.
func (p Plan) WriteTable(w io.Writer) error {
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(tab, "ACTION\tTARGET\tMODE\tDISRUPTION\tREASON")
	for _, c := range p.Changes {
		_, _ = fmt.Fprintf(tab, "%s\t%s\t%s\t%s\t%s\n", c.Action, c.Target, c.mode(), c.Disruption, c.Reason)
	}
	if err := tab.Flush(); err != nil {
		return err
	}
	settings := ""
	if p.SettingsHash != "" {
		settings = "; settings " + p.SettingsHash
	}
	_, err := fmt.Fprintf(w, "\n%s%s\n", p.Summary(), settings)
	for _, n := range p.Notes {
		_, err = fmt.Fprintf(w, "note: %s\n", n)
	}
	return err
}

// mode is the mode that the target gets, with the old one where that changes.
func (c Change) mode() string {
	switch {
	case c.After == nil:
		return "-"
	case c.Before != nil && c.Before.Mode != c.After.Mode:
		return c.Before.Mode + "->" + c.After.Mode
	}
	return c.After.Mode
}

// WriteMarkdown prints the plan for a change ticket: where, what, what it
// interrupts, how it is undone, and each difference in full.
func (p Plan) WriteMarkdown(w io.Writer) error {
	b := &strings.Builder{}
	fmt.Fprintf(b, "# Plan: %s\n\n", p.Summary())
	for _, key := range slices.Sorted(maps.Keys(p.Target)) {
		fmt.Fprintf(b, "- %s: `%s`\n", key, p.Target[key])
	}
	fmt.Fprintf(b, "- settings: `%s`\n", p.SettingsHash)
	b.WriteString("\n| action | target | mode | disruption | reason | undo |\n| --- | --- | --- | --- | --- | --- |\n")
	for _, c := range p.Changes {
		fmt.Fprintf(b, "| %s | `%s` | %s | %s | %s | %s |\n", c.Action, c.Target, c.mode(), c.Disruption, cell(c.Reason), cell(c.Undo))
	}
	if len(p.Notes) > 0 {
		b.WriteString("\n## Notes\n\n")
		for _, n := range p.Notes {
			fmt.Fprintf(b, "- %s\n", n)
		}
	}
	for _, c := range p.Pending() {
		if d := c.Diff(); d != "" {
			fmt.Fprintf(b, "\n## %s\n\n%sdiff\n%s%s\n", c.Target, fence, d, fence)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

const fence = "````"

// cell makes a text safe for a table in markdown.
func cell(text string) string { return strings.ReplaceAll(text, "|", "\\|") }
