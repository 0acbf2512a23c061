package addons

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/eksproxy/eksproxy/facts"
	"github.com/eksproxy/eksproxy/internal/kube"
	"github.com/eksproxy/eksproxy/internal/rollout"
	"github.com/eksproxy/eksproxy/plan"
)

func TestCheckNamespaces(t *testing.T) {
	known := facts.Cluster{FargateProfiles: []facts.FargateProfile{{Name: "p"}}}
	for name, c := range map[string]struct {
		o    Options
		c    facts.Cluster
		says string
	}{
		"nothing":        {Options{}, facts.Cluster{}, ""},
		"patch":          {Options{Fargate: FargatePatch}, known, ""},
		"patch unknown":  {Options{Fargate: FargatePatch}, facts.Cluster{}, "--cluster NAME"},
		"patch and none": {Options{Fargate: FargatePatch}, facts.Cluster{Node: facts.Node{Network: facts.Network{Sources: map[string]string{facts.FieldFargateProfiles: "EKS"}}}}, ""},
		"off and named":  {Options{Fargate: FargateOff, FargateNamespaces: []string{"a"}}, known, "give one of them"},
		"kube-system":    {Options{FargateNamespaces: []string{Namespace}}, known, "is no workload namespace"},
		"empty":          {Options{FargateNamespaces: []string{""}}, known, "give the NAME"},
		"another value":  {Options{Fargate: "all"}, known, "allowed: named, patch, off"},
	} {
		err := c.o.checkNamespaces(c.c)
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
}

func TestMayRunOnFargate(t *testing.T) {
	c := facts.Cluster{FargateProfiles: []facts.FargateProfile{
		{Name: "a", Selectors: []facts.FargateSelector{{Namespace: "team-*", Labels: map[string]string{"run": "fargate"}}}},
		{Name: "b", Status: "DELETING", Selectors: []facts.FargateSelector{{Namespace: "gone"}}},
	}}
	for namespace, want := range map[string]bool{"team-a": true, "team": false, "gone": false, "": false} {
		if got := MayRunOnFargate(c, namespace); got != want {
			t.Errorf("%s: %v, want %v", namespace, got, want)
		}
	}
	if c.FargateProfiles[0].Selectors[0].Labels == nil {
		t.Error("the facts were changed")
	}
}

// BL-055: what no variable of a pod can do, and what is missing for it.
func TestFargateLimits(t *testing.T) {
	c := facts.Cluster{VPCEndpoints: []facts.VPCEndpoint{{ID: "1", Service: "ecr.api", Type: "Interface", State: "available", PrivateDNS: true}, {ID: "2", Service: "s3", Type: "Gateway", State: "available"}}}
	for want, c := range map[string]facts.Cluster{"missing: ecr.dkr, logs, sts": c, "is not known: give --cluster NAME": {}} {
		if text := fargateLimits(c); !strings.Contains(text, want) {
			t.Errorf("%q is not said: %s", want, text)
		}
	}
	for _, s := range FargateServices() {
		c.VPCEndpoints = append(c.VPCEndpoints, facts.VPCEndpoint{ID: s, Service: s, Type: "Interface", State: "available", PrivateDNS: true})
	}
	if text := fargateLimits(c); !strings.Contains(text, "it has all 5") {
		t.Errorf("it says: %s", text)
	}
}

// What a workload's own strategy takes away, as its controller computes it.
func TestTakes(t *testing.T) {
	for name, c := range map[string]struct {
		kind kube.Kind
		spec map[string]any
		roll rollout.Roll
		want int64
	}{
		"surge":             {kube.Deployment(), strategy(3, "RollingUpdate", "25%", "25%"), "", 0},
		"a share":           {kube.Deployment(), strategy(10, "RollingUpdate", "25%", "25%"), "", 2},
		"a number":          {kube.Deployment(), strategy(10, "RollingUpdate", int64(3), "25%"), "", 3},
		"neither":           {kube.Deployment(), strategy(3, "RollingUpdate", "0%", int64(0)), "", 1},
		"recreate":          {kube.Deployment(), strategy(3, "Recreate", nil, nil), "", 3},
		"no pods":           {kube.Deployment(), strategy(0, "Recreate", nil, nil), "", 0},
		"held":              {kube.Deployment(), strategy(3, "Recreate", nil, nil), rollout.RollNever, 0},
		"ordered":           {kube.StatefulSet(), map[string]any{"replicas": int64(3), "updateStrategy": map[string]any{"type": "RollingUpdate"}}, "", 1},
		"ordered, a share":  {kube.StatefulSet(), map[string]any{"replicas": int64(10), "updateStrategy": map[string]any{"rollingUpdate": map[string]any{"maxUnavailable": "25%"}}}, "", 3},
		"on delete":         {kube.StatefulSet(), map[string]any{"replicas": int64(3), "updateStrategy": map[string]any{"type": "OnDelete"}}, "", 0},
		"on delete and now": {kube.StatefulSet(), map[string]any{"replicas": int64(3), "updateStrategy": map[string]any{"type": "OnDelete"}}, rollout.RollNow, 1},
		"ReplicaSet":        {kube.ReplicaSet(), map[string]any{"replicas": int64(3)}, "", 0},
	} {
		w := &workload{ref: kube.Ref{Kind: c.kind}, live: &unstructured.Unstructured{Object: map[string]any{"kind": c.kind.Kind, "spec": c.spec}}}
		if got := w.takes(c.roll); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

func strategy(replicas int64, kind string, unavailable, surge any) map[string]any {
	s := map[string]any{"type": kind}
	if unavailable != nil {
		s["rollingUpdate"] = map[string]any{"maxUnavailable": unavailable, "maxSurge": surge}
	}
	return map[string]any{"replicas": replicas, "strategy": s}
}

// changes adds so many changes, of which those of a stage go together.
func changes(p *Prepared, n, stage int, do func(i int) error) {
	for i := range n {
		c := plan.Change{ID: fmt.Sprintf("%d-%d", stage, i), Target: fmt.Sprintf("%d-%d", stage, i), Action: plan.Update}
		p.add(c, func(context.Context) error { return do(i) })
		if stage > 0 {
			p.together(c.ID, stage)
		}
	}
}

// Changes of one stage go side by side, those of the next wait for them.
func TestRunSideBySide(t *testing.T) {
	var p Prepared
	var now, most, stores atomic.Int64
	together := make(chan struct{})
	all := sync.OnceFunc(func() { close(together) })
	changes(&p, 2*beside, stageStores, func(int) error {
		n := now.Add(1)
		defer now.Add(-1)
		if n == beside {
			most.Store(n)
			all()
		}
		<-together
		stores.Add(1)
		return nil
	})
	changes(&p, 3, stageWorkloads, func(int) error {
		if stores.Load() != 2*beside {
			return errors.New("a workload came before a ConfigMap")
		}
		return nil
	})
	changes(&p, 2, 0, func(int) error {
		if now.Add(1) != 1 {
			return errors.New("two with pods at once")
		}
		now.Add(-1)
		return nil
	})
	o, err := p.Run(t.Context())
	if err != nil || len(o.Done) != len(p.Changes) || most.Load() != beside {
		t.Errorf("%d done, %d at once: %v", len(o.Done), most.Load(), err)
	}
}

// After an error nothing more is begun, and what was done is said.
func TestRunStops(t *testing.T) {
	var p Prepared
	var begun atomic.Int64
	changes(&p, 100, stageWorkloads, func(i int) error {
		begun.Add(1)
		if i == 20 {
			return errors.New("no")
		}
		if i > 20 {
			time.Sleep(20 * time.Millisecond) // while it is noted that one has failed
		}
		return nil
	})
	changes(&p, 1, stageRevert, func(int) error { begun.Add(1000); return nil })
	o, err := p.Run(t.Context())
	if err == nil || !strings.Contains(err.Error(), "changes made: applying 2-20: no") {
		t.Errorf("the error is %v", err)
	}
	if begun.Load() >= 100 || o.Left[0].ID != "2-20" || len(o.Done)+len(o.Left) != 101 || int64(len(o.Done)) != begun.Load()-1 {
		t.Errorf("%d begun, %d done, %d left, first %s", begun.Load(), len(o.Done), len(o.Left), o.Left[0].ID)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("interrupted"))
	if o, err := p.Run(ctx); err == nil || len(o.Done) != 0 || !strings.Contains(err.Error(), "0 of 101 changes made: interrupted before 2-0") {
		t.Errorf("%d done: %v", len(o.Done), err)
	}
}

// The schema decides which fields of a NodeClass are used, and how lists are
// owned.
func TestParseNodeShape(t *testing.T) {
	const schema = `{"components":{"schemas":{"x":{"x-kubernetes-group-version-kind":[{"group":"eks.amazonaws.com","version":"v1","kind":"NodeClass"}],"properties":{"spec":{"properties":SPEC}}}}}}`
	for spec, want := range map[string]nodeShape{
		`{}`: {},
		`{"advancedNetworking":{"properties":{"httpsProxy":{},"noProxy":{"maxItems":50}}},"certificateBundles":{}}`: {proxy: true, list: true, bundles: true, most: 50},
		`{"advancedNetworking":{"properties":{"noProxy":{"x-kubernetes-list-type":"set"}}},"certificateBundles":{"x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["name"]}}`: {
			list: true, bundles: true, set: true, named: true},
	} {
		if got, err := parseNodeShape([]byte(strings.Replace(schema, "SPEC", spec, 1))); err != nil || got != want {
			t.Errorf("%s: %+v, %v", spec, got, err)
		}
	}
	if _, err := parseNodeShape([]byte(`{}`)); err == nil || !strings.Contains(err.Error(), "run again") {
		t.Errorf("a schema without NodeClass: %v", err)
	}
}

func TestMeshIsLeftOut(t *testing.T) {
	if (Target{}).Takes("istio-proxy") || !(Target{}).Takes("web") || !(Target{Containers: []string{"istio-proxy"}}).Takes("istio-proxy") {
		t.Error("the mesh's container is taken where nobody named it, or not where somebody did")
	}
	if !slices.Contains(workloadKinds(), kube.CronJob()) {
		t.Error("CronJobs are left out")
	}
}
