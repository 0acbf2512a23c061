package rollout

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/eksproxy/eksproxy/internal/kube"
)

// awayNodes are the nodes of pods that are not ready, where the node is not
// ready either. Nodes are asked for only where there is such a pod.
func (o *run) awayNodes(ctx context.Context, pods []Pod) ([]string, error) {
	var late []string
	for _, p := range pods {
		if !p.ready && p.Node != "" {
			late = append(late, p.Node)
		}
	}
	if len(late) == 0 {
		return nil, nil
	}
	var away []string
	err := o.eachNode(ctx, "", func(n *corev1.Node) {
		if slices.Contains(late, n.Name) && !nodeReady(n) {
			away = append(away, n.Name)
		}
	})
	return away, err
}

// schedulable says whether a node is ready and takes new pods.
func (o *run) schedulable(ctx context.Context, name string) (good bool, err error) {
	if name == "" {
		return false, nil
	}
	err = o.eachNode(ctx, "metadata.name="+name, func(n *corev1.Node) { good = nodeReady(n) && !n.Spec.Unschedulable })
	return good, err
}

// eachNode lists nodes. It is the only verb on nodes, so that the rights stay
// few.
func (o *run) eachNode(ctx context.Context, fields string, each func(*corev1.Node)) error {
	return o.Client.List(ctx, kube.Node(), "", metav1.ListOptions{FieldSelector: fields}, func(object *unstructured.Unstructured) error {
		var n corev1.Node
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &n); err != nil {
			return fmt.Errorf("reading the node %s: %w", object.GetName(), err)
		}
		each(&n)
		return nil
	})
}

func nodeReady(n *corev1.Node) bool {
	return slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
}
