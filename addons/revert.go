package addons

import (
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/eksproxy/eksproxy/internal/kube"
	"github.com/eksproxy/eksproxy/internal/podenv"
	"github.com/eksproxy/eksproxy/plan"
)

// patchable are the kinds that are looked through for fields of ours.
func patchable() []kube.Kind {
	return []kube.Kind{kube.DaemonSet(), kube.Deployment(), kube.StatefulSet(), kube.ReplicaSet(), kube.CronJob()}
}

// PrepareRevert looks through a cluster for everything that eksproxy has put
// there, and plans to take it back. It needs no settings.
func PrepareRevert(ctx context.Context, roll Rollout) (*Prepared, error) {
	p := &planner{client: roll.Client, roll: roll, out: &Prepared{say: roll.Tell}, patched: []string{Namespace}, texts: texts{}}
	if err := p.revertManaged(ctx); err != nil {
		return p.out, err
	}
	for _, k := range patchable() {
		err := p.eachManaged(ctx, k, func(live *unstructured.Unstructured) error { return p.revertWorkload(k, live) })
		if err != nil {
			return p.out, err
		}
	}
	if err := p.revertNodeClasses(ctx); err != nil {
		return p.out, err
	}
	if err := p.listCopies(ctx); err != nil {
		return p.out, err
	}
	// What the pods refer to goes last. It is read by name: a right to list
	// ConfigMaps or Secrets is one to read them all.
	for _, namespace := range p.patched {
		for _, r := range carriers(namespace) {
			live, err := p.get(ctx, r)
			if err == nil && live != nil {
				err = p.ifApplied(r.Kind, live, func() error { return p.revertStore(r.Kind, live) })
				if namespace != Namespace {
					p.out.together("store:"+r.String(), stageRevertStores)
				}
			}
			if err != nil {
				return p.out, err
			}
		}
	}
	return p.out, nil
}

// carriers are what carries settings in a namespace. A Secret is made in
// kube-system alone.
func carriers(namespace string) []kube.Ref {
	refs := []kube.Ref{{Kind: kube.ConfigMap(), Namespace: namespace, Name: ConfigMapName}, {Kind: kube.ConfigMap(), Namespace: namespace, Name: CAConfigMapName}}
	if namespace == Namespace {
		refs = append(refs, kube.Ref{Kind: kube.Secret(), Namespace: namespace, Name: SecretName})
	}
	return refs
}

// eachManaged calls each with every object of a kind that has our label.
func (p *planner) eachManaged(ctx context.Context, k kube.Kind, each func(*unstructured.Unstructured) error) error {
	return p.client.List(ctx, k, "", metav1.ListOptions{LabelSelector: LabelManaged + "=true"}, func(live *unstructured.Unstructured) error {
		return p.ifApplied(k, live, func() error { return each(live) })
	})
}

// ifApplied leaves alone what has our label from a file that somebody else
// applied: they would put it back.
func (p *planner) ifApplied(k kube.Kind, live *unstructured.Unstructured, then func() error) error {
	if live.GetLabels()[LabelManaged] != "true" {
		return nil
	}
	owners, err := podenv.ReadOwners(live)
	if err != nil {
		return err
	}
	if !owners.Applied(Manager, fieldpath.MakePathOrDie("metadata", "labels", LabelManaged)) {
		p.out.note("%s %s/%s is left alone: %s applied what eksproxy rendered; take it out there", k.Kind, live.GetNamespace(), live.GetName(), strings.Join(owners.Managers(), ", "))
		return nil
	}
	return then()
}

