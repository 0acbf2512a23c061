//go:build !nodeonly

package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/eksproxy/eksproxy/addons"
	"github.com/eksproxy/eksproxy/internal/kube"
	"github.com/eksproxy/eksproxy/internal/rollout"
)

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
	return p.runCluster(c, target, clusterPlan{Prepared: prepared})
}

// runCluster guards and carries out a plan for a cluster.
func (p *program) runCluster(c *cli.Context, t clusterTarget, prepared clusterPlan) error {
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
	return errors.Join(rolloutError(err), p.showClusterOutcome(c, prepared.Prepared, outcome), notDone(prepared.Prepared))
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
