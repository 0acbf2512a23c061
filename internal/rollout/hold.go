package rollout

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/eksproxy/eksproxy/internal/kube"
)

// Annotation is the record of what a held workload had before: its update
// strategy as JSON, or whether a Deployment was paused.
const Annotation = "eksproxy.dev/held-strategy"

const onDelete = "OnDelete"

// Held reads the record of a workload whose pods are held back.
func Held(object *unstructured.Unstructured) (string, bool) {
	record, ok := object.GetAnnotations()[Annotation]
	return record, ok
}

// holdable is the field of spec that holds pods back, and its value then. A
// workload of another kind has no such field.
func holdable(kind string) (field string, value any) {
	switch kind {
	case kube.DaemonSet().Kind, kube.StatefulSet().Kind:
		return "updateStrategy", map[string]any{"type": onDelete}
	case kube.Deployment().Kind:
		return "paused", true
	}
	return "", nil
}

// holds says whether a value of the field holds pods back.
func holds(value any) bool {
	if strategy, ok := value.(map[string]any); ok {
		return strategy["type"] == onDelete
	}
	return value == true
}

// leaves says whether a workload's own strategy, be it in force or recorded,
// leaves pods as they are.
func leaves(object *unstructured.Unstructured) (bool, error) {
	field, _ := holdable(object.GetKind())
	if field == "" {
		return false, nil
	}
	value, _, _ := unstructured.NestedFieldNoCopy(object.Object, "spec", field)
	record, held := Held(object)
	if held && holds(value) {
		var err error
		if value, err = former(object, record); err != nil {
			return false, err
		}
	}
	return holds(value), nil
}

// former reads the record.
func former(object *unstructured.Unstructured, record string) (any, error) {
	var value any
	err := json.Unmarshal([]byte(record), &value)
	_, isStrategy := value.(map[string]any)
	if err == nil && isStrategy != (object.GetKind() != kube.Deployment().Kind) {
		err = fmt.Errorf("%q is no strategy of a %s", record, object.GetKind())
	}
	if err != nil {
		return nil, fmt.Errorf("reading the annotation %s: %w; set the strategy by hand and remove the annotation", Annotation, err)
	}
	return value, nil
}

// hold holds the pods back, and records what was. A record that is there is
// kept, unless someone has set another strategy since.
func (o *run) hold(ctx context.Context) error {
	live, err := o.Client.Modify(ctx, o.ref, o.uid, o.Manager, holdPatch)
	if err != nil {
		return err
	}
	if _, held := Held(live); held {
		if !o.held {
			o.tell("%s", either(o.ref.Kind, "it is paused", "its update strategy is held"))
		}
		o.held = true
	}
	return nil
}

func holdPatch(live *unstructured.Unstructured) (map[string]any, error) {
	field, value := holdable(live.GetKind())
	if field == "" {
		return nil, nil
	}
	now, _, _ := unstructured.NestedFieldNoCopy(live.Object, "spec", field)
	if holds(now) {
		return nil, nil
	}
	record, err := json.Marshal(now)
	if err != nil {
		return nil, fmt.Errorf("recording the strategy: %w", err)
	}
	return map[string]any{
		"metadata": map[string]any{"annotations": map[string]any{Annotation: string(record)}},
		"spec":     map[string]any{field: replacing(now, value)},
	}, nil
}

// replacing is the merge patch that makes one value of another: a merge patch
// keeps the keys that it does not name.
func replacing(now, wanted any) any {
	before, isMap := now.(map[string]any)
	after, toMap := wanted.(map[string]any)
	if !isMap || !toMap {
		return wanted
	}
	patch := maps.Clone(after)
	for key := range before {
		if _, kept := after[key]; !kept {
			patch[key] = nil
		} else {
			patch[key] = replacing(before[key], after[key])
		}
	}
	return patch
}

// giveBack puts the recorded strategy back, and takes our ownership of it out of
// the managed fields: else the next apply of its owner would meet a conflict.
// The record goes last, so that a run that was killed in between is seen.
func (o *run) giveBack(ctx context.Context) error {
	if field, _ := holdable(o.ref.Kind.Kind); field == "" {
		return nil
	}
	live, err := o.Client.Modify(ctx, o.ref, o.uid, o.Manager, strategyPatch)
	if err != nil {
		return err
	}
	_, held := Held(live)
	disown := func(live *unstructured.Unstructured) (map[string]any, error) { return disownPatch(live, o.Manager) }
	if _, err := o.Client.Modify(ctx, o.ref, o.uid, o.Manager, disown); err != nil {
		return err
	}
	if held {
		o.tell("%s", either(o.ref.Kind, "it is resumed", "its own update strategy is given back"))
	}
	o.held = false
	return nil
}

// strategyPatch leaves a strategy that someone has set since.
func strategyPatch(live *unstructured.Unstructured) (map[string]any, error) {
	field, _ := holdable(live.GetKind())
	record, held := Held(live)
	now, _, _ := unstructured.NestedFieldNoCopy(live.Object, "spec", field)
	if !held || !holds(now) {
		return nil, nil
	}
	value, err := former(live, record)
	if err != nil {
		return nil, err
	}
	return map[string]any{"spec": map[string]any{field: replacing(now, value)}}, nil
}

// either chooses between words for a Deployment and for the other kinds.
func either(kind kube.Kind, deployment, other string) string {
	if kind == kube.Deployment() {
		return deployment
	}
	return other
}
