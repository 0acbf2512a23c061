//go:build !nodeonly

package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/eksproxy/eksproxy/addons"
	"github.com/eksproxy/eksproxy/facts"
	"github.com/eksproxy/eksproxy/internal/kube"
	"github.com/eksproxy/eksproxy/noproxy"
	"github.com/eksproxy/eksproxy/proxyconfig"
)

// flagContainers names the containers of a workload where nobody is asked.
const flagContainers = "containers"

// addonsRenderCommand has the settings of the other commands, without those that
// are for changing a cluster.
func (p *program) addonsRenderCommand(settings []cli.Flag) *cli.Command {
	patching := []string{"adopt", "force-owned", "migrate-env-from", "create-secret"}
	settings = slices.DeleteFunc(slices.Clone(settings), func(f cli.Flag) bool { return slices.Contains(patching, f.Names()[0]) })
	return &cli.Command{
		Name: "render", Usage: "write files for GitOps that say what patch would do",
		Description: "The network comes from flags, --config and --facts; a cluster is asked only where --cluster, --kubeconfig or --context names it here.\n" +
			"What is not known stands in the files by a name that begins with EKSPROXY_, and they cannot be used until it is filled in.\n" +
			"For terraform and eksctl AWS is asked for the schemas of the add-ons' versions, which needs no cluster.\n\n" +
			"Examples:\n" +
			"  eksproxy addons render --for manifests --config proxy.yaml --facts cluster.json\n" +
			"  eksproxy addons render --for kustomize --out overlays/prod/eksproxy --config proxy.yaml --context prod\n" +
			"  eksproxy addons render --for helm --out values --config proxy.yaml --facts cluster.json --component karpenter --skip kube-proxy\n" +
			"  eksproxy addons render --for terraform --out . --config proxy.yaml --region eu-west-1 --addon vpc-cni=v1.21.1-eksbuild.1",
		Flags: flags(settings, []cli.Flag{
			&cli.StringFlag{Name: flagLauncher, Usage: "what reads the files; allowed: " + names(addons.Formats())},
			&cli.StringFlag{Name: "out", Usage: "write the files into `DIR`; files there that are not eksproxy's are never replaced (default: all of them on standard output)"},
			addonFlag(),
			&cli.StringSliceFlag{Name: flagContainers, Usage: "`NAMESPACE/KIND/NAME=CONTAINER,...`: the containers of a --workload, with init: before an init container; repeat the flag"},
		}),
		Action: noArgs(p.addonsRender),
	}
}

func (p *program) addonsRender(c *cli.Context) error {
	format := addons.Format(c.String(flagLauncher))
	if !slices.Contains(addons.Formats(), format) {
		return usagef("--for %q is not known; allowed: %s", format, names(addons.Formats()))
	}
	w, options, err := p.walkRender(c)
	if err != nil {
		return err
	}
	if options.Addons, err = p.renderedVersions(c, format, w); err != nil {
		return err
	}
	out, err := addons.Render(w.want, format, options)
	if err != nil {
		return usage(err)
	}
	for _, n := range out.Notes {
		p.talk.Note("%s", n)
	}
	if note := addons.PlaceholderNote(options.Placeholders); note != "" {
		p.talk.Warn("%s", note)
	}
	if dir := c.String("out"); dir != "" {
		return p.writeRendered(dir, out.Files)
	}
	if managesAddons(format) && len(out.Files) == 1 { // for a redirection into a file of the reader's
		_, err := p.Out.Write(out.Files[0].Data)
		return err
	}
	for _, f := range out.Files {
		if _, err := fmt.Fprintf(p.Out, "---\n# %s\n%s", f.Name, f.Data); err != nil {
			return err
		}
	}
	return nil
}

