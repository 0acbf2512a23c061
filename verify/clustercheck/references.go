package clustercheck

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/eksproxy/eksproxy/addons"
	"github.com/eksproxy/eksproxy/internal/kube"
	"github.com/eksproxy/eksproxy/internal/podenv"
	"github.com/eksproxy/eksproxy/verify"
)

// need is something that a container must have, or it does not start.
type need struct {
	object kube.Ref
	// key is empty where the whole object is taken in.
	key string
	// by is what refers to it, as in "HTTP_PROXY".
	by string
}

// references demands what containers of kube-system refer to without saying that
// it is optional: without it, their pods end in CreateContainerConfigError
// (BL-054).
func (s *subject) references(ctx context.Context) []verify.Finding {
	all, err := s.workloads(ctx)
	if err != nil {
		return one(cannot("workloads of "+addons.Namespace, err))
	}
	var found []verify.Finding
	var hidden []string
	n := 0
	for _, w := range all {
		for _, c := range w.containers() {
			for _, need := range needs(w.ref.Namespace, c) {
				n++
				live, err := s.world.get(ctx, need.object)
				switch why := lacks(live, need.key); {
				case err != nil && need.object.Kind == kube.Secret() && apierrors.IsForbidden(errors.Unwrap(err)):
					if !slices.Contains(hidden, need.object.Name) {
						hidden = append(hidden, need.object.Name)
					}
				case err != nil:
					found = append(found, cannot(need.object.String(), err))
				case why != "":
					found = append(found, fail(w.ref.String(), "make what is missing, or set optional: true there", "container %s must have %s for %s, and %s: new pods do not start", c.Name, need.object, need.by, why))
				}
			}
		}
	}
	if len(hidden) > 0 {
		found = append(found, skipped("Secrets of "+addons.Namespace, "not looked at: the right to get secrets in %s is missing, which the ClusterRole view has not: %s", addons.Namespace, few(hidden)))
	}
	return orPass(found, "%d references of %d workloads", n, len(all))
}

// lacks says what is missing; empty where nothing is.
func lacks(live *unstructured.Unstructured, key string) string {
	if live == nil {
		return "it is not there"
	}
	if key == "" {
		return ""
	}
	for _, field := range []string{"data", "binaryData"} {
		if data, ok, _ := unstructured.NestedMap(live.Object, field); ok {
			if _, ok := data[key]; ok {
				return ""
			}
		}
	}
	return "it has no key " + key
}

// needs are the references of a container that are not optional.
func needs(namespace string, c podenv.Container) []need {
	var all []need
	add := func(k kube.Kind, name, key, by string, optional *bool) {
		if optional == nil || !*optional {
			all = append(all, need{kube.Ref{Kind: k, Namespace: namespace, Name: name}, key, by})
		}
	}
	for _, e := range c.Env {
		switch {
		case e.ValueFrom == nil:
		case e.ValueFrom.ConfigMapKeyRef != nil:
			add(kube.ConfigMap(), e.ValueFrom.ConfigMapKeyRef.Name, e.ValueFrom.ConfigMapKeyRef.Key, e.Name, e.ValueFrom.ConfigMapKeyRef.Optional)
		case e.ValueFrom.SecretKeyRef != nil:
			add(kube.Secret(), e.ValueFrom.SecretKeyRef.Name, e.ValueFrom.SecretKeyRef.Key, e.Name, e.ValueFrom.SecretKeyRef.Optional)
		}
	}
	for _, from := range c.EnvFrom {
		switch {
		case from.ConfigMapRef != nil:
			add(kube.ConfigMap(), from.ConfigMapRef.Name, "", "envFrom", from.ConfigMapRef.Optional)
		case from.SecretRef != nil:
			add(kube.Secret(), from.SecretRef.Name, "", "envFrom", from.SecretRef.Optional)
		}
	}
	return all
}

// envFromKept looks for entries of envFrom that an older template had and that
// the published recipe's patch took out: envFrom is one list with one owner, and
// that patch writes it whole.
func (s *subject) envFromKept(ctx context.Context) []verify.Finding {
	all, err := s.workloads(ctx)
	if err != nil {
		return one(cannot("workloads of "+addons.Namespace, err))
	}
	var found []verify.Finding
	n := 0
	for _, w := range all {
		if !byRecipe(w) {
			continue
		}
		n++
		older, err := s.history(ctx, w)
		if err != nil {
			found = append(found, cannot("older templates of "+w.ref.String(), err))
		}
		found = append(found, wiped(w, older)...)
	}
	if n == 0 {
		return skip("no workload has the published recipe's entry in envFrom")
	}
	return orPass(found, "%d workloads with the published recipe's entry", n)
}

// byRecipe says whether the published recipe's patch was made: its entry stands
// there, or eksproxy has taken it out and recorded it.
func byRecipe(w *workload) bool {
	_, migrated := w.live.GetAnnotations()[addons.AnnotationEnvFrom]
	return migrated || slices.ContainsFunc(w.containers(), func(c podenv.Container) bool { return c.ReadsConfigMap(addons.ConfigMapName) })
}

// entry is a source of envFrom in one container.
type entry struct{ container, source string }

// wiped are the entries that older templates had and the workload has not. One
// that stood beside the recipe's was not taken by it, but later, by its owner.
func wiped(w *workload, older []corev1.PodTemplateSpec) []verify.Finding {
	var order []entry
	was, beside := map[entry]bool{}, map[entry]bool{}
	for i := range older {
		for _, c := range podenv.Containers(&older[i]) {
			for _, e := range c.EnvFrom {
				at := entry{c.Name, entryName(e)}
				if !was[at] {
					order = append(order, at)
				}
				was[at] = true
				beside[at] = beside[at] || c.ReadsConfigMap(addons.ConfigMapName)
			}
		}
	}
	for _, c := range w.containers() {
		for _, e := range c.EnvFrom {
			beside[entry{c.Name, entryName(e)}] = true
		}
	}
	var found []verify.Finding
	for _, e := range order {
		there := slices.ContainsFunc(w.containers(), func(c podenv.Container) bool { return c.Name == e.container })
		if beside[e] || !there {
			continue
		}
		remedy := fmt.Sprintf("kubectl -n %s edit %s %s, and put %s back into envFrom of %s", w.ref.Namespace, strings.ToLower(w.ref.Kind.Kind), w.ref.Name, e.source, e.container)
		found = append(found, fail(w.ref.String(), remedy, "container %s had %s in envFrom until the published recipe's entry came there: that patch writes the list whole", e.container, e.source))
	}
	return found
}

// entryName names a source of envFrom.
func entryName(e corev1.EnvFromSource) string {
	switch {
	case e.ConfigMapRef != nil:
		return "ConfigMap " + e.ConfigMapRef.Name
	case e.SecretRef != nil:
		return "Secret " + e.SecretRef.Name
	}
	return "nothing"
}
