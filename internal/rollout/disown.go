package rollout

import (
	"bytes"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// disownPatch takes the record away, and our ownership of it and of the strategy.
// It changes metadata only, so that the server gives us nothing new.
func disownPatch(live *unstructured.Unstructured, manager string) (map[string]any, error) {
	entries, err := disowned(live, manager)
	if err != nil {
		return nil, err
	}
	meta := map[string]any{}
	if entries != nil {
		meta["managedFields"] = entries
	}
	if _, held := Held(live); held {
		meta["annotations"] = map[string]any{Annotation: nil}
	}
	if len(meta) == 0 {
		return nil, nil
	}
	return map[string]any{"metadata": meta}, nil
}

// disowned are the managed fields without what our writes of the strategy own;
// nil where they own none of it.
func disowned(live *unstructured.Unstructured, manager string) ([]metav1.ManagedFieldsEntry, error) {
	field, _ := holdable(live.GetKind())
	ours := fieldpath.NewSet(fieldpath.MakePathOrDie("spec", field), fieldpath.MakePathOrDie("metadata", "annotations", Annotation))
	var kept []metav1.ManagedFieldsEntry
	changed := false
	for _, entry := range live.GetManagedFields() {
		// An apply is never ours: the strategy is written by Update.
		if entry.Manager != manager || entry.Operation != metav1.ManagedFieldsOperationUpdate || entry.Subresource != "" {
			kept = append(kept, entry)
			continue
		}
		rest, had, err := without(entry, ours)
		if err != nil {
			return nil, err
		}
		changed = changed || had
		if rest != nil {
			kept = append(kept, *rest)
		}
	}
	switch {
	case !changed:
		return nil, nil
	case len(kept) == 0:
		// The API's word for none: an empty list means no change.
		return []metav1.ManagedFieldsEntry{{}}, nil
	}
	return kept, nil
}

// without is an entry without some fields, nil where nothing is left, and says
// whether it had any of them.
func without(entry metav1.ManagedFieldsEntry, fields *fieldpath.Set) (*metav1.ManagedFieldsEntry, bool, error) {
	if entry.FieldsV1 == nil {
		return &entry, false, nil
	}
	set := &fieldpath.Set{}
	if err := set.FromJSON(bytes.NewReader(entry.FieldsV1.GetRawBytes())); err != nil {
		return nil, false, fmt.Errorf("reading who owns the fields: %w", err)
	}
	rest := set.RecursiveDifference(fields)
	if rest.Equals(set) {
		return &entry, false, nil
	}
	// The list of annotations itself is owned where it was made for the record.
	if rest.Difference(fieldpath.NewSet(fieldpath.MakePathOrDie("metadata", "annotations"))).Empty() {
		return nil, true, nil
	}
	raw, err := rest.ToJSON()
	if err != nil {
		return nil, false, fmt.Errorf("writing who owns the fields: %w", err)
	}
	entry.FieldsV1 = &metav1.FieldsV1{}
	entry.FieldsV1.SetRawBytes(raw)
	return &entry, true, nil
}
