package clustercheck

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/eksproxy/eksproxy/addons"
	"github.com/eksproxy/eksproxy/facts"
	"github.com/eksproxy/eksproxy/internal/podenv"
	"github.com/eksproxy/eksproxy/noproxy"
	"github.com/eksproxy/eksproxy/verify"
)

// addonUpdates passes on what EKS says of updates: after a failed one nobody knows
// which pods have which settings.
func (s *subject) addonUpdates(ctx context.Context) []verify.Finding {
	if found := s.asked(); found != nil {
		return found
	}
	recorded, _ := s.records(ctx)
	var found []verify.Finding
	for _, a := range s.o.Cluster.Addons {
		carries := slices.ContainsFunc(recorded, func(r addons.Recorded) bool { return r.Addon == a.Name })
		says := a.Status
		if len(a.Issues) > 0 {
			says += ": " + strings.Join(a.Issues, "; ")
		}
		remedy := "aws eks describe-addon --cluster-name " + cmp.Or(s.o.Cluster.ClusterName, "CLUSTER") + " --addon-name " + a.Name
		switch a.Status {
		case "CREATE_FAILED", "UPDATE_FAILED", "DELETE_FAILED", "DEGRADED":
			if carries {
				found = append(found, fail(target(a.Name), remedy+"; then "+s.patch(), "it carries the settings, and EKS says %s", says))
			} else if callsAWS(a.Name) && !onlyConflicts(a) {
				found = append(found, warn(target(a.Name), remedy, "EKS says %s", says))
			}
		case "UPDATING":
			if carries {
				found = append(found, warn(target(a.Name), remedy, "it carries the settings, and is being updated: run this again"))
			}
		}
	}
	return orPass(found, "%d add-ons", len(s.o.Cluster.Addons))
}

// callsAWS says whether a component of an add-on calls AWS or the internet.
func callsAWS(addon string) bool {
	return slices.ContainsFunc(addons.Components(), func(c addons.Component) bool { return c.Addon == addon && c.Rule == addons.Calls })
}

// onlyConflicts says that all that is wrong with an add-on is what the check of
// its health says.
func onlyConflicts(a facts.Addon) bool {
	return len(a.Issues) > 0 && !slices.ContainsFunc(a.Issues, func(text string) bool { return !strings.Contains(text, "ConfigurationConflict") })
}

// valueOf is what an add-on's configuration gives a component.
type valueOf struct {
	addons.InValues
	workload *workload
	// own are the containers in which eksproxy itself owns the variable.
	own []podenv.Container
}

// givenValues are the variables in the configuration of all add-ons, with the
// workloads that are there to take them.
func (s *subject) givenValues(ctx context.Context) (all []valueOf, found []verify.Finding) {
	for _, c := range addons.Components() {
		a, ok := s.configuration(c.Addon)
		if !ok {
			continue
		}
		w, err := s.find(ctx, c.Ref())
		if err != nil {
			found = append(found, cannot(c.Ref().String(), err))
			continue
		}
		if w == nil {
			continue
		}
		for _, v := range addons.FindInValues(a.Configuration) {
			if c.Takes(v) {
				all = append(all, valueOf{v, w, s.owned(w, v.Variable)})
			}
		}
	}
	return all, found
}

// owned are the containers in which eksproxy owns a variable.
func (s *subject) owned(w *workload, name string) []podenv.Container {
	return slices.DeleteFunc(targetContainers(w), func(c podenv.Container) bool {
		return name == "" || !w.owners.Applied(addons.Manager, podenv.EnvPath(w.ref.Kind.Kind, c, name))
	})
}

