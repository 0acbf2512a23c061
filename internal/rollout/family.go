package rollout

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/eksproxy/eksproxy/internal/kube"
	"github.com/eksproxy/eksproxy/internal/podenv"
)

// family says which pods are a workload's, and which have its template.
type family struct {
	// owners are the objects that control the pods: the workload, or the
	// ReplicaSets of a Deployment.
	owners []types.UID
	// label is the pods' label that tells their template, newest its value for
	// the workload's template, which may be "" where no pod can have it yet.
	label, newest string
	// current overrules the label.
	current func(*corev1.Pod) bool
}

// familyOf asks for what the controller of a workload keeps of its templates.
func familyOf(ctx context.Context, client *kube.Client, live *unstructured.Unstructured, annotation string) (family, error) {
	f := family{owners: []types.UID{live.GetUID()}, label: appsv1.ControllerRevisionHashLabelKey}
	f.current = func(pod *corev1.Pod) bool { return f.newest != "" && pod.Labels[f.label] == f.newest }
	var err error
	switch live.GetKind() {
	case kube.DaemonSet().Kind:
		f.newest, err = newestRevision(ctx, client, live)
	case kube.StatefulSet().Kind:
		f.newest, _, _ = unstructured.NestedString(live.Object, "status", "updateRevision")
	case kube.Deployment().Kind:
		f.label = appsv1.DefaultDeploymentUniqueLabelKey
		f.owners, f.newest, err = replicaSets(ctx, client, live)
	default:
		f.current, err = sameAnnotation(live, annotation)
	}
	if apierrors.IsForbidden(err) && annotation != "" && live.GetKind() == kube.DaemonSet().Kind {
		f.current, err = sameAnnotation(live, annotation)
	}
	return f, err
}

// controllerRevision is where a DaemonSet's controller keeps its templates.
func controllerRevision() kube.Kind {
	return kube.Kind{GroupVersionResource: appsv1.SchemeGroupVersion.WithResource("controllerrevisions"), Kind: "ControllerRevision"}
}

// newestRevision is the hash of a DaemonSet's newest revision: that of its
// template, once the controller has observed it. A template that comes back
// gets its old revision with a new number.
func newestRevision(ctx context.Context, client *kube.Client, live *unstructured.Unstructured) (string, error) {
	selector, err := selectorOf(live)
	if err != nil {
		return "", err
	}
	newest, hash := int64(-1), ""
	options := metav1.ListOptions{LabelSelector: selector}
	err = client.List(ctx, controllerRevision(), live.GetNamespace(), options, func(r *unstructured.Unstructured) error {
		number, _, _ := unstructured.NestedInt64(r.Object, "revision")
		if metav1.IsControlledBy(r, live) && number > newest {
			newest, hash = number, r.GetLabels()[appsv1.ControllerRevisionHashLabelKey]
		}
		return nil
	})
	return hash, err
}

// replicaSets are those of a Deployment, and the hash of the one with its
// template, found as its controller finds it: a paused one has none yet.
func replicaSets(ctx context.Context, client *kube.Client, live *unstructured.Unstructured) (owners []types.UID, newest string, err error) {
	selector, err := selectorOf(live)
	if err != nil {
		return nil, "", err
	}
	wanted, err := podenv.Template(live)
	if err != nil {
		return nil, "", err
	}
	options := metav1.ListOptions{LabelSelector: selector}
	err = client.List(ctx, kube.ReplicaSet(), live.GetNamespace(), options, func(r *unstructured.Unstructured) error {
		if !metav1.IsControlledBy(r, live) {
			return nil
		}
		owners = append(owners, r.GetUID())
		r.SetKind(kube.ReplicaSet().Kind) // items of a list may come without
		template, err := podenv.Template(r)
		hash := template.Labels[appsv1.DefaultDeploymentUniqueLabelKey]
		delete(template.Labels, appsv1.DefaultDeploymentUniqueLabelKey)
		if err == nil && equality.Semantic.DeepEqual(template, wanted) {
			newest = hash
		}
		return err
	})
	return owners, newest, err
}

// sameAnnotation compares an annotation of pods with that of the template.
func sameAnnotation(live *unstructured.Unstructured, annotation string) (func(*corev1.Pod) bool, error) {
	template, err := podenv.Template(live)
	if err != nil {
		return nil, err
	}
	return func(pod *corev1.Pod) bool { return pod.Annotations[annotation] == template.Annotations[annotation] }, nil
}
