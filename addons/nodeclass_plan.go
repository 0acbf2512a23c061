package addons

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/eksproxy/eksproxy/plan"
)

// replaces is what a changed NodeClass does: Auto Mode finds that its nodes have
// drifted, and puts new ones in their place, as the disruption budgets of the
// node pools allow.
const replaces = "replaces nodes"

// nodeClasses plans the NodeClasses of EKS Auto Mode.
func (p *planner) nodeClasses(ctx context.Context) error {
	mode := p.want.Options.AutoMode
	if mode == AutoModeOff || mode != AutoModeOn && !p.want.Cluster.AutoMode {
		return nil
	}
	served, err := NodeClassesServed(ctx, p.client)
	switch {
	case err != nil:
		return err
	case !served && mode == AutoModeOn:
		return optionf("--auto-mode=on, and this API server knows no NodeClass of eks.amazonaws.com/v1: EKS Auto Mode is not on; take the flag out")
	case !served:
		p.out.note("EKS Auto Mode is told by the facts, and this API server knows no NodeClass of eks.amazonaws.com/v1: its nodes are left alone")
		return nil
	}
	if p.want.Options.secret() != "" {
		p.out.note("NodeClasses are left alone: a NodeClass has no place for credentials but the open, where everyone who may look reads them; nodes of Auto Mode need a proxy that wants none")
		return nil
	}
	shape, err := nodeShapeOf(ctx, p.client)
	if err != nil {
		return err
	}
	shape.note(p)
	return p.client.List(ctx, NodeClassKind(), "", metav1.ListOptions{}, func(live *unstructured.Unstructured) error {
		return p.nodeClass(shape, live.DeepCopy())
	})
}

// note says what this API server's NodeClass cannot take.
func (s nodeShape) note(p *planner) {
	want := p.want.Settings
	switch {
	case !s.proxy || !s.list:
		p.out.note("this cluster's NodeClass has no spec.advancedNetworking.httpsProxy and noProxy: nodes of Auto Mode cannot be given a proxy")
	case want.HTTPProxy.Bare() != want.HTTPSProxy.Bare():
		p.out.note("a NodeClass takes one proxy, that for https: nodes of Auto Mode call http by no proxy, not by %s", want.HTTPProxy.Bare())
	}
	if !s.bundles && len(want.CAs) > 0 {
		p.out.note("this cluster's NodeClass has no spec.certificateBundles: nodes of Auto Mode cannot be given the certificates of trustedCA")
	}
}

// nodeClass plans one NodeClass.
func (p *planner) nodeClass(shape nodeShape, live *unstructured.Unstructured) error {
	n, err := readNodeClass(live)
	if err != nil {
		return err
	}
	r := nodeClassRef(live.GetName())
	if n.owner.GitOps && !p.want.Options.ForceOwned {
		p.out.note("%s is left alone: it belongs to %s, which would take the change back; commit spec.advancedNetworking there (docs/auto-mode.md), or give --force-owned", r, n.owner)
		return nil
	}
	want, left := p.want.nodeFields(shape, n)
	for _, text := range left {
		p.out.note("%s: %s", r, text)
	}
	if want.Empty() {
		return nil
	}
	if live.GetName() == defaultNodeClass {
		p.out.note("%s is EKS's own, which AWS advises to leave as it is: where EKS writes it anew, addons status shows it. A NodeClass of your own with a NodePool of your own keeps the settings for sure (docs/auto-mode.md)", r)
	}
	c, err := n.change(want, "sets the proxy of the nodes that EKS Auto Mode launches; the object belongs to "+n.owner.String())
	if err != nil {
		return err
	}
	p.out.add(c, func(ctx context.Context) error { return p.putNodes(ctx, n, want) })
	return nil
}

