package clustercheck

import (
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/eksproxy/eksproxy/addons"
	"github.com/eksproxy/eksproxy/internal/podenv"
)

// variable is one variable as a container gets it.
type variable struct {
	set bool
	// value is empty where hidden: it comes from a Secret.
	value  string
	hidden bool
	// ours says that it comes from the ConfigMap of the settings, whatever that
	// holds.
	ours bool
}

// variable finds out what a container gets, as the kubelet does: the last item of
// a name in env counts, and before that the last source of envFrom.
func (s *subject) variable(ctx context.Context, namespace string, c podenv.Container, name string) (variable, error) {
	if e, times := c.Lookup(name); times > 0 {
		return s.ofItem(ctx, namespace, e)
	}
	for _, from := range slices.Backward(c.EnvFrom) {
		key, ok := strings.CutPrefix(name, from.Prefix)
		switch {
		case !ok:
		case from.SecretRef != nil: // what it holds is not looked at for this
		case from.ConfigMapRef != nil:
			v, err := s.ofKey(ctx, namespace, from.ConfigMapRef.Name, key)
			if err != nil || v.set {
				return v, err
			}
		}
	}
	return variable{}, nil
}

func (s *subject) ofItem(ctx context.Context, namespace string, e corev1.EnvVar) (variable, error) {
	switch {
	case e.ValueFrom == nil:
		return variable{set: e.Value != "", value: e.Value}, nil
	case e.ValueFrom.ConfigMapKeyRef != nil:
		r := e.ValueFrom.ConfigMapKeyRef
		return s.ofKey(ctx, namespace, r.Name, r.Key)
	}
	return variable{set: true, hidden: true}, nil
}

// ofKey is a key of a ConfigMap. That of the settings counts as set: what it lacks
// is the finding of the ConfigMap's own checks.
func (s *subject) ofKey(ctx context.Context, namespace, name, key string) (variable, error) {
	ours := namespace == addons.Namespace && name == addons.ConfigMapName && slices.Contains(addons.VariableNames(), key)
	live, err := s.configMap(ctx, namespace, name)
	if live != nil && name == addons.ConfigMapName && live.GetLabels()[addons.LabelManaged] == "true" {
		ours = slices.Contains(addons.VariableNames(), key) // a copy, which has checks of its own
	}
	if err != nil {
		return variable{set: ours, ours: ours}, err
	}
	v := variable{set: ours, ours: ours}
	if live != nil {
		if value, ok := textData(live)[key]; ok {
			v.set, v.value = true, value
		}
	}
	return v, nil
}

// takesSettings says whether any container of a workload refers to the ConfigMap
// of the settings.
func takesSettings(w *workload) bool {
	return slices.ContainsFunc(w.containers(), func(c podenv.Container) bool {
		if c.ReadsConfigMap(addons.ConfigMapName) {
			return true
		}
		return slices.ContainsFunc(c.Env, func(e corev1.EnvVar) bool {
			return e.ValueFrom != nil && e.ValueFrom.ConfigMapKeyRef != nil && e.ValueFrom.ConfigMapKeyRef.Name == addons.ConfigMapName
		})
	})
}

// hasAny says whether any container of a workload has one of the variables.
func (s *subject) hasAny(ctx context.Context, w *workload) (bool, error) {
	for _, c := range w.containers() {
		for _, name := range addons.VariableNames() {
			v, err := s.variable(ctx, w.ref.Namespace, c, name)
			if err != nil || v.set {
				return v.set, err
			}
		}
	}
	return false, nil
}
