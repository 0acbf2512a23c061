package clustercheck

import (
	"context"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/eksproxy/eksproxy/addons"
	"github.com/eksproxy/eksproxy/internal/kube"
	"github.com/eksproxy/eksproxy/verify"
)

// specsOfNamespaces look at workload namespaces.
func specsOfNamespaces() []spec {
	return []spec{
		{idCopies, "ConfigMap in workload namespaces", "a namespace that is named, labelled or patched has no ConfigMap of eksproxy's, or one without a key: its pods go without the proxy", patchCommand, (*subject).copiesThere},
		{"CLUSTER026", "copies of the ConfigMap", "the ConfigMap of a workload namespace holds something else than that of kube-system", patchCommand, (*subject).copiesEqual},
		{"CLUSTER027", "workloads of patched namespaces", "a workload that eksproxy would patch there lacks the variables in a container; it warns of those that belong to somebody else", patchCommand, (*subject).spacesCarried},
		{"CLUSTER028", "Secrets of workload namespaces", "the variables come from a Secret, and a namespace that is named or labelled has none of that name: it is left alone, since no Secret is copied", "kubectl -n NAMESPACE create secret generic NAME --from-file=HTTP_PROXY=FILE --from-file=HTTPS_PROXY=FILE; then " + patchCommand, (*subject).spaceSecrets},
		{"CLUSTER029", "images on Fargate", "never; it warns of images outside of the account's ECR in workloads that a Fargate profile takes: pulls there go through no proxy", "copy the image into the account's ECR", (*subject).fargateImages},
		{"CLUSTER030", "endpoints for Fargate", "never; it warns of services that Fargate calls past every proxy, and for which the VPC has no usable endpoint", "make an endpoint for the service", (*subject).fargateEndpoints},
	}
}

const idCopies = "CLUSTER025"

// workloadSpaces are the namespaces that are named by the settings or labelled, or
// that have a ConfigMap or a workload of ours, in the order of their names.
func (s *subject) workloadSpaces(ctx context.Context) ([]string, []verify.Finding) {
	var names []string
	if s.o.Wanted != nil {
		if s.o.Wanted.Options.Fargate == addons.FargateOff {
			return nil, skip("the settings say --fargate=off")
		}
		names = slices.Clone(s.o.Wanted.Options.FargateNamespaces)
	}
	labelled, err := s.world.list(ctx, kube.Namespace(), "", metav1.ListOptions{LabelSelector: addons.LabelInject + "=" + addons.InjectEnabled})
	if err != nil {
		return nil, one(skipped("namespaces", "they may not be listed: %v", err))
	}
	for _, n := range labelled {
		names = append(names, n.GetName())
	}
	copies, err := s.copies(ctx)
	if err != nil {
		return nil, one(skipped("ConfigMaps of workload namespaces", "they may not be listed: %v", err))
	}
	for _, m := range copies {
		names = append(names, m.GetNamespace())
	}
	patched, err := s.elsewhere(ctx)
	if err != nil {
		return nil, one(skipped("workloads outside of "+addons.Namespace, "they may not be listed: %v", err))
	}
	for _, w := range patched {
		names = append(names, w.ref.Namespace)
	}
	slices.Sort(names)
	names = slices.DeleteFunc(slices.Compact(names), func(n string) bool { return n == addons.Namespace })
	if len(names) == 0 {
		return nil, skip("no namespace is named, labelled %s=%s or patched", addons.LabelInject, addons.InjectEnabled)
	}
	return names, nil
}

// copies are the ConfigMaps of the settings in all namespaces.
func (s *subject) copies(ctx context.Context) ([]*unstructured.Unstructured, error) {
	return s.world.list(ctx, kube.ConfigMap(), "", metav1.ListOptions{FieldSelector: "metadata.name=" + addons.ConfigMapName})
}

// copyOf is the ConfigMap of a namespace; nil where there is none.
func copyOf(all []*unstructured.Unstructured, namespace string) *unstructured.Unstructured {
	i := slices.IndexFunc(all, func(m *unstructured.Unstructured) bool { return m.GetNamespace() == namespace })
	if i < 0 {
		return nil
	}
	return all[i]
}

// patchSpace is the command that patches a namespace.
func (s *subject) patchSpace(name string) string {
	if s.o.Wanted != nil {
		return s.patch()
	}
	return s.patch() + " --fargate-namespaces " + name
}

// copiesThere demands the ConfigMap in each workload namespace: what a container
// refers to must be in its own (BL-054).
func (s *subject) copiesThere(ctx context.Context) []verify.Finding {
	names, found := s.workloadSpaces(ctx)
	if found != nil {
		return found
	}
	all, err := s.copies(ctx)
	if err != nil {
		return one(cannot("ConfigMaps", err))
	}
	for _, name := range names {
		live := copyOf(all, name)
		if live == nil {
			found = append(found, fail("namespace "+name, s.patchSpace(name), "it has no ConfigMap %s: containers that refer to it go without the proxy", addons.ConfigMapName))
			continue
		}
		if lack := without(addons.VariableNames(), slices.Collect(maps.Keys(textData(live)))); len(lack) > 0 {
			found = append(found, fail("namespace "+name, s.patchSpace(name), "its ConfigMap %s lacks %s", addons.ConfigMapName, strings.Join(lack, ", ")))
		}
	}
	return orPass(found, "in %d namespaces", len(names))
}

