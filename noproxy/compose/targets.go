package compose

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/eksproxy/eksproxy/facts"
	"github.com/eksproxy/eksproxy/noproxy"
)

// Target is a request that a value is tried on.
type Target struct {
	// Name is what it stands for, as in "instance metadata over IPv4".
	Name string `json:"name"`
	URL  string `json:"url"`
	// Direct says that a composed value means it to go direct.
	Direct bool `json:"direct"`
}

// Targets are the requests that matter on an EKS cluster: metadata, Pod
// Identity, the cluster's addresses and names, one address of each range, what
// the entries of the values are about, and what must go through the proxy. The
// region is that of the facts, else the one that the entries name.
func Targets(n facts.Network, values ...noproxy.List) []Target {
	t := targetList{}
	t.fixed()
	t.network(n)
	region := n.Region
	for _, l := range values {
		for _, e := range l {
			if region == "" {
				region = regionIn(e.Text)
			}
			t.entry(e)
		}
	}
	if region == "" {
		region = "us-east-1"
	}
	t.aws(region)
	t.controls(region)
	return t.list
}

// regionIn is the region that a text names; EC2's zone in us-east-1 names none.
func regionIn(text string) string {
	if strings.HasSuffix(strings.ToLower(text), "ec2.internal") {
		return "us-east-1"
	}
	return noproxy.RegionOf(text)
}

// targetList collects targets, each URL once.
type targetList struct {
	list []Target
	seen map[string]bool
}

func (t *targetList) add(name, url string, direct bool) {
	if t.seen == nil {
		t.seen = map[string]bool{}
	}
	if !t.seen[url] {
		t.seen[url] = true
		t.list = append(t.list, Target{name, url, direct})
	}
}

func (t *targetList) fixed() {
	t.add("the own host", "http://localhost/", true)
	t.add("the own host over IPv4", "http://127.0.0.1/", true)
	t.add("the own host over IPv6", "http://[::1]/", true)
	t.add("instance metadata over IPv4", "http://169.254.169.254/latest/meta-data/", true)
	t.add("instance metadata over IPv6", "http://[fd00:ec2::254]/latest/meta-data/", true)
	t.add("container credentials", "http://169.254.170.2/v2/credentials", true)
	t.add("Pod Identity over IPv4", "http://169.254.170.23/v1/credentials", true)
	t.add("Pod Identity over IPv6", "http://[fd00:ec2::23]/v1/credentials", true)
}

func (t *targetList) network(n facts.Network) {
	for _, p := range sorted(n.ServiceCIDRs) {
		t.address("the API server inside the cluster", "https", p.Masked().Addr().Next())
		t.address("a service in "+p.String(), "http", noproxy.AddressIn(p))
	}
	if n.ServiceAddress.IsValid() {
		t.address("the API server inside the cluster", "https", n.ServiceAddress)
	}
	for _, p := range sorted(n.VPCCIDRs) {
		t.address("a host in "+p.String(), "http", noproxy.AddressIn(p))
	}
	if n.EndpointHost != "" {
		t.add("the cluster's endpoint", "https://"+bracket(n.EndpointHost)+"/", true)
	}
	domain := strings.Trim(n.ClusterDomain, ".")
	if domain == "" {
		domain = "cluster.local"
	}
	t.add("a service by its short name", "https://kubernetes.default.svc/", true)
	t.add("a service by its full name", "http://web.default.svc."+domain+"/", true)
	switch {
	case n.Region == "us-east-1":
		t.add("a node by its EC2 name", "http://ip-10-0-1-5.ec2.internal:10250/", true)
	case n.Region != "":
		t.add("a node by its EC2 name", "http://ip-10-0-1-5."+n.Region+".compute.internal:10250/", true)
	}
}

func (t *targetList) address(name, scheme string, addr netip.Addr) {
	t.add(name, scheme+"://"+bracket(addr.WithZone("").Unmap().String())+"/", true)
}

// bracket writes an IPv6 address as a URL has it.
func bracket(host string) string {
	if strings.Contains(host, ":") && !strings.HasPrefix(host, "[") {
		return "[" + host + "]"
	}
	return host
}

// entry adds what an entry of a value is about.
func (t *targetList) entry(e noproxy.Entry) {
	text := e.Text
	if p, err := netip.ParsePrefix(text); err == nil {
		t.address("a host in "+text, "http", noproxy.AddressIn(p))
		return
	}
	if addr, err := netip.ParseAddr(strings.Trim(text, "[]")); err == nil {
		host := "//" + bracket(addr.String()) + "/"
		if !slices.ContainsFunc(t.list, func(other Target) bool { return strings.Contains(other.URL, host) }) {
			t.address("the listed address", "http", addr)
		}
		return
	}
	texts, err := noproxy.ParseAddition(text)
	switch {
	case err != nil: // what is no entry is for lint
	case len(texts) == 1:
		t.add("the listed host", "https://"+texts[0]+"/", true)
	default:
		t.add("a host in "+text, "https://www."+texts[0]+"/", true)
	}
}

// controls must go through the proxy: no endpoint of a VPC serves them.
func (t *targetList) controls(region string) {
	classic, _ := noproxy.AWSDomains(region)
	t.add("an issuer of IRSA", "https://oidc.eks."+region+"."+classic+"/id/EXAMPLE", false)
	t.add("the artifacts of hybrid nodes", "https://hybrid-assets.eks."+classic+"/", false)
	t.add("S3's global name", "https://bucket.s3."+classic+"/", false)
	t.add("ECR Public", "https://public.ecr.aws/v2/", false)
	t.add("a host of the internet", "https://github.com/", false)
	t.add("another host of the internet", "http://example.com/", false)
}
