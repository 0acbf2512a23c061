package clustercheck

import (
	"context"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/eksproxy/eksproxy/addons"
	"github.com/eksproxy/eksproxy/internal/kube"
	"github.com/eksproxy/eksproxy/internal/podenv"
)

// world reads each object and each list once a run. A read that was stopped is
// made again by the next who asks.
type world struct {
	client  *kube.Client
	mu      sync.Mutex
	objects map[kube.Ref]answer
	lists   map[string]listAnswer
}

type answer struct {
	object *unstructured.Unstructured
	err    error
}

type listAnswer struct {
	objects []*unstructured.Unstructured
	err     error
}

// get reads an object; nil where there is none.
func (w *world) get(ctx context.Context, r kube.Ref) (*unstructured.Unstructured, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if a, ok := w.objects[r]; ok {
		return a.object, a.err
	}
	object, err := w.client.Get(ctx, r)
	if ctx.Err() == nil {
		w.objects[r] = answer{object, err}
	}
	return object, err
}

// list reads all objects of a kind in a namespace, page after page.
func (w *world) list(ctx context.Context, k kube.Kind, namespace string, o metav1.ListOptions) ([]*unstructured.Unstructured, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	key := k.Kind + "/" + namespace + "/" + o.LabelSelector + "/" + o.FieldSelector
	if a, ok := w.lists[key]; ok {
		return a.objects, a.err
	}
	var all []*unstructured.Unstructured
	err := w.client.List(ctx, k, namespace, o, func(object *unstructured.Unstructured) error {
		object.SetKind(k.Kind) // items of a list may come without
		all = append(all, object)
		return nil
	})
	if ctx.Err() == nil {
		w.lists[key] = listAnswer{all, err}
	}
	return all, err
}

// workload is one workload and what is read of it often.
type workload struct {
	ref      kube.Ref
	live     *unstructured.Unstructured
	template corev1.PodTemplateSpec
	owners   podenv.Owners
	// managed says that it has the label of eksproxy.
	managed bool
}

// target is the workload as eksproxy would patch it.
func (w *workload) component() (addons.Component, bool) {
	all := addons.Components()
	i := slices.IndexFunc(all, func(c addons.Component) bool { return c.Ref() == w.ref })
	if i < 0 {
		return addons.Component{}, false
	}
	return all[i], true
}

// containers are its init containers and containers.
func (w *workload) containers() []podenv.Container { return podenv.Containers(&w.template) }

func newWorkload(live *unstructured.Unstructured) (*workload, error) {
	k, _ := kube.WorkloadKind(live.GetKind())
	w := &workload{ref: kube.Ref{Kind: k, Namespace: live.GetNamespace(), Name: live.GetName()}, live: live}
	w.managed = live.GetLabels()[addons.LabelManaged] == "true"
	var err error
	if w.template, err = podenv.Template(live); err != nil {
		return nil, err
	}
	w.owners, err = podenv.ReadOwners(live)
	return w, err
}

// workloads are those of kube-system that nobody else makes.
func (s *subject) workloads(ctx context.Context) ([]*workload, error) {
	return s.collect(ctx, addons.Namespace, metav1.ListOptions{}, kube.DaemonSet(), kube.Deployment(), kube.StatefulSet(), kube.CronJob())
}

// elsewhere are the workloads outside of kube-system that eksproxy has put
// fields into.
func (s *subject) elsewhere(ctx context.Context) ([]*workload, error) {
	o := metav1.ListOptions{LabelSelector: addons.LabelManaged + "=true", FieldSelector: "metadata.namespace!=" + addons.Namespace}
	return s.collect(ctx, "", o, kube.DaemonSet(), kube.Deployment(), kube.StatefulSet(), kube.ReplicaSet(), kube.CronJob())
}

func (s *subject) collect(ctx context.Context, namespace string, o metav1.ListOptions, kinds ...kube.Kind) ([]*workload, error) {
	var all []*workload
	for _, k := range kinds {
		objects, err := s.world.list(ctx, k, namespace, o)
		if err != nil {
			return nil, err
		}
		for _, live := range objects {
			if metav1.GetControllerOfNoCopy(live) != nil {
				continue
			}
			w, err := newWorkload(live)
			if err != nil {
				return nil, err
			}
			all = append(all, w)
		}
	}
	return all, nil
}

// find is the workload of this name in kube-system; nil where there is none.
func (s *subject) find(ctx context.Context, r kube.Ref) (*workload, error) {
	if r.Namespace == addons.Namespace {
		all, err := s.workloads(ctx)
		i := slices.IndexFunc(all, func(w *workload) bool { return w.ref == r })
		if err != nil || i < 0 {
			return nil, err
		}
		return all[i], nil
	}
	live, err := s.world.get(ctx, r)
	if err != nil || live == nil {
		return nil, err
	}
	return newWorkload(live)
}

// textData are the data of a ConfigMap.
func textData(live *unstructured.Unstructured) map[string]string {
	data, _, err := unstructured.NestedStringMap(live.Object, "data")
	if err != nil || data == nil {
		return map[string]string{}
	}
	return data
}
