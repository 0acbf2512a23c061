package main

import (
	"fmt"
	"io"
	"net/netip"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"github.com/eksproxy/eksproxy/facts"
)

func (p *program) factsCommand() *cli.Command {
	return &cli.Command{
		Name: "facts", Usage: "print what the world says, for later commands to work offline",
		Subcommands: append([]*cli.Command{{
			Name: "node", Usage: "print what instance metadata and user data say about this node",
			Description: "Examples:\n  eksproxy facts node\n  eksproxy facts node -o json > node.json\n  eksproxy facts node --imds-timeout 5s",
			Flags: append(settingFlags("cluster.", "node.imds"),
				&cli.StringFlag{Name: flagFacts, Usage: "`FILE` to read facts from instead of instance metadata"},
				outputFlag("table", "json", "yaml")),
			Action: noArgs(p.factsNode),
		}}, p.workstationFacts()...),
	}
}

func (p *program) factsNode(c *cli.Context) error {
	_, _, n, err := p.place(c)
	if err != nil {
		return err
	}
	return p.write(c.String(flagOutput), n, func(w io.Writer) error { return factsTable(w, n) })
}

func factsTable(w io.Writer, n facts.Node) error {
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(tab, "FACT\tVALUE\tSOURCE")
	for _, row := range factRows(n) {
		if row[1] != "" {
			_, _ = fmt.Fprintf(tab, "%s\t%s\t%s\n", row[0], row[1], n.Sources[row[0]])
		}
	}
	return tab.Flush()
}

// factRows are the facts of a network, each with its name; unknown ones are
// empty.
func factRows(n facts.Node) [][2]string {
	address := ""
	if n.ServiceAddress.IsValid() {
		address = n.ServiceAddress.String()
	}
	return [][2]string{
		{facts.FieldRegion, n.Region}, {facts.FieldDNSSuffix, n.DNSSuffix}, {facts.FieldVPCCIDRs, prefixes(n.VPCCIDRs)},
		{facts.FieldServiceCIDRs, prefixes(n.ServiceCIDRs)}, {facts.FieldServiceAddress, address},
		{facts.FieldEndpointHost, n.EndpointHost}, {facts.FieldClusterDomain, n.ClusterDomain}, {"clusterName", n.ClusterName},
	}
}

func prefixes(list []netip.Prefix) string {
	texts := make([]string, len(list))
	for i, p := range list {
		texts[i] = p.String()
	}
	return strings.Join(texts, ", ")
}
