//go:build !nodeonly

package main

import (
	"encoding/json"

	"github.com/urfave/cli/v2"

	"github.com/eksproxy/eksproxy/addons"
	"github.com/eksproxy/eksproxy/facts"
	"github.com/eksproxy/eksproxy/plan"
	"github.com/eksproxy/eksproxy/proxyconfig"
	"github.com/eksproxy/eksproxy/secretref"
)

// addonsInputs are what a written plan was made from.
type addonsInputs struct {
	Settings map[string][]string `json:"settings"`
	Facts    json.RawMessage     `json:"facts"`
	Options  addons.Options      `json:"options"`
}

// addonsWalk is one way from settings to what must be so in a cluster.
type addonsWalk struct {
	merged  proxyconfig.Layer
	cluster facts.Cluster
	target  clusterTarget
	want    addons.Desired
}

// walkAddons walks from the settings to what must be so.
func (p *program) walkAddons(c *cli.Context, approved *plan.Plan) (*addonsWalk, error) {
	w := &addonsWalk{}
	options := addonsOptionsOf(c)
	var layer proxyconfig.Layer
	var planned *facts.Cluster
	if approved != nil {
		var in addonsInputs
		if err := json.Unmarshal(approved.Inputs, &in); err != nil {
			return nil, usagef("reading the inputs of %s: %w", c.String(flagPlan), err)
		}
		known, err := facts.DecodeCluster(in.Facts)
		if err != nil {
			return nil, usagef("reading the facts of %s: %w", c.String(flagPlan), err)
		}
		layer, planned = proxyconfig.FromFlat(c.String(flagPlan), in.Settings), &known
		in.Options.Reason = options.Reason
		options = in.Options
	}
	var err error
	if w.merged, err = p.settings(c, layer); err != nil {
		return nil, err
	}
	cfg, err := p.resolveAddons(c, w.merged)
	if err != nil {
		return nil, err
	}
	if w.cluster, w.target, err = p.clusterFacts(c, cfg, planned); err != nil {
		return nil, err
	}
	list, err := p.composeCluster(w.cluster, cfg)
	if err != nil {
		return nil, err
	}
	w.want, err = addons.Want(cfg.Settings(list.Entries), w.cluster, options)
	return w, usage(err)
}

// resolveAddons resolves what holds for the add-ons, and fetches the credentials.
func (p *program) resolveAddons(c *cli.Context, merged proxyconfig.Layer) (proxyconfig.Config, error) {
	cfg, err := merged.Resolve("addons", func(ref string) (proxyconfig.Credentials, error) {
		return secretref.Credentials(c.Context, ref, p.refOptions(c, merged, nil))
	})
	if err != nil {
		return cfg, unresolved(err)
	}
	p.warn(cfg.Warnings)
	if cfg.Revert() {
		return cfg, usagef("both proxies are given as empty: eksproxy addons revert takes the settings back")
	}
	return cfg, nil
}

// prepareAddons plans the change of a cluster.
func (p *program) prepareAddons(c *cli.Context, w *addonsWalk) (clusterPlan, error) {
	if w.target.Kube == nil {
		return clusterPlan{}, usagef("no Kubernetes cluster is named: give --kubeconfig FILE or --context NAME (aws eks update-kubeconfig --name CLUSTER writes one); eksproxy addons render needs none")
	}
	roll := p.rollout(c, w.target.Kube)
	roll.Managed = p.managed(c, w.target)
	prepared, err := addons.Prepare(c.Context, roll, w.want)
	if err != nil {
		return clusterPlan{}, clusterError(err)
	}
	if w.cluster.AutoMode {
		p.talk.Note("EKS Auto Mode runs nodes of this cluster: aws-node, kube-proxy and CoreDNS are in their image, and their proxy stands in NodeClasses (docs/auto-mode.md)")
	}
	in := addonsInputs{Settings: w.merged.Flatten("addons"), Options: w.want.Options}
	in.Options.Reason = ""
	if in.Facts, err = json.Marshal(w.cluster); err != nil {
		return clusterPlan{}, err
	}
	prepared.Inputs, err = json.Marshal(in)
	prepared.Target = w.target.plan()
	return clusterPlan{prepared, clusterNoProxyChange(prepared.NoProxyBefore, w)}, err
}
