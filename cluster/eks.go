package cluster

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"

	"github.com/eksproxy/eksproxy/facts"
	"github.com/eksproxy/eksproxy/internal/nameform"
)

// cluster reads what DescribeCluster tells. Without it EC2 cannot be asked.
func (r *reader) cluster(ctx context.Context) error {
	const action = "eks:DescribeCluster"
	out, err := r.EKS.DescribeCluster(ctx, &eks.DescribeClusterInput{Name: &r.Name})
	if missing, ok := errors.AsType[*types.ResourceNotFoundException](err); ok {
		return &Error{Kind: NotFound, Call: action, Err: missing, Remedy: fmt.Sprintf("give the right --cluster, --region and --profile; %s was asked", cmp.Or(r.Region, "the configured region"))}
	}
	if err == nil && out.Cluster == nil {
		err = errors.New("the answer has no cluster, so this is not EKS")
	}
	if known, err := r.answered(ofAWS(action, err), facts.FieldVPCCIDRs, facts.FieldServiceCIDRs, facts.FieldEndpointHost,
		facts.FieldRemoteNetworks, facts.FieldVPCEndpoints, facts.FieldDHCPDomains, facts.FieldAutoMode); !known {
		return err
	}
	c := out.Cluster
	r.identity(c)
	r.endpointOf(c)
	r.addressesOf(c)
	r.facts.KubernetesVersion = aws.ToString(c.Version)
	if c.ComputeConfig != nil {
		r.facts.AutoMode = aws.ToBool(c.ComputeConfig.Enabled)
	}
	r.fill(facts.FieldAutoMode, sourceEKS)
	return nil
}

// identity takes region and account from the ARN:
// arn:PARTITION:eks:REGION:ACCOUNT:cluster/NAME.
func (r *reader) identity(c *types.Cluster) {
	part := strings.Split(aws.ToString(c.Arn), ":")
	if len(part) != 6 || part[2] != "eks" {
		return
	}
	if nameform.IsRegion(part[3]) {
		r.facts.Region = part[3]
		r.fill(facts.FieldRegion, sourceEKS)
	}
	if len(part[4]) == 12 && strings.Trim(part[4], "0123456789") == "" {
		r.facts.Account = part[4]
	}
}

// endpointOf takes who serves the API, and from where it can be reached.
func (r *reader) endpointOf(c *types.Cluster) {
	host, err := hostOf(aws.ToString(c.Endpoint))
	if err != nil {
		r.gap("EKS tells no endpoint that can be used ("+string(c.Status)+"): "+err.Error(), "wait until the cluster is active", facts.FieldEndpointHost)
	} else {
		r.facts.EndpointHost, r.endpoint = host, host
		r.fill(facts.FieldEndpointHost, sourceEKS)
	}
	if c.CertificateAuthority != nil {
		data := aws.ToString(c.CertificateAuthority.Data)
		if _, err := base64.StdEncoding.Strict().DecodeString(data); err == nil {
			r.facts.CertificateAuthority = data
		}
	}
	if v := c.ResourcesVpcConfig; v != nil {
		r.facts.VPC = aws.ToString(v.VpcId)
		r.facts.EndpointAccess = &facts.EndpointAccess{Public: v.EndpointPublicAccess, Private: v.EndpointPrivateAccess}
		r.facts.EndpointAccess.PublicCIDRs, _ = parsePrefixes(v.PublicAccessCidrs) // for the eye alone
	}
}

