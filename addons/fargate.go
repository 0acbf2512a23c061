package addons

import (
	"fmt"
	"slices"
	"strings"

	"github.com/eksproxy/eksproxy/facts"
)

// mayRunOnFargate says whether a Fargate profile takes pods of a namespace, be it
// only some of them.
func (d Desired) mayRunOnFargate(namespace string) bool { return MayRunOnFargate(d.Cluster, namespace) }

// MayRunOnFargate says whether a Fargate profile has a selector for a namespace,
// whatever labels it wants of the pods there.
func MayRunOnFargate(c facts.Cluster, namespace string) bool {
	whole := facts.Cluster{}
	for _, p := range c.FargateProfiles {
		p.Selectors = slices.Clone(p.Selectors)
		for i := range p.Selectors {
			p.Selectors[i].Labels = nil
		}
		whole.FargateProfiles = append(whole.FargateProfiles, p)
	}
	_, ok := whole.ProfileFor(namespace, nil)
	return ok
}

// FargateServices are those that the host of a Fargate pod calls, by the name of
// their endpoint: for images, for logs and for its own identity. It reads no
// variable of a pod, and there is no way to give it a proxy (containers-roadmap
// issue 98).
func FargateServices() []string { return []string{"ecr.api", "ecr.dkr", "s3", "logs", "sts"} }

// MissingForFargate are those of FargateServices without a usable endpoint. It is
// not known where nobody told the endpoints.
func MissingForFargate(c facts.Cluster) (missing []string, known bool) {
	for _, s := range FargateServices() {
		if _, ok := c.ServiceReachable(s); !ok {
			missing = append(missing, s)
		}
	}
	return missing, len(c.VPCEndpoints) > 0 || c.Sources[facts.FieldVPCEndpoints] != ""
}

// noteFargate lists the namespaces that are not patched, with what would happen,
// and what no variable of a pod can do.
func (p *planner) noteFargate(all []*space) {
	onFargate := false
	for _, s := range all {
		onFargate = onFargate || len(s.profiles) > 0
		if s.chosen || len(s.refs) == 0 {
			continue
		}
		var names []string
		for _, r := range s.refs {
			names = append(names, r.Kind.Kind+" "+r.Name)
		}
		p.out.note("namespace %s is not patched: the Fargate profile %s takes %s. --fargate-namespaces %s, the label %s=%s or --fargate=patch would make the ConfigMap there, set the variables in these, and roll %d pods",
			s.name, strings.Join(s.profiles, ", "), fewNames(names), s.name, LabelInject, InjectEnabled, s.pods)
	}
	known := len(p.want.Cluster.FargateProfiles) > 0
	if onFargate || !known && len(p.want.Options.FargateNamespaces) > 0 {
		p.out.note("%s", fargateLimits(p.want.Cluster))
	}
}

// fargateLimits says what the environment of pods cannot do on Fargate.
func fargateLimits(c facts.Cluster) string {
	text := "on Fargate, image pulls, the built-in log router and the kubelet read no variable of a pod and cannot be given a proxy: the VPC needs endpoints for " +
		strings.Join(FargateServices(), ", ")
	switch missing, known := MissingForFargate(c); {
	case !known:
		return text + "; which of them it has is not known: give --cluster NAME or --facts FILE"
	case len(missing) > 0:
		return text + "; missing: " + strings.Join(missing, ", ")
	}
	return fmt.Sprintf("%s; it has all %d", text, len(FargateServices()))
}
