package addons

import (
	"context"
	"maps"
	"slices"

	"github.com/eksproxy/eksproxy/internal/podenv"
	"github.com/eksproxy/eksproxy/plan"
)

// revertManaged plans to take out of the configuration of add-ons what eksproxy
// put there.
func (p *planner) revertManaged(ctx context.Context) error {
	recorded, err := readRecords(ctx, p.client)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(recorded)) {
		if err := p.revertAddon(ctx, name, recorded[name]); err != nil {
			return err
		}
	}
	return nil
}

func (p *planner) revertAddon(ctx context.Context, name string, recorded managedRecord) error {
	client, err := p.roll.clientOf(ctx, recorded)
	if err != nil {
		return err
	}
	m := &managedAddon{client: client, recorded: recorded}
	m.addon, err = client.read(ctx, name)
	if isGone(err) {
		c := plan.Change{ID: "addon:" + name, Target: "EKS add-on " + name, Action: plan.Delete, Disruption: "none", Undo: "eksproxy addons patch",
			Reason: "EKS no longer has the add-on: only the record of it is taken away"}
		p.out.add(c, func(ctx context.Context) error { return writeRecord(ctx, p.client, name, nil) })
		return nil
	}
	if _, unread := unreadable(err); err != nil && (!unread || m.name == "") {
		return err
	}
	if m.after, m.now, _, err = edited(m.values, recorded, nil); err != nil {
		return err
	}
	p.noteChanged(m)
	if err := p.reach(ctx, m); err != nil {
		return err
	}
	c, err := m.change(nil)
	if err != nil {
		return err
	}
	c.Reason, c.Undo = "takes out what eksproxy put into the configuration values; other values stay", "eksproxy addons patch"
	c.Disruption = m.disruption(p.roll.Options.Roll)
	p.out.add(c, func(ctx context.Context) error {
		r := p.roll
		r.Canary = false
		err := nested(m.reached, r.undo, func(ctx context.Context) error {
			if sameValues(m.values, m.after) && !m.lingers() {
				return nil
			}
			return client.update(ctx, m.addon, m.after)
		})(ctx)
		if err != nil {
			return err
		}
		return writeRecord(ctx, p.client, name, nil)
	})
	return nil
}

// noteChanged says what others have changed of what eksproxy put into the values:
// that is theirs, and stays.
func (p *planner) noteChanged(m *managedAddon) {
	values, err := parseValues(m.values)
	if err != nil {
		return
	}
	for _, a := range m.recorded.Additions {
		same := slices.ContainsFunc(m.recorded.Additions, func(b Addition) bool {
			return a.container() == b.container() && a.name() == b.name() && values.has(b)
		})
		if !same && values.names(a) {
			p.out.note("%s at %s of the configuration of the add-on %s was changed by someone and stays", a.name(), a.container(), m.name)
		}
	}
}

// lingers says whether EKS still owns a recorded variable in a workload: the
// values may be without it, and not applied, after an update that failed.
func (m *managedAddon) lingers() bool {
	for _, w := range m.reached {
		for _, c := range podenv.Containers(&w.template) {
			for _, name := range m.recorded.variables() {
				if slices.Contains(w.owners.Of(podenv.EnvPath(w.ref.Kind.Kind, c, name)), eksManager) {
					return true
				}
			}
		}
	}
	return false
}
