//go:build !nodeonly

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/eksproxy/eksproxy/addons"
	"github.com/eksproxy/eksproxy/facts"
	"github.com/eksproxy/eksproxy/internal/kube"
	"github.com/eksproxy/eksproxy/internal/rollout"
	"github.com/eksproxy/eksproxy/noproxy/compose"
	"github.com/eksproxy/eksproxy/plan"
	"github.com/eksproxy/eksproxy/proxyconfig"
	"github.com/eksproxy/eksproxy/secretref"
)

// rolloutLimit is how long one workload's rollout may take where --timeout does
// not say.
const rolloutLimit = rollout.DefaultTimeout

func (p *program) addonsCommand() *cli.Command {
	settings := append(addonsSettings(), addonsOptions()...)
	settings = append(settings, clusterFlags()...)
	rolling := rolloutFlags()
	return &cli.Command{
		Name: "addons", Usage: "put the add-ons of a cluster behind the proxy",
		Subcommands: []*cli.Command{
			{
				Name: "plan", Aliases: []string{"diff"}, Usage: "show what patch would change, and write nothing",
				Description: "Examples:\n" +
					"  eksproxy addons plan --cluster prod --region eu-west-1 --http-proxy http://proxy.example:3128\n" +
					"  eksproxy addons plan --context prod --config proxy.yaml --diff\n" +
					"  eksproxy addons plan --context prod --config proxy.yaml --out plan.json -o markdown\n" +
					"  eksproxy addons plan --cluster prod --region eu-west-1 --config proxy.yaml --kubernetes-version 1.36",
				Flags: flags(settings, namespaceFlags(), managedFlags(), aheadFlags(), rolling, []cli.Flag{
					&cli.StringFlag{Name: "out", Usage: "write the plan to `FILE`, to be approved and given to patch --plan"},
					&cli.BoolFlag{Name: "exit-code", Usage: "exit with 1 where there is something to do", DisableDefaultText: true},
					&cli.BoolFlag{Name: "diff", Usage: "show each difference in full, as a table's second part", DisableDefaultText: true},
					outputFlag("table", "json", "yaml", "markdown"),
				}),
				Action: noArgs(p.addonsPlan),
			},
			{
				Name: "patch", Aliases: []string{"apply"}, Usage: "put the add-ons behind the proxy, one pod first",
				Description: "Examples:\n" +
					"  eksproxy addons patch --cluster prod --region eu-west-1 --http-proxy http://proxy.example:3128\n" +
					"  eksproxy addons patch --context prod --config proxy.yaml --create-secret --credentials-file login --yes\n" +
					"  eksproxy addons patch --kubeconfig prod.yaml --plan plan.json --reason CHG0012",
				Flags: flags(settings, namespaceFlags(), managedFlags(), rolling, writeFlags(), []cli.Flag{
					&cli.StringFlag{Name: flagPlan, Usage: "`FILE` that plan --out wrote: do just that, or nothing where something has moved"},
					&cli.StringFlag{Name: flagReason, Usage: "`TEXT` that is kept with what was done: the number of the change"},
					outputFlag("table", "json", "yaml", "markdown"),
				}),
				Action: noArgs(p.addonsPatch),
			},
			p.addonsStatusCommand(),
			{
				Name: "revert", Usage: "take back what patch did, and nothing else",
				Description: "Examples:\n  eksproxy addons revert --context prod --dry-run\n  eksproxy addons revert --context prod\n  eksproxy addons revert --kubeconfig prod.yaml --yes",
				Flags:       flags(connectionFlags(), revertFlags(), rolling, writeFlags(), []cli.Flag{outputFlag("table", "json", "yaml", "markdown")}),
				Action:      noArgs(p.addonsRevert),
			},
			p.addonsRenderCommand(settings),
		},
	}
}

func flags(lists ...[]cli.Flag) []cli.Flag {
	var all []cli.Flag
	for _, l := range lists {
		all = append(all, l...)
	}
	return all
}

// addonsSettings are the settings that hold for a cluster.
func addonsSettings() []cli.Flag {
	return settingFlags("httpProxy", "httpsProxy", "credentials.", "trustedCA", "noProxy.", "cluster.")
}

