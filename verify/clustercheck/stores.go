package clustercheck

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/eksproxy/eksproxy/addons"
	"github.com/eksproxy/eksproxy/internal/kube"
	"github.com/eksproxy/eksproxy/proxyconfig"
	"github.com/eksproxy/eksproxy/verify"
)

// storeDrift is what others did to the ConfigMap. Keys that are gone are the
// finding of another check.
func (s *subject) storeDrift(live *unstructured.Unstructured) []verify.Finding {
	drift, err := addons.StoreDrifted(live)
	if err != nil {
		return one(cannot(settingsRef().String(), err))
	}
	var found []verify.Finding
	for _, d := range drift {
		if !strings.HasSuffix(d.What, " is gone") {
			found = append(found, fail(settingsRef().String(), s.patch(), "%s", d))
		}
	}
	return found
}

// expiresSoon is how long before its end a certificate is warned of.
const expiresSoon = 30 * 24 * time.Hour

// caRef names the ConfigMap with the company's certificates.
func caRef() kube.Ref {
	return kube.Ref{Kind: kube.ConfigMap(), Namespace: addons.Namespace, Name: addons.CAConfigMapName}
}

// authority looks at the certificates where they are wanted or mounted: those of
// the node reach no pod (BL-038).
func (s *subject) authority(ctx context.Context) []verify.Finding {
	var wanted []proxyconfig.CA
	if s.o.Wanted != nil {
		wanted = s.o.Wanted.Settings.CAs
	}
	all, found := s.managed(ctx)
	mounted := slices.IndexFunc(all, mountsCA)
	if mounted < 0 && len(wanted) == 0 {
		return append(found, skipped("", "trustedCA is neither wanted nor mounted"))
	}
	live, err := s.world.get(ctx, caRef())
	switch {
	case err != nil:
		return append(found, cannot(caRef().String(), err))
	case live == nil:
		return append(found, fail(caRef().String(), s.patch(), "it is not there: pods trust the public authorities alone, whatever their node trusts"))
	}
	cas, err := proxyconfig.ParseCAs([]byte(textData(live)[addons.CAKey]))
	if err != nil {
		return append(found, fail(caRef().String(), s.patch(), "key %s: %v", addons.CAKey, err))
	}
	for _, ca := range wanted {
		if !slices.ContainsFunc(cas, func(has proxyconfig.CA) bool { return bytes.Equal(has.PEM, ca.PEM) }) {
			found = append(found, fail(caRef().String(), s.patch(), "it lacks %s", ca.Subject))
		}
	}
	return orPass(append(found, s.expiry(cas)...), "%d certificates", len(cas))
}

// mountsCA says whether a workload takes in our certificates.
func mountsCA(w *workload) bool {
	return slices.ContainsFunc(w.template.Spec.Volumes, func(v corev1.Volume) bool {
		return v.ConfigMap != nil && v.ConfigMap.Name == addons.CAConfigMapName
	})
}

func (s *subject) expiry(cas []proxyconfig.CA) []verify.Finding {
	var found []verify.Finding
	remedy := "give the new certificate as trustedCA, then " + s.patch()
	for _, ca := range cas {
		left := ca.NotAfter.Sub(s.o.Now())
		day := ca.NotAfter.UTC().Format(time.DateOnly)
		switch {
		case left <= 0:
			found = append(found, fail(caRef().String(), remedy, "%s expired on %s", ca.Subject, day))
		case left < expiresSoon:
			found = append(found, warn(caRef().String(), remedy, "%s expires on %s", ca.Subject, day))
		}
	}
	return found
}

// credentials looks into the Secrets that the variables of patched workloads
// refer to. The references are optional, so that without it a pod starts, and
// goes without the proxy.
func (s *subject) credentials(ctx context.Context) []verify.Finding {
	all, found := s.managed(ctx)
	refs := secretsOf(all)
	if o := s.o.Wanted; o != nil && o.Options.CreateSecret {
		refs = append(refs, kube.Ref{Kind: kube.Secret(), Namespace: addons.Namespace, Name: addons.SecretName})
	} else if o != nil && o.Options.CredentialsSecret != "" {
		refs = append(refs, kube.Ref{Kind: kube.Secret(), Namespace: addons.Namespace, Name: o.Options.CredentialsSecret})
	}
	refs = slices.CompactFunc(refs, func(a, b kube.Ref) bool { return a == b })
	if len(refs)+len(found) == 0 {
		return skip("no variable comes from a Secret")
	}
	for _, r := range refs {
		live, err := s.world.get(ctx, r)
		switch {
		case err != nil:
			found = append(found, s.hiddenSecret(r, err))
		case live == nil:
			found = append(found, fail(r.String(), s.patch()+" --create-secret --credentials-file FILE", "it is not there: the pods that refer to it go without the proxy"))
		default:
			found = append(found, s.secretSound(r, live)...)
		}
	}
	return orPass(found, "%d Secrets", len(refs))
}

// hiddenSecret is a Secret that was not read. The ClusterRole view has no right
// on Secrets, so that is no lack of the answer for whom it is enough.
func (s *subject) hiddenSecret(r kube.Ref, err error) verify.Finding {
	if apierrors.IsForbidden(errors.Unwrap(err)) {
		return skipped(r.String(), "not looked at: the right to get secrets in %s is missing, which the ClusterRole view has not; %v", r.Namespace, errors.Unwrap(err))
	}
	return cannot(r.String(), err)
}

// secretsOf are the Secrets that the six variables come from, sorted.
func secretsOf(all []*workload) []kube.Ref {
	var refs []kube.Ref
	for _, w := range all {
		for _, c := range w.containers() {
			for _, e := range c.Env {
				if slices.Contains(addons.VariableNames(), e.Name) && e.ValueFrom != nil && e.ValueFrom.SecretKeyRef != nil {
					refs = append(refs, kube.Ref{Kind: kube.Secret(), Namespace: w.ref.Namespace, Name: e.ValueFrom.SecretKeyRef.Name})
				}
			}
		}
	}
	slices.SortFunc(refs, func(a, b kube.Ref) int { return strings.Compare(a.String(), b.String()) })
	return slices.Compact(refs)
}

// secretSound looks at the URLs of a Secret and says nothing of what is in them.
func (s *subject) secretSound(r kube.Ref, live *unstructured.Unstructured) []verify.Finding {
	var found []verify.Finding
	data := textData(live)
	for _, key := range []string{"HTTP_PROXY", "HTTPS_PROXY"} {
		text, err := base64.StdEncoding.DecodeString(data[key])
		why := wrongValue(key, string(text))
		switch {
		case err != nil || len(text) == 0:
			why = "it is missing"
		case why != "":
		default:
			if _, err := proxyconfig.ParseURL(string(text)); err != nil {
				why = err.Error() // which does not repeat the URL
			}
		}
		if why != "" {
			found = append(found, fail(r.String(), fmt.Sprintf("write key %s of %s anew, without a line end", key, r), "key %s: %s", key, why))
		}
	}
	return found
}
