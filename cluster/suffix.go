package cluster

import (
	"context"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/eks"

	"github.com/eksproxy/eksproxy/internal/nameform"
)

// Suffixes are the domains of the services in a region's partition, as in
// "amazonaws.com" and "api.aws", from the endpoints that the clients of EC2 and
// EKS would call. It is not ok where the text is no region, or the two do not
// agree. A region that the SDK has never heard of counts as one of the
// commercial partition there.
func Suffixes(region string) (classic, dualStack string, ok bool) {
	if !nameform.IsRegion(region) {
		return "", "", false
	}
	classic, dualStack = suffix(region, false), suffix(region, true)
	return classic, dualStack, classic != "" && dualStack != ""
}

// suffix is what stands behind the region in the names of both services.
func suffix(region string, dualStack bool) string {
	ctx := context.Background() // nothing is asked
	a, errA := ec2.NewDefaultEndpointResolverV2().ResolveEndpoint(ctx, ec2.EndpointParameters{Region: &region, UseDualStack: aws.Bool(dualStack)})
	b, errB := eks.NewDefaultEndpointResolverV2().ResolveEndpoint(ctx, eks.EndpointParameters{Region: &region, UseDualStack: aws.Bool(dualStack)})
	if errA != nil || errB != nil {
		return ""
	}
	of, okA := strings.CutPrefix(a.URI.Hostname(), "ec2."+region+".")
	same, okB := strings.CutPrefix(b.URI.Hostname(), "eks."+region+".")
	if !okA || !okB || of != same {
		return ""
	}
	return of
}

// regionOf is the region that stands in the name of an EKS endpoint, as in
// ID.gr7.eu-west-1.eks.amazonaws.com or ID.gr7.eks-cluster.eu-west-1.api.aws;
// empty where the name is another one.
func regionOf(host string) string {
	labels := strings.Split(strings.ToLower(host), ".")
	for i, label := range labels {
		classic, dualStack, ok := Suffixes(label)
		switch rest := strings.Join(labels[i+1:], "."); {
		case ok && i > 0 && (rest == "eks."+classic || rest == "eks."+dualStack):
			return label
		case ok && i > 0 && rest == dualStack && labels[i-1] == "eks-cluster":
			return label
		}
	}
	return ""
}

// inDomain says whether a host is below a domain.
func inDomain(host, domain string) bool {
	return strings.HasSuffix(strings.ToLower(host), "."+domain)
}
