package addons

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/eksproxy/eksproxy/templates"
)

// helm renders values for the components whose charts take variables, and the
// ConfigMaps that they refer to. What no chart can carry is noted, with what to do
// instead.
func (r *renderer) helm() error {
	all, err := r.place()
	if err != nil {
		return err
	}
	var refer []placed
	var files []func() error
	for _, p := range all {
		c, ok := charts()[p.Component]
		switch {
		case !ok:
			r.note("%s has no chart that takes variables: commit what --for kustomize prints for it, or run eksproxy addons patch", p.Target)
			continue
		case c.Map && c.Secrets == "" && r.want.Options.secret() != "":
			r.note("%s is left out: the values of the chart %s take no reference to a Secret, and credentials stand in no file; commit what --for kustomize prints for it, or run eksproxy addons patch", p.Target, c.Name)
			continue
		}
		if !c.Map || c.Mounts != "" && len(r.want.Settings.CAs) > 0 {
			refer = append(refer, p)
		}
		files = append(files, func() error { return r.values(p, c) })
	}
	if len(refer) > 0 {
		if err := r.stores(refer, templates.AddonsManifest); err != nil {
			return err
		}
	}
	for _, write := range files {
		if err := write(); err != nil {
			return err
		}
	}
	return nil
}

// values renders the values of one component. The labels are not among them: who
// owns the fields is Helm, and not eksproxy.
func (r *renderer) values(p placed, c Chart) error {
	values := map[string]any{}
	put(values, textMap(p.fields.Template), strings.Split(c.Annotations, ".")...)
	var items []corev1.EnvVar
	for _, e := range p.fields.Containers[0].Env {
		if e.Name != caVariable || c.Mounts != "" {
			items = append(items, e)
		}
	}
	if err := r.variables(values, c, items); err != nil {
		return err
	}
	if len(p.fields.Volumes) > 0 {
		if c.Mounts == "" {
			r.note("%s gets no certificates: the values of the chart %s take no volume; commit what --for kustomize prints for it, or run eksproxy addons patch", p.Target, c.Name)
		} else if err := r.certificates(values, c, p.fields); err != nil {
			return err
		}
	}
	comments := fillIn(templates.AddonsValues, map[string]string{"COMPONENT": p.Component, "CHART": c.Name})
	if !c.Map {
		comments += fillIn(templates.AddonsList, map[string]string{"LIST": c.Env})
	}
	return r.add("values-"+p.Component+".yaml", comments+r.secretComment(p.Ref.Namespace), values)
}

// variables puts the variables where the chart takes them: as items, or else as
// texts and as keys of the Secret.
func (r *renderer) variables(to map[string]any, c Chart, items []corev1.EnvVar) error {
	if !c.Map {
		return putList(to, c.Env, items)
	}
	texts, secrets := map[string]any{}, map[string]any{}
	settings := values(r.want.Settings)
	for _, e := range items {
		switch {
		case e.ValueFrom == nil:
			texts[e.Name] = e.Value
		case e.ValueFrom.SecretKeyRef != nil:
			secrets[e.Name] = map[string]any{"name": e.ValueFrom.SecretKeyRef.Name, "key": e.ValueFrom.SecretKeyRef.Key}
		default:
			texts[e.Name] = settings[e.ValueFrom.ConfigMapKeyRef.Key]
		}
	}
	put(to, texts, strings.Split(c.Env, ".")...)
	if len(secrets) > 0 {
		put(to, secrets, strings.Split(c.Secrets, ".")...)
	}
	return nil
}

func (r *renderer) certificates(to map[string]any, c Chart, f Fields) error {
	if err := putList(to, c.Volumes, f.Volumes); err != nil {
		return err
	}
	return putList(to, c.Mounts, f.Containers[0].Mounts)
}

// putList puts a list at a path with dots.
func putList[T any](to map[string]any, path string, items []T) error {
	if len(items) == 0 {
		return nil
	}
	list := map[string]any{}
	if err := putItems(list, "list", items); err != nil {
		return err
	}
	put(to, list["list"], strings.Split(path, ".")...)
	return nil
}
