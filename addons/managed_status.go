package addons

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/eksproxy/eksproxy/internal/kube"
	"github.com/eksproxy/eksproxy/internal/podenv"
	"github.com/eksproxy/eksproxy/internal/rollout"
)

// RouteEKS says that a workload gets the variables by the configuration of its EKS
// add-on.
const RouteEKS = "eks"

// managedStatus is how far the components are that are configured through EKS. It
// asks Kubernetes alone.
func managedStatus(ctx context.Context, client *kube.Client) ([]WorkloadStatus, error) {
	recorded, err := readRecords(ctx, client)
	if err != nil {
		return nil, err
	}
	var all []WorkloadStatus
	for _, name := range slices.Sorted(maps.Keys(recorded)) {
		r := recorded[name]
		for _, component := range r.Components {
			c, err := FindComponent(component)
			if err != nil {
				continue // a later eksproxy knows it
			}
			live, err := client.Get(ctx, c.Ref())
			if err != nil {
				return all, err
			}
			if live == nil || live.GetLabels()[LabelManaged] == "true" {
				continue
			}
			s, err := r.status(ctx, client, c, live)
			if err != nil {
				return all, err
			}
			all = append(all, s)
		}
	}
	return all, nil
}

// status is how far one component is.
func (r managedRecord) status(ctx context.Context, client *kube.Client, c Component, live *unstructured.Unstructured) (WorkloadStatus, error) {
	w, err := readWorkload(c.Ref(), live)
	if err != nil {
		return WorkloadStatus{}, err
	}
	out := WorkloadStatus{Component: c.Name, Object: w.ref.String(), Route: RouteEKS, Owner: w.owner, Hash: r.SettingsHash}
	out.HeldStrategy, _ = rollout.Held(live)
	t := targetOf(w.ref)
	for _, container := range podenv.Containers(&w.template) {
		if !t.Takes(container.Name) || container.ReadsConfigMap(ConfigMapName) {
			continue
		}
		var gone []string
		for _, name := range r.variables() {
			if _, times := container.Lookup(name); times == 0 {
				gone = append(gone, name)
			}
		}
		if len(gone) > 0 {
			out.Drift = append(out.Drift, Drift{fmt.Sprintf("gone from container %s: %s", container.Name, strings.Join(gone, ", ")), lastWriter(live)})
		}
	}
	out.Pods, err = podsStatus(ctx, client, live)
	return out, err
}

// variables are those that the additions set in containers.
func (r managedRecord) variables() []string {
	var names []string
	for _, a := range r.Additions {
		name := a.name()
		if strings.HasSuffix(a.container(), "/proxy") {
			for variable := range proxyNames(schemaView{properties: map[string]any{name: nil}}) {
				name = variable
			}
		}
		if slices.Contains(VariableNames(), name) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// sets says whether a variable of a component comes from the additions. An object
// with one URL gives it to HTTPS_PROXY too.
func (r managedRecord) sets(component, variable string) bool {
	names := r.variables()
	oneURL := variable == httpsProxy && slices.Contains(names, httpProxy) && slices.ContainsFunc(r.Additions, func(a Addition) bool { return strings.HasSuffix(a.container(), "/proxy") })
	return slices.Contains(r.Components, component) && (slices.Contains(names, variable) || oneURL)
}
