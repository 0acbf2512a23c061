package clustercheck

import (
	"context"
	"fmt"
	"strings"

	"github.com/eksproxy/eksproxy/addons"
	"github.com/eksproxy/eksproxy/internal/kube"
	"github.com/eksproxy/eksproxy/internal/rollout"
	"github.com/eksproxy/eksproxy/noproxy"
	"github.com/eksproxy/eksproxy/verify"
)

// podsCurrent demands that the pods of each patched workload have its template,
// and the template the settings of the ConfigMap: a variable is read when a pod
// starts (BL-052).
func (s *subject) podsCurrent(ctx context.Context) []verify.Finding {
	all, found := s.managed(ctx)
	hash := ""
	if live, err := s.world.get(ctx, settingsRef()); err == nil && live != nil {
		hash = live.GetAnnotations()[addons.AnnotationHash]
	}
	pods := 0
	for _, w := range all {
		own := w.template.Annotations[addons.AnnotationHash]
		if hash != "" && own != "" && own != hash { // without it, that is drift
			found = append(found, fail(w.ref.String(), s.patch(), "its pods have the settings %s, and the ConfigMap %s", noproxy.Quote(own), noproxy.Quote(hash)))
			continue
		}
		if w.ref.Kind == kube.CronJob() { // it has none of its own: its next Jobs have the template
			continue
		}
		status, err := rollout.Pods(ctx, s.o.Client, w.live, addons.AnnotationHash)
		if err != nil {
			found = append(found, cannot("pods of "+w.ref.String(), err))
			continue
		}
		pods += status.Updated
		if len(status.Stale) > 0 {
			found = append(found, fail(w.ref.String(), s.rollRemedy(w), "%d of %d pods have an older template: %s", len(status.Stale), status.Updated+len(status.Stale), staleNames(status.Stale)))
		}
	}
	if len(all)+len(found) == 0 {
		return skip("no workload has the label %s", addons.LabelManaged)
	}
	return orPass(found, "%d pods of %d workloads", pods, len(all))
}

// rollRemedy is how the pods get new.
func (s *subject) rollRemedy(w *workload) string {
	if _, held := rollout.Held(w.live); held {
		return s.patch()
	}
	return fmt.Sprintf("kubectl -n %s rollout status %s/%s; where it waits for nothing: %s --roll now", w.ref.Namespace, strings.ToLower(w.ref.Kind.Kind), w.ref.Name, s.patch())
}

// staleNames are pods with their nodes.
func staleNames(pods []rollout.Pod) string {
	var names []string
	for _, p := range pods {
		name := p.Name
		if p.Node != "" {
			name += " on " + p.Node
		}
		names = append(names, name)
	}
	return few(names)
}

// notHeld looks for what a run that was killed has left.
func (s *subject) notHeld(ctx context.Context) []verify.Finding {
	all, err := s.workloads(ctx)
	if err != nil {
		return one(cannot("workloads of "+addons.Namespace, err))
	}
	more, err := s.elsewhere(ctx)
	var found []verify.Finding
	if err != nil {
		found = append(found, skipped("workloads outside of "+addons.Namespace, "they may not be read: %v", err))
	}
	for _, w := range append(all[:len(all):len(all)], more...) {
		if record, held := rollout.Held(w.live); held {
			found = append(found, fail(w.ref.String(), s.patch()+" goes on, or eksproxy addons revert takes it back; both give the strategy back",
				"a run did not end and has put its update strategy aside, which was %s: its pods are held back", record))
		}
	}
	return orPass(found, "none of %d workloads", len(all)+len(more))
}

// asApplied looks for what was changed since, and by whom: an add-on's new
// manifest, or a hand (BL-050).
func (s *subject) asApplied(ctx context.Context) []verify.Finding {
	all, found := s.managed(ctx)
	for _, w := range all {
		drift, err := addons.Drifted(w.live)
		if err != nil {
			found = append(found, cannot(w.ref.String(), err))
		}
		for _, d := range drift {
			found = append(found, fail(w.ref.String(), s.patch(), "%s", d))
		}
	}
	live, err := s.world.get(ctx, settingsRef())
	switch {
	case err != nil:
		found = append(found, cannot(settingsRef().String(), err))
	case live != nil:
		found = append(found, s.storeDrift(live)...)
	}
	if len(all)+len(found) == 0 {
		return skip("no workload has the label %s: eksproxy has patched none", addons.LabelManaged)
	}
	return orPass(found, "%d workloads and the ConfigMap", len(all))
}
