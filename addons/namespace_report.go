package addons

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/metadata"

	"github.com/eksproxy/eksproxy/internal/kube"
)

// isMesh says whether a container belongs to a service mesh: its traffic is what
// the others' goes through.
func isMesh(container string) bool {
	return slices.Contains([]string{"istio-proxy", "istio-init", "istio-validation", "linkerd-proxy", "linkerd-init", "linkerd-network-validator"}, container)
}

// reportRest names what cannot be given the variables in patched namespaces: live
// Jobs, DaemonSets and pods that nobody makes anew.
func (p *planner) reportRest(ctx context.Context, all []*space) error {
	if len(all) == 0 {
		return nil
	}
	err := p.each(ctx, all, kube.Job(), metav1.ListOptions{}, func(s *space, live *unstructured.Unstructured) error {
		if len(live.GetOwnerReferences()) == 0 && !ended(live) {
			s.report("a Job's template cannot change: make it anew after this run", "Job "+live.GetName())
		}
		return nil
	})
	if err != nil {
		return err
	}
	err = p.each(ctx, all, kube.DaemonSet(), metav1.ListOptions{}, func(s *space, live *unstructured.Unstructured) error {
		t := Target{Ref: kube.Ref{Kind: kube.DaemonSet(), Namespace: s.name, Name: live.GetName()}}
		if !slices.ContainsFunc(p.want.Targets, func(o Target) bool { return o.Ref == t.Ref }) {
			s.report("no DaemonSet runs on Fargate; one on nodes is patched by "+t.flag(), "DaemonSet "+live.GetName())
		}
		return nil
	})
	if err != nil {
		return err
	}
	return p.barePods(ctx, all)
}

// ended says whether a Job has done, or given up.
func ended(job *unstructured.Unstructured) bool {
	conditions, _, _ := unstructured.NestedSlice(job.Object, "status", "conditions")
	return slices.ContainsFunc(conditions, func(c any) bool {
		m, _ := c.(map[string]any)
		return m["status"] == "True" && (m["type"] == "Complete" || m["type"] == "Failed")
	})
}

// barePods names the pods without an owner. Only their metadata are asked for: of
// all objects, pods are the most and the largest.
func (p *planner) barePods(ctx context.Context, all []*space) error {
	client, err := metadata.NewForConfig(p.client.Config)
	if err != nil {
		return fmt.Errorf("connecting for metadata: %w", err)
	}
	byName := map[string]*space{}
	for _, s := range all {
		byName[s.name] = s
	}
	for _, place := range places(all) {
		o := metav1.ListOptions{Limit: kube.PageSize, FieldSelector: fmt.Sprintf("status.phase!=%s,status.phase!=%s", corev1.PodSucceeded, corev1.PodFailed)}
		for {
			page, err := client.Resource(kube.Pod().GroupVersionResource).Namespace(place).List(ctx, o)
			if err != nil {
				return &kube.Error{Doing: "listing pods", Err: err}
			}
			for _, pod := range page.Items {
				if s := byName[pod.Namespace]; s != nil && len(pod.OwnerReferences) == 0 {
					s.report("a pod's variables cannot change, and nobody makes it anew: delete it and make it again", "Pod "+pod.Name)
				}
			}
			if o.Continue = page.Continue; o.Continue == "" {
				break
			}
		}
	}
	return nil
}