// oneRoute looks for variables that both the add-on's configuration and eksproxy's
// own fields set: the next update with OVERWRITE takes the other one.
func (s *subject) oneRoute(ctx context.Context) []verify.Finding {
	if found := s.asked(); found != nil {
		return found
	}
	all, found := s.givenValues(ctx)
	data, _ := s.values(ctx)
	for _, v := range all {
		for _, c := range v.own {
			live, err := s.variable(ctx, v.workload.ref.Namespace, c, v.Variable)
			if err != nil {
				return one(cannot(v.workload.ref.String(), err))
			}
			given := v.Value
			if v.Reference {
				given = data[v.Variable]
			}
			text := "%s in container %s is eksproxy's, and the add-on's configuration sets it at %s"
			if same := live.hidden || sameValue(v.Variable, given, live.value); same {
				found = append(found, warn(v.workload.ref.String(), s.patch()+" leaves one of them", text+" too", v.Variable, c.Name, v.Pointer))
				continue
			}
			found = append(found, fail(v.workload.ref.String(), "take it out of the configuration values; or "+s.patch(),
				text+" to %s: the next update can put that in its place", v.Variable, c.Name, v.Pointer, noproxy.Quote(withoutUserinfo(given))))
		}
	}
	return orPass(found, "%d variables in configuration values", len(all))
}

// sameValue compares two values of a variable: of lists the entries.
func sameValue(name, a, b string) bool {
	if isList(name) {
		x, y := entries(a), entries(b)
		slices.Sort(x)
		slices.Sort(y)
		return slices.Equal(x, y)
	}
	trim := func(text string) string { return strings.TrimRight(withoutUserinfo(strings.TrimSpace(text)), "/") }
	return strings.EqualFold(trim(a), trim(b))
}

// valuesCurrent holds texts in configuration values, and the hash that a record
// has, against the ConfigMap.
func (s *subject) valuesCurrent(ctx context.Context) []verify.Finding {
	data, found := s.values(ctx)
	if found != nil {
		return found
	}
	hash := ""
	if live, err := s.world.get(ctx, settingsRef()); err == nil && live != nil {
		hash = live.GetAnnotations()[addons.AnnotationHash]
	}
	recorded, _ := s.records(ctx)
	for _, r := range recorded {
		if r.SettingsHash != "" && hash != "" && r.SettingsHash != hash {
			found = append(found, fail(target(r.Addon), s.patch(), "its configuration has the settings %s, and the ConfigMap %s", noproxy.Quote(r.SettingsHash), noproxy.Quote(hash)))
		}
	}
	all, more := s.givenValues(ctx)
	found = append(found, more...)
	texts := 0
	for _, v := range all {
		if v.Reference || len(v.own) > 0 || data[v.Variable] == "" {
			continue // the other checks look at those
		}
		texts++
		if why := s.otherValue(ctx, v, data[v.Variable]); why != "" {
			c, _ := v.workload.component()
			found = append(found, fail(target(c.Addon), s.patch()+"; where somebody else has written it: change it there", "%s for %s %s", v.Pointer, v.workload.ref, why))
		}
	}
	if len(recorded)+len(all)+len(found) == 0 {
		return skip("no configuration of an EKS add-on is known to have the settings")
	}
	return orPass(found, "%d add-ons, %d texts", len(recorded), texts)
}

// otherValue says in what a text is otherwise than the ConfigMap. A list of others
// may have more.
func (s *subject) otherValue(ctx context.Context, v valueOf, ours string) string {
	switch {
	case sameValue(v.Variable, v.Value, ours):
		return ""
	case isList(v.Variable):
		return s.wrongList(ctx, v.workload, v.Value, ours)
	}
	return "is " + noproxy.Quote(withoutUserinfo(v.Value)) + ", not what the ConfigMap has"
}

// valuesOpen looks for passwords in configuration values. It shows none of them.
func (s *subject) valuesOpen(context.Context) []verify.Finding {
	if found := s.asked(); found != nil {
		return found
	}
	var found []verify.Finding
	for _, a := range s.o.Cluster.Addons {
		for _, v := range addons.FindInValues(a.Configuration) {
			if hasUserinfo(v.Variable, v.Value) {
				found = append(found, fail(target(a.Name), "take it out of the configuration values; then change the password, which has been readable, and "+s.patch()+" --create-secret --credentials-file FILE",
					"%s: the URL carries a user or a password, and configuration values are readable for everyone who may look", v.Pointer))
			}
		}
	}
	return orPass(found, "none in the configuration of %d add-ons", len(s.o.Cluster.Addons))
}
