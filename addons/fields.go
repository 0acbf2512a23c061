package addons

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/yaml"

	"github.com/eksproxy/eksproxy/internal/kube"
	"github.com/eksproxy/eksproxy/internal/podenv"
)

// Fields are what eksproxy owns, or is to own, in one workload.
type Fields struct {
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
	// Template are the annotations of its pods.
	Template   map[string]string `json:"podAnnotations,omitempty"`
	Containers []ContainerFields `json:"containers,omitempty"`
	Volumes    []corev1.Volume   `json:"volumes,omitempty"`
}

// ContainerFields are the items in one container.
type ContainerFields struct {
	Name string `json:"name"`
	// Init says that it is an init container.
	Init   bool                 `json:"init,omitempty"`
	Env    []corev1.EnvVar      `json:"env,omitempty"`
	Mounts []corev1.VolumeMount `json:"volumeMounts,omitempty"`
}

// Empty says that eksproxy owns nothing.
func (f Fields) Empty() bool {
	return len(f.Labels)+len(f.Annotations)+len(f.Template)+len(f.Containers)+len(f.Volumes) == 0
}

// YAML is the fields for a person, without the reason, which is given when a plan
// is carried out.
func (f Fields) YAML() (string, error) {
	if f.Annotations = maps.Clone(f.Annotations); f.Annotations != nil {
		delete(f.Annotations, AnnotationReason)
	}
	if f.Empty() {
		return "", nil
	}
	data, err := yaml.Marshal(f)
	return string(data), err
}

// Hash is the settings hash of the pods.
func (f Fields) Hash() string { return f.Template[AnnotationHash] }

// Env are the items of a container; nil where there are none.
func (f Fields) Env(container string) []corev1.EnvVar {
	for _, c := range f.Containers {
		if c.Name == container {
			return c.Env
		}
	}
	return nil
}

// Object is the document that applies the fields: the object's name, and its uid
// where it is known, so that it is never made anew.
func (f Fields) Object(r kube.Ref, uid types.UID) (*unstructured.Unstructured, error) {
	template := map[string]any{}
	put(template, textMap(f.Template), "metadata", "annotations")
	for _, c := range f.Containers {
		list := podenv.Container{Init: c.Init}.List()
		entry := map[string]any{"name": c.Name}
		if err := putItems(entry, "env", c.Env); err != nil {
			return nil, err
		}
		if err := putItems(entry, "volumeMounts", c.Mounts); err != nil {
			return nil, err
		}
		before, _, _ := unstructured.NestedSlice(template, "spec", list)
		put(template, append(before, entry), "spec", list)
	}
	if len(f.Volumes) > 0 {
		volumes := map[string]any{}
		if err := putItems(volumes, "volumes", f.Volumes); err != nil {
			return nil, err
		}
		put(template, volumes["volumes"], "spec", "volumes")
	}
	object := map[string]any{
		"apiVersion": r.Kind.GroupVersion().String(), "kind": r.Kind.Kind,
		"metadata": map[string]any{"name": r.Name, "namespace": r.Namespace},
	}
	if uid != "" {
		put(object, string(uid), "metadata", "uid")
	}
	put(object, textMap(f.Labels), "metadata", "labels")
	put(object, textMap(f.Annotations), "metadata", "annotations")
	if len(template) > 0 {
		put(object, template, podenv.TemplatePath(r.Kind.Kind)...)
	}
	return &unstructured.Unstructured{Object: object}, nil
}

// put sets a nested value, unless it is an empty map.
func put(object map[string]any, value any, path ...string) {
	if m, ok := value.(map[string]any); ok && len(m) == 0 {
		return
	}
	for _, p := range path[:len(path)-1] {
		next, _ := object[p].(map[string]any)
		if next == nil {
			next = map[string]any{}
			object[p] = next
		}
		object = next
	}
	object[path[len(path)-1]] = value
}

func putItems[T any](to map[string]any, key string, items []T) error {
	if len(items) == 0 {
		return nil
	}
	list := make([]any, 0, len(items))
	for i := range items {
		m, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&items[i])
		if err != nil {
			return fmt.Errorf("writing %s: %w", key, err)
		}
		list = append(list, m)
	}
	to[key] = list
	return nil
}

func textMap(m map[string]string) map[string]any {
	out := map[string]any{}
	for k, v := range m {
		out[k] = v
	}
	return out
}

// owned are the fields that eksproxy owns in a live workload by server-side apply,
// with the values that are there now.
func owned(live *unstructured.Unstructured, owners podenv.Owners, t corev1.PodTemplateSpec) Fields {
	if !slices.Contains(owners.Managers(), Manager) {
		return Fields{}
	}
	ours := func(path ...any) func(string) bool {
		return func(key string) bool {
			return owners.Applied(Manager, fieldpath.MakePathOrDie(append(slices.Clone(path), key)...))
		}
	}
	template := []any{}
	for _, p := range podenv.TemplatePath(live.GetKind()) {
		template = append(template, p)
	}
	f := Fields{
		Labels:      kept(live.GetLabels(), ours("metadata", "labels")),
		Annotations: kept(live.GetAnnotations(), ours("metadata", "annotations")),
		Template:    kept(t.Annotations, ours(append(template, "metadata", "annotations")...)),
	}
	for _, c := range podenv.Containers(&t) {
		own := ContainerFields{Name: c.Name, Init: c.Init}
		at := podenv.ContainerPath(live.GetKind(), c)
		for _, e := range c.Env {
			if owners.Applied(Manager, podenv.EnvPath(live.GetKind(), c, e.Name)) {
				own.Env = append(own.Env, e)
			}
		}
		for _, m := range c.VolumeMounts {
			if owners.Applied(Manager, below(at, "volumeMounts", fieldpath.KeyByFields("mountPath", m.MountPath))) {
				own.Mounts = append(own.Mounts, m)
			}
		}
		if len(own.Env)+len(own.Mounts) > 0 {
			f.Containers = append(f.Containers, own)
		}
	}
	for _, v := range t.Spec.Volumes {
		if owners.Applied(Manager, fieldpath.MakePathOrDie(append(template, "spec", "volumes", fieldpath.KeyByFields("name", v.Name))...)) {
			f.Volumes = append(f.Volumes, v)
		}
	}
	return f.sorted()
}

func below(path fieldpath.Path, parts ...any) fieldpath.Path {
	return append(slices.Clone(path), fieldpath.MakePathOrDie(parts...)...)
}

func kept(m map[string]string, keep func(string) bool) map[string]string {
	out := map[string]string{}
	for k, v := range m {
		if keep(k) {
			out[k] = v
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// sorted puts the items into one order, for fields to be compared. Whoever else
// writes to the object can change theirs.
func (f Fields) sorted() Fields {
	rank := map[string]int{}
	for i, name := range append(VariableNames(), caVariable) {
		rank[name] = i
	}
	for i := range f.Containers {
		slices.SortStableFunc(f.Containers[i].Env, func(a, b corev1.EnvVar) int { return rank[a.Name] - rank[b.Name] })
	}
	slices.SortStableFunc(f.Containers, func(a, b ContainerFields) int {
		if a.Init != b.Init {
			return map[bool]int{true: -1, false: 1}[a.Init]
		}
		return strings.Compare(a.Name, b.Name)
	})
	return f
}

// dataPath is where a key of a ConfigMap or Secret stands.
func dataPath(key string) fieldpath.Path { return fieldpath.MakePathOrDie("data", key) }
