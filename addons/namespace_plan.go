package addons

import (
	"context"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/eksproxy/eksproxy/internal/kube"
	"github.com/eksproxy/eksproxy/internal/rollout"
	"github.com/eksproxy/eksproxy/plan"
)

// The stages of changes that may be made side by side: those of one stage and
// next to each other in the plan (see Prepared.Run).
const (
	stageStores = iota + 1
	stageWorkloads
	stageRevert
	stageRevertStores
)

// workloadKinds are the kinds whose pods can be given an environment outside of
// kube-system, in the order of the plan. A DaemonSet never runs on Fargate.
func workloadKinds() []kube.Kind {
	return []kube.Kind{kube.Deployment(), kube.StatefulSet(), kube.ReplicaSet(), kube.CronJob()}
}

// namespaces plans the workload namespaces. What the targets have planned before
// is not planned again.
func (p *planner) namespaces(ctx context.Context, targets []found) error {
	if p.want.Options.Fargate == FargateOff {
		return nil
	}
	all, err := p.spaces(ctx)
	if err != nil || len(all) == 0 {
		return err
	}
	if all, err = p.withSecrets(ctx, all, targets); err != nil {
		return err
	}
	if err := p.copies(ctx, all, targets); err != nil {
		return err
	}
	if err := p.workloadsOf(ctx, all, targets); err != nil {
		return err
	}
	if err := p.reportRest(ctx, chosen(all)); err != nil {
		return err
	}
	for _, s := range all {
		s.notes()
		p.out.take(s.sub.out)
	}
	p.noteFargate(all)
	return nil
}

func chosen(all []*space) []*space {
	return slices.DeleteFunc(slices.Clone(all), func(s *space) bool { return !s.chosen })
}

// take puts what another one planned behind what is planned.
func (p *Prepared) take(other *Prepared) {
	for _, c := range other.Changes {
		p.add(c, other.steps[c.ID])
	}
	for id, stage := range other.light {
		p.together(id, stage)
	}
	p.Notes = append(p.Notes, other.Notes...)
}

// workloadsOf plans the workloads of the namespaces.
func (p *planner) workloadsOf(ctx context.Context, all []*space, targets []found) error {
	budgets, err := p.budgets(ctx, chosen(all))
	if err != nil {
		return err
	}
	for _, k := range workloadKinds() {
		err := p.each(ctx, all, k, metav1.ListOptions{}, func(s *space, live *unstructured.Unstructured) error {
			r := kube.Ref{Kind: k, Namespace: s.name, Name: live.GetName()}
			if slices.ContainsFunc(targets, func(f found) bool { return f.Ref == r }) || s.owned(live) {
				return nil
			}
			w, err := readWorkload(r, live)
			if err != nil {
				return err
			}
			profile, onFargate := p.want.Cluster.ProfileFor(s.name, w.template.Labels)
			if onFargate && !slices.Contains(s.profiles, profile.Name) {
				s.profiles = append(s.profiles, profile.Name)
			}
			switch {
			case s.taken && !onFargate:
				return nil
			case !s.chosen:
				s.refs, s.pods = append(s.refs, r), s.pods+w.pods()
				return nil
			}
			return s.workload(w, budgets[s.name])
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// owned says whether somebody makes the object anew, and reports that, except of
// a Deployment's ReplicaSets, which follow it.
func (s *space) owned(live *unstructured.Unstructured) bool {
	owners := live.GetOwnerReferences()
	if len(owners) == 0 {
		return false
	}
	owner := owners[0].Kind + " " + owners[0].Name
	if owners[0].Kind != kube.Deployment().Kind && !slices.Contains(s.owners, owner) && (s.chosen || !s.taken) {
		s.owners = append(s.owners, owner)
		s.report("another object makes it anew: patch that one", live.GetKind()+" "+live.GetName()+" of "+owner)
	}
	return true
}

// workload plans one workload of the namespace.
func (s *space) workload(w *workload, budgets []budget) error {
	p := s.sub
	for _, c := range w.containers() {
		if isMesh(c) {
			p.out.note("%s: container %s is the mesh's own and is left out: it must reach its control plane directly", w.ref, c)
		}
	}
	f := found{targetOf(w.ref), w}
	want, ok := p.wanted(f)
	if !ok {
		return nil
	}
	c, err := p.change(w, want, "sets the proxy's variables in "+fewNames(names(want))+"; the namespace is "+s.by)
	if err != nil {
		return err
	}
	if c.Action == plan.Unchanged || w.light() {
		s.apply(w, c, want)
	} else {
		s.roll(w, c, want, budgets)
	}
	return nil
}

// apply adds a change of which nothing is to be waited for.
func (s *space) apply(w *workload, c plan.Change, want Fields) {
	p, slim := s.sub, w.slim()
	if w.ref.Kind == kube.ReplicaSet() && w.pods() > 0 && c.Action != plan.Unchanged {
		c.Disruption = "none: its pods stay as they are"
		p.out.note("%s: no controller replaces its %d pods: delete them one by one, and those that follow have the variables", w.ref, w.pods())
	}
	p.out.add(c, func(ctx context.Context) error { return p.put(ctx, slim, want) })
	p.out.together(c.ID, stageWorkloads)
}

// roll adds a change that rolls pods, unless a budget never allows it.
func (s *space) roll(w *workload, c plan.Change, want Fields, budgets []budget) {
	p, slim := s.sub, w.slim()
	need, labels := w.takes(p.roll.Options.Roll), maps.Clone(w.template.Labels)
	if !p.fits(w.ref, labels, need, budgets) {
		return
	}
	s.rolling++
	number, roll := s.rolling, p.rolling(slim, want)
	p.out.add(c, func(ctx context.Context) error {
		p.tell("namespace %s: workload %d of %d with pods: %s", s.name, number, s.rolling, slim.ref)
		if err := p.await(ctx, slim.ref, labels, need); err != nil {
			return err
		}
		return roll(ctx)
	})
}

// light says whether nothing is to be waited for when the workload is changed:
// it has no pods, or its controller replaces none.
func (w *workload) light() bool {
	if _, held := rollout.Held(w.live); held {
		return false
	}
	return !w.rolls() || w.ref.Kind != kube.DaemonSet() && w.pods() == 0
}

// slim is the workload with what its change needs and no more: the rest of
// thousands of objects would stay in memory.
func (w *workload) slim() *workload {
	meta := map[string]any{"name": w.ref.Name, "namespace": w.ref.Namespace, "uid": string(w.live.GetUID())}
	if record, held := rollout.Held(w.live); held {
		meta["annotations"] = map[string]any{rollout.Annotation: record}
	}
	live := map[string]any{"apiVersion": w.ref.Kind.GroupVersion().String(), "kind": w.ref.Kind.Kind, "metadata": meta}
	return &workload{ref: w.ref, live: &unstructured.Unstructured{Object: live}, owner: w.owner, now: w.now}
}

// tell says how far it is.
func (p *planner) tell(format string, args ...any) {
	if p.roll.Tell != nil {
		p.roll.Tell(format, args...)
	}
}
