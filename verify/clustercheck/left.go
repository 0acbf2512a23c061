package clustercheck

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/eksproxy/eksproxy/addons"
	"github.com/eksproxy/eksproxy/facts"
	"github.com/eksproxy/eksproxy/internal/kube"
	"github.com/eksproxy/eksproxy/noproxy"
	"github.com/eksproxy/eksproxy/verify"
)

// kubeProxyRef names kube-proxy.
func kubeProxyRef() kube.Ref {
	return kube.Ref{Kind: kube.DaemonSet(), Namespace: addons.Namespace, Name: "kube-proxy"}
}

// kubeProxy demands that kube-proxy goes past the proxy to the cluster's
// endpoint, which is all that it calls.
func (s *subject) kubeProxy(ctx context.Context) []verify.Finding {
	w, err := s.find(ctx, kubeProxyRef())
	if err != nil {
		return one(cannot(kubeProxyRef().String(), err))
	}
	if w == nil {
		return skip("there is no %s", kubeProxyRef())
	}
	for _, c := range w.containers() {
		env := map[string]variable{}
		for _, name := range addons.VariableNames() {
			if env[name], err = s.variable(ctx, w.ref.Namespace, c, name); err != nil {
				return one(cannot(w.ref.String(), err))
			}
		}
		// kube-proxy is a Go program: upper case comes first.
		proxied := env["HTTPS_PROXY"].set || env["https_proxy"].set
		list := env["NO_PROXY"]
		if list.value == "" {
			list = env["no_proxy"]
		}
		host := s.o.Cluster.EndpointHost
		switch {
		case !proxied || list.hidden:
		case list.ours && list.value == "": // the ConfigMap or its key is missing, which is said
		case host == "":
			return skip("the host of the cluster's endpoint is unknown: give --cluster or --cluster-endpoint")
		case !addons.Direct(strings.TrimSpace(list.value), "https://"+inURL(host)+"/"):
			return one(fail(w.ref.String(), s.patch()+", with "+host+" in NO_PROXY; or take the variables out of kube-proxy, which does not need them",
				"container %s has a proxy, and its NO_PROXY does not cover the cluster's endpoint %s: it loses the API server, and services stop working", c.Name, host))
		}
	}
	return pass("it reaches the API server directly")
}

// leftAlone names who may need the proxy and has none of the variables: pods do
// not inherit those of their node (BL-018).
func (s *subject) leftAlone(ctx context.Context) []verify.Finding {
	all, err := s.workloads(ctx)
	if err != nil {
		return one(cannot("workloads of "+addons.Namespace, err))
	}
	var found []verify.Finding
	var unknown, idle []string
	for _, w := range all {
		has, err := s.hasAny(ctx, w)
		switch {
		case err != nil:
			found = append(found, cannot(w.ref.String(), err))
			continue
		case has || w.managed || s.wished(w.ref):
			continue
		}
		c, known := w.component()
		switch d := c.Decide(s.o.Cluster); {
		case !known:
			unknown = append(unknown, strings.ToLower(w.ref.Kind.Kind)+"/"+w.ref.Name)
		case d.Need == addons.Needs:
			found = append(found, warn(w.ref.String(), s.patch()+" --component "+c.Name, "it has none of the variables; %s", d.Why))
		default:
			idle = append(idle, w.ref.Name)
		}
	}
	found = append(found, s.leftElsewhere(ctx)...)
	if len(unknown) > 0 {
		slices.Sort(unknown)
		remedy := s.patch() + " --workload " + addons.Namespace + "/" + unknown[0]
		found = append(found, warn(addons.Namespace, remedy, "without any of the variables, and nobody knows here what they call: %s", strings.Join(unknown, ", ")))
	}
	return orPass(found, "without the variables are only those that need none: %s", strings.Join(idle, ", "))
}

