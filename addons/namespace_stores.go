package addons

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/eksproxy/eksproxy/internal/kube"
)

// withSecrets are the namespaces without those that lack the Secret that their
// pods would refer to: it is never copied.
func (p *planner) withSecrets(ctx context.Context, all []*space, targets []found) ([]*space, error) {
	if p.want.Options.secret() == "" {
		return all, nil
	}
	var kept []*space
	for _, s := range all {
		if s.chosen && !slices.Contains(namespacesOf(targets), s.name) {
			err := p.secret(ctx, s.name)
			if IsOption(err) {
				p.out.note("namespace %s is left alone: %v; a Secret is never copied from another namespace", s.name, err)
				continue
			}
			if err != nil {
				return nil, err
			}
		}
		kept = append(kept, s)
	}
	return kept, nil
}

// copies plans the ConfigMaps of all namespaces, before any workload refers to
// one: a pod is given what is there when it starts (BL-054).
func (p *planner) copies(ctx context.Context, all []*space, targets []found) error {
	all = chosen(all)
	if len(all) == 0 {
		return nil
	}
	have := namespacesOf(targets)
	if !slices.Contains(have, Namespace) { // what the copies are held against
		if err := p.settings(ctx, Namespace); err != nil {
			return err
		}
	}
	names := []string{ConfigMapName}
	if len(p.want.Settings.CAs) > 0 {
		names = append(names, CAConfigMapName)
	}
	p.listed = map[kube.Ref]*unstructured.Unstructured{}
	for _, name := range names {
		for _, s := range all {
			p.listed[kube.Ref{Kind: kube.ConfigMap(), Namespace: s.name, Name: name}] = nil
		}
		o := metav1.ListOptions{FieldSelector: "metadata.name=" + name}
		err := p.each(ctx, all, kube.ConfigMap(), o, func(s *space, live *unstructured.Unstructured) error {
			p.listed[kube.Ref{Kind: kube.ConfigMap(), Namespace: s.name, Name: name}] = live
			return nil
		})
		if err != nil {
			return err
		}
	}
	for _, s := range all {
		if slices.Contains(have, s.name) {
			continue
		}
		from := len(p.out.Changes)
		if err := p.settings(ctx, s.name); err != nil {
			return err
		}
		for _, c := range p.out.Changes[from:] {
			p.out.together(c.ID, stageStores)
		}
	}
	return nil
}

// settings plans the ConfigMaps of a namespace.
func (p *planner) settings(ctx context.Context, namespace string) error {
	if err := p.configMap(ctx, namespace); err != nil {
		return err
	}
	return p.authorities(ctx, namespace)
}

// get reads an object, unless a list has told it.
func (p *planner) get(ctx context.Context, r kube.Ref) (*unstructured.Unstructured, error) {
	if live, ok := p.listed[r]; ok {
		return live, nil
	}
	return p.client.Get(ctx, r)
}
