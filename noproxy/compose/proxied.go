package compose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/eksproxy/eksproxy/facts"
	"github.com/eksproxy/eksproxy/noproxy"
)

// Proxied is a service of AWS that programs ask through the proxy, and why.
type Proxied struct {
	// Service is the name that facts.VPCEndpoint has.
	Service string `json:"service"`
	Why     string `json:"why"`
}

// wanted are the services that an EKS cluster calls, and in their last line
// those that many do: what AWS's guide for private clusters, the blueprints of
// EKS and Karpenter want endpoints for.
func wanted() []string {
	return []string{
		"ec2", "ecr.api", "ecr.dkr", "s3", "sts", "eks", "eks-auth", "logs", "elasticloadbalancing", "autoscaling",
		"ssm", "ssmmessages", "ec2messages", "xray", "sqs", "kms", "secretsmanager",
		"monitoring", "elasticfilesystem", "fsx", "aps-workspaces", "events",
	}
}

// tellProxied lists the services without a usable endpoint, and warns of those
// that the user's own entries send past the proxy all the same.
func (r *Result) tellProxied(c facts.Cluster, o Options) {
	if c.Sources[facts.FieldVPCEndpoints] == "" && len(c.VPCEndpoints) == 0 {
		r.warn("the VPC's endpoints are unknown: no name of an AWS service is in NO_PROXY, and all are asked through the proxy; " +
			"name the cluster (--cluster), or add the exact hosts that have an endpoint (noProxy.add)")
		r.warnOfWide(o)
		return
	}
	for service, endpoints := range byService(c) {
		r.Proxied = append(r.Proxied, whyProxied(c, service, endpoints)...)
	}
	r.tellTooWide(c)
	slices.SortFunc(r.Proxied, func(a, b Proxied) int {
		return cmp.Or(cmp.Compare(a.Service, b.Service), cmp.Compare(a.Why, b.Why))
	})
	r.Proxied = slices.Compact(r.Proxied)
	r.warnOfAdded(c, o)
}

// tellTooWide lists the names that awsNames left out and the user did not add.
func (r *Result) tellTooWide(c facts.Cluster) {
	for _, name := range servedNames(c) {
		entries, err := name.entries(c)
		added := func(e noproxy.Entry) bool { return covers(e.Text, hostOf(name.text)) }
		if err != nil || slices.ContainsFunc(r.Entries, added) {
			continue
		}
		if why := tooWide(entries[0].Text); why != "" {
			r.Proxied = append(r.Proxied, Proxied{oneWord(name.by.Service), "as " + name.text + ", which is left out of NO_PROXY: " + why})
		}
	}
}

// byService are the endpoints by service; a wanted one without any has none.
// Services of other companies have no usual names that one could ask for.
func byService(c facts.Cluster) map[string][]facts.VPCEndpoint {
	found := map[string][]facts.VPCEndpoint{}
	for _, service := range wanted() {
		found[service] = nil
	}
	for _, e := range c.VPCEndpoints {
		if service := oneWord(e.Service); !strings.Contains(service, "vpce-svc-") {
			found[service] = append(found[service], e)
		}
	}
	return found
}

// whyProxied says what of a service is asked through the proxy.
func whyProxied(c facts.Cluster, service string, endpoints []facts.VPCEndpoint) []Proxied {
	var whys []string
	var proxied []Proxied
	usable := false
	for _, e := range endpoints {
		if !e.Usable() {
			whys = append(whys, unusable(e))
			continue
		}
		usable = true
		switch {
		case len(c.NamesOf(e)) == 0:
			proxied = append(proxied, Proxied{service, fmt.Sprintf("the names that %s answers to are unknown; add them (noProxy.add)", oneWord(e.ID))})
		case e.Type == "Gateway":
			proxied = append(proxied, Proxied{service, fmt.Sprintf("in other regions: %s serves %s alone", oneWord(e.ID), cmp.Or(c.Region, "the VPC's region"))})
		}
	}
	if usable {
		return proxied
	}
	slices.Sort(whys)
	return []Proxied{{service, cmp.Or(strings.Join(whys, "; "), "the VPC has no endpoint for it")}}
}

// unusable says why an endpoint does not serve the service's usual names.
func unusable(e facts.VPCEndpoint) string {
	id := oneWord(e.ID)
	switch {
	case e.State != "available":
		return fmt.Sprintf("%s is not available but %s", id, noproxy.Quote(e.State))
	case e.Type == "Interface":
		return fmt.Sprintf("private DNS of %s is off, so the usual names are public addresses", id)
	default:
		return fmt.Sprintf("%s is of type %s, which has no names", id, noproxy.Quote(e.Type))
	}
}

// warnOfAdded takes what the user sends past the proxy out of Proxied, and says
// what comes of it (BL-016): where the nodes have a NAT gateway it is right.
func (r *Result) warnOfAdded(c facts.Cluster, o Options) {
	for _, a := range o.Add {
		texts, err := noproxy.ParseAddition(a.Text)
		if err != nil || !r.Entries.Contains(texts[0]) {
			continue
		}
		var services []string
		r.Proxied = slices.DeleteFunc(r.Proxied, func(p Proxied) bool {
			if _, ok := c.ServiceReachable(p.Service); ok || !sendsDirect(c, texts, p.Service) {
				return false
			}
			services = append(services, p.Service)
			return true
		})
		if len(services) > 0 {
			r.warn("%s (%s) sends %s direct, and the VPC has no usable endpoint for it: without a NAT gateway its clients wait for a time-out",
				texts[0], a.Source, strings.Join(services, ", "))
		}
	}
}

// sendsDirect says whether an addition covers a service's usual names.
func sendsDirect(c facts.Cluster, texts []string, service string) bool {
	return slices.ContainsFunc(c.NamesOf(facts.VPCEndpoint{Service: service}), func(name string) bool {
		return slices.ContainsFunc(texts, func(text string) bool { return covers(text, hostOf(name)) })
	})
}

// warnOfWide is for clusters of whose endpoints nothing is known.
func (r *Result) warnOfWide(o Options) {
	for _, a := range o.Add {
		texts, err := noproxy.ParseAddition(a.Text)
		if err != nil || !r.Entries.Contains(texts[0]) {
			continue
		}
		if why := tooWide(texts[len(texts)-1]); why != "" {
			r.warn("%s (%s) is wide: %s", texts[0], a.Source, why)
		}
	}
}

// covers says whether an entry takes a host, in the clients that read most into
// it: a bare name takes the hosts below it too.
func covers(text, host string) bool {
	bare := bareName(text)
	return isIn(strings.ToLower(host), strings.ToLower(bare)) && (bare == text || !strings.EqualFold(bare, host))
}

// hostOf is a host that a DNS name stands for.
func hostOf(name string) string {
	if rest, ok := strings.CutPrefix(name, "*."); ok {
		return "example." + rest
	}
	return name
}
