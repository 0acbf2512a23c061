package addons

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/eksproxy/eksproxy/internal/kube"
)

// NamespaceStatus is a workload namespace with a copy of the ConfigMap.
type NamespaceStatus struct {
	Namespace string `json:"namespace"`
	// Hash is the settings hash of its ConfigMap.
	Hash  string  `json:"hash,omitempty"`
	Drift []Drift `json:"drift,omitempty"`
}

// readBeside reads the workload namespaces and NodeClasses that eksproxy has put
// something into.
func (s *Status) readBeside(ctx context.Context, client *kube.Client) error {
	err := ListStores(ctx, client, ConfigMapName, func(live *unstructured.Unstructured) error {
		if live.GetNamespace() == Namespace {
			return nil
		}
		drift, err := StoreDrifted(live)
		s.Namespaces = append(s.Namespaces, NamespaceStatus{live.GetNamespace(), live.GetAnnotations()[AnnotationHash], drift})
		return err
	})
	if err != nil {
		return err
	}
	served, err := NodeClassesServed(ctx, client)
	if err != nil || !served {
		return err
	}
	return s.nodeClassStatus(ctx, func(each func(*unstructured.Unstructured) error) error {
		return client.List(ctx, NodeClassKind(), "", metav1.ListOptions{LabelSelector: LabelManaged + "=true"}, each)
	})
}

// changedBeside is what is no longer as eksproxy set it in workload namespaces
// and NodeClasses.
func (s Status) changedBeside() []string {
	var changed []string
	for _, n := range s.Namespaces {
		r := kube.Ref{Kind: kube.ConfigMap(), Namespace: n.Namespace, Name: ConfigMapName}
		for _, d := range n.Drift {
			changed = append(changed, r.String()+": "+d.String())
		}
		if len(n.Drift) == 0 && s.ConfigMap != "" && n.Hash != s.SettingsHash {
			changed = append(changed, fmt.Sprintf("%s has settings %s, and that of %s %s", r, n.Hash, Namespace, s.SettingsHash))
		}
	}
	for _, n := range s.NodeClasses {
		for _, d := range n.Drift {
			changed = append(changed, nodeClassRef(n.Name).String()+": "+d.String())
		}
		if len(n.Drift) == 0 && s.ConfigMap != "" && n.Hash != s.SettingsHash {
			changed = append(changed, fmt.Sprintf("%s has settings %s, and the ConfigMap %s", nodeClassRef(n.Name), n.Hash, s.SettingsHash))
		}
	}
	return changed
}
