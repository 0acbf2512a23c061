//go:build !nodeonly

package main

import (
	"encoding/base64"
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"github.com/eksproxy/eksproxy/bootdata"
	"github.com/eksproxy/eksproxy/plan"
	"github.com/eksproxy/eksproxy/userdata"
)

func (p *program) userdataSimulateCommand() *cli.Command {
	return &cli.Command{
		Name: "simulate", Usage: "show what EC2 receives once a launcher has merged user data, and what is lost", ArgsUsage: "FILE",
		Description: "FILE is a document of user data, or - for standard input. Printed are the fate of each part, the NodeConfig as nodeadm computes it, " +
			"and the document, without secrets. Exit 1 says that the launcher refuses it, that a part is lost, or that nodeadm would stop. " +
			"What the launcher knows of the cluster has names in capitals where it is not given.\n\nExamples:\n" +
			"  eksproxy userdata simulate user-data.txt --for managed-node-group --os al2023\n" +
			"  eksproxy userdata simulate user-data.txt --for karpenter --os bottlerocket\n" +
			"  eksproxy userdata simulate - --for eksctl --os al2023 -o json",
		Flags: append(append(launchedFlags(), settingFlags("cluster.")...),
			outputFlag("table", "json", "yaml", "markdown")),
		Action: p.userdataSimulate,
	}
}

// simulationDoc is what simulate prints.
type simulationDoc struct {
	APIVersion      string                   `json:"apiVersion"`
	Kind            string                   `json:"kind"`
	OS              userdata.OS              `json:"os"`
	For             userdata.Launcher        `json:"for"`
	Whole           bool                     `json:"whole"`
	Refused         string                   `json:"refused,omitempty"`
	Parts           []userdata.SimulatedPart `json:"parts"`
	Notes           []string                 `json:"notes,omitempty"`
	NodeConfigFault string                   `json:"nodeConfigFault,omitempty"`
	NodeConfig      *bootdata.NodeConfig     `json:"nodeConfig,omitempty"`
	Size            int                      `json:"size"`
	Document        string                   `json:"document"`
}

func (p *program) userdataSimulate(c *cli.Context) error {
	for _, f := range []string{flagOS, flagLauncher} {
		if c.String(f) == "" {
			return usagef("--%s is missing; %s --help shows what is allowed", f, c.Command.HelpName)
		}
	}
	_, raw, err := p.userDataFile(c)
	if err != nil {
		return err
	}
	o := userdata.SimulateOptions{OS: userdata.OS(c.String(flagOS)), For: userdata.Launcher(c.String(flagLauncher))}
	if o.Cluster, err = p.simulatedCluster(c); err != nil {
		return err
	}
	s, err := userdata.Simulate(raw, o)
	if err != nil {
		return usage(err)
	}
	doc := simulationDoc{
		APIVersion: plan.APIVersion, Kind: "UserDataSimulation", OS: o.OS, For: o.For, Whole: s.Whole(), Refused: s.Refused,
		Parts: s.Parts, Notes: s.Notes, NodeConfigFault: s.NodeConfigFault, NodeConfig: s.MaskedNodeConfig(),
		Size: len(s.Document), Document: s.MaskedDocument(),
	}
	if doc.Parts == nil {
		doc.Parts = []userdata.SimulatedPart{}
	}
	table := doc.table
	if c.String(flagOutput) == "markdown" {
		table = doc.markdown
	}
	if err := p.write(c.String(flagOutput), doc, table); err != nil {
		return err
	}
	if !doc.Whole {
		return errNo
	}
	return nil
}

// simulatedCluster is what the flags say of the cluster.
func (p *program) simulatedCluster(c *cli.Context) (bootdata.NodeCluster, error) {
	merged, err := p.settings(c, nil)
	if err != nil {
		return bootdata.NodeCluster{}, err
	}
	cfg, err := merged.ResolvePlace("node")
	if err != nil {
		return bootdata.NodeCluster{}, usage(err)
	}
	var out bootdata.NodeCluster
	out.Name = cfg.Cluster.Name
	if host := cfg.Cluster.EndpointHost; host != "" {
		out.APIServerEndpoint = "https://" + host
	}
	if len(cfg.Cluster.ServiceCIDRs) > 0 {
		out.CIDR = cfg.Cluster.ServiceCIDRs[0].String()
	}
	return out, nil
}

// printable is the document as text: a binary one in base64.
func (d simulationDoc) printable() string {
	for _, r := range d.Document {
		if r == 0 || r == '\ufffd' {
			return base64.StdEncoding.EncodeToString([]byte(d.Document)) + "\n"
		}
	}
	return d.Document
}

// outcome is one sentence.
func (d simulationDoc) outcome() string {
	switch {
	case d.Refused != "":
		return "refused: " + d.Refused + "; there is no document"
	case d.NodeConfigFault != "":
		return d.NodeConfigFault
	case !d.Whole:
		return "a part is lost"
	}
	return "everything arrives"
}

func (d simulationDoc) table(w io.Writer) error {
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(tab, "PART\tTYPE\tFATE\tREAD BY\tWHY")
	for _, s := range d.Parts {
		_, _ = fmt.Fprintf(tab, "%s\t%s\t%s\t%s\t%s\n", partNumber(s), s.Type, s.Fate, d.filled(s.ReadBy), d.filled(s.Why))
	}
	if err := tab.Flush(); err != nil {
		return err
	}
	_, _ = fmt.Fprintf(w, "\n%s; %d bytes before base64\n", d.outcome(), d.Size)
	for _, n := range d.Notes {
		_, _ = fmt.Fprintln(w, n)
	}
	if d.NodeConfig != nil {
		_, _ = fmt.Fprintf(w, "\n# What nodeadm computes\n%s", d.NodeConfig.Encode())
	}
	if d.Document != "" {
		_, _ = fmt.Fprintf(w, "\n# What EC2 receives\n%s", d.printable())
	}
	return nil
}

func (d simulationDoc) markdown(w io.Writer) error {
	_, _ = fmt.Fprint(w, "| part | type | fate | read by | why |\n| --- | --- | --- | --- | --- |\n")
	for _, s := range d.Parts {
		_, _ = fmt.Fprintf(w, "| %s | `%s` | %s | %s | %s |\n", partNumber(s), s.Type, s.Fate, s.ReadBy, tableCell(s.Why))
	}
	_, _ = fmt.Fprintf(w, "\n%s; %d bytes before base64\n", d.outcome(), d.Size)
	for _, n := range d.Notes {
		_, _ = fmt.Fprintf(w, "\n%s\n", n)
	}
	if d.NodeConfig != nil {
		_, _ = fmt.Fprintf(w, "\nWhat nodeadm computes:\n\n```yaml\n%s```\n", d.NodeConfig.Encode())
	}
	_, err := fmt.Fprintf(w, "\nWhat EC2 receives:\n\n````\n%s````\n", d.printable())
	return err
}

func partNumber(s userdata.SimulatedPart) string {
	if s.Part == 0 {
		return "-"
	}
	return strconv.Itoa(s.Part)
}

// filled is a cell that is never empty, so that columns can be told apart.
func (simulationDoc) filled(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
