package addons

import (
	"fmt"
	"slices"

	"github.com/eksproxy/eksproxy/internal/podenv"
)

// place finds the places of the components, and the values to come. Places whose
// result the schema refuses are left out, one after the other.
func (p *planner) place(m *managedAddon, group []found) error {
	var places []Place
	if m.schema != nil {
		places = m.schema.Places()
	}
	for {
		m.takes, m.notes = nil, nil
		var want []Addition
		for _, f := range group {
			t, err := p.placeOf(m, f, places)
			if err != nil {
				return err
			}
			if t == nil {
				continue
			}
			m.takes = append(m.takes, *t)
			for _, a := range t.additions {
				if !slices.ContainsFunc(want, a.is) {
					want = append(want, a)
				}
			}
		}
		if len(m.takes) == 0 {
			return nil
		}
		var left []Addition
		var err error
		if m.after, m.now, left, err = edited(m.values, m.recorded, want); err != nil {
			return optionf("add-on %s: %w", m.name, err)
		}
		refused := m.schema.Validate(m.after)
		if refused == nil || len(m.now.Additions) == 0 {
			m.noteLeft(left)
			return nil
		}
		used := m.takes[0].place.Pointer
		p.out.note("the schema of the add-on %s %s refuses what would stand at %s: %v", m.name, m.version, used, refused)
		places = slices.DeleteFunc(places, func(q Place) bool { return q.Pointer == used })
	}
}

// placeOf finds the place of one component; nil, with a note, where there is none.
func (p *planner) placeOf(m *managedAddon, f found, places []Place) (*managedTarget, error) {
	c, err := FindComponent(f.Component)
	if err != nil {
		return nil, err
	}
	set := p.setByOthers(m, f, c, places)
	d := carrier{p.want, p.revision[f.Ref.Namespace]}
	place, additions, why := d.choose(c, places, func(name string) bool { return set[name] != "" })
	switch {
	case why != "":
		m.note("%s: in-cluster, since the EKS add-on %s %s cannot carry the settings: %s", c.Name, m.name, m.version, why)
		return nil, nil
	case len(additions) == 0:
		m.note("%s is left alone: every variable is set by others", c.Name)
	}
	for _, name := range VariableNames() {
		if set[name] != "" {
			m.note("%s: %s", f.Ref, set[name])
		}
	}
	return &managedTarget{f, c, place, additions}, nil
}

// setByOthers are the variables that others have set in the component's
// containers, with what there is to say of it. What the values hold is no such
// one: that is seen there.
func (p *planner) setByOthers(m *managedAddon, f found, c Component, places []Place) map[string]string {
	set := map[string]string{}
	values, err := parseValues(m.values)
	for _, container := range podenv.Containers(&f.template) {
		for _, name := range VariableNames() {
			_, times := container.Lookup(name)
			if times == 0 || !f.Takes(container.Name) || m.recorded.sets(c.Name, name) {
				continue
			}
			owners := slices.DeleteFunc(f.owners.Of(podenv.EnvPath(f.ref.Kind.Kind, container, name)), func(o string) bool { return o == Manager || o == eksManager })
			inValues := err == nil && slices.ContainsFunc(places, func(q Place) bool {
				return c.reaches(q) && (values.names(Addition{q.Pointer + "/-", map[string]any{"name": name}}) || values.names(Addition{q.Pointer + "/" + name, ""}))
			})
			byEKS := slices.Contains(f.owners.Of(podenv.EnvPath(f.ref.Kind.Kind, container, name)), eksManager)
			switch {
			case len(owners) > 0:
				set[name] = Left{container.Name, name, owners, times}.String()
			case byEKS && !inValues:
				set[name] = fmt.Sprintf("%s in container %s is set by the add-on itself and left as it is", name, container.Name)
			}
		}
	}
	return set
}

// noteLeft says which names of the user's were left as they are.
func (m *managedAddon) noteLeft(left []Addition) {
	values, err := parseValues(m.values)
	for _, a := range left {
		if err == nil && !values.has(a) {
			m.note("%s at %s of the configuration of the add-on %s is set by others and left as it is", a.name(), a.container(), m.name)
		}
	}
}
