package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"github.com/eksproxy/eksproxy/facts"
	"github.com/eksproxy/eksproxy/noproxy"
	"github.com/eksproxy/eksproxy/noproxy/compose"
	"github.com/eksproxy/eksproxy/proxyconfig"
)

// flagDialect is the flag of the form that compute prints.
const flagDialect = "dialect"

func (p *program) noproxyCommand() *cli.Command {
	var dialects []string
	for _, d := range noproxy.Dialects() {
		dialects = append(dialects, string(d))
	}
	return &cli.Command{
		Name: "noproxy", Usage: "work with NO_PROXY values",
		Subcommands: []*cli.Command{
			{
				Name: "compute", Usage: "print the NO_PROXY value of a node or of a cluster's add-ons, each entry with its reason and source",
				Description: "With --facts of a cluster it is the value that addons patch gives to pods, with the names that VPC endpoints serve.\n\nExamples:\n" +
					"  eksproxy noproxy compute\n" +
					"  eksproxy noproxy compute --facts node.json --no-proxy-add .corp.example\n" +
					"  eksproxy noproxy compute --facts cluster.json -o markdown\n" +
					"  eksproxy noproxy compute --vpc-cidr 10.40.0.0/16 --service-cidr 10.100.0.0/16 --region eu-west-1 -o json\n" +
					"  eksproxy noproxy compute --facts node.json --dialect jvm",
				Flags: append(settingFlags("noProxy.", "cluster.", "node.imds"),
					&cli.StringFlag{Name: flagFacts, Usage: "`FILE` to read facts from instead of instance metadata"},
					&cli.StringFlag{Name: flagDialect, Usage: "print the list alone, as another program reads it: " + strings.Join(dialects, ", "), Action: oneOf(flagDialect, dialects...)},
					outputFlag("table", "json", "yaml", "markdown")),
				Action: noArgs(p.noproxyCompute),
			},
			p.noproxyExplainCommand(),
			p.noproxyLintCommand(),
			p.noproxyDiffCommand(),
		},
	}
}

// noProxyDoc is what compute prints.
type noProxyDoc struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	NoProxy    string `json:"noProxy"`
	compose.Result
	// Disagreements are what no value makes all clients do alike.
	Disagreements []compose.Disagreement `json:"disagreements,omitempty"`
}

// kindNoProxy is the kind of the document that compute prints.
const kindNoProxy = "NoProxy"

func (p *program) noproxyCompute(c *cli.Context) error {
	if c.IsSet(flagDialect) && c.IsSet(flagOutput) {
		return usagef("--dialect and -o exclude each other: a dialect is a format")
	}
	compute := p.computeNode
	if file := c.String(flagFacts); file != "" && facts.IsCluster(file) {
		compute = p.computeCluster
	}
	of, err := compute(c)
	if err != nil {
		return err
	}
	if d := c.String(flagDialect); d != "" {
		return p.writeDialect(noproxy.Dialect(d), of.Entries, of.settings)
	}
	doc := noProxyDoc{
		APIVersion: facts.APIVersion, Kind: kindNoProxy, NoProxy: of.Entries.String(), Result: of.Result,
		Disagreements: of.prove(),
	}
	switch format := c.String(flagOutput); format {
	case "json", "yaml":
		return p.write(format, doc, nil)
	case "markdown":
		p.noteDisagreements(doc.Disagreements)
		return noProxyMarkdown(p.Out, doc)
	default:
		p.noteDisagreements(doc.Disagreements)
		return noProxyTable(p.Out, doc)
	}
}

// computed is a value, what it was made from, and how it is tried on all clients.
type computed struct {
	compose.Result
	settings proxyconfig.Layer
	prove    func() []compose.Disagreement
}

// computeNode composes the value of a node.
func (p *program) computeNode(c *cli.Context) (computed, error) {
	merged, cfg, n, err := p.place(c)
	if err != nil {
		return computed{}, err
	}
	r, err := p.compose(n, cfg)
	return computed{r, merged, func() []compose.Disagreement { return compose.Prove(n.Network, r.Entries) }}, err
}

// computeCluster composes the value of a cluster's add-ons from a file of facts.
func (p *program) computeCluster(c *cli.Context) (computed, error) {
	known, err := facts.ReadCluster(c.String(flagFacts))
	if err != nil {
		return computed{}, usage(err)
	}
	merged, err := p.settings(c, nil)
	if err != nil {
		return computed{}, err
	}
	cfg, err := merged.ResolvePlace("addons")
	if err != nil {
		return computed{}, usage(err)
	}
	cfg.Cluster.Overlay(&known.Node)
	r, err := p.composeCluster(known, cfg)
	return computed{r, merged, func() []compose.Disagreement { return compose.ProveCluster(known, r.Entries) }}, err
}

// composeCluster makes the NO_PROXY value of a cluster and reports what there is
// to say.
func (p *program) composeCluster(n facts.Cluster, cfg proxyconfig.Config) (compose.Result, error) {
	r, err := compose.Cluster(n, composeOptions(cfg))
	if err != nil {
		return r, usage(fmt.Errorf("composing NO_PROXY: %w", err))
	}
	p.sayComposed(r)
	if len(r.Proxied) > 0 {
		var names []string
		for _, s := range r.Proxied {
			names = append(names, s.Service)
		}
		p.talk.Note("through the proxy, since no endpoint in the VPC serves them: %s", strings.Join(names, ", "))
	}
	return r, nil
}

// noteDisagreements says what stays different, a line for each kind.
func (p *program) noteDisagreements(ds []compose.Disagreement) {
	for _, line := range compose.Summary(ds) {
		p.talk.Note("%s", line)
	}
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
