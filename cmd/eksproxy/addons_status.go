//go:build !nodeonly

package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/eksproxy/eksproxy/addons"
)

func (p *program) addonsStatusCommand() *cli.Command {
	return &cli.Command{
		Name: "status", Usage: "say how far a cluster is as patch left it",
		Description: "It needs no settings and writes nothing. The answer is no (exit 1) where nothing is applied, something was changed since, or a pod has an older template.\n\n" +
			"Examples:\n  eksproxy addons status --context prod\n  eksproxy addons status --kubeconfig prod.yaml -o json\n  eksproxy addons status --context prod -o markdown",
		Flags:  flags(connectionFlags(), []cli.Flag{outputFlag("table", "json", "yaml", "markdown")}),
		Action: noArgs(p.addonsStatus),
	}
}

func (p *program) addonsStatus(c *cli.Context) error {
	target, err := p.connect(c)
	if err != nil {
		return err
	}
	s, err := addons.ReadStatus(c.Context, target.Kube)
	if err != nil {
		return clusterError(err)
	}
	table := func(w io.Writer) error { return addonsStatusTable(w, s) }
	if c.String(flagOutput) == "markdown" {
		table = func(w io.Writer) error { return addonsStatusMarkdown(w, s) }
	}
	if err := p.write(c.String(flagOutput), s, table); err != nil {
		return err
	}
	switch {
	case s.Is(metav1.ConditionFalse):
		return errNo
	case s.Is(metav1.ConditionUnknown):
		return codeError{exitUndecided, fmt.Errorf("it is not known how far the pods are: %s", unknownConditions(s))}
	}
	return nil
}

func unknownConditions(s addons.Status) string {
	var texts []string
	for _, c := range s.Conditions {
		if c.Status == metav1.ConditionUnknown {
			texts = append(texts, c.Message)
		}
	}
	return strings.Join(texts, "; ")
}

// addonsStatusTable prints a row a workload, what is wrong with it below, and the
// conditions.
func addonsStatusTable(w io.Writer, s addons.Status) error {
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if s.ConfigMap != "" {
		fmt.Fprintf(tab, "%s, settings %s\n", s.ConfigMap, s.SettingsHash)
	}
	if len(s.Workloads) > 0 {
		fmt.Fprintln(tab, "WORKLOAD\tROUTE\tSETTINGS\tPODS\tOWNER")
	}
	for _, l := range s.Workloads {
		fmt.Fprintf(tab, "%s\t%s\t%s\t%s\t%s\n", l.Object, l.Route, l.Hash, podsText(l.Pods), l.Owner)
	}
	if len(s.Workloads) > 0 {
		fmt.Fprintln(tab)
	}
	namespacesTable(tab, s)
	for _, line := range addonsStatusLines(s) {
		fmt.Fprintln(tab, line)
	}
	fmt.Fprintln(tab, "CONDITION\tSTATUS\tREASON\tMESSAGE")
	for _, c := range s.Conditions {
		fmt.Fprintf(tab, "%s\t%s\t%s\t%s\n", c.Type, c.Status, c.Reason, oneRow(c.Message))
	}
	return tab.Flush()
}

// addonsStatusLines say what is not as it should be.
func addonsStatusLines(s addons.Status) []string {
	var lines []string
	for _, d := range s.Drift {
		lines = append(lines, s.ConfigMap+": "+oneRow(d.String()))
	}
	for _, l := range s.Workloads {
		if l.HeldStrategy != "" {
			lines = append(lines, l.Object+": its update strategy is held since a run that did not end: "+oneRow(l.HeldStrategy))
		}
		for _, d := range l.Drift {
			lines = append(lines, l.Object+": "+oneRow(d.String()))
		}
		for _, p := range l.Pods.Stale {
			lines = append(lines, fmt.Sprintf("%s: pod %s on node %s has an older template", l.Object, p.Name, p.Node))
		}
	}
	return append(lines, namespaceLines(s)...)
}

// podsText is "3 of 3 current, 3 ready".
func podsText(p addons.PodsStatus) string {
	if p.Unknown != "" {
		return "unknown"
	}
	return fmt.Sprintf("%d of %d current, %d ready", p.Current, p.Desired, p.Ready)
}

// oneRow keeps what was read from a cluster from writing lines of its own, or
// commands to a terminal.
func oneRow(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 || r >= 0x7f && r <= 0x9f {
			return ' '
		}
		return r
	}, s)
}

// addonsStatusMarkdown prints the same for a ticket.
func addonsStatusMarkdown(w io.Writer, s addons.Status) error {
	escape := func(text string) string {
		return strings.NewReplacer("|", `\|`, "<", "&lt;", "*", `\*`).Replace(oneRow(text))
	}
	var b strings.Builder
	b.WriteString("| condition | status | reason | message |\n| --- | --- | --- | --- |\n")
	for _, c := range s.Conditions {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", c.Type, c.Status, c.Reason, escape(c.Message))
	}
	b.WriteString("\n| workload | route | settings | pods | owner |\n| --- | --- | --- | --- | --- |\n")
	for _, l := range s.Workloads {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", escape(l.Object), l.Route, escape(l.Hash), podsText(l.Pods), escape(l.Owner.String()))
	}
	for _, n := range s.Namespaces {
		fmt.Fprintf(&b, "\n- namespace %s, settings %s", escape(n.Namespace), escape(n.Hash))
	}
	for _, n := range s.NodeClasses {
		fmt.Fprintf(&b, "\n- NodeClass %s, settings %s", escape(n.Name), escape(n.Hash))
	}
	for _, line := range addonsStatusLines(s) {
		b.WriteString("\n- " + escape(line))
	}
	_, err := io.WriteString(w, strings.TrimSuffix(b.String(), "\n")+"\n")
	return err
}
