package clustercheck

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/eksproxy/eksproxy/addons"
	"github.com/eksproxy/eksproxy/facts"
	"github.com/eksproxy/eksproxy/internal/kube"
	"github.com/eksproxy/eksproxy/internal/podenv"
	"github.com/eksproxy/eksproxy/noproxy"
	"github.com/eksproxy/eksproxy/verify"
)

// idRecord is the check that other findings of EKS add-ons name.
const idRecord = "CLUSTER040"

// specsOfManaged look at add-ons that are configured through EKS.
func specsOfManaged() []spec {
	return []spec{
		{idRecord, "record of EKS add-ons", "kube-system/eksproxy-managed-addons cannot be read, is of another cluster, or is of an add-on that EKS no longer has: revert does not know what in the configuration is eksproxy's", "restore the ConfigMap; or take eksproxy's values out of the add-on's configuration, and delete its key", (*subject).recordSound},
		{"CLUSTER041", "EKS add-ons have what was put there", "what eksproxy has put into an add-on's configuration values is gone, or did not come to the component's container", patchCommand, (*subject).valuesKept},
		{"CLUSTER042", "updates of EKS add-ons", "the update of an add-on that carries the settings failed, or the add-on is degraded; of other add-ons that call AWS it warns", "aws eks describe-addon --cluster-name CLUSTER --addon-name NAME", (*subject).addonUpdates},
		{"CLUSTER043", "one route a component", "the configuration of an EKS add-on and eksproxy's own fields in the cluster give a variable two values; where they are equal it warns", patchCommand, (*subject).oneRoute},
		{"CLUSTER044", "configuration as the ConfigMap says", "an add-on's configuration values have other settings than the ConfigMap", patchCommand, (*subject).valuesCurrent},
		{"CLUSTER045", "no credentials in configuration values", "a proxy's URL with a user or a password stands in an add-on's configuration values, where everyone who may look can read it", "take it out of the configuration values; then change the password", (*subject).valuesOpen},
		{"CLUSTER046", "the add-on's version takes the settings", "the schema of an add-on's version lacks the place that carries the settings, or refuses the values that are there: the next update takes the proxy away", "eksproxy addons plan --addon NAME=VERSION", (*subject).placeKept},
		{"CLUSTER047", "pods after the update of an EKS add-on", "a pod of a component that is configured through EKS has an older template than its workload", "kubectl -n NAMESPACE rollout status KIND/NAME", (*subject).managedPods},
	}
}

func recordRef() kube.Ref {
	return kube.Ref{Kind: kube.ConfigMap(), Namespace: addons.Namespace, Name: addons.RecordName}
}

// records are what is recorded and can be read; without any, found says why not.
func (s *subject) records(ctx context.Context) (good []addons.Recorded, found []verify.Finding) {
	live, err := s.world.get(ctx, recordRef())
	switch {
	case err != nil:
		return nil, skip("what is recorded of EKS add-ons was not read, see %s", idRecord)
	case live == nil:
		return nil, skip("eksproxy has put nothing into the configuration of EKS add-ons")
	}
	for _, r := range addons.ReadRecorded(live) {
		if r.Broken == nil {
			good = append(good, r)
		}
	}
	if len(good) == 0 {
		return nil, skip("nothing that is recorded of EKS add-ons can be read, see %s", idRecord)
	}
	return good, nil
}

// recordSound looks at the record itself.
func (s *subject) recordSound(ctx context.Context) []verify.Finding {
	live, err := s.world.get(ctx, recordRef())
	switch {
	case err != nil:
		return one(cannot(recordRef().String(), err))
	case live == nil:
		return skip("eksproxy has put nothing into the configuration of EKS add-ons")
	}
	var found []verify.Finding
	all := addons.ReadRecorded(live)
	for _, r := range all {
		if why := s.wrongRecord(r); why != "" {
			remedy := fmt.Sprintf("restore key %s; or take eksproxy's values out of the configuration of the add-on, delete the key, and %s", r.Addon, s.patch())
			found = append(found, fail(recordRef().String(), remedy, "key %s: %s", r.Addon, why))
		}
	}
	return orPass(found, "%d add-ons", len(all))
}

// wrongRecord says why a record is of no use; empty where it is good.
func (s *subject) wrongRecord(r addons.Recorded) string {
	known := s.o.Cluster
	switch {
	case r.Broken != nil:
		return "it cannot be read: " + r.Broken.Error()
	case len(r.Additions) == 0:
		return "it names nothing that was put into the configuration"
	case known.ClusterName != "" && r.Cluster != known.ClusterName:
		return fmt.Sprintf("it is of the EKS cluster %s, and this one is %s", noproxy.Quote(r.Cluster), known.ClusterName)
	case known.Sources[facts.FieldAddons] != "" && !slices.ContainsFunc(known.Addons, func(a facts.Addon) bool { return a.Name == r.Addon }):
		return "EKS no longer has this add-on"
	}
	return ""
}

