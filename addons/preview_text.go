package addons

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// newClaim names a manager as the API server does: an apply without the version
// of the API, nothing with a time.
func newClaim(entry metav1.ManagedFieldsEntry, set *fieldpath.Set) claim {
	name := entry
	name.FieldsV1, name.FieldsType, name.Time = nil, "", nil
	if name.Operation == metav1.ManagedFieldsOperationApply {
		name.APIVersion = ""
	}
	data, err := json.Marshal(name)
	if err != nil {
		data = []byte(entry.Manager)
	}
	return claim{entry, string(data), set}
}

// words is how the API server names the manager in a conflict
// (k8s.io/apimachinery, managedfields, printManager).
func (c claim) words() string {
	text := fmt.Sprintf("%q", c.entry.Manager)
	if c.entry.Operation == metav1.ManagedFieldsOperationUpdate {
		text += " using " + c.entry.APIVersion
	}
	return text
}

// conflictTexts word the conflicts as the API server and as EKS do; empty without
// one.
func conflictTexts(live *unstructured.Unstructured, others []claim, conflicts []*fieldpath.Set) (server, eks string) {
	paths := map[string][]string{}
	words := map[string]string{}
	n := 0
	for i, c := range others {
		conflicts[i].Iterate(func(path fieldpath.Path) {
			paths[c.identifier] = append(paths[c.identifier], path.String())
			words[c.identifier] = c.words()
			n++
		})
	}
	if n == 0 {
		return "", ""
	}
	resource := live.GetKind() + "." + live.GroupVersionKind().Group + " " + live.GetName()
	report := []string{"Conflicts found when trying to apply. Will not continue due to resolve conflicts mode. Conflicts:"}
	server = fmt.Sprintf("Apply failed with %d conflicts: ", n)
	var lines []string
	for _, id := range slices.Sorted(maps.Keys(paths)) {
		if n == 1 {
			server = fmt.Sprintf("Apply failed with 1 conflict: conflict with %s: %s", words[id], paths[id][0])
		}
		lines = append(lines, fmt.Sprintf("conflicts with %s:", words[id]))
		for _, path := range paths[id] {
			lines = append(lines, "- "+path)
			report = append(report, resource+" - "+path)
		}
	}
	if n > 1 {
		server += strings.Join(lines, "\n")
	}
	return server, strings.Join(report, "\n")
}

// WriteOwnership prints who owns what as a table: the fields that another manager
// has a part in, and the conflict that EKS would report.
func WriteOwnership(w io.Writer, all []Ownership) error {
	if len(all) == 0 {
		return nil
	}
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(tab, "\nOWNED IN\tFIELD\tOWNERS\tNONE\tPRESERVE\tOVERWRITE")
	for _, o := range all {
		foreign, ofEKS := o.Summary()
		for _, f := range foreign {
			_, _ = fmt.Fprintf(tab, "%s\t%s\t%s\t%s\t%s\t%s\n", o.Component, f.shortPath(), strings.Join(f.Owners, ", "), f.None, f.Preserve, f.Overwrite)
		}
		_, _ = fmt.Fprintf(tab, "%s\t%d more variables\t%s\t%s\t%s\t%s\n", o.Component, ofEKS, eksManager, EffectEKS, EffectEKS, EffectEKS)
	}
	if err := tab.Flush(); err != nil {
		return err
	}
	for _, o := range all {
		if o.Conflict != "" {
			if _, err := fmt.Fprintf(w, "\nAn update of the add-on of %s with NONE fails: ConfigurationConflict: %s\n(%s)\n", o.Component, o.ConfigurationConflict, o.Conflict); err != nil {
				return err
			}
		}
	}
	return nil
}
