package addons

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/eksproxy/eksproxy/internal/kube"
	"github.com/eksproxy/eksproxy/internal/podenv"
	"github.com/eksproxy/eksproxy/plan"
)

// envFromRecord is one envFrom entry that was taken out of a container, and what
// is needed to put it back.
type envFromRecord struct {
	Container string               `json:"container"`
	Init      bool                 `json:"init,omitempty"`
	Index     int                  `json:"index"`
	Entry     corev1.EnvFromSource `json:"entry"`
}

// migrate plans to take the published recipe's envFrom entry out: our items say
// the same, and one owner for the whole list is one too many.
func (p *planner) migrate(w *workload) error {
	records := recipeEntries(w.template)
	if len(records) == 0 {
		return nil
	}
	text, err := jsonOf(records)
	if err != nil {
		return err
	}
	p.out.add(plan.Change{
		ID: "env-from:" + w.ref.String(), Target: w.ref.String(), Action: plan.Run, Disruption: w.disruption(p.roll.Options.Roll), Undo: undo,
		Reason: "takes the entry of the published recipe out of envFrom; the entries beside it stay",
		Before: &plan.Value{Content: plan.NewContent([]byte("envFrom: " + text + "\n"))},
	}, func(ctx context.Context) error {
		return p.roll.over(ctx, w, records[0].Container, func(ctx context.Context) error {
			_, err := p.client.Edit(ctx, w.ref, w.live.GetUID(), Manager, takeEntries)
			return err
		})
	})
	return nil
}

// recipeEntries are the entries of our ConfigMap in all containers.
func recipeEntries(t corev1.PodTemplateSpec) []envFromRecord {
	var all []envFromRecord
	for _, c := range podenv.Containers(&t) {
		for i, e := range c.EnvFrom {
			if e.ConfigMapRef != nil && e.ConfigMapRef.Name == ConfigMapName {
				all = append(all, envFromRecord{c.Name, c.Init, i, e})
			}
		}
	}
	return all
}

// takeEntries makes the patch that takes the entries out and records them. Each
// operation is guarded by a test of just what it takes.
func takeEntries(live *unstructured.Unstructured) ([]kube.Operation, error) {
	t, err := podenv.Template(live)
	if err != nil {
		return nil, err
	}
	records := recipeEntries(t)
	if len(records) == 0 {
		return nil, nil
	}
	text, err := jsonOf(records)
	if err != nil {
		return nil, err
	}
	operations := annotate(live, AnnotationEnvFrom, text)
	for _, r := range slices.Backward(records) { // from the end: the indexes before stay
		at, guard, err := containerPointer(live.GetKind(), t, r.Container, r.Init)
		if err != nil {
			return nil, err
		}
		entry := fmt.Sprintf("%s/envFrom/%d", at, r.Index)
		operations = append(operations, guard, kube.Operation{Op: "test", Path: entry, Value: r.Entry}, kube.Operation{Op: "remove", Path: entry})
	}
	return operations, nil
}

// giveEntries makes the patch that puts back what is recorded; nothing where there
// is no record.
func giveEntries(live *unstructured.Unstructured) ([]kube.Operation, error) {
	text, ok := live.GetAnnotations()[AnnotationEnvFrom]
	if !ok {
		return nil, nil
	}
	var records []envFromRecord
	if err := json.Unmarshal([]byte(text), &records); err != nil {
		return nil, fmt.Errorf("reading the annotation %s: %w", AnnotationEnvFrom, err)
	}
	t, err := podenv.Template(live)
	if err != nil {
		return nil, err
	}
	pointer := "/metadata/annotations/" + escape(AnnotationEnvFrom)
	operations := []kube.Operation{{Op: "test", Path: pointer, Value: text}, {Op: "remove", Path: pointer}}
	added := map[string]int{}
	for _, r := range records {
		at, guard, err := containerPointer(live.GetKind(), t, r.Container, r.Init)
		if err != nil {
			continue // the container is gone, and its entry with it
		}
		n := entries(t, r) + added[at]
		operations = append(operations, guard)
		if n == 0 {
			operations = append(operations, kube.Operation{Op: "add", Path: at + "/envFrom", Value: []corev1.EnvFromSource{r.Entry}})
		} else {
			operations = append(operations, kube.Operation{Op: "add", Path: fmt.Sprintf("%s/envFrom/%d", at, min(r.Index, n)), Value: r.Entry})
		}
		added[at]++
	}
	return operations, nil
}

// entries is how many entries the container of a record has.
func entries(t corev1.PodTemplateSpec, r envFromRecord) int {
	for _, c := range podenv.Containers(&t) {
		if c.Name == r.Container && c.Init == r.Init {
			return len(c.EnvFrom)
		}
	}
	return 0
}

// annotate adds an annotation, with the map where there is none.
func annotate(live *unstructured.Unstructured, key, value string) []kube.Operation {
	if len(live.GetAnnotations()) == 0 {
		return []kube.Operation{{Op: "add", Path: "/metadata/annotations", Value: map[string]string{key: value}}}
	}
	return []kube.Operation{{Op: "add", Path: "/metadata/annotations/" + escape(key), Value: value}}
}

// containerPointer is where a container stands, and the test that it is it.
func containerPointer(kind string, t corev1.PodTemplateSpec, name string, isInit bool) (string, kube.Operation, error) {
	pointer := "/" + strings.Join(podenv.TemplatePath(kind), "/")
	list := t.Spec.Containers
	if isInit {
		list = t.Spec.InitContainers
	}
	i := slices.IndexFunc(list, func(c corev1.Container) bool { return c.Name == name })
	if i < 0 {
		return "", kube.Operation{}, fmt.Errorf("there is no container %s", name)
	}
	pointer += fmt.Sprintf("/spec/%s/%d", podenv.Container{Init: isInit}.List(), i)
	return pointer, kube.Operation{Op: "test", Path: pointer + "/name", Value: name}, nil
}

// escape writes a key as a part of a JSON pointer (RFC 6901).
func escape(key string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(key) }
