package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"github.com/eksproxy/eksproxy/internal/rootfs"
	"github.com/eksproxy/eksproxy/node"
	"github.com/eksproxy/eksproxy/plan"
)

// outcomeDoc is what apply and revert print.
type outcomeDoc struct {
	APIVersion   string            `json:"apiVersion"`
	Kind         string            `json:"kind"`
	Target       map[string]string `json:"target"`
	SettingsHash string            `json:"settingsHash,omitempty"`
	Done         []doneDoc         `json:"done"`
	NotDone      []doneDoc         `json:"notDone"`
	Unchanged    int               `json:"unchanged"`
	LeftForBoot  []string          `json:"leftForBoot,omitempty"`
	Notes        []string          `json:"notes,omitempty"`
	what         string            // what changes, in the plural
}

type doneDoc struct {
	Action plan.Action `json:"action"`
	Target string      `json:"target"`
}

// showOutcome prints what was done, as data; what remains goes to the talk.
func (p *program) showOutcome(c *cli.Context, w *walk, o plan.Outcome) error {
	pl := w.Plan
	doc := outcomeDoc{
		APIVersion: plan.APIVersion, Kind: "Outcome", Target: pl.Target, SettingsHash: pl.SettingsHash,
		Done: done(o.Done), NotDone: done(o.Left), Notes: pl.Notes, what: "files",
		Unchanged: len(pl.Changes) - len(o.Done) - len(o.Left),
	}
	if len(o.Done) > 0 && !w.running {
		doc.LeftForBoot = leftForBoot(o.Done)
	}
	if c.String(flagOutput) == "table" {
		for _, n := range doc.Notes {
			p.talk.Note("%s", n)
		}
		for _, l := range doc.LeftForBoot {
			p.talk.Note("left for boot: %s", l)
		}
	}
	return p.write(c.String(flagOutput), doc, doc.table)
}

func done(changes []plan.Change) []doneDoc {
	docs := []doneDoc{}
	for _, c := range changes {
		docs = append(docs, doneDoc{c.Action, c.Target})
	}
	return docs
}

// table is the same for a terminal and for a ticket: one line a change.
func (d outcomeDoc) table(w io.Writer) error {
	for _, c := range d.Done {
		_, _ = fmt.Fprintf(w, "%-6s  %s\n", c.Action, c.Target)
	}
	for _, c := range d.NotDone {
		_, _ = fmt.Fprintf(w, "not done: %s %s\n", c.Action, c.Target)
	}
	settings := ""
	if d.SettingsHash != "" {
		settings = ", settings " + d.SettingsHash
	}
	if len(d.Done)+len(d.NotDone) == 0 {
		_, err := fmt.Fprintf(w, "unchanged: %d %s%s\n", d.Unchanged, d.what, settings)
		return err
	}
	_, err := fmt.Fprintf(w, "%d changed, %d not done, %d unchanged%s\n", len(d.Done), len(d.NotDone), d.Unchanged, settings)
	return err
}

// leftForBoot says what a changed tree still needs, which this program does
// not do on it.
func leftForBoot(changes []plan.Change) []string {
	var units, trust bool
	for _, c := range changes {
		units = units || strings.Contains(c.Target, ".service.d/") || strings.Contains(c.Target, node.ProxyEnvPath)
		trust = trust || strings.Contains(c.Target, "/anchors/") || strings.Contains(c.Target, "/ca-certificates/")
	}
	var left []string
	if units {
		left = append(left, "systemd reads drop-ins at boot, or with systemctl daemon-reload; a service that already runs keeps its environment until it is restarted")
	}
	if trust {
		left = append(left, "the trust store is rebuilt by update-ca-trust (Amazon Linux) or update-ca-certificates (Ubuntu)")
	}
	return left
}

func (p *program) nodeStatus(c *cli.Context) error {
	root, err := rootfs.Open(c.String(flagRoot))
	if err != nil {
		return usage(err)
	}
	defer root.Close() //nolint:errcheck // nothing was written
	s, err := node.ReadStatus(root)
	if err != nil {
		return err
	}
	table := func(w io.Writer) error { return statusTable(w, s, c.String(flagOutput) == "markdown") }
	if err := p.write(c.String(flagOutput), s, table); err != nil {
		return err
	}
	if !s.Good() {
		return errNo
	}
	return nil
}

func statusTable(w io.Writer, s node.Status, markdown bool) error {
	if !s.Applied {
		_, err := fmt.Fprintf(w, "nothing is applied below %s\n", s.Root)
		return err
	}
	for _, line := range [][2]string{
		{"root", s.Root}, {"system", s.System}, {"settings", s.SettingsHash}, {"http proxy", s.HTTPProxy},
		{"https proxy", s.HTTPSProxy}, {"NO_PROXY", s.NoProxy}, {"reason", s.Reason},
	} {
		switch {
		case line[1] == "":
		case markdown:
			_, _ = fmt.Fprintf(w, "- %s: `%s`\n", line[0], line[1])
		default:
			_, _ = fmt.Fprintf(w, "%-12s %s\n", line[0], line[1])
		}
	}
	if markdown {
		_, err := fmt.Fprint(w, "\n| file | mode | state |\n| --- | --- | --- |\n")
		for _, f := range s.Files {
			_, err = fmt.Fprintf(w, "| `%s` | %s | %s |\n", f.Path, f.Mode, f.State)
		}
		return err
	}
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(tab, "\nFILE\tMODE\tSTATE")
	for _, f := range s.Files {
		_, _ = fmt.Fprintf(tab, "%s\t%s\t%s\n", f.Path, f.Mode, f.State)
	}
	return tab.Flush()
}
