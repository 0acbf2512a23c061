package addons

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"
	"sigs.k8s.io/yaml"

	"github.com/eksproxy/eksproxy/internal/kube"
	"github.com/eksproxy/eksproxy/internal/podenv"
)

// AutoMode says whether the NodeClasses of EKS Auto Mode are patched.
type AutoMode string

// The values of AutoMode. An empty one is AutoModeAuto.
const (
	// AutoModeAuto patches them where the facts say that EKS runs nodes.
	AutoModeAuto AutoMode = "auto"
	// AutoModeOn patches them wherever there are any.
	AutoModeOn AutoMode = "on"
	// AutoModeOff leaves them alone.
	AutoModeOff AutoMode = "off"
)

// defaultNodeClass is EKS's own: that of the built-in node pools.
const defaultNodeClass = "default"

// bundleName is the entry of certificateBundles that is ours.
const bundleName = "eksproxy-trusted-ca"

func (o Options) checkAutoMode() error {
	if !slices.Contains([]AutoMode{"", AutoModeAuto, AutoModeOn, AutoModeOff}, o.AutoMode) {
		return fmt.Errorf("%q is not known for --auto-mode; allowed: auto, on, off", o.AutoMode)
	}
	return nil
}

// NodeClassKind is what EKS Auto Mode launches nodes from.
func NodeClassKind() kube.Kind {
	k := kube.Kind{Kind: "NodeClass"}
	k.Group, k.Version, k.Resource = "eks.amazonaws.com", "v1", "nodeclasses"
	return k
}

func nodeClassRef(name string) kube.Ref { return kube.Ref{Kind: NodeClassKind(), Name: name} }

// NodeFields are what eksproxy owns, or is to own, in one NodeClass.
type NodeFields struct {
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
	HTTPSProxy  string            `json:"httpsProxy,omitempty"`
	NoProxy     []string          `json:"noProxy,omitempty"`
	Bundles     []Bundle          `json:"certificateBundles,omitempty"`
}

// Bundle is one file of certificates: its data are base64 of PEM.
type Bundle struct {
	Name string `json:"name"`
	Data string `json:"data"`
}

// Empty says that no setting is among the fields.
func (f NodeFields) Empty() bool {
	return f.HTTPSProxy == "" && len(f.NoProxy)+len(f.Bundles) == 0
}

// YAML is the fields for a person, without the reason, which is given when a plan
// is carried out.
func (f NodeFields) YAML() (string, error) {
	annotations := map[string]string{}
	for k, v := range f.Annotations {
		if k != AnnotationReason {
			annotations[k] = v
		}
	}
	f.Annotations = annotations
	if f.Empty() && len(f.Labels)+len(f.Annotations) == 0 {
		return "", nil
	}
	data, err := yaml.Marshal(f)
	return string(data), err
}

// Object is the document that applies the fields to a NodeClass that is there.
func (f NodeFields) Object(name string, uid types.UID) *unstructured.Unstructured {
	object := map[string]any{
		"apiVersion": NodeClassKind().GroupVersion().String(), "kind": NodeClassKind().Kind,
		"metadata": map[string]any{"name": name, "uid": string(uid)},
	}
	put(object, textMap(f.Labels), "metadata", "labels")
	put(object, textMap(f.Annotations), "metadata", "annotations")
	if f.HTTPSProxy != "" {
		put(object, f.HTTPSProxy, "spec", "advancedNetworking", "httpsProxy")
	}
	if len(f.NoProxy) > 0 {
		var list []any
		for _, e := range f.NoProxy {
			list = append(list, e)
		}
		put(object, list, "spec", "advancedNetworking", "noProxy")
	}
	if len(f.Bundles) > 0 {
		var list []any
		for _, b := range f.Bundles {
			list = append(list, map[string]any{"name": b.Name, "data": b.Data})
		}
		put(object, list, "spec", "certificateBundles")
	}
	return &unstructured.Unstructured{Object: object}
}

// nodeClass is a NodeClass as it is in the cluster.
type nodeClass struct {
	live   *unstructured.Unstructured
	owners podenv.Owners
	owner  Owner
	// now are the fields that eksproxy owns.
	now NodeFields
}

