package rollout

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/eksproxy/eksproxy/internal/kube"
)

// Pod is one pod of a workload.
type Pod struct {
	// Name is the pod's, Node the node that it is bound to.
	Name, Node string
	uid        types.UID
	revision   string
	// current says that it has the workload's template, ready that it works.
	current, ready bool
	live           *corev1.Pod
}

// PodStatus says how far the pods of a workload have its template.
type PodStatus struct {
	// Desired is how many pods there should be, Updated how many have the
	// template, Ready how many of those are ready.
	Desired, Updated, Ready int
	// Stale are the pods that do not have the template, by name.
	Stale []Pod
	// pods are all of them, those first that are ready, then by name.
	pods []Pod
}

// Pods looks at the pods of a workload. Pods that are being deleted or have
// ended do not count.
//
// A pod is stale by the hash that its controller gave it: only that tells every
// change of a template, also one that leaves the annotation as it is, and it
// costs one short list. Where the right for that list is missing, and for a
// ReplicaSet, whose controller marks no pod, the pod's annotation of this name
// is compared with the template's.
func Pods(ctx context.Context, client *kube.Client, live *unstructured.Unstructured, annotation string) (PodStatus, error) {
	s := PodStatus{Desired: desired(live)}
	family, err := familyOf(ctx, client, live, annotation)
	if err != nil {
		return s, err
	}
	if s.pods, err = listPods(ctx, client, live, family, ""); err != nil {
		return s, err
	}
	for _, p := range s.pods {
		switch {
		case !p.current:
			s.Stale = append(s.Stale, p)
		case p.ready:
			s.Ready++
		}
	}
	s.Updated = len(s.pods) - len(s.Stale)
	slices.SortFunc(s.Stale, func(a, b Pod) int { return cmp.Compare(a.Name, b.Name) })
	return s, nil
}

// listPods lists the pods that a family controls and a field selector matches.
func listPods(ctx context.Context, client *kube.Client, live *unstructured.Unstructured, f family, fields string) ([]Pod, error) {
	selector, err := selectorOf(live)
	if err != nil {
		return nil, err
	}
	var pods []Pod
	options := metav1.ListOptions{LabelSelector: selector, FieldSelector: fields}
	err = client.List(ctx, kube.Pod(), live.GetNamespace(), options, func(object *unstructured.Unstructured) error {
		pod, err := podOf(object)
		if err != nil {
			return err
		}
		owner := metav1.GetControllerOfNoCopy(pod)
		ended := pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
		if owner == nil || !slices.Contains(f.owners, owner.UID) || pod.DeletionTimestamp != nil || ended {
			return nil
		}
		pods = append(pods, Pod{
			Name: pod.Name, Node: pod.Spec.NodeName, uid: pod.UID, live: pod,
			revision: pod.Labels[f.label], current: f.current(pod), ready: isReady(pod),
		})
		return nil
	})
	slices.SortFunc(pods, func(a, b Pod) int {
		if a.ready != b.ready {
			return map[bool]int{true: -1, false: 1}[a.ready]
		}
		return cmp.Compare(a.Name, b.Name)
	})
	return pods, err
}

func podOf(object *unstructured.Unstructured) (*corev1.Pod, error) {
	pod := &corev1.Pod{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, pod); err != nil {
		return nil, fmt.Errorf("reading the pod %s: %w", object.GetName(), err)
	}
	return pod, nil
}

func isReady(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// selectorOf is the selector of a workload's pods, as text.
func selectorOf(live *unstructured.Unstructured) (string, error) {
	fields, _, err := unstructured.NestedMap(live.Object, "spec", "selector")
	selector := &metav1.LabelSelector{}
	if err == nil {
		err = runtime.DefaultUnstructuredConverter.FromUnstructured(fields, selector)
	}
	if err != nil {
		return "", fmt.Errorf("reading the selector of %s %s: %w", live.GetKind(), live.GetName(), err)
	}
	return metav1.FormatLabelSelector(selector), nil
}

// desired is how many pods a workload should have.
func desired(live *unstructured.Unstructured) int {
	path := []string{"spec", "replicas"}
	if live.GetKind() == kube.DaemonSet().Kind {
		path = []string{"status", "desiredNumberScheduled"}
	}
	count, found, err := unstructured.NestedInt64(live.Object, path...)
	if (err != nil || !found) && live.GetKind() != kube.DaemonSet().Kind {
		return 1 // the API's default
	}
	return int(count)
}
