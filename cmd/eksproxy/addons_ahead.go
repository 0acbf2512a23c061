//go:build !nodeonly

package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/urfave/cli/v2"

	"github.com/eksproxy/eksproxy/addons"
)

const (
	flagAddon             = "addon"
	flagKubernetesVersion = "kubernetes-version"
)

// addonFlag names versions of EKS add-ons.
func addonFlag() cli.Flag {
	return &cli.StringSliceFlag{Name: flagAddon, Usage: "a version of an EKS add-on, `NAME=VERSION`, as in vpc-cni=v1.21.1-eksbuild.1: plan shows in place of the plan what becomes of the proxy with it, render writes its configuration values (default: those of the cluster or of --facts); repeat the flag"}
}

// aheadFlags name the versions to come.
func aheadFlags() []cli.Flag {
	return []cli.Flag{
		addonFlag(),
		&cli.StringFlag{Name: flagKubernetesVersion, Usage: "show instead what becomes of the proxy when the cluster gets this `VERSION`, as in 1.36, with the versions of all EKS add-ons that go with it"},
	}
}

// looksAhead says that plan is asked for versions to come.
func looksAhead(c *cli.Context) bool {
	return len(c.StringSlice(flagAddon)) > 0 || c.String(flagKubernetesVersion) != ""
}

// addonsAhead shows what becomes of the proxy with versions to come. The answer is
// no where it would be lost, or EKS would refuse the update.
func (p *program) addonsAhead(c *cli.Context) error {
	o, err := aheadOptions(c)
	if err != nil {
		return usage(err)
	}
	w, err := p.walkAddons(c, nil)
	if err != nil {
		return err
	}
	if o.Catalog, err = p.catalog(c, w.target, w.cluster.Region); err != nil {
		return err
	}
	if w.target.Kube != nil {
		o.Client = w.target.Kube
	}
	ahead, err := addons.LookAhead(c.Context, w.want, o)
	if err != nil {
		return clusterError(err)
	}
	if c.String(flagOutput) == "markdown" {
		err = ahead.WriteMarkdown(p.Out)
	} else {
		err = p.write(c.String(flagOutput), ahead, ahead.WriteTable)
	}
	switch {
	case err != nil:
		return err
	case ahead.Is(addons.OutlookLost, addons.OutlookRefused):
		return errNo
	case ahead.Is(addons.OutlookUnknown):
		return codeError{exitUndecided, errors.New("what becomes of the proxy is not known for each add-on; nothing was written")}
	}
	return nil
}

// aheadOptions reads the versions to come.
func aheadOptions(c *cli.Context) (addons.AheadOptions, error) {
	o := addons.AheadOptions{Kubernetes: strings.TrimPrefix(c.String(flagKubernetesVersion), "v")}
	if c.String("out") != "" {
		return o, fmt.Errorf("--out writes a plan to be approved, and nothing is planned for versions to come: leave out --out, or --%s and --%s", flagAddon, flagKubernetesVersion)
	}
	if o.Kubernetes != "" && !regexp.MustCompile(`^1\.[0-9]{1,3}$`).MatchString(o.Kubernetes) {
		return o, fmt.Errorf("--%s %q is no version of EKS; write MAJOR.MINOR, as in 1.36", flagKubernetesVersion, o.Kubernetes)
	}
	var err error
	o.Versions, err = addonVersions(c)
	return o, err
}

// addonVersions parses --addon NAME=VERSION.
func addonVersions(c *cli.Context) (map[string]string, error) {
	form := regexp.MustCompile(`^([0-9A-Za-z][A-Za-z0-9_-]{0,99})=([0-9A-Za-z][A-Za-z0-9._+-]{0,99})$`)
	versions := map[string]string{}
	for _, text := range c.StringSlice(flagAddon) {
		m := form.FindStringSubmatch(text)
		if m == nil {
			return nil, fmt.Errorf("--%s %q names no version; write NAME=VERSION, as in vpc-cni=v1.21.1-eksbuild.1 (aws eks describe-addon-versions lists them)", flagAddon, text)
		}
		if before, twice := versions[m[1]]; twice && before != m[2] {
			return nil, fmt.Errorf("--%s names two versions of %s: %s and %s", flagAddon, m[1], before, m[2])
		}
		versions[m[1]] = m[2]
	}
	return versions, nil
}

// catalog asks AWS for versions and schemas of add-ons. That needs no cluster, but
// a region.
func (p *program) catalog(c *cli.Context, t clusterTarget, region string) (addons.Catalog, error) {
	if t.AWS != nil {
		return eks.NewFromConfig(*t.AWS), nil
	}
	cfg, err := p.awsConfig(c, region)
	if err != nil {
		return nil, usage(err)
	}
	if cfg.Region == "" {
		return nil, usagef("the region is unknown in which EKS is asked for the schemas of add-ons: give --region, or set AWS_REGION")
	}
	return eks.NewFromConfig(cfg), nil
}

// schemasOf reads schemas of add-ons for the checks of a cluster; nil where AWS is
// not asked.
func schemasOf(t clusterTarget) func(context.Context, string, string) (*addons.Schema, error) {
	if t.AWS == nil {
		return nil
	}
	client := eks.NewFromConfig(*t.AWS)
	return func(ctx context.Context, name, version string) (*addons.Schema, error) {
		return addons.ReadSchema(ctx, client, name, version)
	}
}
