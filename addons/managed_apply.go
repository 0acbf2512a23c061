package addons

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/eksproxy/eksproxy/internal/podenv"
	"github.com/eksproxy/eksproxy/internal/rollout"
)

// notCarriedError says that EKS took the configuration, and the workload did not
// change as it says.
type notCarriedError struct{ why string }

func (e *notCarriedError) Error() string { return e.why }

// apply updates an add-on and watches its pods; where that fails, the former
// configuration is put back.
func (p *planner) apply(ctx context.Context, m *managedAddon, changed bool) error {
	m.now.Cluster, m.now.Region, m.now.SettingsHash = m.client.cluster, m.client.region, p.want.Settings.Hash()
	m.now.Components = mergeComponents(m.componentNames(), nil)
	union := m.now.with(m.recorded)
	union.Components = mergeComponents(m.now.Components, m.recorded.Components)
	if err := writeRecord(ctx, p.client, m.name, &union); err != nil {
		return err
	}
	r := p.roll
	r.Canary = false
	err := nested(m.reached, r.watch, func(ctx context.Context) error { return p.makeChange(ctx, m, changed) })(ctx)
	if err == nil {
		return p.settle(ctx, m.name, m.now)
	}
	if ctx.Err() != nil || !putsBack(err) {
		return err
	}
	p.roll.Tell("add-on %s: %v; putting the former configuration back", m.name, err)
	if undone := p.putBack(ctx, m, r, changed && !refusedCall(err)); undone != nil {
		return fmt.Errorf("%w; and the former configuration of the add-on %s was not put back: %w. Run: %s", err, m.name, undone, undo)
	}
	return fmt.Errorf("%w; the configuration of the add-on %s is as it was before", err, m.name)
}

// settle writes the record that holds from now on; an empty one goes away.
func (p *planner) settle(ctx context.Context, name string, r managedRecord) error {
	if len(r.Additions) == 0 {
		return writeRecord(ctx, p.client, name, nil)
	}
	return writeRecord(ctx, p.client, name, &r)
}

// watch waits for the pods of a workload after a change that reaches it.
func (r Rollout) watch(ctx context.Context, w *workload, change func(context.Context) error) error {
	return r.over(ctx, w, "", change)
}

// nested makes one change within the watches of several workloads: each has to
// look at its pods before it.
func nested(all []*workload, watch func(context.Context, *workload, func(context.Context) error) error, change func(context.Context) error) func(context.Context) error {
	for _, w := range slices.Backward(all) {
		inner := change
		change = func(ctx context.Context) error { return watch(ctx, w, inner) }
	}
	return change
}

// putsBack says whether an error is one after which the former configuration is
// put back: it shows that the new one does not work.
func putsBack(err error) bool {
	_, pods := errors.AsType[*rollout.Error](err)
	_, update := errors.AsType[*UpdateError](err)
	_, lost := errors.AsType[*notCarriedError](err)
	return pods || update || lost
}

// refusedCall says that EKS refused the call, so that nothing was updated.
func refusedCall(err error) bool {
	update, ok := errors.AsType[*UpdateError](err)
	return ok && update.Status == ""
}

// makeChange makes the change: EKS first, then eksproxy lets go of its own items, so
// that a variable has one owner and is never missing in between.
func (p *planner) makeChange(ctx context.Context, m *managedAddon, changed bool) error {
	if err := p.align(ctx, m); err != nil {
		return err
	}
	if changed {
		if err := m.client.update(ctx, m.addon, m.after); err != nil {
			return err
		}
	}
	for _, t := range m.takes {
		if t.now.Empty() {
			continue
		}
		if err := p.put(ctx, t.workload, t.letGo()); err != nil {
			return fmt.Errorf("taking eksproxy's own variables away: %w", err)
		}
	}
	return p.carried(ctx, m)
}

// letGo is what eksproxy goes on owning in a workload that EKS configures: the
// mark by which revert finds entries of envFrom that it took out.
func (t managedTarget) letGo() Fields {
	if t.live.GetAnnotations()[AnnotationEnvFrom] == "" {
		return Fields{}
	}
	return Fields{Labels: map[string]string{LabelManaged: "true"}}
}

// align gives eksproxy's own items the values that EKS is to write: with PRESERVE
// it leaves an item that another manager has otherwise, and would not own it when
// eksproxy lets go.
func (p *planner) align(ctx context.Context, m *managedAddon) error {
	for _, t := range m.takes {
		if t.now.Empty() || t.place.References {
			continue
		}
		texts := map[string]string{}
		for _, a := range t.additions {
			texts[t.variable(a)] = a.text()
		}
		aligned := t.now
		aligned.Containers = nil
		for _, c := range t.now.Containers {
			c.Env = slices.Clone(c.Env)
			for i, e := range c.Env {
				if value, ok := texts[e.Name]; ok {
					c.Env[i] = corev1.EnvVar{Name: e.Name, Value: value}
				}
			}
			aligned.Containers = append(aligned.Containers, c)
		}
		if err := p.put(ctx, t.workload, aligned); err != nil {
			return fmt.Errorf("giving eksproxy's own variables the values of the add-on: %w", err)
		}
	}
	return nil
}

// text is the value of an addition that is a text.
func (a Addition) text() string {
	if item, ok := a.Value.(map[string]any); ok {
		text, _ := item["value"].(string)
		return text
	}
	text, _ := a.Value.(string)
	return text
}

// variable is the variable that an addition sets; empty where it sets none.
func (t managedTarget) variable(a Addition) string {
	if t.place.Form == FormProxy {
		for variable, name := range t.place.Proxy {
			if name == a.key() {
				return variable
			}
		}
	}
	if slices.Contains(VariableNames(), a.name()) {
		return a.name()
	}
	return ""
}

// carried demands that the variables stand in the component's containers, now that
// EKS says that it has applied the configuration.
func (p *planner) carried(ctx context.Context, m *managedAddon) error {
	for _, t := range m.takes {
		live, err := p.client.Get(ctx, t.Ref)
		if err != nil || live == nil {
			return err
		}
		template, err := podenv.Template(live)
		if err != nil {
			return err
		}
		if lacks := t.lacks(template); len(lacks) > 0 {
			return &notCarriedError{fmt.Sprintf("EKS has applied the configuration of the add-on %s, and %s lacks %s", m.name, t.Ref, strings.Join(lacks, ", "))}
		}
	}
	return nil
}

// lacks are the variables that the containers of a template do not have.
func (t managedTarget) lacks(template corev1.PodTemplateSpec) []string {
	var names []string
	for _, c := range podenv.Containers(&template) {
		if !t.Takes(c.Name) || c.ReadsConfigMap(ConfigMapName) {
			continue
		}
		for _, a := range t.additions {
			name := t.variable(a)
			if _, times := c.Lookup(name); name != "" && times == 0 {
				names = append(names, name)
			}
		}
	}
	return names
}

// putBack gives the add-on its former values, and eksproxy's own items back.
func (p *planner) putBack(ctx context.Context, m *managedAddon, r Rollout, update bool) error {
	err := nested(m.reached, r.undo, func(ctx context.Context) error {
		if update {
			if err := m.client.update(ctx, m.addon, m.values); err != nil {
				return err
			}
		}
		for _, t := range m.takes {
			if t.now.Empty() {
				continue
			}
			if err := p.put(ctx, t.workload, t.now); err != nil {
				return err
			}
		}
		return nil
	})(ctx)
	if err != nil {
		return err
	}
	return p.settle(ctx, m.name, m.recorded)
}
