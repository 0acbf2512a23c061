// Package podenv looks at the environment of containers in a workload's pod
// template, and at who owns each variable.
package podenv

import (
	"bytes"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// TemplatePath is where the pod template stands in an object of a kind.
func TemplatePath(kind string) []string {
	switch kind {
	case "CronJob":
		return []string{"spec", "jobTemplate", "spec", "template"}
	case "Pod":
		return nil
	}
	return []string{"spec", "template"}
}

// Template reads the pod template of a workload.
func Template(workload *unstructured.Unstructured) (corev1.PodTemplateSpec, error) {
	var t corev1.PodTemplateSpec
	fields := workload.Object
	if path := TemplatePath(workload.GetKind()); path != nil {
		found, ok, err := unstructured.NestedMap(workload.Object, path...)
		if err != nil || !ok {
			return t, fmt.Errorf("reading the pod template of %s %s: it has none", workload.GetKind(), workload.GetName())
		}
		fields = found
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(fields, &t); err != nil {
		return t, fmt.Errorf("reading the pod template of %s %s: %w", workload.GetKind(), workload.GetName(), err)
	}
	return t, nil
}

// Container is one container of a template.
type Container struct {
	*corev1.Container
	// Init says that it is an init container.
	Init bool
}

// List is the name of the list that the container stands in.
func (c Container) List() string {
	if c.Init {
		return "initContainers"
	}
	return "containers"
}

// Containers are the init containers, then the containers.
func Containers(t *corev1.PodTemplateSpec) []Container {
	var all []Container
	for i := range t.Spec.InitContainers {
		all = append(all, Container{&t.Spec.InitContainers[i], true})
	}
	for i := range t.Spec.Containers {
		all = append(all, Container{&t.Spec.Containers[i], false})
	}
	return all
}

// Lookup finds a variable of a container; the last one of a name counts, as it
// does in the pod. Times says how often it is listed.
func (c Container) Lookup(name string) (item corev1.EnvVar, times int) {
	for _, e := range c.Env {
		if e.Name == name {
			item = e
			times++
		}
	}
	return item, times
}

// ReadsConfigMap says whether envFrom takes in the ConfigMap of this name.
func (c Container) ReadsConfigMap(name string) bool {
	return slices.ContainsFunc(c.EnvFrom, func(s corev1.EnvFromSource) bool {
		return s.ConfigMapRef != nil && s.ConfigMapRef.Name == name
	})
}

// Owners tell which field managers own which fields of an object.
type Owners []owner

type owner struct {
	manager   string
	operation metav1.ManagedFieldsOperationType
	fields    *fieldpath.Set
}

// ReadOwners reads the managed fields of an object.
func ReadOwners(object metav1.Object) (Owners, error) {
	var all Owners
	for _, entry := range object.GetManagedFields() {
		if entry.FieldsV1 == nil || entry.Subresource != "" {
			continue
		}
		set := &fieldpath.Set{}
		if err := set.FromJSON(bytes.NewReader(entry.FieldsV1.GetRawBytes())); err != nil {
			return nil, fmt.Errorf("reading who owns the fields of %s: %w", object.GetName(), err)
		}
		all = append(all, owner{entry.Manager, entry.Operation, set})
	}
	return all, nil
}

// Of are the managers that own a field, or something below it, each once.
func (o Owners) Of(path fieldpath.Path) []string {
	var names []string
	for _, one := range o {
		if owns(one.fields, path) && !slices.Contains(names, one.manager) {
			names = append(names, one.manager)
		}
	}
	return names
}

// Managers are all managers, each once.
func (o Owners) Managers() []string {
	var names []string
	for _, one := range o {
		if !slices.Contains(names, one.manager) {
			names = append(names, one.manager)
		}
	}
	return names
}

// Applied says that a manager owns a field, or something below it, by
// server-side apply.
func (o Owners) Applied(manager string, path fieldpath.Path) bool {
	return slices.ContainsFunc(o, func(one owner) bool {
		return one.manager == manager && one.operation == metav1.ManagedFieldsOperationApply && owns(one.fields, path)
	})
}

func owns(set *fieldpath.Set, path fieldpath.Path) bool {
	if set.Has(path) {
		return true
	}
	for _, element := range path {
		set = set.WithPrefix(element)
	}
	return !set.Empty()
}

// EnvPath is where a variable of a container stands in an object of a kind.
func EnvPath(kind string, c Container, name string) fieldpath.Path {
	return append(ContainerPath(kind, c), fieldpath.MakePathOrDie("env", fieldpath.KeyByFields("name", name))...)
}

// ContainerPath is where a container stands in an object of a kind.
func ContainerPath(kind string, c Container) fieldpath.Path {
	parts := []any{}
	for _, p := range TemplatePath(kind) {
		parts = append(parts, p)
	}
	return fieldpath.MakePathOrDie(append(parts, "spec", c.List(), fieldpath.KeyByFields("name", c.Name))...)
}