// configuration is the EKS add-on as AWS told of it; false where it did not.
func (s *subject) configuration(name string) (facts.Addon, bool) {
	i := slices.IndexFunc(s.o.Cluster.Addons, func(a facts.Addon) bool { return a.Name == name })
	if i < 0 {
		return facts.Addon{}, false
	}
	return s.o.Cluster.Addons[i], true
}

// target names an add-on.
func target(addon string) string { return "add-on " + addon }

// recordedWorkloads are the workloads of a record's components that are there.
func (s *subject) recordedWorkloads(ctx context.Context, r addons.Recorded) (all []*workload, found []verify.Finding) {
	for _, name := range r.Components {
		c, err := addons.FindComponent(name)
		if err != nil {
			continue // a later eksproxy knows it
		}
		w, err := s.find(ctx, c.Ref())
		if err != nil {
			found = append(found, cannot(c.Ref().String(), err))
		} else if w != nil {
			all = append(all, w)
		}
	}
	return all, found
}

// targetContainers are the containers of a component that are to have variables.
func targetContainers(w *workload) []podenv.Container {
	c, _ := w.component()
	t := addons.Target{Ref: w.ref, Component: c.Name, Containers: c.Containers}
	return slices.DeleteFunc(slices.Clone(w.containers()), func(c podenv.Container) bool { return !t.Takes(c.Name) })
}

// valuesKept looks for what was put into the configuration, there and in the
// containers: whoever removes it in Terraform takes the proxy away.
func (s *subject) valuesKept(ctx context.Context) []verify.Finding {
	all, found := s.records(ctx)
	if found != nil {
		return found
	}
	for _, r := range all {
		if a, ok := s.configuration(r.Addon); ok {
			lost, err := r.Lost(a.Configuration)
			if err != nil {
				found = append(found, fail(target(r.Addon), "look at aws eks describe-addon", "%v", err))
				continue
			}
			if len(lost) > 0 {
				found = append(found, fail(target(r.Addon), s.patch()+"; where Terraform owns the add-on: eksproxy addons render --for terraform",
					"no longer in its configuration values as eksproxy has put it there: %s", few(pointers(lost))))
				continue
			}
		}
		workloads, more := s.recordedWorkloads(ctx, r)
		found = append(found, more...)
		for _, w := range workloads {
			found = append(found, s.arrived(w, r)...)
		}
	}
	return orPass(found, "%d add-ons", len(all))
}

func pointers(all []addons.Addition) []string {
	var texts []string
	for _, a := range all {
		if !slices.Contains(texts, a.String()) {
			texts = append(texts, a.String())
		}
	}
	return texts
}

// arrived demands the variables of a record in the containers of a component.
func (s *subject) arrived(w *workload, r addons.Recorded) []verify.Finding {
	var found []verify.Finding
	for _, c := range targetContainers(w) {
		if c.ReadsConfigMap(addons.ConfigMapName) {
			continue
		}
		var gone []string
		for _, name := range r.Variables() {
			if _, times := c.Lookup(name); times == 0 {
				gone = append(gone, name)
			}
		}
		if len(gone) > 0 {
			found = append(found, fail(w.ref.String(), "look at the updates of the add-on "+r.Addon+" (aws eks list-updates); then "+s.patch(),
				"container %s lacks %s, which the configuration of the add-on %s sets", c.Name, strings.Join(gone, ", "), r.Addon))
		}
	}
	return found
}

// ownForm says whether a component of an EKS add-on has a variable in the form of
// its own configuration: an object "proxy" sets the names in upper case alone.
func ownForm(w *workload, c podenv.Container, name string) bool {
	component, known := w.component()
	upper := strings.ToUpper(name)
	if _, times := c.Lookup(upper); !known || component.Addon == "" || upper == name || times == 0 {
		return false
	}
	return slices.Contains(w.owners.Of(podenv.EnvPath(w.ref.Kind.Kind, c, upper)), "eks")
}

// asked says that AWS was asked for add-ons; else it skips.
func (s *subject) asked() []verify.Finding {
	if s.o.Cluster.Sources[facts.FieldAddons] == "" && len(s.o.Cluster.Addons) == 0 {
		return skip("EKS was not asked about add-ons: give --cluster or --facts")
	}
	return nil
}
