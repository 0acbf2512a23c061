package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"github.com/eksproxy/eksproxy/facts"
	"github.com/eksproxy/eksproxy/noproxy/compose"
)

func (p *program) noproxyCommand() *cli.Command {
	return &cli.Command{
		Name: "noproxy", Usage: "work with NO_PROXY values",
		Subcommands: []*cli.Command{{
			Name: "compute", Usage: "print the NO_PROXY value of a node, each entry with its reason and source",
			Description: "Examples:\n" +
				"  eksproxy noproxy compute\n" +
				"  eksproxy noproxy compute --facts node.json --no-proxy-add .corp.example\n" +
				"  eksproxy noproxy compute --vpc-cidr 10.40.0.0/16 --service-cidr 10.100.0.0/16 --region eu-west-1 -o json",
			Flags: append(settingFlags("noProxy.", "cluster.", "node.imds"),
				&cli.StringFlag{Name: flagFacts, Usage: "`FILE` to read facts from instead of instance metadata"},
				outputFlag("table", "json", "yaml", "markdown")),
			Action: noArgs(p.noproxyCompute),
		}},
	}
}

// noProxyDoc is what compute prints.
type noProxyDoc struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	NoProxy    string `json:"noProxy"`
	compose.Result
}

func (p *program) noproxyCompute(c *cli.Context) error {
	merged, err := p.settings(c, nil)
	if err != nil {
		return err
	}
	cfg, err := merged.ResolveNode()
	if err != nil {
		return usage(err)
	}
	n, err := p.nodeFacts(c, cfg, nil)
	if err != nil {
		return err
	}
	r, err := p.compose(n, cfg)
	if err != nil {
		return err
	}
	doc := noProxyDoc{APIVersion: facts.APIVersion, Kind: "NoProxy", NoProxy: r.Entries.String(), Result: r}
	if c.String(flagOutput) == "markdown" {
		return noProxyMarkdown(p.Out, doc)
	}
	return p.write(c.String(flagOutput), doc, func(w io.Writer) error { return noProxyTable(w, doc) })
}

func noProxyTable(w io.Writer, doc noProxyDoc) error {
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(tab, "ENTRY\tGROUP\tSOURCE\tREASON")
	for _, e := range doc.Entries {
		_, _ = fmt.Fprintf(tab, "%s\t%s\t%s\t%s\n", e.Text, e.Group, e.Source, e.Reason)
	}
	if err := tab.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\nNO_PROXY=%s\n", doc.NoProxy)
	return err
}

func noProxyMarkdown(w io.Writer, doc noProxyDoc) error {
	_, _ = fmt.Fprintf(w, "`NO_PROXY=%s`\n\n| entry | group | source | reason |\n| --- | --- | --- | --- |\n", doc.NoProxy)
	for _, e := range doc.Entries {
		if _, err := fmt.Fprintf(w, "| `%s` | %s | %s | %s |\n", e.Text, e.Group, e.Source, e.Reason); err != nil {
			return err
		}
	}
	return nil
}
