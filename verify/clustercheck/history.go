package clustercheck

import (
	"context"
	"encoding/json"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/eksproxy/eksproxy/internal/kube"
	"github.com/eksproxy/eksproxy/internal/podenv"
)

// history are the templates that a workload had, as far as they are kept: those
// of its revisions or ReplicaSets, and what kubectl apply wrote down.
func (s *subject) history(ctx context.Context, w *workload) ([]corev1.PodTemplateSpec, error) {
	var older []corev1.PodTemplateSpec
	add := func(object *unstructured.Unstructured) {
		object = object.DeepCopy()
		object.SetKind(w.ref.Kind.Kind)
		if t, err := podenv.Template(object); err == nil {
			older = append(older, t)
		}
	}
	if text := w.live.GetAnnotations()[corev1.LastAppliedConfigAnnotation]; text != "" {
		applied := &unstructured.Unstructured{}
		if json.Unmarshal([]byte(text), &applied.Object) == nil {
			add(applied)
		}
	}
	k, field := revisionsOf(w.ref.Kind)
	if field == nil {
		return older, nil
	}
	all, err := s.world.list(ctx, k, w.ref.Namespace, metav1.ListOptions{})
	for _, revision := range all {
		if !metav1.IsControlledBy(revision, w.live) {
			continue
		}
		if data, ok, _ := unstructured.NestedMap(revision.Object, field...); ok {
			add(&unstructured.Unstructured{Object: data})
		}
	}
	return older, err
}

// revisionsOf is where a controller keeps older templates, and the field that
// holds what looks like the workload; the whole object is no field.
func revisionsOf(k kube.Kind) (revisions kube.Kind, field []string) {
	switch k {
	case kube.DaemonSet(), kube.StatefulSet():
		return kube.Kind{GroupVersionResource: appsv1.SchemeGroupVersion.WithResource("controllerrevisions"), Kind: "ControllerRevision"}, []string{"data"}
	case kube.Deployment():
		return kube.ReplicaSet(), []string{}
	}
	return kube.Kind{}, nil
}
