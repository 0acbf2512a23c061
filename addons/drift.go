package addons

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/eksproxy/eksproxy/internal/kube"
	"github.com/eksproxy/eksproxy/internal/podenv"
)

// Drift is something that eksproxy set and that is no longer as it was set.
type Drift struct {
	// What says what is otherwise, as in "NO_PROXY in container aws-node is gone".
	What string `json:"what"`
	// By are the field managers that set it so; where something is gone, the one
	// that wrote to the object last, if it did so after eksproxy: what is gone has
	// no owner, and a manager that only takes away leaves no trace. It is empty
	// where nobody is known.
	By string `json:"by,omitempty"`
}

// String is the drift in a sentence.
func (d Drift) String() string {
	if d.By == "" {
		return d.What + " (by whom is not recorded)"
	}
	return d.What + ", by " + d.By
}

// Drifted says what is no longer as eksproxy set it in a workload that has its
// label: a container that is to have the variables lacks one of the six, or an
// item that eksproxy owns says something else. What others had set before and
// eksproxy left to them is none.
func Drifted(live *unstructured.Unstructured) ([]Drift, error) {
	w, err := readWorkload(refOf(live), live)
	if err != nil {
		return nil, err
	}
	t := targetOf(w.ref)
	var found []Drift
	for _, name := range t.Containers {
		if !slices.Contains(w.containers(), name) {
			found = append(found, Drift{fmt.Sprintf("container %s is gone, and its variables with it", name), lastWriter(live)})
		}
	}
	for _, c := range podenv.Containers(&w.template) {
		if t.Takes(c.Name) {
			found = append(found, w.driftIn(c)...)
		}
	}
	if w.template.Annotations[AnnotationHash] == "" {
		found = append(found, Drift{"the pods' annotation " + AnnotationHash + " is gone", lastWriter(live)})
	} else if w.now.Hash() == "" {
		at := []any{}
		for _, p := range podenv.TemplatePath(w.ref.Kind.Kind) {
			at = append(at, p)
		}
		path := fieldpath.MakePathOrDie(append(at, "metadata", "annotations", AnnotationHash)...)
		found = append(found, Drift{"the pods' annotation " + AnnotationHash + " is changed", others(w.owners.Of(path))})
	}
	return found, nil
}

// driftIn is the drift in one container: what is gone together, then what is
// changed.
func (w *workload) driftIn(c podenv.Container) []Drift {
	var gone []string
	var found []Drift
	for _, name := range VariableNames() {
		e, times := c.Lookup(name)
		path := podenv.EnvPath(w.ref.Kind.Kind, c, name)
		switch {
		case times == 0:
			gone = append(gone, name)
		case w.owners.Applied(Manager, path) && !isItem(e):
			found = append(found, Drift{fmt.Sprintf("%s in container %s says something else", name, c.Name), others(w.owners.Of(path))})
		}
	}
	if len(gone) > 0 {
		found = append([]Drift{{fmt.Sprintf("gone from container %s: %s", c.Name, strings.Join(gone, ", ")), lastWriter(w.live)}}, found...)
	}
	return found
}

// isItem says whether a variable is a reference as eksproxy writes it.
func isItem(e corev1.EnvVar) bool {
	if e.ValueFrom == nil {
		return false
	}
	if r := e.ValueFrom.SecretKeyRef; r != nil {
		key, isURL := secretKey(e.Name)
		return isURL && r.Key == key && r.Optional != nil && *r.Optional
	}
	r := e.ValueFrom.ConfigMapKeyRef
	return r != nil && r.Name == ConfigMapName && r.Key == e.Name && r.Optional != nil && *r.Optional
}

// StoreDrifted says which of the six keys of a ConfigMap that eksproxy manages
// others have taken away or set.
func StoreDrifted(live *unstructured.Unstructured) ([]Drift, error) {
	if live.GetLabels()[LabelManaged] != "true" {
		return nil, nil
	}
	owners, err := podenv.ReadOwners(live)
	if err != nil {
		return nil, err
	}
	data, _, _ := unstructured.NestedMap(live.Object, "data")
	var found []Drift
	for _, key := range VariableNames() {
		_, there := data[key]
		switch {
		case !there:
			found = append(found, Drift{"key " + key + " is gone", lastWriter(live)})
		case !owners.Applied(Manager, dataPath(key)):
			found = append(found, Drift{"key " + key + " is set by others", others(owners.Of(dataPath(key)))})
		}
	}
	return found, nil
}

// targetOf is a workload as eksproxy patches it: a component has its containers,
// any other one all.
func targetOf(r kube.Ref) Target {
	for _, c := range Components() {
		if c.Ref() == r {
			return Target{Ref: r, Component: c.Name, Containers: c.Containers, NoCA: c.NoCA}
		}
	}
	return Target{Ref: r}
}

// refOf names a live object of a kind that eksproxy works with.
func refOf(live *unstructured.Unstructured) kube.Ref {
	k, _ := kube.WorkloadKind(live.GetKind())
	return kube.Ref{Kind: k, Namespace: live.GetNamespace(), Name: live.GetName()}
}

// others are managers without eksproxy, for a sentence.
func others(managers []string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(managers), func(m string) bool { return m == Manager }), ", ")
}

// lastWriter is the manager that wrote to the object last; empty where that was
// eksproxy. Writes to its status do not count.
func lastWriter(live *unstructured.Unstructured) string {
	name, last := "", time.Time{}
	for _, e := range live.GetManagedFields() {
		when := time.Time{}
		if e.Time != nil {
			when = e.Time.Time
		}
		if e.Subresource == "" && (name == "" || when.After(last)) {
			name, last = e.Manager, when
		}
	}
	if name == Manager {
		return ""
	}
	return name
}