func addonsOptions() []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{Name: "component", Usage: "a `NAME` to patch beside aws-node and kube-proxy: " + strings.Join(addons.ComponentNames(), ", ") + "; repeat the flag"},
		&cli.StringSliceFlag{Name: "workload", Usage: "another `NAMESPACE/KIND/NAME` to patch, in all its containers; repeat the flag"},
		&cli.StringSliceFlag{Name: "skip", Usage: "a component's `NAME` to leave alone; repeat the flag"},
		&cli.StringFlag{Name: "credentials-secret", Usage: "`NAME` of a Secret in kube-system that has the proxy's URLs, with credentials, under HTTP_PROXY and HTTPS_PROXY"},
		&cli.BoolFlag{Name: "create-secret", Usage: "make the Secret " + addons.SecretName + " from the given credentials", DisableDefaultText: true},
		&cli.BoolFlag{Name: "adopt", Usage: "take over a ConfigMap " + addons.ConfigMapName + " that is not eksproxy's; revert gives it back", DisableDefaultText: true},
		&cli.BoolFlag{Name: "force-owned", Usage: "patch also what Argo CD or Flux look after", DisableDefaultText: true},
		&cli.BoolFlag{Name: "migrate-env-from", Usage: "take the published recipe's entry out of envFrom after the rollout", DisableDefaultText: true},
	}
}

func addonsOptionsOf(c *cli.Context) addons.Options {
	return addons.Options{
		FargateNamespaces: c.StringSlice(flagFargateNamespaces), Fargate: addons.FargateMode(c.String(flagFargate)), AutoMode: addons.AutoMode(c.String(flagAutoMode)),
		Components: c.StringSlice("component"), Workloads: c.StringSlice("workload"), Skip: c.StringSlice("skip"),
		CredentialsSecret: c.String("credentials-secret"), CreateSecret: c.Bool("create-secret"),
		Adopt: c.Bool("adopt"), ForceOwned: c.Bool("force-owned"), MigrateEnvFrom: c.Bool("migrate-env-from"), Reason: c.String(flagReason),
		OwnedBy: c.String(flagOwnedBy),
	}
}

func rolloutFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "canary", Value: "on", Usage: "on: one pod of a DaemonSet first, and a probe pod beside it; off: all at once", Action: oneOf("canary", "on", "off")},
		&cli.StringFlag{Name: "roll", Value: string(rollout.RollAuto), Usage: "when pods are replaced: auto as their strategy says, now also where it is OnDelete, never", Action: oneOf("roll", string(rollout.RollAuto), string(rollout.RollNow), string(rollout.RollNever))},
		&cli.StringFlag{Name: "probe-image", Usage: "`IMAGE` of the probe pod (default: that of the component)"},
		&cli.StringFlag{Name: "probe-namespace", Value: addons.Namespace, Usage: "`NAMESPACE` of the probe pod"},
		&cli.StringSliceFlag{Name: "probe-toleration", Usage: "a taint's `KEY` that the probe pod tolerates (default: all); repeat the flag"},
		&cli.BoolFlag{Name: flagWait, Value: true, Usage: "wait until the pods are replaced (default: true)", DisableDefaultText: true},
		&cli.DurationFlag{Name: "pod-timeout", Value: rollout.DefaultStallLimit, Usage: "how long one new pod may take until it is ready"},
		&cli.DurationFlag{Name: flagTimeout, Value: rolloutLimit, Usage: "how long the rollout of one workload may take"},
	}
}

// writeFlags are those of every command that writes to a cluster.
func writeFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: flagYes, Usage: "do not ask whether this is the right cluster", DisableDefaultText: true},
		&cli.BoolFlag{Name: flagDryRun, Usage: "show the plan and write nothing", DisableDefaultText: true},
	}
}

// rollout rolls as the flags say.
func (p *program) rollout(c *cli.Context, client *kube.Client) addons.Rollout {
	var tolerations []corev1.Toleration
	for _, key := range c.StringSlice("probe-toleration") {
		tolerations = append(tolerations, corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists})
	}
	var ask func(string) (bool, error)
	if p.onTerminal() {
		ask = p.ask
	}
	return addons.Rollout{NoWait: !c.Bool(flagWait), Ask: ask, Roller: rollout.Roller{Client: client, Options: rollout.Options{
		Manager: addons.Manager, Canary: c.String("canary") != "off", Roll: rollout.Roll(c.String("roll")),
		Probe:   rollout.Probe{Image: c.String("probe-image"), Namespace: c.String("probe-namespace"), Tolerations: tolerations},
		Timeout: c.Duration(flagTimeout), StallLimit: c.Duration("pod-timeout"), Tell: func(format string, args ...any) { p.talk.Note("%s", plan.Mask(fmt.Sprintf(format, args...))) },
	}}}
}

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

// composeCluster makes the NO_PROXY value and reports what there is to say.
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