// addressesOf takes the ranges of services, and those of hybrid nodes.
func (r *reader) addressesOf(c *types.Cluster) {
	if n := c.KubernetesNetworkConfig; n != nil {
		list, err := parsePrefixes([]string{aws.ToString(n.ServiceIpv4Cidr), aws.ToString(n.ServiceIpv6Cidr)})
		switch {
		case err != nil:
			r.gap("EKS tells a service range that is none: "+err.Error(), "ask Kubernetes (--kubeconfig)", facts.FieldServiceCIDRs)
		case len(list) > 0:
			r.facts.ServiceCIDRs = list
			r.fill(facts.FieldServiceCIDRs, sourceEKS)
		}
	}
	if r.facts.ServiceCIDRs == nil {
		r.gap("EKS tells none", "ask Kubernetes (--kubeconfig)", facts.FieldServiceCIDRs)
	}
	var texts []string
	if n := c.RemoteNetworkConfig; n != nil {
		for _, nodes := range n.RemoteNodeNetworks {
			texts = append(texts, nodes.Cidrs...)
		}
		for _, pods := range n.RemotePodNetworks {
			texts = append(texts, pods.Cidrs...)
		}
	}
	list, err := parsePrefixes(texts)
	if err != nil {
		r.gap("EKS tells a remote network that is no range: "+err.Error(), "add the ranges with --no-proxy-add", facts.FieldRemoteNetworks)
		return
	}
	r.facts.RemoteNetworks = list
	r.fill(facts.FieldRemoteNetworks, sourceEKS)
}

// fargate reads the Fargate profiles.
func (r *reader) fargate(ctx context.Context) error {
	var names []string
	pages := eks.NewListFargateProfilesPaginator(r.EKS, &eks.ListFargateProfilesInput{ClusterName: &r.Name})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if known, err := r.answered(ofAWS("eks:ListFargateProfiles", err), facts.FieldFargateProfiles); !known {
			return err
		}
		names = append(names, page.FargateProfileNames...)
	}
	slices.Sort(names)
	found, err := each(names, func(name string) (facts.FargateProfile, error) {
		out, err := r.EKS.DescribeFargateProfile(ctx, &eks.DescribeFargateProfileInput{ClusterName: &r.Name, FargateProfileName: &name})
		if err != nil || out.FargateProfile == nil {
			return facts.FargateProfile{}, err
		}
		p := facts.FargateProfile{Name: name, Status: string(out.FargateProfile.Status), Selectors: []facts.FargateSelector{}}
		for _, s := range out.FargateProfile.Selectors {
			p.Selectors = append(p.Selectors, facts.FargateSelector{Namespace: aws.ToString(s.Namespace), Labels: s.Labels})
		}
		return p, nil
	})
	if known, err := r.answered(ofAWS("eks:DescribeFargateProfile", err), facts.FieldFargateProfiles); !known {
		return err
	}
	r.facts.FargateProfiles = slices.DeleteFunc(found, func(p facts.FargateProfile) bool { return p.Name == "" })
	r.fill(facts.FieldFargateProfiles, sourceEKS)
	return nil
}

// addons reads the EKS add-ons.
func (r *reader) addons(ctx context.Context) error {
	var names []string
	pages := eks.NewListAddonsPaginator(r.EKS, &eks.ListAddonsInput{ClusterName: &r.Name})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if known, err := r.answered(ofAWS("eks:ListAddons", err), facts.FieldAddons); !known {
			return err
		}
		names = append(names, page.Addons...)
	}
	slices.Sort(names)
	found, err := each(names, func(name string) (facts.Addon, error) {
		out, err := r.EKS.DescribeAddon(ctx, &eks.DescribeAddonInput{ClusterName: &r.Name, AddonName: &name})
		if err != nil || out.Addon == nil {
			return facts.Addon{}, err
		}
		a := facts.Addon{
			Name: name, Version: aws.ToString(out.Addon.AddonVersion), Status: string(out.Addon.Status),
			Configuration: aws.ToString(out.Addon.ConfigurationValues),
		}
		if h := out.Addon.Health; h != nil {
			for _, issue := range h.Issues {
				a.Issues = append(a.Issues, string(issue.Code)+": "+oneLine(aws.ToString(issue.Message)))
			}
		}
		return a, nil
	})
	if known, err := r.answered(ofAWS("eks:DescribeAddon", err), facts.FieldAddons); !known {
		return err
	}
	r.facts.Addons = slices.DeleteFunc(found, func(a facts.Addon) bool { return a.Name == "" })
	r.fill(facts.FieldAddons, sourceEKS)
	return nil
}