// walkRender walks from the settings to what must be so, as patch does, but it
// fetches no credentials and asks nobody who is not named.
func (p *program) walkRender(c *cli.Context) (*addonsWalk, addons.RenderOptions, error) {
	w, o := &addonsWalk{}, addons.RenderOptions{}
	var err error
	if o.Workloads, err = workloadsOf(c.StringSlice(flagContainers)); err != nil {
		return nil, o, usage(err)
	}
	if w.merged, err = p.settings(c, nil); err != nil {
		return nil, o, err
	}
	cfg, err := w.merged.Resolve("addons", unfetchedRef)
	if err != nil {
		return nil, o, usage(err)
	}
	p.warn(cfg.Warnings)
	if err := p.checkRender(c, cfg); err != nil {
		return nil, o, err
	}
	if w.cluster, err = p.renderedCluster(c, cfg); err != nil {
		return nil, o, err
	}
	o.Cluster, o.Placeholders = addons.HoldPlaces(w.cluster)
	list, err := p.composeCluster(o.Cluster, cfg)
	if err != nil {
		return nil, o, err
	}
	wishes, err := renderedOptions(c)
	if err != nil {
		return nil, o, usage(err)
	}
	w.want, err = addons.Want(cfg.Settings(list.Entries), o.Cluster, wishes)
	return w, o, usage(err)
}

// checkRender refuses what no file can say.
func (p *program) checkRender(c *cli.Context, cfg proxyconfig.Config) error {
	switch {
	case cfg.Revert():
		return usagef("both proxies are given as empty: there is nothing to render; take the files out of the repository")
	case (cfg.HTTPProxy.HasCredentials() || cfg.HTTPSProxy.HasCredentials()) && c.String("credentials-secret") == "":
		return usagef("the proxy has credentials, which stand in no rendered file: give --credentials-secret NAME of a Secret that is there or will be; " +
			addons.SecretName + " is the one that eksproxy addons patch --create-secret makes")
	}
	for _, item := range cfg.NoProxy.Add {
		if texts, err := noproxy.ParseAddition(item.Text); err == nil && strings.HasPrefix(texts[0], "192.0.2.") {
			return usagef("%s: %q lies in 192.0.2.0/24, which stands for placeholders while they are rendered; leave it out: it is nobody's network", item.Origin, item.Text)
		}
	}
	return nil
}

// renderedCluster is what is known of the cluster: from one that is named here,
// or from a file and flags.
func (p *program) renderedCluster(c *cli.Context, cfg proxyconfig.Config) (facts.Cluster, error) {
	if c.String(flagFacts) == "" && (c.IsSet("cluster") || c.IsSet(flagKubeconfig) || c.IsSet(flagContext)) {
		f, _, err := p.clusterFacts(c, cfg, nil)
		return f, err
	}
	f := facts.NewCluster()
	if name := c.String(flagFacts); name != "" {
		var err error
		if f, err = facts.ReadCluster(name); err != nil {
			return f, usage(err)
		}
	}
	f.Region, f.DNSSuffix = placeOf(f, cfg.Cluster.Region)
	cfg.Cluster.Overlay(&f.Node)
	return f, nil
}

// workloadsOf parses NAMESPACE/KIND/NAME=CONTAINER,...
func workloadsOf(texts []string) ([]facts.Workload, error) {
	var all []facts.Workload
	for _, text := range texts {
		at, list, ok := strings.Cut(text, "=")
		ref, err := addons.ParseWorkload(at)
		if err == nil && (!ok || list == "") {
			err = fmt.Errorf("%q names no containers; write NAMESPACE/KIND/NAME=CONTAINER,..., as in shop/deployment/web=web,init:migrate", text)
		}
		if err != nil {
			return nil, fmt.Errorf("--%s: %w", flagContainers, err)
		}
		all = append(all, workloadOf(ref, strings.Split(list, ",")))
	}
	return all, nil
}

func workloadOf(ref kube.Ref, containers []string) facts.Workload {
	w := facts.Workload{Namespace: ref.Namespace, Kind: ref.Kind.Kind, Name: ref.Name}
	for _, name := range containers {
		if init, ok := strings.CutPrefix(name, "init:"); ok {
			w.InitContainers = append(w.InitContainers, init)
		} else {
			w.Containers = append(w.Containers, name)
		}
	}
	return w
}
