package addons

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/eksproxy/eksproxy/internal/rollout"
	"github.com/eksproxy/eksproxy/plan"
)

// terraformOwns says whether Terraform writes the add-on's configuration.
func (p *planner) terraformOwns(a addon) bool {
	switch p.want.Options.OwnedBy {
	case OwnedByTerraform:
		return true
	case OwnedByEKS:
		return false
	}
	for name, value := range a.tags {
		for _, text := range []string{strings.ToLower(name), strings.ToLower(value)} {
			if strings.Contains(text, "terraform") || strings.Contains(text, "opentofu") {
				return true
			}
		}
	}
	return false
}

// planManaged adds the change of an add-on to the plan.
func (p *planner) planManaged(m *managedAddon) error {
	// Values that stand there may not be applied, after an update that failed.
	changed := !sameValues(m.values, m.after) || slices.ContainsFunc(m.takes, func(t managedTarget) bool { return len(t.lacks(t.template)) > 0 })
	if changed && p.terraformOwns(m.addon) {
		text := fmt.Sprintf("nothing is done for %s: Terraform owns the EKS add-on %s (--addons-owned-by). Put into configuration_values of its aws_eks_addon what eksproxy addons render --for terraform --addon %s=%s prints",
			strings.Join(m.componentNames(), ", "), m.name, m.name, m.version)
		p.out.NotDone = append(p.out.NotDone, text)
		p.out.note("%s", text)
		return nil
	}
	c, err := m.change(p.want.Settings.Secrets())
	if err != nil {
		return err
	}
	c.Disruption = m.disruption(p.roll.Options.Roll)
	c.Reason = m.reason()
	if !changed && !m.holdsOwn() && !m.staleRecord(p.want.Settings.Hash()) {
		c.Action, c.Disruption, c.Undo = plan.Unchanged, "none", ""
	}
	p.out.add(c, func(ctx context.Context) error { return p.apply(ctx, m, changed) })
	return nil
}

// change is the plan's line of an add-on, without its reason.
func (m *managedAddon) change(secrets []string) (plan.Change, error) {
	c := plan.Change{ID: "addon:" + m.name, Target: "EKS add-on " + m.name + " " + m.version, Action: plan.Update, Undo: undo, Disruption: "none"}
	for _, side := range []struct {
		text string
		to   **plan.Value
	}{{m.values, &c.Before}, {m.after, &c.After}} {
		d, err := parseValues(side.text)
		if err != nil {
			return c, err
		}
		text, err := d.yaml()
		if err != nil {
			return c, err
		}
		*side.to = &plan.Value{Content: plan.NewContent([]byte(text), secrets...)}
	}
	return c, nil
}

// watched is what the plan says of how the change of an add-on is taken over.
const watched = "resolveConflicts PRESERVE, other values stay; no canary here: the rollout is watched, and the former configuration is put back when a pod does not become ready"

// reason says which places get the variables, and what becomes of those that
// eksproxy owns in the cluster.
func (m *managedAddon) reason() string {
	var parts []string
	for _, t := range m.takes {
		if len(t.additions) > 0 {
			parts = append(parts, fmt.Sprintf("sets the proxy's variables of %s at %s of the configuration values", t.component.Name, t.place.Pointer))
		}
	}
	if len(m.takes) == 0 {
		parts = append(parts, "takes out what eksproxy put into the configuration values, which no longer carry the settings")
	}
	if m.holdsOwn() {
		parts = append(parts, "takes away the variables that eksproxy owns in the cluster")
	}
	return strings.Join(append(parts, watched), "; ")
}

// componentNames are the components that get their variables by the add-on.
func (m *managedAddon) componentNames() []string {
	var names []string
	for _, t := range m.takes {
		names = append(names, t.component.Name)
	}
	return names
}

// holdsOwn says whether eksproxy owns fields in one of the components' workloads.
func (m *managedAddon) holdsOwn() bool {
	return slices.ContainsFunc(m.takes, func(t managedTarget) bool { return !t.now.Empty() })
}

// staleRecord says that the record is not what it would be written as.
func (m *managedAddon) staleRecord(hash string) bool {
	if len(m.now.Additions) == 0 {
		return len(m.recorded.Additions) > 0
	}
	same := len(m.now.Additions) == len(m.recorded.Additions) && m.recorded.SettingsHash == hash &&
		slices.Equal(m.recorded.Components, mergeComponents(m.componentNames(), nil))
	for _, a := range m.now.Additions {
		same = same && slices.ContainsFunc(m.recorded.Additions, a.is)
	}
	return !same
}

// disruption counts the pods of all that the change reaches.
func (m *managedAddon) disruption(roll rollout.Roll) string {
	n := int64(0)
	for _, w := range m.reached {
		n += max(w.pods(), 0)
	}
	return rollsPods(n, roll)
}

// components plans the targets: those first by their EKS add-on whose configuration
// has a place, the others in the cluster, in the order of the targets.
func (p *planner) components(ctx context.Context, all []found) error {
	rest, planned, err := p.managed(ctx, all)
	if err != nil {
		return err
	}
	done := map[string]bool{}
	once := func(m *managedAddon) error {
		if done[m.name] {
			return nil
		}
		done[m.name] = true
		return p.planManaged(m)
	}
	for _, f := range all {
		if err := p.preview(f); err != nil {
			return err
		}
		i := slices.IndexFunc(planned, func(m *managedAddon) bool {
			return slices.ContainsFunc(m.takes, func(t managedTarget) bool { return t.Ref == f.Ref })
		})
		switch {
		case i >= 0:
			err = once(planned[i])
		case slices.ContainsFunc(rest, func(r found) bool { return r.Ref == f.Ref }):
			err = p.workload(f)
		}
		if err != nil {
			return err
		}
	}
	for _, m := range planned { // those that only give up what they had
		if err := once(m); err != nil {
			return err
		}
	}
	return nil
}
