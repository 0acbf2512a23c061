package clustercheck

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/eksproxy/eksproxy/addons"
	"github.com/eksproxy/eksproxy/internal/kube"
	"github.com/eksproxy/eksproxy/internal/podenv"
	"github.com/eksproxy/eksproxy/verify"
)

// wish is a workload that is to have the variables, and why.
type wish struct {
	addons.Target
	why string
}

// wishes are what the settings name, else what the published recipe patches and
// what needs the proxy in this cluster.
func (s *subject) wishes() []wish {
	var all []wish
	if s.o.Wanted != nil {
		for _, t := range s.o.Wanted.Targets {
			all = append(all, wish{t, "the settings name it"})
		}
		return all
	}
	for _, c := range addons.Components() {
		if d := c.Decide(s.o.Cluster); c.Recipe && d.Need == addons.Needs {
			all = append(all, wish{addons.Target{Ref: c.Ref(), Component: c.Name, Containers: c.Containers}, d.Why})
		}
	}
	return all
}

// carried demands the variables in the containers that call out. What eksproxy
// has patched is held against that elsewhere; here it is looked at for values of
// others that are wrong.
func (s *subject) carried(ctx context.Context) []verify.Finding {
	var found []verify.Finding
	var good, missing []string
	seen := map[kube.Ref]bool{}
	for _, t := range s.wishes() {
		seen[t.Ref] = true
		w, err := s.find(ctx, t.Ref)
		switch {
		case err != nil:
			found = append(found, cannot(t.Ref.String(), err))
		case w == nil && t.Named:
			found = append(found, fail(t.Ref.String(), "take it out of --component and --workload", "the settings name it and it is not in this cluster"))
		case w == nil:
			missing = append(missing, t.Ref.String())
		default:
			more := s.carries(ctx, w, t)
			if len(more) == 0 {
				good = append(good, w.ref.Name)
			}
			found = append(found, more...)
		}
	}
	beside, more := s.carriedBeside(ctx, seen)
	good, found = append(good, beside...), append(found, more...)
	if len(missing) > 0 && len(found)+len(good) == 0 {
		return skip("%s", s.absent(missing))
	}
	return orPass(found, "%s", strings.TrimPrefix(strings.Join(good, ", ")+note(missing), "; "))
}

func note(missing []string) string {
	if len(missing) == 0 {
		return ""
	}
	return "; not in this cluster: " + strings.Join(missing, ", ")
}

func (s *subject) absent(missing []string) string {
	if s.o.Cluster.AutoMode {
		return "EKS Auto Mode runs the nodes: the network's add-ons are in their image"
	}
	return "not in this cluster: " + strings.Join(missing, ", ")
}

// carriedBeside looks at the other workloads that eksproxy has patched.
func (s *subject) carriedBeside(ctx context.Context, seen map[kube.Ref]bool) (good []string, found []verify.Finding) {
	all, found := s.managed(ctx)
	for _, w := range all {
		if seen[w.ref] {
			continue
		}
		c, _ := w.component()
		more := s.carries(ctx, w, wish{Target: addons.Target{Ref: w.ref, Component: c.Name, Containers: c.Containers}})
		if len(more) == 0 {
			good = append(good, w.ref.Name)
		}
		found = append(found, more...)
	}
	return good, found
}

// managed are the workloads with the label of eksproxy, wherever they are; found
// says which could not be read.
func (s *subject) managed(ctx context.Context) (all []*workload, found []verify.Finding) {
	own, err := s.workloads(ctx)
	if err != nil {
		found = append(found, cannot("workloads of "+addons.Namespace, err))
	}
	for _, w := range own {
		if w.managed {
			all = append(all, w)
		}
	}
	more, err := s.elsewhere(ctx)
	if err != nil {
		f := cannot("workloads outside of "+addons.Namespace, err)
		f.Status = verify.Skip // these rights are for one namespace; what is there is judged
		f.Remedy = ""
		found = append(found, f)
	}
	return append(all, more...), found
}

