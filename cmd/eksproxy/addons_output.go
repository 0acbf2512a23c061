//go:build !nodeonly

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"github.com/eksproxy/eksproxy/addons"
	"github.com/eksproxy/eksproxy/noproxy"
	"github.com/eksproxy/eksproxy/noproxy/compose"
	"github.com/eksproxy/eksproxy/plan"
)

// clusterPlan is a plan for a cluster, and what it changes in how clients decide.
type clusterPlan struct {
	*addons.Prepared
	noProxy noProxyDiffDoc
}

// MarshalJSON adds the owners of fields to the plan. That is no written plan: the
// owners are not what is approved.
func (d clusterPlan) MarshalJSON() ([]byte, error) {
	data, err := json.Marshal(d.Plan)
	if err != nil || len(d.Ownership) == 0 {
		return data, err
	}
	more, err := json.Marshal(d.Ownership)
	if err != nil {
		return nil, err
	}
	return []byte(strings.TrimSuffix(string(data), "}") + `,"ownership":` + string(more) + "}"), nil
}

// clusterNoProxyChange is what a walk changes in how clients decide: the value
// that the add-ons have against the new one. It is empty where they have none.
func clusterNoProxyChange(before string, w *addonsWalk) noProxyDiffDoc {
	list := w.want.Settings.NoProxy
	if before == "" || before == list.String() {
		return noProxyDiffDoc{}
	}
	old := noproxy.SideOf(before)
	return compareSides(old, sideOfList(list), compose.ClusterTargets(w.cluster, list, old.Entries), nil)
}

// showClusterPlan prints a plan, and what is thought of each component.
func (p *program) showClusterPlan(c *cli.Context, d clusterPlan) error {
	if c.String(flagOutput) == "markdown" {
		return errors.Join(d.WriteMarkdown(p.Out), d.noProxy.inMarkdown(p.Out))
	}
	return p.write(c.String(flagOutput), d, func(w io.Writer) error {
		err := errors.Join(d.WriteTable(w), d.noProxy.inPlan(w), decisionsTable(w, d.Decisions), addons.WriteOwnership(w, d.Ownership))
		if err != nil || !c.Bool("diff") {
			return err
		}
		return diffs(w, d.Plan)
	})
}

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
