package clustercheck

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/eksproxy/eksproxy/addons"
	"github.com/eksproxy/eksproxy/verify"
)

// specsOfNodeClasses look at what EKS Auto Mode launches nodes from.
func specsOfNodeClasses() []spec {
	return []spec{
		{"CLUSTER048", "NodeClasses of Auto Mode", "a NodeClass no longer has what eksproxy put there, or has other settings than the ConfigMap; it warns of one without a proxy", patchCommand, (*subject).nodeClasses},
	}
}

// nodeClasses looks for nodes to come that would start without the proxy. view has
// no right to list NodeClasses.
func (s *subject) nodeClasses(ctx context.Context) []verify.Finding {
	served, err := addons.NodeClassesServed(ctx, s.o.Client)
	switch {
	case err != nil:
		return one(cannot("NodeClasses", err))
	case !served:
		return skip("this API server knows no NodeClass: EKS Auto Mode is not on")
	}
	all, err := s.world.list(ctx, addons.NodeClassKind(), "", metav1.ListOptions{})
	if err != nil {
		return one(skipped("NodeClasses", "they may not be listed: %v", err))
	}
	settings, err := s.world.get(ctx, settingsRef())
	if err != nil {
		return one(cannot(settingsRef().String(), err))
	}
	var found []verify.Finding
	for _, live := range all {
		found = append(found, s.nodeClass(live, settings)...)
	}
	return orPass(found, "%d NodeClasses", len(all))
}

// nodeClass holds one against what eksproxy put there, and against the ConfigMap
// where there is one.
func (s *subject) nodeClass(live, settings *unstructured.Unstructured) []verify.Finding {
	target := live.GetKind() + " " + live.GetName()
	proxy, _, _ := unstructured.NestedString(live.Object, "spec", "advancedNetworking", "httpsProxy")
	drift, err := addons.NodeClassDrifted(live)
	switch hash := live.GetAnnotations()[addons.AnnotationHash]; {
	case err != nil:
		return one(cannot(target, err))
	case len(drift) > 0:
		var found []verify.Finding
		for _, d := range drift {
			found = append(found, fail(target, s.patch(), "%s: new nodes start without it", d))
		}
		return found
	case hash != "" && settings != nil && hash != settings.GetAnnotations()[addons.AnnotationHash]:
		return one(fail(target, s.patch(), "it has the settings %s, and the ConfigMap %s", hash, settings.GetAnnotations()[addons.AnnotationHash]))
	case proxy == "" && (s.o.Wanted == nil || s.o.Wanted.Options.AutoMode != addons.AutoModeOff):
		return one(warn(target, s.remedyOf(live), "it has no httpsProxy: nodes that EKS launches from it call past the proxy"))
	}
	return nil
}

// remedyOf is where a NodeClass is to be changed: a GitOps controller takes a patch
// back.
func (s *subject) remedyOf(live *unstructured.Unstructured) string {
	if owner, err := addons.OwnerOf(live); err == nil && owner.GitOps {
		return "commit spec.advancedNetworking to " + owner.String() + " (docs/auto-mode.md)"
	}
	return s.patch()
}
