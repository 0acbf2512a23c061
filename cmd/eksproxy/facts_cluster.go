//go:build !nodeonly

package main

import (
	"fmt"
	"io"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"github.com/eksproxy/eksproxy/facts"
	"github.com/eksproxy/eksproxy/plan"
)

// workstationFacts are the commands below facts that the agent does not have.
func (p *program) workstationFacts() []*cli.Command {
	return []*cli.Command{{
		Name: "cluster", Usage: "print what EKS, EC2 and Kubernetes say about a cluster",
		Description: "AWS is asked where the name of a cluster is given, Kubernetes where there is a kubeconfig. " +
			"What was denied or is missing is noted, with what helps.\n\n" +
			"Examples:\n  eksproxy facts cluster --cluster production --region eu-west-1\n" +
			"  eksproxy facts cluster --cluster production --context production -o json > cluster.json\n" +
			"  eksproxy facts cluster --kubeconfig kubeconfig --vpc-cidr 10.40.0.0/16\n" +
			"  eksproxy facts cluster --facts cluster.json -o yaml",
		Flags:  append(append(settingFlags("cluster."), clusterFlags()...), outputFlag("table", "json", "yaml")),
		Action: noArgs(p.factsCluster),
	}}
}

func (p *program) factsCluster(c *cli.Context) error {
	merged, err := p.settings(c, nil)
	if err != nil {
		return err
	}
	cfg, err := merged.ResolvePlace("addons")
	if err != nil {
		return usage(err)
	}
	f, _, err := p.clusterFacts(c, cfg, nil)
	if err != nil {
		return err
	}
	// Add-ons can hold the URL of a proxy, with the password that someone wrote there.
	f.Addons = slices.Clone(f.Addons)
	for i, a := range f.Addons {
		f.Addons[i].Configuration = plan.Mask(a.Configuration)
	}
	return p.write(c.String(flagOutput), f, func(w io.Writer) error { return clusterTable(w, f) })
}

func clusterTable(w io.Writer, f facts.Cluster) error {
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tab, "FACT\tVALUE\tSOURCE")
	auto := ""
	if f.AutoMode {
		auto = "on: EKS runs the nodes"
	}
	for _, row := range append(factRows(f.Node), [][2]string{
		{"account", f.Account}, {"vpc", f.VPC}, {"kubernetesVersion", f.KubernetesVersion}, {"endpointAccess", access(f.EndpointAccess)},
		{facts.FieldAutoMode, auto}, {facts.FieldRemoteNetworks, prefixes(f.RemoteNetworks)},
		{facts.FieldDHCPDomains, strings.Join(f.DHCPDomains, ", ")}, {facts.FieldNodeLocalDNS, addresses(f.NodeLocalDNS)},
	}...) {
		if row[1] != "" {
			fmt.Fprintf(tab, "%s\t%s\t%s\n", row[0], row[1], f.Sources[row[0]])
		}
	}
	for _, row := range clusterItems(f) {
		fmt.Fprintf(tab, "%s\t%s\t%s\n", row[0], row[1], f.Sources[row[0]])
	}
	return tab.Flush()
}

// clusterItems are the rows of what there are several of.
func clusterItems(f facts.Cluster) [][2]string {
	var rows [][2]string
	for _, e := range f.VPCEndpoints {
		text := fmt.Sprintf("%s: %s, %s, %s", e.ID, e.Service, strings.ToLower(e.Type), e.State)
		if names := f.NamesOf(e); e.Usable() && len(names) > 0 {
			text += ": " + strings.Join(names, ", ")
		} else if e.Type == "Interface" && !e.PrivateDNS {
			text += ", without private DNS"
		}
		rows = append(rows, [2]string{facts.FieldVPCEndpoints, text})
	}
	for _, p := range f.FargateProfiles {
		var selectors []string
		for _, s := range p.Selectors {
			words := []string{s.Namespace}
			for _, key := range slices.Sorted(maps.Keys(s.Labels)) {
				words = append(words, key+"="+s.Labels[key])
			}
			selectors = append(selectors, strings.Join(words, " "))
		}
		rows = append(rows, [2]string{facts.FieldFargateProfiles, p.Name + ": " + strings.Join(selectors, ", ")})
	}
	for _, a := range f.Addons {
		rows = append(rows, [2]string{facts.FieldAddons, strings.TrimSpace(fmt.Sprintf("%s %s %s %s", a.Name, a.Version, strings.ToLower(a.Status), strings.Join(a.Issues, "; ")))})
	}
	for _, d := range f.DaemonSets {
		rows = append(rows, [2]string{facts.FieldDaemonSets, d.Namespace + "/" + d.Name + ": " + strings.Join(append(slices.Clone(d.InitContainers), d.Containers...), ", ")})
	}
	return rows
}

func access(a *facts.EndpointAccess) string {
	switch {
	case a == nil:
		return ""
	case a.Public && a.Private:
		return "private, and public from " + prefixes(a.PublicCIDRs)
	case a.Public:
		return "public from " + prefixes(a.PublicCIDRs)
	default:
		return "private"
	}
}

func addresses(list []netip.Addr) string {
	texts := make([]string, len(list))
	for i, a := range list {
		texts[i] = a.String()
	}
	return strings.Join(texts, ", ")
}
