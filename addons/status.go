package addons

import (
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/eksproxy/eksproxy/facts"
	"github.com/eksproxy/eksproxy/internal/kube"
	"github.com/eksproxy/eksproxy/internal/rollout"
)

// StatusKind is the kind of the document that holds a Status.
const StatusKind = "AddonsStatus"

// RouteInCluster says that a workload is patched in the cluster.
const RouteInCluster = "in-cluster"

// Status is how far a cluster is as eksproxy left it.
type Status struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Applied says that anything of eksproxy's is there.
	Applied bool `json:"applied"`
	// SettingsHash is that of the ConfigMap.
	SettingsHash string `json:"settingsHash,omitempty"`
	// ConfigMap names the ConfigMap; empty where it is missing.
	ConfigMap string           `json:"configMap,omitempty"`
	Drift     []Drift          `json:"drift,omitempty"`
	Workloads []WorkloadStatus `json:"workloads"`
	// Namespaces are the workload namespaces that have a ConfigMap of ours.
	Namespaces []NamespaceStatus `json:"namespaces,omitempty"`
	// NodeClasses are those of EKS Auto Mode with fields of ours.
	NodeClasses []NodeClassStatus `json:"nodeClasses,omitempty"`
	// Conditions sum it up, in the form that Kubernetes gives them.
	Conditions []Condition `json:"conditions"`
}

// WorkloadStatus is one workload that eksproxy has put fields into.
type WorkloadStatus struct {
	// Component is its name in the table; empty where the user named the workload.
	Component string `json:"component,omitempty"`
	// Object is "DaemonSet kube-system/aws-node".
	Object string `json:"object"`
	// Route says how it gets the variables.
	Route string `json:"route"`
	Owner Owner  `json:"owner"`
	// Hash is the settings hash of its pod template.
	Hash string     `json:"hash,omitempty"`
	Pods PodsStatus `json:"pods"`
	// HeldStrategy is the update strategy that a run which did not end has put
	// aside; its pods are held back.
	HeldStrategy string  `json:"heldStrategy,omitempty"`
	Drift        []Drift `json:"drift,omitempty"`
}

// PodsStatus says how many pods have the workload's template.
type PodsStatus struct {
	Desired int        `json:"desired"`
	Current int        `json:"current"`
	Ready   int        `json:"ready"`
	Stale   []StalePod `json:"stale,omitempty"`
	// Unknown says why nobody could look; empty where the counts hold.
	Unknown string `json:"unknown,omitempty"`
}

// StalePod is a pod with an older template, and the node that it is on.
type StalePod struct {
	Name string `json:"name"`
	Node string `json:"node,omitempty"`
}

// Condition is an answer about the whole: True is good.
type Condition struct {
	Type    string                 `json:"type"`
	Status  metav1.ConditionStatus `json:"status"`
	Reason  string                 `json:"reason"`
	Message string                 `json:"message"`
}

// The types of conditions.
const (
	// ConditionApplied says that eksproxy's settings are in the cluster.
	ConditionApplied = "Applied"
	// ConditionInSync says that all is as eksproxy set it.
	ConditionInSync = "InSync"
	// ConditionRolledOut says that the pods have what their template says.
	ConditionRolledOut = "RolledOut"
)

// Is says whether any condition has this status.
func (s Status) Is(status metav1.ConditionStatus) bool {
	return slices.ContainsFunc(s.Conditions, func(c Condition) bool { return c.Status == status })
}

// ReadStatus looks through a cluster for what eksproxy has put there. It needs no
// settings and writes nothing; the ClusterRole "view" suffices.
func ReadStatus(ctx context.Context, client *kube.Client) (Status, error) {
	s := Status{APIVersion: facts.APIVersion, Kind: StatusKind, Workloads: []WorkloadStatus{}}
	store := settingsRef()
	live, err := client.Get(ctx, store)
	if err != nil {
		return s, err
	}
	if live != nil && live.GetLabels()[LabelManaged] == "true" {
		s.Applied, s.ConfigMap, s.SettingsHash = true, store.String(), live.GetAnnotations()[AnnotationHash]
		if s.Drift, err = StoreDrifted(live); err != nil {
			return s, err
		}
	}
	for _, k := range patchable() {
		options := metav1.ListOptions{LabelSelector: LabelManaged + "=true"}
		err := client.List(ctx, k, "", options, func(live *unstructured.Unstructured) error {
			live.SetKind(k.Kind) // items of a list may come without
			w, err := workloadStatus(ctx, client, live)
			s.Workloads = append(s.Workloads, w)
			return err
		})
		if err != nil {
			return s, err
		}
	}
	managed, err := managedStatus(ctx, client)
	if s.Workloads = append(s.Workloads, managed...); err != nil {
		return s, err
	}
	if err := s.readBeside(ctx, client); err != nil {
		return s, err
	}
	s.Applied = s.Applied || len(s.Workloads)+len(s.Namespaces)+len(s.NodeClasses) > 0
	s.Conditions = []Condition{s.applied(), s.inSync(), s.rolledOut()}
	return s, nil
}

