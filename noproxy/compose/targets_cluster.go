package compose

import (
	"net/url"
	"slices"

	"github.com/eksproxy/eksproxy/facts"
	"github.com/eksproxy/eksproxy/noproxy"
)

// ClusterTargets are Targets, where names that the values list for an endpoint
// are meant to go direct, and more that must not: no endpoint of the VPC serves
// them, and an entry that is too wide takes them along.
func ClusterTargets(c facts.Cluster, values ...noproxy.List) []Target {
	t := targetList{}
	for _, target := range Targets(c.Network, values...) {
		t.add(target.Name, target.URL, target.Direct || slices.ContainsFunc(values, func(l noproxy.List) bool { return served(l, target.URL) }))
	}
	region := c.Region
	if region == "" {
		region = "us-east-1"
	}
	other := "us-west-2"
	if region == other {
		other = "us-east-2"
	}
	classic, dualStack := noproxy.AWSDomains(region)
	t.add("an issuer of IRSA, dual-stack", "https://oidc-eks."+region+"."+dualStack+"/id/EXAMPLE", false)
	t.add("a bucket of another region", "https://bucket.s3."+other+"."+classic+"/key", false)
	t.add("a registry of another region", "https://123456789012.dkr.ecr."+other+"."+classic+"/v2/", false)
	t.add("a public load balancer", "https://lb-0123456789."+region+".elb."+classic+"/", false)
	return t.list
}

// served says whether an entry for an endpoint takes the URL's host.
func served(l noproxy.List, text string) bool {
	u, err := url.Parse(text)
	return err == nil && slices.ContainsFunc(l, func(e noproxy.Entry) bool {
		return e.Group == noproxy.AWS && covers(e.Text, u.Hostname())
	})
}
