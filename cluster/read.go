// Package cluster owns reading what EKS, EC2 and Kubernetes say about one
// cluster into facts.Cluster. It only reads, it guesses nothing, and what nobody
// told is a gap with a remedy; it is an error only where nothing was told at all,
// or where an answer that is due later may be another one. It must not build
// clients, look at the environment or know what the facts are for.
package cluster

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"k8s.io/client-go/kubernetes"

	"github.com/eksproxy/eksproxy/facts"
)

// EKS are the calls that are made of the client of EKS.
type EKS interface {
	eks.DescribeClusterAPIClient
	eks.ListFargateProfilesAPIClient
	eks.DescribeFargateProfileAPIClient
	eks.ListAddonsAPIClient
	eks.DescribeAddonAPIClient
}

// EC2 are the calls that are made of the client of EC2.
type EC2 interface {
	ec2.DescribeVpcsAPIClient
	ec2.DescribeVpcEndpointsAPIClient
	ec2.DescribeDhcpOptionsAPIClient
	DescribeVpcEndpointServices(context.Context, *ec2.DescribeVpcEndpointServicesInput, ...func(*ec2.Options)) (*ec2.DescribeVpcEndpointServicesOutput, error)
}

// Options say whom to ask. AWS is asked where Name is given, Kubernetes where
// there is a client of it.
type Options struct {
	// Name is that of the EKS cluster.
	Name string
	// Region is the one that AWS is asked in, or that the user gave; it may be
	// empty where AWS is not asked.
	Region string
	// Credentials are asked for first, so that a lack of them reads as one; nil
	// leaves that to the calls.
	Credentials aws.CredentialsProvider
	EKS         EKS
	EC2         EC2

	// Kubernetes is nil where it is not asked.
	Kubernetes kubernetes.Interface
	// Server is the URL of its API server, as in the kubeconfig.
	Server string
	// Kubeconfig says where that stands, as in "context demo of /root/.kube/config".
	Kubeconfig string
	// Named says that the user named the kubeconfig or its context. Else, where
	// AWS is asked, Kubernetes is extra: what does not answer, or serves another
	// cluster, is left out.
	Named bool
	// OtherEndpoint allows a Server that is not the endpoint that EKS tells.
	OtherEndpoint bool
}

// The sources that stand in Sources.
const (
	sourceEKS        = "EKS"
	sourceEC2        = "EC2"
	sourceKubernetes = "Kubernetes"
	sourceResolver   = "the AWS SDK's endpoints of the region"
)

// reader collects the facts of one read.
type reader struct {
	Options
	facts facts.Cluster
	// told says that someone answered, denied is the first call that was refused.
	told   bool
	denied *Error
	// endpoint is the host that EKS gave.
	endpoint string
}

// Read asks AWS, then Kubernetes. Its errors hold an *Error, except where the
// context was cancelled.
func Read(ctx context.Context, o Options) (facts.Cluster, error) {
	r := &reader{Options: o, facts: facts.NewCluster()}
	r.facts.ClusterName = o.Name
	for _, step := range []func(context.Context) error{r.readAWS, r.readKubernetes} {
		if err := step(ctx); err != nil {
			if ctx.Err() != nil {
				return facts.Cluster{}, context.Cause(ctx)
			}
			return facts.Cluster{}, err
		}
	}
	if !r.told && r.denied != nil {
		return facts.Cluster{}, r.denied
	}
	r.place()
	return r.facts, nil
}

// readAWS asks EKS, and EC2 about the VPC that EKS names.
func (r *reader) readAWS(ctx context.Context) error {
	if r.Name == "" {
		const why, remedy = "no cluster is named, so AWS was not asked", "give --cluster NAME"
		r.gap(why, remedy, facts.FieldVPCCIDRs, facts.FieldVPCEndpoints, facts.FieldFargateProfiles,
			facts.FieldAddons, facts.FieldRemoteNetworks, facts.FieldDHCPDomains)
		if r.Kubernetes == nil {
			r.gap(why, remedy, facts.FieldEndpointHost, facts.FieldServiceCIDRs)
		}
		return nil
	}
	if r.Credentials != nil {
		if _, err := r.Credentials.Retrieve(ctx); err != nil {
			return r.unidentified(&Error{
				Kind: NoCredentials, Call: "looking for AWS credentials", Err: err,
				Remedy: "give --profile NAME, sign in (aws sso login), or set AWS_PROFILE or the keys of AWS",
			})
		}
	}
	if err := r.cluster(ctx); err != nil {
		return err
	}
	if err := r.fargate(ctx); err != nil {
		return err
	}
	if err := r.addons(ctx); err != nil {
		return err
	}
	return r.network(ctx)
}

// unidentified is an error, or gaps where Kubernetes can be asked.
func (r *reader) unidentified(e *Error) error {
	if r.Kubernetes == nil {
		return e
	}
	r.denied = e
	r.gap("AWS was not asked: "+e.cause(), e.Remedy, facts.FieldVPCCIDRs, facts.FieldVPCEndpoints, facts.FieldFargateProfiles,
		facts.FieldAddons, facts.FieldRemoteNetworks, facts.FieldDHCPDomains)
	return nil
}

// place settles the region, and the domain of its services.
func (r *reader) place() {
	if r.facts.Region == "" && r.Region != "" {
		r.facts.Region = r.Region
		r.fill(facts.FieldRegion, "given")
	}
	if r.facts.Region == "" {
		r.gap("nobody told it: EC2's names of nodes are left out", "give --region", facts.FieldRegion)
		r.gap("the region is unknown", "give --region", facts.FieldDNSSuffix)
		return
	}
	classic, dualStack, ok := Suffixes(r.facts.Region)
	switch {
	case !ok:
		r.gap("the AWS SDK has no endpoints for "+r.facts.Region, "give --region as it is spelled, or take a newer eksproxy", facts.FieldDNSSuffix)
	case r.endpoint != "" && !inDomain(r.endpoint, classic) && !inDomain(r.endpoint, dualStack):
		// The SDK takes a region that it does not know for one of the commercial partition.
		r.gap("the cluster's endpoint "+r.endpoint+" is neither in "+classic+" nor in "+dualStack+", where the AWS SDK has the services of "+r.facts.Region,
			"take a newer eksproxy", facts.FieldDNSSuffix)
	default:
		r.facts.DNSSuffix = classic
		r.fill(facts.FieldDNSSuffix, sourceResolver)
	}
}
