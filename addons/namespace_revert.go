package addons

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/eksproxy/eksproxy/internal/kube"
)

// listCopies finds the ConfigMaps of ours in all namespaces, also where no
// workload of ours is left. They are listed by their name, for which a right can
// be given that shows no other ConfigMap.
func (p *planner) listCopies(ctx context.Context) error {
	p.listed = map[kube.Ref]*unstructured.Unstructured{}
	for _, name := range []string{ConfigMapName, CAConfigMapName} {
		err := ListStores(ctx, p.client, name, func(live *unstructured.Unstructured) error {
			if live.GetNamespace() == Namespace {
				return nil // read by itself
			}
			if !slices.Contains(p.patched, live.GetNamespace()) {
				p.patched = append(p.patched, live.GetNamespace())
			}
			p.listed[kube.Ref{Kind: kube.ConfigMap(), Namespace: live.GetNamespace(), Name: name}] = live
			return nil
		})
		if err != nil {
			return err
		}
	}
	for _, namespace := range p.patched { // what no list has told is not there
		for _, r := range carriers(namespace) {
			if _, ok := p.listed[r]; !ok && namespace != Namespace {
				p.listed[r] = nil
			}
		}
	}
	return nil
}

// ListStores calls each with the ConfigMaps of a name of ours in all namespaces
// that have eksproxy's label.
func ListStores(ctx context.Context, client *kube.Client, name string, each func(*unstructured.Unstructured) error) error {
	o := metav1.ListOptions{FieldSelector: "metadata.name=" + name, LabelSelector: LabelManaged + "=true"}
	return client.List(ctx, kube.ConfigMap(), "", o, func(live *unstructured.Unstructured) error {
		live.SetKind(kube.ConfigMap().Kind) // items of a list may come without
		return each(live)
	})
}
