package addons

import (
	"fmt"
	"slices"
	"strings"

	"github.com/eksproxy/eksproxy/internal/kube"
	"github.com/eksproxy/eksproxy/templates"
)

// manifests renders the ConfigMaps and the workloads' own fields, each under its
// comments, and returns nothing else.
func (r *renderer) manifests(store, workload string) error {
	all, err := r.place()
	if err != nil {
		return err
	}
	if err := r.stores(all, store); err != nil {
		return err
	}
	for _, p := range all {
		object, err := p.fields.Object(p.Ref, "")
		if err != nil {
			return err
		}
		if err := r.add(fileName(p.Ref), workload+r.secretComment(p.Ref.Namespace), object.Object); err != nil {
			return err
		}
	}
	return nil
}

// kustomize renders a component, so that what is rendered again replaces no file
// of the user's: their kustomization names the folder.
func (r *renderer) kustomize() error {
	if err := r.manifests(templates.AddonsResource, templates.AddonsPatch); err != nil {
		return err
	}
	files := r.out.Files
	r.out.Files = nil
	var resources []string
	var patches []map[string]string
	for i, f := range files {
		if i < r.stored {
			resources = append(resources, f.Name)
		} else {
			patches = append(patches, map[string]string{"path": f.Name})
		}
	}
	err := r.add("kustomization.yaml", templates.AddonsComponent, map[string]any{
		"apiVersion": "kustomize.config.k8s.io/v1alpha1", "kind": "Component", "resources": resources, "patches": patches,
	})
	r.out.Files = append(r.out.Files, files...)
	return err
}

// stores renders what the variables refer to, in each namespace of the targets:
// a reference does not leave its namespace.
func (r *renderer) stores(all []placed, comments string) error {
	namespaces := []string{Namespace}
	for _, p := range all {
		if !slices.Contains(namespaces, p.Ref.Namespace) {
			namespaces = append(namespaces, p.Ref.Namespace)
		}
	}
	for _, ns := range namespaces {
		list := []Store{settingsStore(ns, r.want.Settings)}
		if len(r.want.Settings.CAs) > 0 {
			list = append(list, authorityStore(ns, r.want.Settings))
		}
		for _, s := range list {
			object, err := s.Object("")
			if err != nil {
				return err
			}
			if err := r.add(fileName(s.Ref), comments, object.Object); err != nil {
				return err
			}
		}
	}
	r.stored = len(r.out.Files)
	return nil
}

// secretComment says how the Secret is made that a file refers to, and remembers
// the namespace; empty where the proxy needs none.
func (r *renderer) secretComment(namespace string) string {
	name := r.want.Options.secret()
	if name == "" {
		return ""
	}
	if !slices.Contains(r.secrets, namespace) {
		r.secrets = append(r.secrets, namespace)
	}
	command := secretCommand(kube.Ref{Kind: kube.Secret(), Namespace: namespace, Name: name})
	return fillIn(templates.AddonsSecret, map[string]string{"COMMAND": command})
}

// noteSecret names the Secrets that must be there.
func (r *renderer) noteSecret() {
	for _, ns := range r.secrets {
		r.note("the files refer to the Secret %s/%s, which is in none of them: %s", ns, r.want.Options.secret(),
			secretCommand(kube.Ref{Kind: kube.Secret(), Namespace: ns, Name: r.want.Options.secret()}))
	}
	if len(r.secrets) > 0 {
		r.note("a change of the credentials rolls no pods: kubectl rollout restart does")
	}
}

// PlaceholderNote says what is to be filled in; empty where nothing is.
func PlaceholderNote(places []Placeholder) string {
	if len(places) == 0 {
		return ""
	}
	var words []string
	for _, p := range places {
		words = append(words, fmt.Sprintf("%s (%s)", p.Name, p.Remedy))
	}
	return "to be filled in before use: " + strings.Join(words, ", ")
}