func readNodeClass(live *unstructured.Unstructured) (nodeClass, error) {
	n := nodeClass{live: live}
	var err error
	if n.owners, err = podenv.ReadOwners(live); err != nil {
		return n, err
	}
	if n.owner, err = OwnerOf(live); err != nil {
		return n, err
	}
	ours := func(field string) func(string) bool {
		return func(key string) bool { return n.ours("metadata", field, key) }
	}
	n.now.Labels, n.now.Annotations = kept(live.GetLabels(), ours("labels")), kept(live.GetAnnotations(), ours("annotations"))
	if n.ours(proxyPath()...) {
		n.now.HTTPSProxy, _, _ = unstructured.NestedString(live.Object, "spec", "advancedNetworking", "httpsProxy")
	}
	list, _, _ := unstructured.NestedStringSlice(live.Object, "spec", "advancedNetworking", "noProxy")
	n.now.NoProxy = ownedItems(n, list, listPath(), func(e string) any { return value.NewValueInterface(e) })
	n.now.Bundles = ownedItems(n, n.bundles(), bundlePath(), func(b Bundle) any { return fieldpath.KeyByFields("name", b.Name) })
	return n, nil
}

// ownedItems are the items of a list that eksproxy has applied: all of them where
// the list is one field with one owner.
func ownedItems[T any](n nodeClass, list []T, path []any, key func(T) any) []T {
	var found []T
	for _, item := range list {
		if n.ours(append(slices.Clone(path), key(item))...) {
			found = append(found, item)
		}
	}
	if len(found) == 0 && n.ours(path...) {
		return list
	}
	return found
}

// ours says that eksproxy has applied a field, or something below it.
func (n nodeClass) ours(path ...any) bool {
	return n.owners.Applied(Manager, fieldpath.MakePathOrDie(path...))
}

func proxyPath() []any  { return []any{"spec", "advancedNetworking", "httpsProxy"} }
func listPath() []any   { return []any{"spec", "advancedNetworking", "noProxy"} }
func bundlePath() []any { return []any{"spec", "certificateBundles"} }

// bundles are all entries of certificateBundles.
func (n nodeClass) bundles() []Bundle {
	list, _, _ := unstructured.NestedSlice(n.live.Object, "spec", "certificateBundles")
	var all []Bundle
	for _, item := range list {
		m, _ := item.(map[string]any)
		name, _ := m["name"].(string)
		data, _ := m["data"].(string)
		all = append(all, Bundle{name, data})
	}
	return all
}

// NodeClassesServed says whether the API server knows NodeClasses. Everyone may
// ask that, so that other clusters need no right for it.
func NodeClassesServed(ctx context.Context, client *kube.Client) (bool, error) {
	if client.Clientset == nil {
		return false, nil
	}
	list, err := resourcesOf(ctx, client, NodeClassKind().GroupVersion().String())
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, &kube.Error{Doing: "looking for " + NodeClassKind().GroupVersion().String(), Err: err}
	}
	return slices.ContainsFunc(list.APIResources, func(r metav1.APIResource) bool { return r.Name == NodeClassKind().Resource }), nil
}

// putNodes applies fields to the NodeClass that was looked at.
func (p *planner) putNodes(ctx context.Context, n nodeClass, f NodeFields) error {
	name := n.live.GetName()
	return p.send(ctx, nodeClassRef(name), f.Object(name, n.live.GetUID()))
}

// setters are the managers that own a field, for a sentence.
func (n nodeClass) setters(path ...any) string {
	if names := others(n.owners.Of(fieldpath.MakePathOrDie(path...))); names != "" {
		return names
	}
	return "someone"
}

// NodeClassDrifted says what others have changed or taken away of what eksproxy
// put into a NodeClass; nothing where it put nothing there.
func NodeClassDrifted(live *unstructured.Unstructured) ([]Drift, error) {
	if live.GetLabels()[LabelManaged] != "true" {
		return nil, nil
	}
	n, err := readNodeClass(live)
	if err != nil {
		return nil, err
	}
	return n.gone(), nil
}

// gone says which of the fields that were wanted the NodeClass does not have as
// ours any more.
func (n nodeClass) gone() []Drift {
	var lost []string
	if n.now.HTTPSProxy == "" {
		lost = append(lost, "httpsProxy")
	}
	if len(n.now.NoProxy) == 0 {
		lost = append(lost, "noProxy")
	}
	if len(lost) == 0 {
		return nil
	}
	return []Drift{{"no longer eksproxy's: " + strings.Join(lost, ", "), lastWriter(n.live)}}
}
