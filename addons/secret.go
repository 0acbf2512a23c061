package addons

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/eksproxy/eksproxy/internal/kube"
	"github.com/eksproxy/eksproxy/plan"
	"github.com/eksproxy/eksproxy/proxyconfig"
)

// secretRef names the Secret that the URLs come from in a namespace.
func (d Desired) secretRef(namespace string) kube.Ref {
	return kube.Ref{Kind: kube.Secret(), Namespace: namespace, Name: d.Options.secret()}
}

// secret plans the Secret with the URLs, or looks at the one that is there.
func (p *planner) secret(ctx context.Context, namespace string) error {
	if p.want.Options.secret() == "" {
		return nil
	}
	r := p.want.secretRef(namespace)
	live, err := p.client.Get(ctx, r)
	switch {
	case err != nil && !p.want.Options.CreateSecret && apierrors.IsForbidden(errors.Unwrap(err)):
		p.out.note("%s cannot be looked at: %v; the pods go without a proxy where it lacks %s or %s", r, err, httpProxy, httpsProxy)
		return nil
	case err != nil:
		return err
	case !p.want.Options.CreateSecret || namespace != Namespace: // a Secret is never copied
		return p.checkSecret(r, live)
	case live != nil && live.GetLabels()[LabelManaged] != "true":
		return optionf("%s is there and is not eksproxy's; give it as --credentials-secret %s, or rename it", r, r.Name)
	}
	return p.ownSecret(r, live)
}

// checkSecret says whether a Secret of the user's has what the pods refer to.
func (p *planner) checkSecret(r kube.Ref, live *unstructured.Unstructured) error {
	if live == nil {
		return optionf("%s is not there; make it with %s", r, secretCommand(r))
	}
	data, _, _ := unstructured.NestedStringMap(live.Object, "data")
	for _, key := range []string{httpProxy, httpsProxy} {
		text, err := base64.StdEncoding.DecodeString(data[key])
		if err != nil || len(text) == 0 {
			return optionf("%s has no %s, only %s; make it with %s", r, key, strings.Join(keys(data), ", "), secretCommand(r))
		}
		u, err := proxyconfig.ParseURL(string(text))
		if err != nil {
			return optionf("%s: %s is no proxy's URL: %w", r, key, err)
		}
		want := map[string]proxyconfig.URL{httpProxy: p.want.Settings.HTTPProxy, httpsProxy: p.want.Settings.HTTPSProxy}[key]
		if u.Bare() != want.Bare() {
			p.out.note("%s of %s leads to %s, and the settings to %s: the pods follow the Secret", key, r, u.Bare(), want.Bare())
		}
	}
	p.revision[r.Namespace] = live.GetAnnotations()[AnnotationRevision]
	if p.revision[r.Namespace] == "" {
		p.out.note("%s has no annotation %s: a change of its credentials rolls no pods", r, AnnotationRevision)
	}
	return nil
}

// secretCommand makes a Secret without a password among a process's arguments.
func secretCommand(r kube.Ref) string {
	return fmt.Sprintf("kubectl -n %s create secret generic %s --from-file=%s=FILE --from-file=%s=FILE, each FILE a URL without a line end", r.Namespace, r.Name, httpProxy, httpsProxy)
}

// keys are the keys in order, for a sentence.
func keys(m map[string]string) []string {
	if len(m) == 0 {
		return []string{"nothing"}
	}
	return slices.Sorted(maps.Keys(m))
}

// ownSecret plans the Secret that eksproxy makes. New credentials get a new
// random revision, which rolls the pods: a hash of a password would let anyone
// guess it.
func (p *planner) ownSecret(r kube.Ref, live *unstructured.Unstructured) error {
	data := secretValues(p.want.Settings)
	c := plan.Change{ID: "secret:" + r.String(), Target: r.String(), Action: plan.Create, Reason: "carries the proxy's URLs with their credentials", Disruption: "none", Undo: undo}
	uid := types.UID("")
	p.revision[r.Namespace] = newRevision()
	if live != nil {
		uid = live.GetUID()
		before, _, _ := unstructured.NestedStringMap(live.Object, "data")
		same := true
		for key, value := range data {
			same = same && before[key] == base64.StdEncoding.EncodeToString([]byte(value))
		}
		c.Action = plan.Update
		if revision := live.GetAnnotations()[AnnotationRevision]; same && revision != "" {
			p.revision[r.Namespace], c.Action, c.Undo = revision, plan.Unchanged, ""
		}
	}
	after := plan.NewContent([]byte("data: "+httpProxy+" and "+httpsProxy+" with credentials\n"), p.want.Settings.Secrets()...)
	c.After = &plan.Value{Content: after}
	if live != nil {
		c.Before = &plan.Value{Content: after}
	}
	p.out.add(c, func(ctx context.Context) error {
		object := secretObject(r, uid, p.revision[r.Namespace], data)
		_, err := p.client.Apply(ctx, r, object, kube.ApplyOptions{Manager: Manager, Force: true})
		return err
	})
	return nil
}

func secretObject(r kube.Ref, uid types.UID, revision string, data map[string]string) *unstructured.Unstructured {
	meta := map[string]any{
		"name": r.Name, "namespace": r.Namespace, "labels": map[string]any{LabelManaged: "true", managedBy: Manager},
		"annotations": map[string]any{AnnotationRevision: revision},
	}
	if uid != "" {
		meta["uid"] = string(uid)
	}
	encoded := map[string]any{}
	for k, v := range data {
		encoded[k] = base64.StdEncoding.EncodeToString([]byte(v))
	}
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Secret", "type": "Opaque", "metadata": meta, "data": encoded}}
}

func newRevision() string {
	b := make([]byte, 6)
	_, _ = rand.Read(b) // it never fails (crypto/rand since Go 1.24)
	return hex.EncodeToString(b)
}
