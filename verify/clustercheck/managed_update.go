package clustercheck

import (
	"cmp"
	"context"
	"fmt"

	"github.com/eksproxy/eksproxy/addons"
	"github.com/eksproxy/eksproxy/facts"
	"github.com/eksproxy/eksproxy/internal/rollout"
	"github.com/eksproxy/eksproxy/verify"
)

// placeKept holds what is recorded against the schema of the version that is
// there now: an add-on may have been updated since.
func (s *subject) placeKept(ctx context.Context) []verify.Finding {
	all, found := s.records(ctx)
	switch {
	case found != nil:
		return found
	case s.o.Schemas == nil:
		return skip("EKS was not asked for schemas: give --cluster and --region")
	}
	for _, r := range all {
		if a, ok := s.configuration(r.Addon); ok {
			found = append(found, s.schemaTakes(ctx, r, a)...)
		}
	}
	return orPass(found, "%d add-ons", len(all))
}

func (s *subject) schemaTakes(ctx context.Context, r addons.Recorded, a facts.Addon) []verify.Finding {
	schema, err := s.o.Schemas(ctx, a.Name, a.Version)
	if err != nil {
		return one(undecided(target(a.Name), "give this user eks:DescribeAddonConfiguration; then run eksproxy verify cluster again", "%v", err))
	}
	remedy := fmt.Sprintf("eksproxy addons plan --addon %s=%s says more; then %s", a.Name, a.Version, s.patch())
	var found []verify.Finding
	for _, pointer := range r.Unplaced(schema) {
		found = append(found, fail(target(a.Name), remedy, "the version %s has no place %s, which carries the settings", a.Version, pointer))
	}
	refused, err := schema.Refused(a.Configuration)
	if err != nil {
		return append(found, fail(target(a.Name), remedy, "%v", err))
	}
	for _, x := range refused {
		if len(found) == 0 { // what is refused for the lack of the place is said
			found = append(found, fail(target(a.Name), remedy, "the version %s refuses %s of the configuration values: %s", a.Version, cmp.Or(x.Pointer, "the whole"), x.Why))
		}
	}
	return found
}

// managedPods demands that the pods have the template that the update of the add-on
// has made. Those of workloads with eksproxy's label are another check's.
func (s *subject) managedPods(ctx context.Context) []verify.Finding {
	all, found := s.records(ctx)
	if found != nil {
		return found
	}
	pods := 0
	for _, r := range all {
		workloads, more := s.recordedWorkloads(ctx, r)
		found = append(found, more...)
		for _, w := range workloads {
			if w.managed {
				continue
			}
			status, err := rollout.Pods(ctx, s.o.Client, w.live, addons.AnnotationHash)
			if err != nil {
				found = append(found, cannot("pods of "+w.ref.String(), err))
				continue
			}
			pods += status.Updated
			if len(status.Stale) > 0 {
				found = append(found, fail(w.ref.String(), s.rollRemedy(w), "%d of %d pods are older than the configuration of the add-on %s: %s", len(status.Stale), status.Updated+len(status.Stale), r.Addon, staleNames(status.Stale)))
			}
		}
	}
	return orPass(found, "%d pods", pods)
}
