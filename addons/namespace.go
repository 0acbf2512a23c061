package addons

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/eksproxy/eksproxy/facts"
	"github.com/eksproxy/eksproxy/internal/kube"
)

// FargateMode says which workload namespaces are patched.
type FargateMode string

// The modes. An empty one is FargateNamed.
const (
	// FargateNamed takes the namespaces that are named or labelled, and lists
	// those with workloads that a Fargate profile takes.
	FargateNamed FargateMode = "named"
	// FargatePatch takes the workloads of all three.
	FargatePatch FargateMode = "patch"
	// FargateOff takes none, and lists none.
	FargateOff FargateMode = "off"
)

// A namespace with this label is a workload namespace.
const (
	LabelInject   = "eksproxy.dev/inject"
	InjectEnabled = "enabled"
)

// checkNamespaces finds options that contradict each other, or the facts.
func (o Options) checkNamespaces(c facts.Cluster) error {
	known := len(c.FargateProfiles) > 0 || c.Sources[facts.FieldFargateProfiles] != ""
	switch {
	case !slices.Contains([]FargateMode{"", FargateNamed, FargatePatch, FargateOff}, o.Fargate):
		return fmt.Errorf("%q is not known for --fargate; allowed: named, patch, off", o.Fargate)
	case o.Fargate == FargateOff && len(o.FargateNamespaces) > 0:
		return errors.New("--fargate=off patches no workload namespace, and --fargate-namespaces names some: give one of them")
	case slices.Contains(o.FargateNamespaces, Namespace):
		return errors.New(Namespace + " is no workload namespace: its add-ons are patched by themselves, others there by --component and --workload")
	case slices.Contains(o.FargateNamespaces, ""):
		return errors.New("--fargate-namespaces is empty; give the NAME of a namespace")
	case o.Fargate == FargatePatch && !known:
		return errors.New("--fargate=patch needs the cluster's Fargate profiles, and they are unknown; give --cluster NAME, or --facts FILE with them")
	}
	return nil
}

// space is a workload namespace.
type space struct {
	name string
	// chosen says that it is patched, else it is listed; by says why, as in
	// "named by --fargate-namespaces".
	chosen bool
	by     string
	// taken says that only what a Fargate profile takes is meant.
	taken bool
	// sub plans its workloads; what it plans is put behind what others plan.
	sub *planner
	// profiles are the names of those that take a workload of it.
	profiles []string
	// refs, and their pods, are what would be patched where it is only listed.
	refs []kube.Ref
	pods int64
	// rolling counts the changes that roll pods.
	rolling int
	// left are objects that are reported, by what is said of them.
	left map[string][]string
	// owners are those of objects that were reported.
	owners []string
}

// report notes an object that is not patched.
func (s *space) report(why, what string) {
	if s.left == nil {
		s.left = map[string][]string{}
	}
	s.left[why] = append(s.left[why], what)
}

// notes says what is left alone.
func (s *space) notes() {
	for _, why := range slices.Sorted(maps.Keys(s.left)) {
		s.sub.out.note("namespace %s: not patched: %s: %s", s.name, fewNames(s.left[why]), why)
	}
}

// fewNames are the first names of a list, and how many more there are.
func fewNames(names []string) string {
	const most = 8
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// spaces are the workload namespaces of the cluster, in the order of their names.
func (p *planner) spaces(ctx context.Context) ([]*space, error) {
	var all []*space
	o := p.want.Options
	missing := slices.Clone(o.FargateNamespaces)
	err := p.client.List(ctx, kube.Namespace(), "", metav1.ListOptions{}, func(live *unstructured.Unstructured) error {
		name := live.GetName()
		missing = slices.DeleteFunc(missing, func(m string) bool { return m == name })
		s := &space{name: name, chosen: true}
		switch {
		case name == Namespace: // what is there are the add-ons
			return nil
		case slices.Contains(o.FargateNamespaces, name):
			s.by = "named by --fargate-namespaces"
		case live.GetLabels()[LabelInject] == InjectEnabled:
			s.by = "labelled " + LabelInject + "=" + InjectEnabled
		case p.want.mayRunOnFargate(name):
			s.chosen, s.taken, s.by = o.Fargate == FargatePatch, true, "found by Fargate profiles"
		default:
			return nil
		}
		if phase, _, _ := unstructured.NestedString(live.Object, "status", "phase"); phase == string(corev1.NamespaceTerminating) {
			p.out.note("namespace %s is being deleted and is left alone", name)
			return nil
		}
		s.sub = &planner{client: p.client, want: p.want, roll: p.roll, out: &Prepared{}, revision: p.revision, listed: p.listed, texts: p.texts}
		all = append(all, s)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("%w; --fargate=off looks for no workload namespace", err)
	}
	if len(missing) > 0 {
		return nil, optionf("the namespace %s is not in this cluster; take it out of --fargate-namespaces", strings.Join(missing, ", "))
	}
	slices.SortFunc(all, func(a, b *space) int { return strings.Compare(a.name, b.name) })
	return all, nil
}

// wide is the number of namespaces from which on lists are made of the whole
// cluster: fewer requests, and more than a role of one namespace allows.
const wide = 16

// places are the namespaces whose lists are asked for; "" is the whole cluster.
func places(all []*space) []string {
	if len(all) > wide {
		return []string{""}
	}
	var names []string
	for _, s := range all {
		names = append(names, s.name)
	}
	return names
}

// each lists a kind in the namespaces, page after page.
func (p *planner) each(ctx context.Context, all []*space, k kube.Kind, o metav1.ListOptions, each func(*space, *unstructured.Unstructured) error) error {
	byName := map[string]*space{}
	for _, s := range all {
		byName[s.name] = s
	}
	for _, place := range places(all) {
		err := p.client.List(ctx, k, place, o, func(live *unstructured.Unstructured) error {
			s := byName[live.GetNamespace()]
			if s == nil {
				return nil
			}
			live.SetKind(k.Kind) // items of a list may come without
			return each(s, live)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
