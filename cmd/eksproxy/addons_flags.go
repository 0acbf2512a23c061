//go:build !nodeonly

package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/eksproxy/eksproxy/addons"
	"github.com/eksproxy/eksproxy/internal/kube"
	"github.com/eksproxy/eksproxy/internal/rollout"
	"github.com/eksproxy/eksproxy/plan"
)

// rolloutLimit is how long one workload's rollout may take where --timeout does
// not say.
const rolloutLimit = rollout.DefaultTimeout

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
