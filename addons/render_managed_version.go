package addons

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// AddonVersion is a version of an EKS add-on with its schema.
type AddonVersion struct {
	Name, Version string
	// Schema is nil where the version takes no values.
	Schema *Schema
	// Values are the configuration values that are there, as far as known: what is
	// rendered must go with them.
	Values string
}

// ComponentsOf are the names of an add-on's components that call AWS or the
// internet, or that are patched without being named; an error where eksproxy knows
// none of it.
func ComponentsOf(addon string) ([]string, error) {
	var names, known []string
	for _, c := range Components() {
		if c.Addon != "" && !slices.Contains(known, c.Addon) {
			known = append(known, c.Addon)
		}
		if c.Addon == addon && (c.Rule == Calls || c.Recipe) {
			names = append(names, c.Name)
		}
	}
	if !slices.Contains(known, addon) {
		return nil, fmt.Errorf("%q is not an EKS add-on that eksproxy knows; known are %s", addon, strings.Join(known, ", "))
	}
	return names, nil
}

// ReadVersions reads the schemas of the add-ons of targets: those that are named,
// by name and version, and those that the cluster has. No cluster is needed for
// them.
func ReadVersions(ctx context.Context, catalog Catalog, want Desired, named map[string]string) ([]AddonVersion, error) {
	versions := map[string]AddonVersion{}
	for _, a := range want.Cluster.Addons {
		versions[a.Name] = AddonVersion{Name: a.Name, Version: a.Version, Values: a.Configuration}
	}
	for name, v := range named {
		versions[name] = AddonVersion{Name: name, Version: v, Values: versions[name].Values}
	}
	var all []AddonVersion
	for _, name := range slices.Sorted(maps.Keys(versions)) {
		if !slices.ContainsFunc(want.Targets, func(t Target) bool { return addonOf(t) == name }) {
			continue
		}
		v := versions[name]
		var err error
		if v.Schema, err = ReadSchema(ctx, catalog, name, v.Version); err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, nil
}

// addonOf is the EKS add-on that a target is part of; empty where there is none.
func addonOf(t Target) string {
	c, err := FindComponent(t.Component)
	if err != nil {
		return ""
	}
	return c.Addon
}