// settingsRef names the ConfigMap with the six variables.
func settingsRef() kube.Ref {
	return kube.Ref{Kind: kube.ConfigMap(), Namespace: Namespace, Name: ConfigMapName}
}

func workloadStatus(ctx context.Context, client *kube.Client, live *unstructured.Unstructured) (WorkloadStatus, error) {
	w, err := readWorkload(refOf(live), live)
	if err != nil {
		return WorkloadStatus{}, err
	}
	out := WorkloadStatus{
		Component: targetOf(w.ref).Component, Object: w.ref.String(), Route: RouteInCluster,
		Owner: w.owner, Hash: w.template.Annotations[AnnotationHash],
	}
	out.HeldStrategy, _ = rollout.Held(live)
	if out.Drift, err = Drifted(live); err != nil {
		return out, err
	}
	if w.ref.Kind != kube.DaemonSet() && w.pods() == 0 { // nor has a CronJob pods of its own
		return out, nil
	}
	out.Pods, err = podsStatus(ctx, client, live)
	return out, err
}

// podsStatus counts the pods of a workload.
func podsStatus(ctx context.Context, client *kube.Client, live *unstructured.Unstructured) (PodsStatus, error) {
	pods, err := rollout.Pods(ctx, client, live, AnnotationHash)
	if kube.Undecided(err) {
		return PodsStatus{Unknown: err.Error()}, nil
	}
	if err != nil {
		return PodsStatus{}, err
	}
	out := PodsStatus{Desired: pods.Desired, Current: pods.Updated, Ready: pods.Ready}
	for _, p := range pods.Stale {
		out.Stale = append(out.Stale, StalePod{p.Name, p.Node})
	}
	return out, nil
}

func condition(kind string, status metav1.ConditionStatus, reason, format string, args ...any) Condition {
	return Condition{Type: kind, Status: status, Reason: reason, Message: fmt.Sprintf(format, args...)}
}

func (s Status) applied() Condition {
	switch {
	case !s.Applied:
		return condition(ConditionApplied, metav1.ConditionFalse, "NothingThere", "there is nothing of eksproxy's in this cluster")
	case s.ConfigMap == "" && len(s.Workloads) > 0:
		return condition(ConditionApplied, metav1.ConditionFalse, "ConfigMapMissing", "%s is missing, and workloads refer to it: %d", settingsRef(), len(s.Workloads))
	case len(s.Workloads) == 0 && len(s.NodeClasses) > 0:
		return condition(ConditionApplied, metav1.ConditionTrue, "Applied", "%d NodeClasses have the proxy", len(s.NodeClasses))
	case len(s.Workloads) == 0:
		return condition(ConditionApplied, metav1.ConditionFalse, "NoWorkload", "no workload refers to %s", s.ConfigMap)
	}
	return condition(ConditionApplied, metav1.ConditionTrue, "Applied", "workloads with the variables: %d", len(s.Workloads))
}

func (s Status) inSync() Condition {
	if !s.Applied {
		return condition(ConditionInSync, metav1.ConditionTrue, "NothingThere", "there is nothing to be changed")
	}
	var changed []string
	for _, d := range s.Drift {
		changed = append(changed, s.ConfigMap+": "+d.String())
	}
	for _, w := range s.Workloads {
		for _, d := range w.Drift {
			changed = append(changed, w.Object+": "+d.String())
		}
		if len(w.Drift) == 0 && s.ConfigMap != "" && w.Hash != s.SettingsHash {
			changed = append(changed, fmt.Sprintf("%s has settings %s, and the ConfigMap %s", w.Object, w.Hash, s.SettingsHash))
		}
	}
	changed = append(changed, s.changedBeside()...)
	if len(changed) > 0 {
		return condition(ConditionInSync, metav1.ConditionFalse, "Drifted", "%s", strings.Join(changed, "; "))
	}
	return condition(ConditionInSync, metav1.ConditionTrue, "AsApplied", "all is as eksproxy set it")
}

func (s Status) rolledOut() Condition {
	var held, unknown []string
	stale := 0
	for _, w := range s.Workloads {
		stale += len(w.Pods.Stale)
		if w.HeldStrategy != "" {
			held = append(held, w.Object)
		}
		if w.Pods.Unknown != "" {
			unknown = append(unknown, w.Object+": "+w.Pods.Unknown)
		}
	}
	switch {
	case len(held) > 0:
		return condition(ConditionRolledOut, metav1.ConditionFalse, "Held", "a run did not end and holds the pods of %s back: eksproxy addons patch goes on", strings.Join(held, ", "))
	case stale > 0:
		return condition(ConditionRolledOut, metav1.ConditionFalse, "StalePods", "%d pods have an older template", stale)
	case len(unknown) > 0:
		return condition(ConditionRolledOut, metav1.ConditionUnknown, "PodsNotRead", "%s", strings.Join(unknown, "; "))
	}
	return condition(ConditionRolledOut, metav1.ConditionTrue, "Current", "no pod has an older template")
}
