package addons

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/eksproxy/eksproxy/internal/kube"
	"github.com/eksproxy/eksproxy/plan"
	"github.com/eksproxy/eksproxy/proxyconfig"
)

// Store is a ConfigMap that carries settings.
type Store struct {
	Ref         kube.Ref
	Data        map[string]string
	Annotations map[string]string
	// Adopted is what stood under our keys before it was ours; nil where it was
	// made by eksproxy.
	Adopted map[string]string
}

// settingsStore is the ConfigMap with the six variables.
func settingsStore(namespace string, s proxyconfig.Settings) Store {
	return Store{
		Ref:  kube.Ref{Kind: kube.ConfigMap(), Namespace: namespace, Name: ConfigMapName},
		Data: values(s), Annotations: map[string]string{AnnotationHash: s.Hash()},
	}
}

// authorityStore is the ConfigMap with the company's own authorities.
func authorityStore(namespace string, s proxyconfig.Settings) Store {
	var pem []byte
	for _, ca := range s.CAs {
		pem = append(pem, ca.PEM...)
	}
	return Store{Ref: kube.Ref{Kind: kube.ConfigMap(), Namespace: namespace, Name: CAConfigMapName}, Data: map[string]string{CAKey: string(pem)}}
}

// authorityVolume brings them into a pod. It is optional, so that a pod starts
// when the ConfigMap is gone.
func authorityVolume() corev1.Volume {
	optional, mode := true, int32(0o644)
	return corev1.Volume{Name: caVolume, VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
		LocalObjectReference: corev1.LocalObjectReference{Name: CAConfigMapName}, DefaultMode: &mode, Optional: &optional,
	}}}
}

// Object is the document that applies the store.
func (s Store) Object(uid types.UID) (*unstructured.Unstructured, error) {
	annotations := maps.Clone(s.Annotations)
	if s.Adopted != nil {
		text, err := jsonOf(s.Adopted)
		if err != nil {
			return nil, err
		}
		annotations = with(annotations, AnnotationAdopted, text)
	}
	meta := map[string]any{"name": s.Ref.Name, "namespace": s.Ref.Namespace, "labels": map[string]any{LabelManaged: "true", managedBy: Manager}}
	if s.Adopted != nil { // it goes on being whose it was
		meta["labels"] = map[string]any{LabelManaged: "true"}
	}
	if uid != "" {
		meta["uid"] = string(uid)
	}
	if len(annotations) > 0 {
		meta["annotations"] = textMap(annotations)
	}
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": textMap(s.Data)}}, nil
}

func with(m map[string]string, key, value string) map[string]string {
	m = maps.Clone(m)
	if m == nil {
		m = map[string]string{}
	}
	m[key] = value
	return m
}

// configMap plans the six variables.
func (p *planner) configMap(ctx context.Context, namespace string) error {
	s := settingsStore(namespace, p.want.Settings)
	if p.want.Options.Reason != "" {
		s.Annotations[AnnotationReason] = p.want.Options.Reason
	}
	live, err := p.get(ctx, s.Ref)
	if err != nil {
		return err
	}
	if live != nil {
		noProxy, _, _ := unstructured.NestedString(live.Object, "data", "NO_PROXY")
		p.out.NoProxyBefore = cmp.Or(p.out.NoProxyBefore, noProxy)
	}
	return p.store(s, live, "carries the variables that the add-ons refer to")
}

// authorities plans the certificates. Without any, those of an earlier run stay
// until revert: no pod of ours mounts them any more.
func (p *planner) authorities(ctx context.Context, namespace string) error {
	if len(p.want.Settings.CAs) == 0 {
		return nil
	}
	s := authorityStore(namespace, p.want.Settings)
	live, err := p.get(ctx, s.Ref)
	if err != nil {
		return err
	}
	return p.store(s, live, "carries trustedCA for the add-ons")
}

// store plans one ConfigMap; live is nil where it is not there.
func (p *planner) store(s Store, live *unstructured.Unstructured, reason string) (err error) {
	c := plan.Change{ID: "configmap:" + s.Ref.String(), Target: s.Ref.String(), Reason: reason, Disruption: "none", Undo: undo}
	uid := types.UID("")
	if live != nil {
		uid = live.GetUID()
		if err := s.takeOver(live, p.want.Options.Adopt); err != nil {
			return err
		}
		if before := live.GetAnnotations()[AnnotationReason]; before != "" && s.Annotations[AnnotationReason] == "" && s.Annotations != nil {
			s.Annotations[AnnotationReason] = before
		}
	}
	if c.Before, c.After, err = s.sides(live); err != nil {
		return err
	}
	switch {
	case live == nil:
		c.Action = plan.Create
	case c.Before.Content.Equal(c.After.Content):
		c.Action, c.Undo = plan.Unchanged, ""
	default:
		c.Action = plan.Update
	}
	p.out.add(c, func(ctx context.Context) error {
		object, err := s.Object(uid)
		if err != nil {
			return err
		}
		// Whoever edited our keys meant them: the values are eksproxy's all the
		// same, and the plan has shown theirs as what was before.
		_, err = p.client.Apply(ctx, s.Ref, object, kube.ApplyOptions{Manager: Manager, Force: true})
		return err
	})
	return nil
}

// takeOver keeps what a ConfigMap of somebody else has under our keys.
func (s *Store) takeOver(live *unstructured.Unstructured, adopt bool) error {
	data, _, _ := unstructured.NestedStringMap(live.Object, "data")
	text, adopted := live.GetAnnotations()[AnnotationAdopted]
	switch {
	case adopted:
		if err := json.Unmarshal([]byte(text), &s.Adopted); err != nil {
			return fmt.Errorf("reading the annotation %s of %s: %w", AnnotationAdopted, s.Ref, err)
		}
		return nil
	case live.GetLabels()[LabelManaged] == "true":
		return nil
	case !adopt:
		owner, err := OwnerOf(live)
		if err != nil {
			return err
		}
		return optionf("%s is there and is not eksproxy's: it belongs to %s. --adopt takes it over, and keeps what it holds for revert", s.Ref, owner)
	}
	s.Adopted = map[string]string{}
	for key := range s.Data {
		if value, ok := data[key]; ok {
			s.Adopted[key] = value
		}
	}
	return nil
}

// sides are our keys, annotations and label before and after, as YAML.
func (s Store) sides(live *unstructured.Unstructured) (before, after *plan.Value, err error) {
	if after, err = side(s.Data, s.Annotations, "true"); err != nil || live == nil {
		return nil, after, err
	}
	data, _, _ := unstructured.NestedStringMap(live.Object, "data")
	maps.DeleteFunc(data, func(key, _ string) bool { _, ours := s.Data[key]; return !ours })
	before, err = side(data, live.GetAnnotations(), live.GetLabels()[LabelManaged])
	return before, after, err
}

func side(data, annotations map[string]string, managed string) (*plan.Value, error) {
	doc := map[string]any{"data": data}
	if hash := annotations[AnnotationHash]; hash != "" {
		doc["annotations"] = map[string]string{AnnotationHash: hash}
	}
	if managed != "" {
		doc["labels"] = map[string]string{LabelManaged: managed}
	}
	text, err := yaml.Marshal(doc)
	if err != nil {
		return nil, err
	}
	return &plan.Value{Content: plan.NewContent(text)}, nil
}
