package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"github.com/eksproxy/eksproxy/facts"
	"github.com/eksproxy/eksproxy/noproxy"
	"github.com/eksproxy/eksproxy/plan"
)

func (p *program) noproxyExplainCommand() *cli.Command {
	return &cli.Command{
		Name: "explain", Usage: "say what each client does with a URL, and which entry decides",
		ArgsUsage: "URL...",
		Description: "Exits with 1 where clients decide otherwise than others; those that ignore the variables do not count. " +
			"Where no proxy is given, both URLs are taken as set.\n\nExamples:\n" +
			"  eksproxy noproxy explain --no-proxy .svc,10.0.0.0/8 https://kubernetes.default.svc/\n" +
			"  eksproxy noproxy explain --from-env --client curl --client requests https://sts.eu-west-1.amazonaws.com/\n" +
			"  eksproxy noproxy explain --config proxy.yaml --facts node.json --only-differences https://10.100.0.7/",
		Flags: slices.Concat(settingFlags("httpProxy", "httpsProxy", "noProxy.", "cluster.", "node.imds"), valueFlags(), []cli.Flag{
			&cli.StringFlag{Name: flagFacts, Usage: "`FILE` to read facts from instead of instance metadata"},
			&cli.StringSliceFlag{Name: "client", Usage: "`NAME` of a client, as in docs/clients.md; repeat the flag. A name without version stands for all versions"},
			&cli.BoolFlag{Name: "only-differences", Usage: "show the URLs on which clients differ, and the smallest change that makes them agree", DisableDefaultText: true},
			outputFlag("table", "json", "yaml"),
		}),
		Action: p.noproxyExplain,
	}
}

// noProxyExplanationDoc is what explain prints.
type noProxyExplanationDoc struct {
	APIVersion string                `json:"apiVersion"`
	Kind       string                `json:"kind"`
	Items      []noproxy.Explanation `json:"items"`
	Changes    []noproxy.Change      `json:"changes,omitempty"`
}

func (p *program) noproxyExplain(c *cli.Context) error {
	if !c.Args().Present() {
		return usagef("a URL is missing: eksproxy noproxy explain URL...")
	}
	targets, err := parseTargets(c.Args().Slice())
	if err != nil {
		return err
	}
	env, err := p.underTest(c)
	if err != nil {
		return err
	}
	clients, unknown := findClients(c.StringSlice("client"))
	for _, name := range unknown {
		p.talk.Note("client %s is not modelled; docs/clients.md has those that are", noproxy.Quote(name))
	}
	doc := noProxyExplanationDoc{APIVersion: facts.APIVersion, Kind: "NoProxyExplanation", Items: explainAll(env, clients, unknown, targets)}
	differing := noproxy.Differing(doc.Items)
	if c.Bool("only-differences") {
		doc.only(differing, env, targets)
	}
	doc.mask()
	if err := p.write(c.String(flagOutput), doc, doc.table); err != nil {
		return err
	}
	if len(differing) > 0 {
		return errNo
	}
	return nil
}

// findClients finds the clients with these names, all where there is no name.
func findClients(names []string) (found []noproxy.Client, unknown []string) {
	if len(names) == 0 {
		return noproxy.Clients(), nil
	}
	for _, name := range names {
		clients := noproxy.FindClients(name)
		if len(clients) == 0 {
			unknown = append(unknown, name)
		}
		for _, c := range clients {
			if !slices.Contains(found, c) {
				found = append(found, c)
			}
		}
	}
	return found, unknown
}

// explainAll has the items URL by URL, those of unknown clients last.
func explainAll(env noproxy.Environment, clients []noproxy.Client, unknown []string, targets []noproxy.Target) []noproxy.Explanation {
	items := []noproxy.Explanation{}
	for _, t := range targets {
		items = append(items, noproxy.Explain(env, clients, []noproxy.Target{t})...)
		for _, name := range unknown {
			items = append(items, noproxy.Unknown(name, t))
		}
	}
	return items
}

// only keeps what is about URLs on which clients differ, and adds the smallest
// change for each.
func (d *noProxyExplanationDoc) only(differing []string, env noproxy.Environment, targets []noproxy.Target) {
	d.Items = slices.DeleteFunc(d.Items, func(e noproxy.Explanation) bool {
		return e.Decision == noproxy.Ignored || !slices.Contains(differing, e.URL)
	})
	for _, t := range targets {
		if slices.Contains(differing, t.URL()) {
			d.Changes = append(d.Changes, noproxy.SmallestChange(env, t, targets))
		}
	}
}

// mask hides credentials that stand where none belong.
func (d *noProxyExplanationDoc) mask() {
	for i := range d.Items {
		d.Items[i].Entry = plan.Mask(d.Items[i].Entry)
		for j := range d.Items[i].NearMisses {
			d.Items[i].NearMisses[j] = plan.Mask(d.Items[i].NearMisses[j])
		}
	}
	for i := range d.Changes {
		d.Changes[i].Edit, d.Changes[i].NoProxy = plan.Mask(d.Changes[i].Edit), plan.Mask(d.Changes[i].NoProxy)
	}
}

func (d noProxyExplanationDoc) table(w io.Writer) error {
	if len(d.Items) == 0 {
		_, err := fmt.Fprintln(w, "all clients agree")
		return err
	}
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(tab, "URL\tCLIENT\tDECISION\tENTRY\tRULE")
	for _, e := range d.Items {
		rule := strings.Join(append([]string{e.Rule}, e.NearMisses...), "; ")
		if e.Decision == noproxy.Ignored && e.Configure != "" {
			rule += "; " + e.Configure
		}
		_, _ = fmt.Fprintf(tab, "%s\t%s\t%s\t%s\t%s\n", e.URL, e.Client, e.Decision, orDash(e.Entry), rule)
	}
	if err := tab.Flush(); err != nil {
		return err
	}
	for _, change := range d.Changes {
		text := change.Edit
		if change.Decision != "" {
			text += "; then all decide " + string(change.Decision)
		}
		if _, err := fmt.Fprintf(w, "\nsmallest change for %s: %s\n", change.URL, text); err != nil {
			return err
		}
	}
	return nil
}

// orDash stands in a table where there is nothing.
func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}
