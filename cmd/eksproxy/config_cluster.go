//go:build !nodeonly

package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"
	"go.yaml.in/yaml/v3"

	"github.com/eksproxy/eksproxy/facts"
	"github.com/eksproxy/eksproxy/proxyconfig"
	"github.com/eksproxy/eksproxy/templates"
)

const flagFromCluster = "from-cluster"

// fromClusterFlags are the flags of config init that the agent does not have.
func fromClusterFlags() []cli.Flag {
	return append([]cli.Flag{&cli.StringFlag{Name: flagFromCluster, Usage: "fill in what EKS, EC2 and Kubernetes say about the cluster `NAME`"}},
		append(settingFlags("cluster.region")[1:], clusterFlags()...)...)
}

// initText is what config init writes: with the facts of a cluster, all but
// what only the company knows.
func (p *program) initText(c *cli.Context) (string, error) {
	name := c.String(flagFromCluster)
	if name == "" {
		if c.IsSet(flagFromCluster) || c.IsSet(flagFacts) || c.IsSet("region") {
			return "", usagef("--%s NAME is missing: the other flags say where to ask about that cluster", flagFromCluster)
		}
		return templates.ConfigInit, nil
	}
	own, _, err := proxyconfig.FromEnvironment(p.env)
	if err != nil {
		return "", usage(err)
	}
	l := proxyconfig.Merge(own, fromFlags(c))
	l.Set("cluster.name", proxyconfig.Origin{Level: proxyconfig.Flag, Name: "--" + flagFromCluster}, name)
	cfg, err := l.ResolvePlace("addons")
	if err != nil {
		return "", usage(err)
	}
	f, _, err := p.clusterFacts(c, cfg, nil)
	if err != nil {
		return "", err
	}
	return withCluster(templates.ConfigInit, f)
}

// withCluster puts the facts in place of the template's example of a cluster.
func withCluster(text string, f facts.Cluster) (string, error) {
	const head, example = "  # What a node finds out by itself, where it cannot or must not.\n", "  # cluster:\n"
	before, rest, ok := strings.Cut(text, head+example)
	if !ok {
		return "", fmt.Errorf("the template of the configuration has no part %q", example)
	}
	for strings.HasPrefix(rest, "  #   ") {
		_, rest, _ = strings.Cut(rest, "\n")
	}
	var b strings.Builder
	b.WriteString(before)
	b.WriteString("  # What EKS, EC2 and Kubernetes say about the cluster. It is of today: what is\n" +
		"  # left out here is found out anew by every run, on nodes too.\n  cluster:\n")
	for _, row := range []struct {
		key, field string
		values     []string
		list       bool
	}{
		{"name", "", []string{f.ClusterName}, false},
		{"region", facts.FieldRegion, []string{f.Region}, false},
		{"endpoint", facts.FieldEndpointHost, []string{f.EndpointHost}, false},
		{"vpcCIDRs", facts.FieldVPCCIDRs, strings.Fields(strings.ReplaceAll(prefixes(f.VPCCIDRs), ",", "")), true},
		{"serviceCIDRs", facts.FieldServiceCIDRs, strings.Fields(strings.ReplaceAll(prefixes(f.ServiceCIDRs), ",", "")), true},
		{"domain", facts.FieldClusterDomain, []string{f.ClusterDomain}, false},
	} {
		if err := writeRow(&b, row.key, row.values, row.list, f.Sources[row.field]); err != nil {
			return "", err
		}
	}
	return b.String() + rest, nil
}

// writeRow writes a line of the file with its source, or one to fill in.
func writeRow(b *strings.Builder, key string, values []string, list bool, source string) error {
	if len(values) == 0 || values[0] == "" {
		fmt.Fprintf(b, "    # %s: # unknown, see the notes\n", key)
		return nil
	}
	n := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
	for _, v := range values {
		item := &yaml.Node{}
		item.SetString(v)
		n.Content = append(n.Content, item)
	}
	if !list {
		n = n.Content[0]
	}
	text, err := yaml.Marshal(n)
	if err != nil || strings.Count(string(text), "\n") != 1 {
		return fmt.Errorf("writing the cluster's %s: %q is not on one line", key, values)
	}
	line := "    " + key + ": " + strings.TrimSuffix(string(text), "\n")
	if source != "" {
		line += " # " + source
	}
	b.WriteString(line + "\n")
	return nil
}