// nodeFields are what eksproxy is to own in a NodeClass, and what is left to
// others there.
func (d Desired) nodeFields(shape nodeShape, n nodeClass) (NodeFields, []string) {
	f := NodeFields{Labels: map[string]string{LabelManaged: "true"}, Annotations: map[string]string{AnnotationHash: d.Settings.Hash()}}
	if reason := cmp.Or(d.Options.Reason, n.now.Annotations[AnnotationReason]); reason != "" {
		f.Annotations[AnnotationReason] = reason
	}
	var left []string
	free := func(shared bool, path ...any) bool {
		var fields []string
		for _, part := range path {
			fields = append(fields, fmt.Sprint(part))
		}
		_, there, _ := unstructured.NestedFieldNoCopy(n.live.Object, fields...)
		if !there || shared || n.ours(path...) {
			return true
		}
		left = append(left, fmt.Sprintf("%s is set by %s and left as it is", strings.Join(fields, "."), n.setters(path...)))
		return false
	}
	list := strings.Split(d.Settings.NoProxy.String(), ",")
	switch {
	case !shape.proxy || !shape.list:
	case shape.most > 0 && len(list) > shape.most:
		left = append(left, fmt.Sprintf("NO_PROXY has %d entries, and noProxy takes %d: the proxy is not set; leave entries out with --no-proxy-omit", len(list), shape.most))
	case free(false, proxyPath()...):
		f.HTTPSProxy = d.Settings.HTTPSProxy.Bare()
		if free(shape.set, listPath()...) {
			f.NoProxy = list
		}
	}
	if shape.bundles && len(d.Settings.CAs) > 0 && free(shape.named, bundlePath()...) {
		f.Bundles = d.wantedBundles()
	}
	return f, left
}

// wantedBundles are the company's own authorities as NodeClasses take them.
func (d Desired) wantedBundles() []Bundle {
	if len(d.Settings.CAs) == 0 {
		return nil
	}
	pem := authorityStore("", d.Settings).Data[CAKey]
	return []Bundle{{bundleName, base64.StdEncoding.EncodeToString([]byte(pem))}}
}

// change is the plan's line of one NodeClass.
func (n nodeClass) change(want NodeFields, reason string) (plan.Change, error) {
	r := nodeClassRef(n.live.GetName())
	c := plan.Change{ID: "nodeclass:" + r.Name, Target: r.String(), Action: plan.Update, Reason: reason, Disruption: replaces, Undo: undo}
	before, err1 := n.now.YAML()
	after, err2 := want.YAML()
	if before != "" {
		c.Before = &plan.Value{Content: plan.NewContent([]byte(before))}
	}
	if after != "" {
		c.After = &plan.Value{Content: plan.NewContent([]byte(after))}
	}
	if before == after {
		c.Action, c.Disruption, c.Undo = plan.Unchanged, "none", ""
	}
	return c, errors.Join(err1, err2)
}

// revertNodeClasses plans to take our fields out of all NodeClasses.
func (p *planner) revertNodeClasses(ctx context.Context) error {
	served, err := NodeClassesServed(ctx, p.client)
	if err != nil || !served {
		return err
	}
	return p.eachManaged(ctx, NodeClassKind(), func(live *unstructured.Unstructured) error {
		n, err := readNodeClass(live.DeepCopy())
		if err != nil {
			return err
		}
		c, err := n.change(NodeFields{}, "takes back what eksproxy set")
		if err != nil {
			return err
		}
		c.Action, c.Disruption, c.Undo = plan.Update, replaces, "eksproxy addons patch"
		p.out.add(c, func(ctx context.Context) error { return p.putNodes(ctx, n, NodeFields{}) })
		return nil
	})
}

// NodeClassStatus is one NodeClass that eksproxy has put fields into.
type NodeClassStatus struct {
	Name  string `json:"name"`
	Owner Owner  `json:"owner"`
	// Hash is the settings hash.
	Hash  string  `json:"hash,omitempty"`
	Drift []Drift `json:"drift,omitempty"`
}

// nodeClassStatus reads the NodeClasses with eksproxy's label.
func (s *Status) nodeClassStatus(ctx context.Context, list func(func(*unstructured.Unstructured) error) error) error {
	return list(func(live *unstructured.Unstructured) error {
		n, err := readNodeClass(live)
		if err != nil {
			return err
		}
		s.NodeClasses = append(s.NodeClasses, NodeClassStatus{Name: live.GetName(), Owner: n.owner, Hash: live.GetAnnotations()[AnnotationHash], Drift: n.gone()})
		slices.SortFunc(s.NodeClasses, func(a, b NodeClassStatus) int { return strings.Compare(a.Name, b.Name) })
		return ctx.Err()
	})
}
