package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/eksproxy/eksproxy/facts"
	"github.com/eksproxy/eksproxy/internal/rootfs"
	"github.com/eksproxy/eksproxy/node"
	"github.com/eksproxy/eksproxy/plan"
)

// statusPath holds how the last run on this boot went, for who looks later.
const statusPath = "/run/eksproxy/status.json"

// report tells how a run on the running system went: one line on the console
// and in the journal, and everything in statusPath. In a tree it does nothing.
type report struct {
	root    *rootfs.Root
	verb    string
	start   time.Time
	live    bool
	journal bool
}

// statusDoc is what statusPath holds.
type statusDoc struct {
	APIVersion   string            `json:"apiVersion"`
	Kind         string            `json:"kind"`
	Verb         string            `json:"verb"`
	Time         time.Time         `json:"time"`
	Seconds      float64           `json:"seconds"`
	ExitCode     int               `json:"exitCode"`
	Error        string            `json:"error,omitempty"`
	Kept         string            `json:"kept,omitempty"`
	Line         string            `json:"line"`
	Target       map[string]string `json:"target,omitempty"`
	SettingsHash string            `json:"settingsHash,omitempty"`
	Proxy        string            `json:"proxy,omitempty"`
	Facts        *facts.Node       `json:"facts,omitempty"`
	Done         []doneDoc         `json:"done"`
	NotDone      []doneDoc         `json:"notDone"`
	Notes        []string          `json:"notes,omitempty"`
}

func (p *program) beginReport(c *cli.Context, root *rootfs.Root) *report {
	return &report{
		root: root, verb: c.Command.Name, start: time.Now(),
		live: root.Dir() == "/", journal: toJournal(p.Err, p.getenv),
	}
}

// end writes the line and the status. Its error is one of writing them.
func (r *report) end(p *program, w *walk, o plan.Outcome, err error) error {
	if !r.live {
		return nil
	}
	doc := r.document(w, o, err)
	if r.journal {
		p.talk.Line(doc.Line, err != nil)
		writeConsole(doc.Line)
	}
	data, jsonErr := json.MarshalIndent(doc, "", "  ")
	if jsonErr != nil {
		return fmt.Errorf("writing %s: %w", statusPath, jsonErr)
	}
	if err := r.root.Mkdir("/run/eksproxy", 0o755); err != nil {
		return fmt.Errorf("writing %s: %w", statusPath, err)
	}
	return r.root.Write(statusPath, append(data, '\n'), 0o644)
}

func (r *report) document(w *walk, o plan.Outcome, err error) statusDoc {
	doc := statusDoc{
		APIVersion: plan.APIVersion, Kind: "RunStatus", Verb: r.verb, Time: r.start.UTC().Truncate(time.Second),
		Seconds: time.Since(r.start).Round(time.Millisecond).Seconds(), Done: done(o.Done), NotDone: done(o.Left),
	}
	if w != nil && w.Prepared != nil {
		doc.Target, doc.SettingsHash, doc.Notes, doc.Proxy = w.Target, w.SettingsHash, w.Notes, w.proxy
		if w.facts.Kind != "" {
			doc.Facts = &w.facts
		}
	}
	if err != nil {
		doc.ExitCode, doc.Error, doc.Kept = codeOf(err), plan.Mask(err.Error()), r.kept()
	}
	doc.Line = r.line(doc, w)
	return doc
}

// line is the whole run in one line.
func (r *report) line(doc statusDoc, w *walk) string {
	head := "eksproxy " + r.verb
	if doc.Error != "" {
		return fmt.Sprintf("%s FAILED: %s; %s", head, strings.ReplaceAll(doc.Error, "\n", "; "), doc.Kept)
	}
	files, actions := 0, 0
	for _, c := range w.Changes {
		if c.Action == plan.Run {
			actions++
		} else {
			files++
		}
	}
	parts := []string{fmt.Sprintf("%s: %d files", head, files)}
	if w.proxy != "" {
		parts = append(parts, fmt.Sprintf("NO_PROXY %d entries (%d VPC CIDRs from %s)", w.entries, len(w.facts.VPCCIDRs), source(w.facts)), "proxy "+w.proxy)
	}
	if actions > 0 {
		parts = append(parts, fmt.Sprintf("%d reloads and restarts", actions))
	}
	if doc.SettingsHash != "" {
		parts = append(parts, "settings "+doc.SettingsHash)
	}
	return strings.Join(append(parts, fmt.Sprintf("%.1f s", doc.Seconds)), ", ")
}

// source is where the VPC's CIDRs came from.
func source(n facts.Node) string {
	switch s := n.Sources[facts.FieldVPCCIDRs]; s {
	case "instance metadata":
		return "metadata"
	case "":
		return "nowhere"
	default:
		return s
	}
}

// kept says what a failed run has left on the node.
func (r *report) kept() string {
	s, err := node.ReadStatus(r.root)
	switch {
	case err != nil:
		return "what is on the node cannot be told: " + err.Error()
	case !s.Applied:
		return "nothing is applied: the node has no proxy"
	}
	return fmt.Sprintf("kept the %d files of settings %s", len(s.Files), s.SettingsHash)
}