// revertWorkload plans to take our fields out of a workload.
func (p *planner) revertWorkload(k kube.Kind, live *unstructured.Unstructured) error {
	live = live.DeepCopy()
	live.SetKind(k.Kind)
	w, err := readWorkload(kube.Ref{Kind: k, Namespace: live.GetNamespace(), Name: live.GetName()}, live)
	if err != nil {
		return err
	}
	if !slices.Contains(p.patched, w.ref.Namespace) {
		p.patched = append(p.patched, w.ref.Namespace)
	}
	c, err := p.change(w, Fields{}, "takes back what eksproxy set")
	if err != nil {
		return err
	}
	c.Action, c.Undo = plan.Update, "eksproxy addons patch"
	_, migrated := live.GetAnnotations()[AnnotationEnvFrom]
	if w.light() && !migrated {
		w = w.slim()
		p.out.add(c, func(ctx context.Context) error { return p.put(ctx, w, Fields{}) })
		p.out.together(c.ID, stageRevert)
		return nil
	}
	p.out.add(c, func(ctx context.Context) error {
		return p.roll.undo(ctx, w, func(ctx context.Context) error {
			if _, err := p.client.Edit(ctx, w.ref, live.GetUID(), Manager, giveEntries); err != nil {
				return err
			}
			return p.put(ctx, w, Fields{})
		})
	})
	return nil
}

// revertStore plans to delete what eksproxy made, or to give an adopted
// ConfigMap back what it held.
func (p *planner) revertStore(k kube.Kind, live *unstructured.Unstructured) error {
	r := kube.Ref{Kind: k, Namespace: live.GetNamespace(), Name: live.GetName()}
	c := plan.Change{ID: "store:" + r.String(), Target: r.String(), Disruption: "none", Undo: "eksproxy addons patch"}
	s := Store{Ref: r}
	if _, adopted := live.GetAnnotations()[AnnotationAdopted]; adopted {
		if err := s.takeOver(live, true); err != nil {
			return err
		}
		c.Action, c.Reason = plan.Update, "gives back what it held before it was adopted"
		p.out.add(c, func(ctx context.Context) error {
			_, err := p.client.Modify(ctx, r, live.GetUID(), Manager, s.giveBack)
			return err
		})
		return nil
	}
	foreign, err := foreignKeys(live)
	if err != nil {
		return err
	}
	if len(foreign) > 0 {
		c.Action, c.Reason = plan.Update, fmt.Sprintf("takes eksproxy's keys out; %v are of others and stay", foreign)
		p.out.add(c, func(ctx context.Context) error {
			empty, err := Fields{}.Object(r, live.GetUID())
			if err != nil {
				return err
			}
			_, err = p.client.Apply(ctx, r, empty, kube.ApplyOptions{Manager: Manager})
			return err
		})
		return nil
	}
	c.Action, c.Reason = plan.Delete, "eksproxy made it"
	p.out.add(c, func(ctx context.Context) error { return p.client.Delete(ctx, r, live.GetUID(), "") })
	return nil
}

// giveBack is the patch that puts the former values under our keys, and takes
// our marks away.
func (s Store) giveBack(live *unstructured.Unstructured) (map[string]any, error) {
	if _, adopted := live.GetAnnotations()[AnnotationAdopted]; !adopted {
		return nil, nil // it was done, and only the answer was lost
	}
	data := map[string]any{}
	for _, key := range VariableNames() {
		data[key] = nil
		if before, ok := s.Adopted[key]; ok {
			data[key] = before
		}
	}
	return map[string]any{
		"data": data,
		"metadata": map[string]any{
			"annotations": map[string]any{AnnotationAdopted: nil, AnnotationHash: nil, AnnotationReason: nil},
			"labels":      map[string]any{LabelManaged: nil},
		},
	}, nil
}

// foreignKeys are the keys of a ConfigMap or Secret that others have added. A key
// of ours that somebody has edited is none.
func foreignKeys(live *unstructured.Unstructured) ([]string, error) {
	owners, err := podenv.ReadOwners(live)
	if err != nil {
		return nil, err
	}
	data, _, _ := unstructured.NestedMap(live.Object, "data")
	var foreign []string
	ours := append(VariableNames(), CAKey)
	for key := range data {
		if !slices.Contains(ours, key) && !owners.Applied(Manager, dataPath(key)) {
			foreign = append(foreign, key)
		}
	}
	slices.Sort(foreign)
	return foreign, nil
}