// prepareAddons plans the change of a cluster.
func (p *program) prepareAddons(c *cli.Context, w *addonsWalk) (*addons.Prepared, error) {
	if w.target.Kube == nil {
		return nil, usagef("no Kubernetes cluster is named: give --kubeconfig FILE or --context NAME (aws eks update-kubeconfig --name CLUSTER writes one); eksproxy addons render needs none")
	}
	roll := p.rollout(c, w.target.Kube)
	roll.Managed = p.managed(c, w.target)
	prepared, err := addons.Prepare(c.Context, roll, w.want)
	if err != nil {
		return nil, clusterError(err)
	}
	if w.cluster.AutoMode {
		p.talk.Note("EKS Auto Mode runs nodes of this cluster: aws-node, kube-proxy and CoreDNS are in their image, and their proxy stands in NodeClasses (docs/auto-mode.md)")
	}
	in := addonsInputs{Settings: w.merged.Flatten("addons"), Options: w.want.Options}
	in.Options.Reason = ""
	if in.Facts, err = json.Marshal(w.cluster); err != nil {
		return nil, err
	}
	prepared.Inputs, err = json.Marshal(in)
	prepared.Target = w.target.plan()
	return prepared, err
}

func (p *program) addonsPlan(c *cli.Context) error {
	if looksAhead(c) {
		return p.addonsAhead(c)
	}
	w, err := p.walkAddons(c, nil)
	if err != nil {
		return err
	}
	prepared, err := p.prepareAddons(c, w)
	if err != nil {
		return err
	}
	if err := writePlan(c.String("out"), prepared.Plan); err != nil {
		return err
	}
	if err := p.showClusterPlan(c, prepared); err != nil {
		return err
	}
	if c.Bool("exit-code") && len(prepared.Pending())+len(prepared.NotDone) > 0 {
		return errNo
	}
	return nil
}

// showClusterPlan prints a plan, and what is thought of each component.
func (p *program) showClusterPlan(c *cli.Context, prepared *addons.Prepared) error {
	if c.String(flagOutput) == "markdown" {
		return prepared.WriteMarkdown(p.Out)
	}
	return p.write(c.String(flagOutput), planDoc{prepared}, func(w io.Writer) error {
		if err := errors.Join(prepared.WriteTable(w), decisionsTable(w, prepared.Decisions), addons.WriteOwnership(w, prepared.Ownership)); err != nil || !c.Bool("diff") {
			return err
		}
		for _, change := range prepared.Pending() {
			if _, err := fmt.Fprint(w, "\n"+change.Diff()); err != nil {
				return err
			}
		}
		return nil
	})
}

func (p *program) addonsPatch(c *cli.Context) error {
	approved, err := readPlan(c.String(flagPlan))
	if err != nil {
		return err
	}
	w, err := p.walkAddons(c, approved)
	if err != nil {
		return err
	}
	prepared, err := p.prepareAddons(c, w)
	if err != nil {
		return err
	}
	if approved != nil {
		if moved := approved.Moved(prepared.Plan); len(moved) > 0 {
			return fmt.Errorf("the approved plan is not what would be done now; nothing was written. Make and approve a new plan:\n  %s", strings.Join(moved, "\n  "))
		}
	}
	return p.runCluster(c, w.target, prepared)
}

func (p *program) addonsRevert(c *cli.Context) error {
	target, err := p.connect(c)
	if err != nil {
		return err
	}
	roll := p.rollout(c, target.Kube)
	roll.Managed = p.managed(c, target)
	prepared, err := addons.PrepareRevert(c.Context, roll)
	if err != nil {
		return clusterError(err)
	}
	prepared.Target = target.plan()
	return p.runCluster(c, target, prepared)
}

// runCluster guards and carries out a plan for a cluster.
func (p *program) runCluster(c *cli.Context, t clusterTarget, prepared *addons.Prepared) error {
	if c.Bool(flagDryRun) {
		return p.showClusterPlan(c, prepared)
	}
	if len(prepared.Pending()) > 0 {
		if err := p.guard(c, t); err != nil {
			return err
		}
	} else if err := p.named(c); err != nil && !p.onTerminal() {
		return err
	}
	outcome, err := prepared.Run(c.Context)
	if errors.Is(err, context.Canceled) {
		err = fmt.Errorf("%w; the next run goes on where this one ended, and eksproxy addons revert takes it back", err)
	}
	return errors.Join(rolloutError(err), p.showClusterOutcome(c, prepared, outcome), notDone(prepared))
}

// rolloutError gives an error of a rollout its exit code.
func rolloutError(err error) error {
	failure, ok := errors.AsType[*rollout.Error](err)
	switch {
	case ok && failure.Kind == rollout.TimedOut:
		return codeError{exitTimeout, err}
	case ok && failure.Kind == rollout.Rejected:
		return codeError{exitUndecided, err}
	}
	return err
}

// clusterError gives an error of looking at a cluster its exit code.
func clusterError(err error) error {
	switch {
	case err == nil || errors.Is(err, context.Canceled):
		return err
	case addons.IsOption(err):
		return usage(err)
	case kube.Undecided(err), addons.Unanswered(err):
		return codeError{exitUndecided, fmt.Errorf("%w; nothing was written", err)}
	}
	return err
}
