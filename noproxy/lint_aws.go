package noproxy

import (
	"fmt"
	"slices"
	"strings"
)

// AWSDomains are the domains of a region's services, classic and dual-stack.
func AWSDomains(region string) (classic, dualStack string) {
	for _, p := range partitions() {
		if strings.HasPrefix(region, p.prefix) {
			return p.classic, p.dualStack
		}
	}
	return "amazonaws.com", "api.aws"
}

// partition is a part of AWS with domains of its own.
type partition struct{ prefix, classic, dualStack string }

// partitions are those beside the commercial one and GovCloud, which have the
// same domains.
func partitions() []partition {
	return []partition{
		{"cn-", "amazonaws.com.cn", "api.amazonwebservices.com.cn"},
		{"eusc-", "amazonaws.eu", "api.amazonwebservices.eu"},
		{"us-iso-", "c2s.ic.gov", "api.aws.ic.gov"},
		{"us-isob-", "sc2s.sgov.gov", "api.aws.scloud"},
		{"eu-isoe-", "cloud.adc-e.uk", "api.cloud-aws.adc-e.uk"},
		{"us-isof-", "csp.hci.ic.gov", "api.aws.hci.ic.gov"},
	}
}

// awsDomain is the domain of AWS that a name is in; empty where it is in none.
func awsDomain(name string) string {
	domains := []string{"api.aws", "on.aws", "amazonaws.com"}
	for _, p := range partitions() {
		domains = append(domains, p.classic, p.dualStack)
	}
	for _, d := range domains {
		if strings.EqualFold(name, d) || hasSuffixFold(name, "."+d) {
			return d
		}
	}
	return ""
}

// RegionOf is the AWS region in a name; empty where there is none.
func RegionOf(name string) string {
	for label := range strings.SplitSeq(strings.ToLower(name), ".") {
		if isRegion(label) {
			return label
		}
	}
	return ""
}

// isRegion knows a region by its form, as in us-gov-west-1.
func isRegion(label string) bool {
	parts := strings.Split(label, "-")
	last := parts[len(parts)-1]
	if len(parts) < 3 || len(parts) > 4 || len(parts[0]) != 2 && parts[0] != "eusc" || !isNumber(last) {
		return false
	}
	return slices.ContainsFunc([]string{"north", "south", "east", "west", "central", "northeast", "northwest", "southeast", "southwest", "de"},
		func(direction string) bool { return slices.Contains(parts[1:len(parts)-1], direction) })
}

// aws looks at names of AWS: too wide, of another region or partition, or with
// more hosts below them than one thinks.
func (l *linter) aws(where string, texts []string) {
	region := homeRegion(texts)
	for _, text := range texts {
		name, _ := cutZone(text)
		domain := awsDomain(name)
		if domain == "" {
			continue
		}
		if l.awsWide(where, text, strings.ToLower(name), domain) {
			continue
		}
		l.awsRegion(where, text, domain, region)
		l.awsEKS(where, text, strings.ToLower(name))
	}
}

// homeRegion is the region of the network that a list is for: that of EC2's
// names, else that of the cluster's endpoint, else the first that is named.
func homeRegion(texts []string) string {
	first, endpoint := "", ""
	for _, text := range texts {
		name, _ := cutZone(strings.ToLower(text))
		region := RegionOf(name)
		switch {
		case name == "ec2.internal":
			return "us-east-1"
		case region == "":
		case strings.HasSuffix(name, ".compute.internal"):
			return region
		case endpoint == "" && strings.Contains(name, "."+region+".eks."):
			endpoint = region
		case first == "":
			first = region
		}
	}
	if endpoint != "" {
		return endpoint
	}
	return first
}

func (l *linter) awsWide(where, text, name, domain string) bool {
	rest := strings.TrimSuffix(strings.TrimSuffix(name, domain), ".")
	if rest != "" && !isRegion(rest) && rest != "elb" && !strings.HasSuffix(rest, ".elb") {
		return false
	}
	l.add(Finding{
		Code: "NP033", Where: where, Entry: text, Clients: l.deciding(text, "https://somewhere."+name+"/", Direct),
		Message: "it takes in services for which the VPC has no endpoint: their clients go direct, and wait for a time-out",
	})
	return true
}

func (l *linter) awsRegion(where, text, domain, home string) {
	own := RegionOf(text)
	if own == "" {
		own = home
	}
	classic, dualStack := AWSDomains(own)
	domains := []string{classic, dualStack}
	if dualStack == "api.aws" {
		domains = append(domains, "on.aws")
	}
	if own != "" && !slices.Contains(domains, domain) {
		l.add(Finding{
			Code: "NP020", Where: where, Entry: text,
			Message: fmt.Sprintf("no host of %s ends in %s", own, domain), Fix: "write it with " + classic + " or " + dualStack,
		})
		return
	}
	if own != home {
		l.add(Finding{
			Code: "NP019", Where: where, Entry: text,
			Message: fmt.Sprintf("it is a name in %s, and the list is for %s", own, home),
		})
	}
}

// awsEKS looks for names that take in hosts of EKS for which there is no
// endpoint.
func (l *linter) awsEKS(where, text, name string) {
	rest, ok := strings.CutPrefix(name, "eks.")
	if !ok {
		return
	}
	if region, _, _ := strings.Cut(rest, "."); isRegion(region) {
		if classic, _ := AWSDomains(region); awsDomain(name) != classic {
			return // the issuer's dual-stack name is oidc-eks.REGION.api.aws, which no form takes in
		}
		host := "oidc." + name
		l.add(Finding{
			Code: "NP021", Where: where, Entry: text, Clients: l.deciding(text, "https://"+host+"/", Direct),
			Message: "it takes in " + host + ", which has no endpoint in a VPC",
		})
		return
	}
	if awsDomain(name) == rest {
		host := "hybrid-assets." + name
		l.add(Finding{
			Code: "NP022", Where: where, Entry: text, Clients: l.deciding(text, "https://"+host+"/", Direct),
			Message: "it takes in " + host + ", which has no endpoint in a VPC, and the API servers of all clusters",
		})
	}
}
