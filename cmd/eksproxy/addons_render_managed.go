//go:build !nodeonly

package main

import (
	"maps"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/eksproxy/eksproxy/addons"
)

// managesAddons says that a format has configuration values of EKS add-ons.
func managesAddons(f addons.Format) bool { return f == addons.Terraform || f == addons.Eksctl }

// renderedOptions are the wishes with the components of the add-ons that are named:
// who gives a version means them.
func renderedOptions(c *cli.Context) (addons.Options, error) {
	o := addonsOptionsOf(c)
	versions, err := addonVersions(c)
	if err != nil {
		return o, err
	}
	for _, name := range slices.Sorted(maps.Keys(versions)) {
		components, err := addons.ComponentsOf(name)
		if err != nil {
			return o, err
		}
		for _, component := range components {
			if !slices.Contains(o.Skip, component) && !slices.Contains(o.Components, component) && !isRecipe(component) {
				o.Components = append(o.Components, component)
			}
		}
	}
	return o, nil
}

// isRecipe says that a component is patched without being named.
func isRecipe(name string) bool {
	c, err := addons.FindComponent(name)
	return err == nil && c.Recipe
}

// renderedVersions asks AWS for the schemas of the add-ons' versions, where a format
// needs them.
func (p *program) renderedVersions(c *cli.Context, format addons.Format, w *addonsWalk) ([]addons.AddonVersion, error) {
	versions, err := addonVersions(c)
	switch {
	case err != nil:
		return nil, usage(err)
	case !managesAddons(format) && len(versions) == 0:
		return nil, nil
	case !managesAddons(format) && format != addons.Helm:
		return nil, usagef("--%s names a version of an EKS add-on, and --for %s writes objects of Kubernetes; give it with --for terraform, eksctl or helm", flagAddon, format)
	case len(versions) == 0 && len(w.cluster.Addons) == 0:
		return nil, usagef("no version of an EKS add-on is known: give --%s NAME=VERSION, as in vpc-cni=v1.21.1-eksbuild.1, or --cluster, or --facts of a cluster that has add-ons", flagAddon)
	}
	catalog, err := p.catalog(c, clusterTarget{}, w.cluster.Region)
	if err != nil {
		return nil, err
	}
	all, err := addons.ReadVersions(c.Context, catalog, w.want, versions)
	return all, clusterError(err)
}
