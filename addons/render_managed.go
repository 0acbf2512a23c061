package addons

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/eksproxy/eksproxy/templates"
)

// The names of the files for EKS add-ons.
const (
	terraformFile = "eksproxy.tf"
	eksctlFile    = "eksctl-addons.yaml"
)

// renderedAddon are the values of one add-on.
type renderedAddon struct {
	AddonVersion
	additions []Addition
	// text is YAML, decoded what it says.
	text    string
	decoded map[string]any
}

// managed renders configuration values of EKS add-ons. What none of them can carry
// is noted, with what to do instead.
func (r *renderer) managed(format Format) error {
	all, err := r.place()
	if err != nil {
		return err
	}
	var list []*renderedAddon
	for _, p := range all {
		list = r.collect(list, p)
	}
	if len(list) == 0 {
		return nil
	}
	for _, a := range list {
		if err := a.finish(); err != nil {
			return err
		}
		r.noteAddon(a)
	}
	if format == Eksctl {
		return r.eksctl(list)
	}
	return r.terraform(list)
}

// instead says how what no add-on can carry is done.
const instead = "commit what eksproxy addons render --for kustomize prints for it, or run eksproxy addons patch"

// collect adds what one target needs to the values of its add-on.
func (r *renderer) collect(list []*renderedAddon, p placed) []*renderedAddon {
	name := addonOf(p.Target)
	i := slices.IndexFunc(r.options.Addons, func(v AddonVersion) bool { return v.Name == name })
	switch {
	case name == "":
		r.note("%s is left out: it is part of no EKS add-on; %s", p.Target, instead)
		return list
	case i < 0:
		r.note("%s is left out: no version of the EKS add-on %s is known; give --addon %s=VERSION, or --facts of a cluster that has it; where it is no EKS add-on there, %s", p.Target, name, name, instead)
		return list
	}
	v := r.options.Addons[i]
	c, err := FindComponent(p.Component)
	if err != nil {
		return list // addonOf has found it
	}
	_, additions, why := r.want.placeIn(v.Schema, c, v.Values)
	if why != "" {
		r.note("%s is left out: the EKS add-on %s %s cannot carry the settings: %s; %s", p.Target, v.Name, v.Version, why, instead)
		return list
	}
	j := slices.IndexFunc(list, func(a *renderedAddon) bool { return a.Name == name })
	if j < 0 {
		list, j = append(list, &renderedAddon{AddonVersion: v}), len(list)
	}
	for _, a := range additions {
		if !slices.ContainsFunc(list[j].additions, a.is) {
			list[j].additions = append(list[j].additions, a)
		}
	}
	return list
}

// finish writes the values, which must be right also with all components together.
func (a *renderedAddon) finish() error {
	text, _, _, err := edited("{}", managedRecord{}, a.additions)
	if err != nil {
		return err
	}
	doc, err := parseValues(text)
	if err != nil {
		return err
	}
	if a.text, err = doc.yaml(); err != nil {
		return err
	}
	decoded, err := doc.decoded()
	if err != nil {
		return err
	}
	a.decoded, _ = decoded.(map[string]any)
	whole, _, _, err := edited(a.Values, managedRecord{}, a.additions)
	if err != nil {
		return fmt.Errorf("add-on %s: %w", a.Name, err)
	}
	refused, err := a.Schema.Refused(whole)
	if err == nil && len(refused) > 0 {
		err = fmt.Errorf("add-on %s %s refuses %s: %s", a.Name, a.Version, orWhole(refused[0].Pointer), refused[0].Why)
	}
	return err
}

// noteAddon says what of an add-on's values is not in the file, or must be there
// beside it.
func (r *renderer) noteAddon(a *renderedAddon) {
	if doc, err := parseValues(a.Values); err == nil {
		for _, b := range a.additions {
			if doc.names(b) && !doc.has(b) {
				r.note("%s at %s is set in the configuration of the add-on %s that is there: keep one of the two", b.name(), b.container(), a.Name)
			}
		}
	}
	if slices.ContainsFunc(a.additions, func(b Addition) bool { _, text := b.Value.(string); return !text && b.text() == "" }) {
		r.note("the values of %s refer to the ConfigMap %s/%s, which must be there before its pods start: eksproxy addons patch makes it, and --for manifests prints it", a.Name, Namespace, ConfigMapName)
		r.secretComment(Namespace)
	}
}

// eksctl renders a list for a ClusterConfig.
func (r *renderer) eksctl(list []*renderedAddon) error {
	var items []map[string]any
	for _, a := range list {
		items = append(items, map[string]any{"name": a.Name, "version": a.Version, "resolveConflicts": "preserve", "configurationValues": a.text})
	}
	return r.add(eksctlFile, templates.AddonsEksctl+r.namespaceSecret(), map[string]any{"addons": items})
}

// namespaceSecret is the comment on the Secret, where a file refers to it.
func (r *renderer) namespaceSecret() string {
	if len(r.secrets) == 0 {
		return ""
	}
	return r.secretComment(Namespace)
}

// terraform renders locals.
func (r *renderer) terraform(list []*renderedAddon) error {
	all := map[string]any{}
	var versions, names []string
	for _, a := range list {
		all[a.Name] = a.decoded
		versions = append(versions, a.Name+" "+a.Version)
		for _, name := range slices.Sorted(maps.Keys(a.decoded)) {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	comments := fillIn(templates.AddonsTerraform, map[string]string{
		"VERSIONS": strings.Join(versions, ", "), "ADDON": list[0].Name, "VERSION": list[0].Version,
		"RESOURCE": strings.ReplaceAll(list[0].Name, "-", "_"), "NAMES": strings.Join(names, ", "),
	})
	text := "\nlocals {\n  eksproxy_addon_values = " + hcl(all, "  ") + "\n\n" +
		"  eksproxy_addon_configuration = { for name, values in local.eksproxy_addon_values : name => jsonencode(values) }\n}\n"
	r.addText(terraformFile, comments+r.namespaceSecret(), []byte(text))
	return nil
}

// checkCharts says where the schema of an add-on refuses the values of a chart:
// who puts them into the add-on's configuration would be refused.
func (r *renderer) checkCharts() error {
	for _, f := range r.out.Files {
		for _, v := range r.options.Addons {
			component := strings.TrimSuffix(strings.TrimPrefix(f.Name, "values-"), ".yaml")
			if addonOf(Target{Component: component}) != v.Name {
				continue
			}
			refused, err := v.Schema.Refused(string(f.Data))
			if err != nil {
				return err
			}
			for _, x := range refused {
				r.note("%s is for the chart alone: the EKS add-on %s %s refuses %s: %s; --for terraform and --for eksctl print what it takes", f.Name, v.Name, v.Version, orWhole(x.Pointer), x.Why)
			}
		}
	}
	return nil
}
