package main

import (
	"fmt"
	"io"

	"github.com/eksproxy/eksproxy/internal/rootfs"
	"github.com/eksproxy/eksproxy/node"
	"github.com/eksproxy/eksproxy/noproxy"
	"github.com/eksproxy/eksproxy/noproxy/compose"
)

// noProxyChange is what a walk changes in how clients decide: the list that the
// record of the tree has, against the new one. It is empty where nothing was
// applied before, and where the settings are taken back.
func noProxyChange(root *rootfs.Root, w *walk) (noProxyDiffDoc, error) {
	if len(w.noProxy) == 0 {
		return noProxyDiffDoc{}, nil
	}
	s, err := node.ReadStatus(root)
	if err != nil || !s.Applied || s.NoProxy == w.noProxy.String() {
		return noProxyDiffDoc{}, err
	}
	old := noproxy.SideOf(s.NoProxy)
	return compareSides(old, sideOfList(w.noProxy), compose.Targets(w.facts.Network, w.noProxy, old.Entries), nil), nil
}

// inPlan writes the decisions that change behind a plan.
func (d noProxyDiffDoc) inPlan(w io.Writer) error {
	if len(d.Decisions) == 0 {
		return nil
	}
	if _, err := fmt.Fprint(w, "\nNO_PROXY changes what clients do:\n"); err != nil {
		return err
	}
	return d.decisions(w)
}

// inMarkdown is the same for a change ticket.
func (d noProxyDiffDoc) inMarkdown(w io.Writer) error {
	if len(d.Decisions) == 0 {
		return nil
	}
	_, err := fmt.Fprint(w, "\n`NO_PROXY` changes what clients do:\n\n| target | what | before | after | clients |\n| --- | --- | --- | --- | --- |\n")
	for _, r := range d.rows() {
		_, err = fmt.Fprintf(w, "| `%s` | %s | %s | %s | %s |\n", r.url, r.name, r.before, r.after, clientList(r.clients))
	}
	return err
}
