package addons

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/eksproxy/eksproxy/internal/podenv"
)

// Owner is who looks after an object.
type Owner struct {
	// Name is "EKS", "Argo CD", "Flux", "Helm" or a field manager.
	Name string `json:"name"`
	// Of is what it belongs to there: an application, a release.
	Of string `json:"of,omitempty"`
	// GitOps says that a controller writes the object again from elsewhere.
	GitOps bool `json:"gitOps,omitempty"`
}

// String is "Argo CD (application shop)".
func (o Owner) String() string {
	if o.Of == "" {
		return o.Name
	}
	return fmt.Sprintf("%s (%s)", o.Name, o.Of)
}

// manager is the field manager by which EKS applies its add-ons.
const eksManager = "eks"

// OwnerOf says who looks after an object, the strongest first: a controller that
// writes it again, then EKS, then Helm, then who wrote it last.
func OwnerOf(object *unstructured.Unstructured) (Owner, error) {
	owners, err := podenv.ReadOwners(object)
	if err != nil {
		return Owner{}, err
	}
	return ownerOf(object, owners), nil
}

// ownerOf is OwnerOf where the owners of the fields are read.
func ownerOf(object *unstructured.Unstructured, owners podenv.Owners) Owner {
	managers := slices.DeleteFunc(owners.Managers(), func(m string) bool { return m == Manager })
	labels, annotations := object.GetLabels(), object.GetAnnotations()
	has := func(names ...string) bool {
		return slices.ContainsFunc(names, func(n string) bool { return slices.Contains(managers, n) })
	}
	switch {
	case annotations["argocd.argoproj.io/tracking-id"] != "":
		return Owner{"Argo CD", "tracking id " + annotations["argocd.argoproj.io/tracking-id"], true}
	case labels["argocd.argoproj.io/instance"] != "":
		return Owner{"Argo CD", "application " + labels["argocd.argoproj.io/instance"], true}
	case has("argocd-controller", "argocd-application-controller"):
		return Owner{"Argo CD", labels["app.kubernetes.io/instance"], true}
	case labels["kustomize.toolkit.fluxcd.io/name"] != "":
		return Owner{"Flux", "Kustomization " + labels["kustomize.toolkit.fluxcd.io/namespace"] + "/" + labels["kustomize.toolkit.fluxcd.io/name"], true}
	case labels["helm.toolkit.fluxcd.io/name"] != "":
		return Owner{"Flux", "HelmRelease " + labels["helm.toolkit.fluxcd.io/namespace"] + "/" + labels["helm.toolkit.fluxcd.io/name"], true}
	case has("kustomize-controller", "helm-controller"):
		return Owner{"Flux", "", true}
	case has(eksManager):
		return Owner{"EKS", "", false}
	case annotations["meta.helm.sh/release-name"] != "":
		return Owner{"Helm", "release " + annotations["meta.helm.sh/release-namespace"] + "/" + annotations["meta.helm.sh/release-name"], false}
	case len(managers) > 0:
		return Owner{Name: managers[0]}
	}
	return Owner{Name: "nobody"}
}
