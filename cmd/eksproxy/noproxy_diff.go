package main

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"github.com/eksproxy/eksproxy/facts"
	"github.com/eksproxy/eksproxy/noproxy"
	"github.com/eksproxy/eksproxy/noproxy/compose"
	"github.com/eksproxy/eksproxy/plan"
)

func (p *program) noproxyDiffCommand() *cli.Command {
	return &cli.Command{
		Name: "diff", Usage: "show what changes between two NO_PROXY values, and for which clients",
		ArgsUsage: "OLD NEW [URL...]",
		Description: "OLD and NEW are values, or files: a ProxyConfig, what compute -o json printed, a file of lines NAME=VALUE, " +
			"a manifest of Kubernetes, or a value alone. Each is tried on metadata, Pod Identity, the addresses and names of the " +
			"cluster, one address of each CIDR, the names of AWS, what must go through the proxy, and the URLs that are given. " +
			"Exits with 1 where a decision changes. Where no proxy is given, both URLs are taken as set.\n\nExamples:\n" +
			"  eksproxy noproxy diff .svc .svc,.corp.example\n" +
			"  eksproxy noproxy diff old.env new.env https://git.corp.example/\n" +
			"  eksproxy noproxy diff old.yaml new.yaml --facts node.json -o json",
		Flags: slices.Concat(settingFlags("httpProxy", "httpsProxy", "cluster.", "node.imds")[1:], []cli.Flag{
			&cli.StringFlag{Name: flagFacts, Usage: "`FILE` to read facts from instead of instance metadata"},
			outputFlag("table", "json", "yaml"),
		}),
		Action: p.noproxyDiff,
	}
}

// noProxyDiffDoc is what diff prints.
type noProxyDiffDoc struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	noproxy.Diff
	targets []compose.Target
}

func (p *program) noproxyDiff(c *cli.Context) error {
	if c.NArg() < 2 {
		return usagef("OLD and NEW are missing: eksproxy noproxy diff OLD NEW [URL...]")
	}
	extra, err := parseTargets(c.Args().Slice()[2:])
	if err != nil {
		return err
	}
	if _, err := givenValue(c); err != nil {
		return err
	}
	before, err := p.noProxySide(c, "OLD", c.Args().Get(0))
	if err != nil {
		return err
	}
	after, err := p.noProxySide(c, "NEW", c.Args().Get(1))
	if err != nil {
		return err
	}
	network := after.network
	if network.Region == "" && len(network.VPCCIDRs) == 0 {
		network = before.network
	}
	doc := compareSides(before.Side, after.Side, compose.Targets(network, after.Entries, before.Entries), extra)
	if err := p.write(c.String(flagOutput), doc, doc.table); err != nil {
		return err
	}
	if len(doc.Decisions) > 0 {
		return errNo
	}
	return nil
}

// compareSides tries two sides on the default targets of a place and on those
// that the user adds.
func compareSides(before, after noproxy.Side, on []compose.Target, extra []noproxy.Target) noProxyDiffDoc {
	doc := noProxyDiffDoc{APIVersion: facts.APIVersion, Kind: "NoProxyDiff", targets: on}
	targets := slices.Clone(extra)
	for _, t := range doc.targets {
		if parsed, err := noproxy.ParseTarget(t.URL); err == nil {
			targets = append(targets, parsed)
		}
	}
	doc.Diff = noproxy.Compare(before, after, noproxy.Clients(), targets)
	for _, l := range []noproxy.List{doc.Added, doc.Removed} {
		for i := range l {
			l[i].Text, l[i].Reason = plan.Mask(l[i].Text), plan.Mask(l[i].Reason)
		}
	}
	return doc
}

func (d noProxyDiffDoc) table(w io.Writer) error {
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, e := range d.Added {
		_, _ = fmt.Fprintf(tab, "+ %s\t%s\t%s\n", e.Text, e.Reason, e.Source)
	}
	for _, e := range d.Removed {
		_, _ = fmt.Fprintf(tab, "- %s\t%s\t%s\n", e.Text, e.Reason, e.Source)
	}
	if err := tab.Flush(); err != nil {
		return err
	}
	if len(d.Decisions) == 0 {
		_, err := fmt.Fprintln(w, "no decision changes")
		return err
	}
	if len(d.Added)+len(d.Removed) > 0 {
		_, _ = fmt.Fprintln(w)
	}
	return d.decisions(w)
}

// decisions are the decisions that change.
func (d noProxyDiffDoc) decisions(w io.Writer) error {
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(tab, "TARGET\tWHAT\tBEFORE\tAFTER\tCLIENTS")
	for _, r := range d.rows() {
		_, _ = fmt.Fprintf(tab, "%s\t%s\t%s\t%s\t%s\n", r.url, r.name, r.before, r.after, clientList(r.clients))
	}
	return tab.Flush()
}

// noProxyRow is a decision about one target that changes alike in some clients.
type noProxyRow struct {
	url, name     string
	before, after noproxy.Decision
	clients       []string
}

// rows puts clients together whose decision about a target changes alike.
func (d noProxyDiffDoc) rows() []noProxyRow {
	names := map[string]string{}
	for _, t := range d.targets {
		names[t.URL] = t.Name
	}
	var rows []noProxyRow
	for _, c := range d.Decisions {
		i := slices.IndexFunc(rows, func(r noProxyRow) bool { return r.url == c.URL && r.before == c.Before && r.after == c.After })
		if i < 0 {
			name := names[c.URL]
			if name == "" {
				name = "given"
			}
			i = len(rows)
			rows = append(rows, noProxyRow{url: c.URL, name: name, before: c.Before, after: c.After})
		}
		rows[i].clients = append(rows[i].clients, c.Client)
	}
	return rows
}
