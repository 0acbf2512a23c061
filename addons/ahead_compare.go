package addons

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/eksproxy/eksproxy/facts"
)

// The routes that have no place in the configuration values.
const (
	aheadInCluster = "in-cluster"
	aheadNone      = "none"
	aheadUnknown   = "unknown"
)

// routeAt is the word of a route by a place of the configuration.
func routeAt(pointer string) string { return RouteEKS + " " + pointer }

// compare holds an add-on as it is against the schema to come.
func (l *aheadLook) compare(ctx context.Context, a *AheadAddon, is facts.Addon, next *Schema) error {
	old, err := l.oldSchema(ctx, a, next)
	if err != nil {
		return err
	}
	if a.Refused, err = next.Refused(is.Configuration); err != nil {
		return optionf("add-on %s: %w", a.Name, err)
	}
	recorded := l.recorded[a.Name]
	for i, r := range a.Refused {
		a.Refused[i].Ours = slices.ContainsFunc(recorded.Additions, func(b Addition) bool { return within(b.container(), r.Pointer) || within(r.Pointer, b.container()) })
	}
	for _, c := range l.components(a.Name) {
		r, err := l.route(ctx, c, is, next)
		if err != nil {
			return err
		}
		a.Routes = append(a.Routes, r)
		a.claim(next.claims(c), old.claims(c))
	}
	if err := l.rolls(ctx, a); err != nil {
		return err
	}
	a.Outlook, a.Why = a.judge(next)
	return nil
}

// oldSchema is the schema of the installed version, that of the next one where
// they are the same; nil where there is none, or none that can be read.
func (l *aheadLook) oldSchema(ctx context.Context, a *AheadAddon, next *Schema) (*Schema, error) {
	switch a.Installed {
	case "":
		return nil, nil
	case a.Version:
		return next, nil
	}
	old, err := ReadSchema(ctx, l.Catalog, a.Name, a.Installed)
	if err != nil && (IsOption(err) || errors.Is(err, errSchema)) {
		l.note("the schema of the installed version is not compared: %v", err)
		return nil, nil
	}
	return old, err
}

// claim notes the names that a schema lists, and that it did not list before.
func (b *AheadAddon) claim(now, before []Claim) {
	for _, c := range now {
		same := func(d Claim) bool { return d.Pointer == c.Pointer }
		if !slices.ContainsFunc(before, same) && !slices.ContainsFunc(b.Claimed, same) {
			b.Claimed = append(b.Claimed, c)
		}
	}
}

// components are the components of an add-on that get the variables, or that need
// them where the add-on was named.
func (l *aheadLook) components(name string) []Component {
	var all []Component
	_, named := l.Versions[name]
	for _, c := range Components() {
		wanted := slices.ContainsFunc(l.want.Targets, func(t Target) bool { return t.Component == c.Name })
		if c.Addon == name && (wanted || slices.Contains(l.recorded[name].Components, c.Name) || named && c.Rule == Calls) {
			all = append(all, c)
		}
	}
	return all
}

// route says how a component gets the variables now, and by a patch after the
// update.
func (l *aheadLook) route(ctx context.Context, c Component, is facts.Addon, next *Schema) (AheadRoute, error) {
	r := AheadRoute{Component: c.Name, Now: aheadUnknown, Then: aheadInCluster}
	recorded := l.recorded[is.Name]
	if slices.Contains(recorded.Components, c.Name) {
		r.Now = routeAt(recorded.placeFor(c))
	} else if p := placeInValues(c, is.Configuration); p != "" {
		r.Now = routeAt(p)
	} else if l.Client != nil {
		live, err := l.Client.Get(ctx, c.Ref())
		switch {
		case err != nil:
			return r, err
		case live != nil && live.GetLabels()[LabelManaged] == "true":
			r.Now = aheadInCluster
		default:
			r.Now = aheadNone
		}
	}
	bare, err := withoutAdditions(is.Configuration, recorded)
	if err != nil {
		return r, optionf("add-on %s: %w", is.Name, err)
	}
	place, _, why := l.want.placeIn(next, c, bare)
	if why != "" {
		r.Why = why
		return r, nil
	}
	r.Then = routeAt(place.Pointer)
	return r, nil
}

// placeFor is the pointer of the place that a record's additions for a component
// stand in.
func (r managedRecord) placeFor(c Component) string {
	for _, a := range r.Additions {
		if !strings.HasSuffix(a.container(), "/podAnnotations") && c.reaches(placeAt(a.container())) {
			return a.container()
		}
	}
	return ""
}

// placeAt is a place of which only the pointer is known.
func placeAt(pointer string) Place {
	p := Place{Pointer: pointer}
	if strings.HasSuffix(pointer, "/proxy") {
		p.Form = FormProxy
	}
	return p
}

// placeInValues is the pointer at which values give a component a proxy, whoever
// wrote them; empty where they do not.
func placeInValues(c Component, values string) string {
	for _, f := range FindInValues(values) {
		if c.Takes(f) {
			return f.Place
		}
	}
	return ""
}

// withoutAdditions are values without what is recorded.
func withoutAdditions(values string, recorded managedRecord) (string, error) {
	after, _, _, err := edited(values, recorded, nil)
	return after, err
}

// placeIn finds the place of a schema that carries the settings to a component
// beside other values, and what goes there; why says why there is none.
func (d Desired) placeIn(s *Schema, c Component, values string) (p Place, additions []Addition, why string) {
	if s == nil {
		return p, nil, "this version takes no configuration values"
	}
	places := s.Places()
	refused := ""
	for {
		p, additions, why := carrier{d, ""}.choose(c, places, func(string) bool { return false })
		if why != "" {
			return p, nil, strings.TrimPrefix(refused+"; "+why, "; ")
		}
		after, _, _, err := edited(values, managedRecord{}, additions)
		if err == nil {
			before := s.Validate(values)
			if err = s.Validate(after); err == nil || before != nil {
				return p, additions, "" // values of others that are refused are said for themselves
			}
		}
		refused = fmt.Sprintf("the schema refuses what would stand at %s: %v", p.Pointer, err)
		places = slices.DeleteFunc(places, func(q Place) bool { return q.Pointer == p.Pointer })
	}
}

// rolls counts the pods that another version replaces.
func (l *aheadLook) rolls(ctx context.Context, a *AheadAddon) error {
	if l.Client == nil || a.Installed == a.Version {
		return nil
	}
	for _, c := range Components() {
		if c.Addon != a.Name {
			continue
		}
		w, err := lookUp(ctx, l.Client, c.Ref())
		if err != nil {
			return err
		}
		if w == nil {
			continue
		}
		if n := w.pods(); n > 0 {
			a.Rolls = append(a.Rolls, AheadRoll{c.Ref().String(), n})
		}
	}
	return nil
}
