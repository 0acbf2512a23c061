//go:build !nodeonly

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/eksproxy/eksproxy/addons"
	"github.com/eksproxy/eksproxy/facts"
	"github.com/eksproxy/eksproxy/internal/ui"
	"github.com/eksproxy/eksproxy/node"
	"github.com/eksproxy/eksproxy/proxyconfig"
	"github.com/eksproxy/eksproxy/verify"
	"github.com/eksproxy/eksproxy/verify/clustercheck"
)

// withCluster adds what a workstation can verify. Without a word behind it, verify
// checks the cluster.
func (p *program) withCluster(c *cli.Command) *cli.Command {
	c.Usage = "say whether a node or a cluster is behind the proxy, and what is wrong"
	c.Flags = verifyClusterFlags()
	c.Action = noArgs(p.verifyHere)
	c.Subcommands = append(c.Subcommands, &cli.Command{
		Name: "cluster", Usage: "say whether the add-ons of a cluster are behind the proxy",
		Description: "It writes nothing, and the rights of the ClusterRole view suffice. On a workstation, eksproxy verify alone does the same.\n\n" +
			"Examples:\n" +
			"  eksproxy verify cluster --context prod\n" +
			"  eksproxy verify cluster --cluster prod --region eu-west-1 --config proxy.yaml\n" +
			"  eksproxy verify cluster --kubeconfig prod.yaml --facts cluster.json -o markdown",
		Flags:  verifyClusterFlags(),
		Action: noArgs(p.verifyCluster),
	})
	return c
}

func verifyClusterFlags() []cli.Flag {
	options := slices.DeleteFunc(addonsOptions(), func(f cli.Flag) bool {
		return !slices.Contains([]string{"component", "workload", "skip", "credentials-secret", "create-secret"}, f.Names()[0])
	})
	spaces := slices.DeleteFunc(namespaceFlags(), func(f cli.Flag) bool { return f.Names()[0] == flagAutoMode })
	return flags(addonsSettings(), options, spaces, clusterFlags(), []cli.Flag{outputFlag("table", "json", "yaml", "markdown")})
}

// verifyHere checks the cluster, unless this is a node: there it could be meant
// either way.
func (p *program) verifyHere(c *cli.Context) error {
	for _, mark := range []string{node.StatePath, "/var/lib/kubelet/kubeconfig", "/etc/eks/bootstrap.sh", "/etc/eks/nodeadm"} {
		if _, err := os.Stat(mark); err == nil {
			return usagef("this machine looks like a node (%s), so say what to verify: eksproxy verify node or eksproxy verify cluster", mark)
		}
	}
	err := p.verifyCluster(c)
	if codeOf(err) == exitUsage {
		return usagef("%w; eksproxy verify node checks a node, or the tree of an image", err)
	}
	return err
}

func (p *program) verifyCluster(c *cli.Context) error {
	merged, err := p.settings(c, nil)
	if err != nil {
		return err
	}
	place, err := merged.ResolvePlace("addons")
	if err != nil {
		return usage(err)
	}
	known, target, unread := p.clusterFacts(c, place, nil)
	switch {
	case target.Kube == nil && unread != nil:
		return unread
	case target.Kube == nil:
		return usagef("no Kubernetes cluster is named: give --kubeconfig FILE or --context NAME (aws eks update-kubeconfig --name CLUSTER writes one); eksproxy verify node checks a node")
	case unread != nil && (codeOf(unread) != exitUndecided || target.AWS != nil):
		return unread
	case unread != nil: // the checks say what of it they miss
		known = facts.NewCluster()
		place.Cluster.Overlay(&known.Node)
	}
	o := clustercheck.Options{Client: target.Kube, Cluster: known, Patch: applyAgain(c, "eksproxy addons patch"), Schemas: schemasOf(target)}
	if unread == nil {
		if o.Wanted, err = p.wantedCluster(c, merged, known); err != nil {
			return err
		}
	}
	checks := clustercheck.Checks(o)
	tell, end := p.progress(len(checks))
	report := verify.Run(c.Context, checks, tell)
	end()
	report.Target = map[string]string{"server": target.Server, "context": target.Context}
	if known.ClusterName != "" {
		report.Target["cluster"] = known.ClusterName
	}
	err = p.showReport(c, report)
	if unread != nil && report.ExitCode() == exitDone {
		return unread // with all that is skipped for it, nobody shall take it for a yes
	}
	return err
}

// wantedCluster is what the settings want; nil where there are none. Credentials
// are not fetched: only whether there are any is compared.
func (p *program) wantedCluster(c *cli.Context, merged proxyconfig.Layer, known facts.Cluster) (*addons.Desired, error) {
	cfg, err := merged.Resolve("addons", unfetchedRef)
	switch {
	case errors.Is(err, proxyconfig.ErrNoProxy):
		return nil, nil
	case err != nil:
		return nil, unresolved(err)
	case cfg.Revert():
		return nil, nil
	}
	quiet := *p // what the settings compose is compared, not talked about
	quiet.talk = ui.Printer{W: io.Discard}
	list, err := quiet.composeCluster(known, cfg)
	if err != nil {
		return nil, err
	}
	want, err := addons.Want(cfg.Settings(list.Entries), known, addonsOptionsOf(c))
	if err != nil {
		return nil, usage(fmt.Errorf("with the settings for the add-ons: %w", err))
	}
	return &want, nil
}
