package addons

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/eksproxy/eksproxy/internal/kube"
)

// RecordName is the ConfigMap that says what eksproxy has put into the
// configuration values of add-ons, one key an add-on. It holds no secrets: those
// are never put into configuration values.
const RecordName = "eksproxy-managed-addons"

// managedRecord is what eksproxy has put into the values of one add-on, written
// before that is done and taken away last.
type managedRecord struct {
	// Cluster and Region are those of the EKS cluster: revert is told no settings.
	Cluster string `json:"cluster"`
	Region  string `json:"region"`
	// SettingsHash is that of the settings.
	SettingsHash string `json:"settingsHash"`
	// Components are the components that get variables by it.
	Components []string   `json:"components"`
	Additions  []Addition `json:"additions"`
	// Created are the pointers of the objects and arrays that were made for the
	// additions.
	Created []string `json:"created,omitempty"`
}

// records are those of all add-ons, by their names.
type records map[string]managedRecord

func recordRef() kube.Ref {
	return kube.Ref{Kind: kube.ConfigMap(), Namespace: Namespace, Name: RecordName}
}

// readRecords reads what is recorded; nothing where nothing is.
func readRecords(ctx context.Context, client *kube.Client) (records, error) {
	live, err := client.Get(ctx, recordRef())
	if err != nil || live == nil {
		return records{}, err
	}
	data, _, _ := unstructured.NestedStringMap(live.Object, "data")
	all := records{}
	for name, text := range data {
		var r managedRecord
		if err := json.Unmarshal([]byte(text), &r); err != nil {
			return nil, fmt.Errorf("reading what %s says of the add-on %s: %w; without it eksproxy does not know what in the configuration values is its own", recordRef(), name, err)
		}
		all[name] = r
	}
	return all, nil
}

// writeRecord changes the record of one add-on; nil takes it away, and the
// ConfigMap with the last one.
func writeRecord(ctx context.Context, client *kube.Client, name string, r *managedRecord) error {
	live, err := client.Get(ctx, recordRef())
	if err != nil {
		return err
	}
	all, err := readRecords(ctx, client)
	if err != nil {
		return err
	}
	delete(all, name)
	if r != nil {
		all[name] = *r
	}
	switch {
	case len(all) == 0 && live == nil:
		return nil
	case len(all) == 0:
		return client.Delete(ctx, recordRef(), live.GetUID(), "")
	}
	store := Store{Ref: recordRef(), Data: map[string]string{}}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		data, err := json.MarshalIndent(all[name], "", "  ")
		if err != nil {
			return err
		}
		store.Data[name] = string(data)
	}
	object, err := store.Object("")
	if err != nil {
		return err
	}
	_, err = client.Apply(ctx, recordRef(), object, kube.ApplyOptions{Manager: Manager, Force: true})
	return err
}

// with is a record that also has what another one has, for the time in which
// nobody knows which of them holds.
func (r managedRecord) with(other managedRecord) managedRecord {
	r.Additions = slices.Clone(r.Additions)
	for _, a := range other.Additions {
		if !slices.ContainsFunc(r.Additions, a.is) {
			r.Additions = append(r.Additions, a)
		}
	}
	r.Created = slices.Compact(slices.Sorted(slices.Values(slices.Concat(r.Created, other.Created))))
	return r
}

// mergeComponents are the names of both, each once and sorted.
func mergeComponents(a, b []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(slices.Concat(a, b))))
}
