package addons

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"

	"github.com/eksproxy/eksproxy/internal/kube"
)

// nodeShape says which of the fields of a NodeClass this API server has, and of
// what sort. They came one after the other (EKS user guide, "Create a Node Class
// for Amazon EKS"), and an unknown one would be dropped without a word.
type nodeShape struct {
	proxy, list, bundles bool
	// most is how many entries noProxy may have; 0 is without a limit.
	most int
	// set says that each entry of noProxy has its own owner, named that each of
	// certificateBundles has.
	set, named bool
}

// openNode is what is read of a schema of OpenAPI.
type openNode struct {
	Kinds      []metav1.GroupVersionKind `json:"x-kubernetes-group-version-kind"`
	Properties map[string]openNode       `json:"properties"`
	MaxItems   int                       `json:"maxItems"`
	ListType   string                    `json:"x-kubernetes-list-type"`
	ListKeys   []string                  `json:"x-kubernetes-list-map-keys"`
}

// nodeShapeOf asks the API server for the schema of NodeClasses.
func nodeShapeOf(ctx context.Context, client *kube.Client) (nodeShape, error) {
	path := "/openapi/v3/apis/" + NodeClassKind().GroupVersion().String()
	data, err := client.Clientset.Discovery().RESTClient().Get().AbsPath(path).SetHeader("Accept", "application/json").Do(ctx).Raw()
	if err != nil {
		return nodeShape{}, &kube.Error{Doing: "reading the schema " + path, Err: err}
	}
	return parseNodeShape(data)
}

func parseNodeShape(data []byte) (nodeShape, error) {
	var doc struct {
		Components struct {
			Schemas map[string]openNode `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		return nodeShape{}, fmt.Errorf("reading the schema of NodeClass: %w", err)
	}
	for _, s := range doc.Components.Schemas {
		if !slices.ContainsFunc(s.Kinds, func(k metav1.GroupVersionKind) bool {
			return k.Kind == NodeClassKind().Kind && k.Group == NodeClassKind().Group
		}) {
			continue
		}
		spec := s.Properties["spec"].Properties
		network := spec["advancedNetworking"].Properties
		list, hasList := network["noProxy"]
		bundles, hasBundles := spec["certificateBundles"]
		_, hasProxy := network["httpsProxy"]
		return nodeShape{
			proxy: hasProxy, list: hasList, bundles: hasBundles, most: list.MaxItems,
			set: list.ListType == "set", named: bundles.ListType == "map" && slices.Equal(bundles.ListKeys, []string{"name"}),
		}, nil
	}
	return nodeShape{}, fmt.Errorf("reading the schema of NodeClass: the API server's OpenAPI document for %s has none; wait until it is published, then run again", NodeClassKind().GroupVersion())
}

// resourcesOf asks for the kinds of a group and version.
func resourcesOf(ctx context.Context, client *kube.Client, groupVersion string) (*metav1.APIResourceList, error) {
	return discovery.ToServerResourcesInterfaceWithContext(client.Clientset.Discovery()).ServerResourcesForGroupVersionWithContext(ctx, groupVersion)
}