// copiesEqual holds the copies against the ConfigMap of kube-system.
func (s *subject) copiesEqual(ctx context.Context) []verify.Finding {
	names, found := s.workloadSpaces(ctx)
	if found != nil {
		return found
	}
	ours, found := s.values(ctx)
	if found != nil {
		return found
	}
	all, err := s.copies(ctx)
	if err != nil {
		return one(cannot("ConfigMaps", err))
	}
	n := 0
	for _, name := range names {
		live := copyOf(all, name)
		if live == nil {
			continue
		}
		n++
		data := textData(live)
		var differ []string
		for _, key := range addons.VariableNames() {
			if value, ok := data[key]; ok && value != ours[key] {
				differ = append(differ, key+difference(key, value, withoutUserinfo(ours[key])))
			}
		}
		if len(differ) > 0 {
			found = append(found, fail("namespace "+name, s.patchSpace(name), "its ConfigMap is not as that of %s: %s", addons.Namespace, strings.Join(differ, "; ")))
		}
	}
	return orPass(found, "%d are as that of %s", n, addons.Namespace)
}

// spaceWorkloads are the workloads of the namespaces that nobody else makes.
func (s *subject) spaceWorkloads(ctx context.Context, names []string) ([]*workload, error) {
	var all []*workload
	for _, name := range names {
		own, err := s.collect(ctx, name, metav1.ListOptions{}, kube.Deployment(), kube.StatefulSet(), kube.ReplicaSet(), kube.CronJob())
		if err != nil {
			return nil, err
		}
		all = append(all, own...)
	}
	return all, nil
}

// spacesCarried looks for workloads without the variables in patched namespaces.
// Those that eksproxy has patched are held against that elsewhere.
func (s *subject) spacesCarried(ctx context.Context) []verify.Finding {
	names, found := s.workloadSpaces(ctx)
	if found != nil {
		return found
	}
	all, err := s.spaceWorkloads(ctx, names)
	if err != nil {
		return one(cannot("workloads of workload namespaces", err))
	}
	checked := 0
	for _, w := range all {
		if w.managed || len(w.live.GetOwnerReferences()) > 0 || !s.meant(w) {
			continue
		}
		checked++
		c, _ := w.component()
		t := addons.Target{Ref: w.ref, Component: c.Name, Containers: c.Containers}
		lacking, err := s.lacking(ctx, w, t)
		if err != nil {
			found = append(found, cannot(w.ref.String(), err))
		}
		if len(lacking) == 0 {
			continue
		}
		owner, err := addons.OwnerOf(w.live)
		if err == nil && owner.GitOps {
			found = append(found, warn(w.ref.String(), "commit the variables there (docs/gitops.md)", "containers without the variables: %s; it belongs to %s, which would take a change back", few(lacking), owner))
			continue
		}
		found = append(found, fail(w.ref.String(), s.patchSpace(w.ref.Namespace), "containers without the variables: %s", few(lacking)))
	}
	return orPass(found, "%d workloads in %d namespaces", len(all), len(names))
}

// meant says whether a workload is to be patched: in a namespace that only Fargate
// profiles have brought, those are meant that a profile takes.
func (s *subject) meant(w *workload) bool {
	if s.o.Wanted == nil || s.o.Wanted.Options.Fargate != addons.FargatePatch || slices.Contains(s.o.Wanted.Options.FargateNamespaces, w.ref.Namespace) {
		return true
	}
	_, onFargate := s.o.Cluster.ProfileFor(w.ref.Namespace, w.template.Labels)
	return onFargate
}

// lacking are the containers that lack one of the variables.
func (s *subject) lacking(ctx context.Context, w *workload, t addons.Target) ([]string, error) {
	var names []string
	for _, c := range w.containers() {
		if !t.Takes(c.Name) {
			continue
		}
		for _, name := range addons.VariableNames() {
			v, err := s.variable(ctx, w.ref.Namespace, c, name)
			if err != nil {
				return nil, err
			}
			if !v.set {
				names = append(names, c.Name)
				break
			}
		}
	}
	return names, nil
}

// configMap reads a ConfigMap; the copies of the settings come from one list.
func (s *subject) configMap(ctx context.Context, namespace, name string) (*unstructured.Unstructured, error) {
	if namespace != addons.Namespace && name == addons.ConfigMapName {
		if all, err := s.copies(ctx); err == nil {
			return copyOf(all, namespace), nil
		}
	}
	return s.world.get(ctx, kube.Ref{Kind: kube.ConfigMap(), Namespace: namespace, Name: name})
}