// carries looks at the containers of one workload.
func (s *subject) carries(ctx context.Context, w *workload, t wish) []verify.Finding {
	var found []verify.Finding
	for _, c := range w.containers() {
		if !t.Takes(c.Name) {
			continue
		}
		var gone, wrong []string
		for _, name := range addons.VariableNames() {
			v, err := s.variable(ctx, w.ref.Namespace, c, name)
			if err != nil {
				return one(cannot(w.ref.String(), err))
			}
			if !v.set {
				if !ownForm(w, c, name) {
					gone = append(gone, name)
				}
			} else if why := s.wrongFor(ctx, w, name, v); why != "" {
				wrong = append(wrong, fmt.Sprintf("%s, set by %s, %s", name, s.setter(w, c, name), why))
			}
		}
		if len(gone) > 0 && !w.managed {
			found = append(found, fail(w.ref.String(), s.patchFor(t), "container %s lacks %s; %s", c.Name, strings.Join(gone, ", "), t.why))
		}
		if len(wrong) > 0 {
			found = append(found, fail(w.ref.String(), "take the variable out there: eksproxy leaves it to who has set it; then "+s.patchFor(t), "container %s: %s", c.Name, strings.Join(wrong, "; ")))
		}
	}
	if !slices.ContainsFunc(w.containers(), func(c podenv.Container) bool { return t.Takes(c.Name) }) && !w.managed {
		found = append(found, fail(w.ref.String(), "eksproxy addons patch --skip "+t.Component, "it has none of the containers %s: it is another program of that name", strings.Join(t.Containers, ", ")))
	}
	return found
}

// patchFor is the command that gives a workload the variables.
func (s *subject) patchFor(t wish) string {
	switch {
	case s.o.Wanted != nil || t.Component == "aws-node" || t.Component == "kube-proxy":
		return s.patch()
	case t.Component != "":
		return s.patch() + " --component " + t.Component
	}
	return fmt.Sprintf("%s --workload %s/%s/%s", s.patch(), t.Ref.Namespace, strings.ToLower(t.Ref.Kind.Kind), t.Ref.Name)
}

// setter are the managers that own a variable.
func (s *subject) setter(w *workload, c podenv.Container, name string) string {
	owners := w.owners.Of(podenv.EnvPath(w.ref.Kind.Kind, c, name))
	if len(owners) == 0 {
		return "someone"
	}
	return strings.Join(owners, ", ")
}

// wrongFor says why a value that does not come from the ConfigMap of the settings
// is not as good as that; empty where it is. What kube-proxy needs in NO_PROXY is
// a check of its own.
func (s *subject) wrongFor(ctx context.Context, w *workload, name string, v variable) string {
	if v.ours || v.hidden {
		return ""
	}
	if why := wrongValue(name, v.value); why != "" {
		return "is wrong: " + why
	}
	data, found := s.values(ctx)
	if found != nil {
		return ""
	}
	if !isList(name) {
		if want := data[name]; want != "" && !strings.EqualFold(strings.TrimRight(withoutUserinfo(v.value), "/"), strings.TrimRight(withoutUserinfo(strings.TrimSpace(want)), "/")) {
			return "is " + withoutUserinfo(v.value) + ", not what the ConfigMap has"
		}
		return ""
	}
	return s.wrongList(ctx, w, v.value, data[name])
}

// wrongList says what another's list sends through the proxy that ours does not.
func (s *subject) wrongList(ctx context.Context, w *workload, list, ours string) string {
	urls := []string{"http://169.254.169.254/", "http://169.254.170.23/"}
	if addresses, err := s.serviceAddresses(ctx); err == nil {
		for _, addr := range addresses {
			urls = append(urls, "https://"+inURL(addr.String())+"/")
		}
	}
	if host := s.o.Cluster.EndpointHost; host != "" && w.ref != kubeProxyRef() {
		urls = append(urls, "https://"+inURL(host)+"/")
	}
	var lost []string
	for _, url := range urls {
		if addons.Direct(ours, url) && !addons.Direct(list, url) {
			lost = append(lost, url)
		}
	}
	if len(lost) == 0 {
		return ""
	}
	return "sends " + strings.Join(lost, ", ") + " through the proxy"
}

// twice warns of variables that are listed more than once in a container.
func (s *subject) twice(ctx context.Context) []verify.Finding {
	all, err := s.workloads(ctx)
	if err != nil {
		return one(cannot("workloads of "+addons.Namespace, err))
	}
	var found []verify.Finding
	for _, w := range all {
		for _, c := range w.containers() {
			for _, name := range addons.VariableNames() {
				if _, times := c.Lookup(name); times > 1 {
					remedy := fmt.Sprintf("kubectl -n %s edit %s %s, and take one of them out", w.ref.Namespace, strings.ToLower(w.ref.Kind.Kind), w.ref.Name)
					found = append(found, warn(w.ref.String(), remedy, "container %s lists %s %d times: the last one counts, and an apply of the list takes all away", c.Name, name, times))
				}
			}
		}
	}
	return orPass(found, "in %d workloads of %s", len(all), addons.Namespace)
}
