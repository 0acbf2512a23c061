//go:build !nodeonly

package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"github.com/eksproxy/eksproxy/addons"
	"github.com/eksproxy/eksproxy/plan"
)

// decisionsTable says of each known component whether it needs the proxy.
func decisionsTable(w io.Writer, decisions []addons.Decision) error {
	if len(decisions) == 0 {
		return nil
	}
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(tab, "\nCOMPONENT\tPROXY\tWHY")
	for _, d := range decisions {
		_, _ = fmt.Fprintf(tab, "%s\t%s\t%s\n", d.Component, d.Need, d.Why)
	}
	return tab.Flush()
}

// showClusterOutcome prints what was done.
func (p *program) showClusterOutcome(c *cli.Context, prepared *addons.Prepared, o plan.Outcome) error {
	doc := outcomeDoc{
		APIVersion: plan.APIVersion, Kind: "Outcome", Target: prepared.Target, SettingsHash: prepared.SettingsHash,
		Done: done(o.Done), NotDone: done(o.Left), Notes: prepared.Notes,
		Unchanged: len(prepared.Changes) - len(o.Done) - len(o.Left), what: "objects",
	}
	if c.String(flagOutput) == "table" {
		for _, n := range doc.Notes {
			p.talk.Note("%s", n)
		}
	}
	return p.write(c.String(flagOutput), doc, doc.table)
}