// leftElsewhere looks at the known programs of other namespaces.
func (s *subject) leftElsewhere(ctx context.Context) []verify.Finding {
	var found []verify.Finding
	for _, c := range addons.Components() {
		d := c.Decide(s.o.Cluster)
		if c.Namespace == addons.Namespace || d.Need != addons.Needs || s.wished(c.Ref()) {
			continue
		}
		w, err := s.find(ctx, c.Ref())
		if err != nil {
			found = append(found, skipped(c.Ref().String(), "it may not be read: %v", err))
			continue
		}
		if w == nil || w.managed {
			continue
		}
		if has, err := s.hasAny(ctx, w); err == nil && !has {
			found = append(found, warn(w.ref.String(), s.patch()+" --component "+c.Name, "it has none of the variables; %s", d.Why))
		}
	}
	return found
}

// wished says whether another check demands the variables of a workload.
func (s *subject) wished(r kube.Ref) bool {
	return slices.ContainsFunc(s.wishes(), func(w wish) bool { return w.Ref == r })
}

// services are those of AWS that a cluster calls, by the names of their
// endpoints.
func services() []string {
	all := []string{"ecr.api", "ecr.dkr", "s3", "kms", "secretsmanager"}
	for _, c := range addons.Components() {
		for _, name := range c.Services {
			if !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	slices.Sort(all)
	return all
}

// awsServices looks for services that go neither through an endpoint nor through
// the proxy.
func (s *subject) awsServices(ctx context.Context) []verify.Finding {
	list, found := s.noProxy(ctx)
	known := s.o.Cluster
	switch {
	case found != nil:
		return found
	case known.Sources[facts.FieldVPCEndpoints] == "" && len(known.VPCEndpoints) == 0:
		return skip("the endpoints of the VPC are unknown: give --cluster or --facts")
	case known.Region == "" || known.DNSSuffix == "":
		return skip("the region is unknown, and with it the names of the services: give --region")
	}
	served := 0
	for _, service := range services() {
		for _, name := range known.NamesOf(facts.VPCEndpoint{Service: service, Type: "Interface"}) {
			host := strings.Replace(name, "*.", "example.", 1)
			entry, direct := directBy(list, "https://"+host+"/")
			if _, ok := known.EndpointFor(host); ok {
				served++
			} else if direct {
				found = append(found, fail(host, fmt.Sprintf("take %s out of noProxy.add, then %s; or make a usable endpoint for %s", entry, s.patch(), service),
					"%s in NO_PROXY sends %s past the proxy, and the VPC has no usable endpoint for it: its clients wait for a time-out", entry, service))
			}
		}
	}
	return orPass(found, "%d names have an endpoint, the others go through the proxy", served)
}

// directBy is the entry by which a program in Go goes past the proxy for a URL.
func directBy(list, url string) (entry string, direct bool) {
	target, err := noproxy.ParseTarget(url)
	client, ok := noproxy.FindClient("kubelet")
	if err != nil || !ok {
		return "", false
	}
	v := client.Prepare(noproxy.ValueEnvironment(list).WithProxies()).Decide(target)
	return v.Entry, v.Decision == noproxy.Direct
}

// addonHealth passes on what EKS says of conflicts: a hand edit of a field that
// EKS owns stops the add-on's updates (BL-051).
func (s *subject) addonHealth(context.Context) []verify.Finding {
	known := s.o.Cluster
	if known.Sources[facts.FieldAddons] == "" && len(known.Addons) == 0 {
		return skip("EKS was not asked about add-ons: give --cluster or --facts")
	}
	var found []verify.Finding
	for _, a := range known.Addons {
		for _, issue := range a.Issues {
			if strings.Contains(issue, "ConfigurationConflict") {
				found = append(found, warn("add-on "+a.Name, "aws eks update-addon --cluster-name "+cmp.Or(known.ClusterName, "CLUSTER")+" --addon-name "+a.Name+" --resolve-conflicts PRESERVE", "%s", issue))
			}
		}
	}
	return orPass(found, "no conflict in %d add-ons", len(known.Addons))
}
