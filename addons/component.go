package addons

import (
	"fmt"
	"slices"
	"strings"

	"github.com/eksproxy/eksproxy/facts"
	"github.com/eksproxy/eksproxy/internal/kube"
)

// Component is a program that runs in many clusters, and what is known of its
// way to the outside (docs/addons.md has the table).
type Component struct {
	// Name is what --component and --skip take.
	Name string
	// Kind, Namespace and Workload are where it runs.
	Kind, Namespace, Workload string
	// Containers are those that call out; the others are left alone.
	Containers []string
	// Services are those of AWS that it calls, by the name of their endpoint.
	Services []string
	// Internet says what it calls beside them, which has no endpoint.
	Internet string
	// Rule says what the variables do to it.
	Rule Rule
	// Why explains the rule.
	Why string
	// Recipe says that the published recipe patches it, and so does eksproxy.
	Recipe bool
	// NoCA says why it cannot be given certificates; empty where it can.
	NoCA string
	// Addon is the EKS add-on that it is part of.
	Addon string
}

// Rule says what proxy variables do to a component.
type Rule string

// The rules.
const (
	// Calls says that it calls AWS or the internet: it needs the proxy where an
	// endpoint is missing.
	Calls Rule = "calls"
	// Harmless says that it calls nobody outside, and the variables change nothing.
	Harmless Rule = "harmless"
	// Harmful says that the variables can break it.
	Harmful Rule = "harmful"
)

// Ref names the workload.
func (c Component) Ref() kube.Ref {
	k, _ := kube.WorkloadKind(c.Kind)
	return kube.Ref{Kind: k, Namespace: c.Namespace, Name: c.Workload}
}

// Components are the programs that eksproxy knows, in the order in which they
// are patched: the network first, since everything else waits for it.
func Components() []Component {
	all := []Component{
		{Name: "aws-node", Addon: "vpc-cni", Kind: "DaemonSet", Containers: []string{"aws-node"}, Services: []string{"ec2", "sts"}, Rule: Calls, Recipe: true,
			Why: "ipamd asks EC2 for addresses; aws-eks-nodeagent and the init container talk to the node and the API server alone"},
		{Name: "kube-proxy", Addon: "kube-proxy", Kind: "DaemonSet", Containers: []string{"kube-proxy"}, Rule: Harmful, Recipe: true,
			Why: "it calls the API server's public name only: without that name in NO_PROXY, services stop working"},
		{Name: "coredns", Addon: "coredns", Kind: "Deployment", Rule: Harmless, Why: "it answers DNS and speaks to the API server"},
		{Name: "eks-pod-identity-agent", Addon: "eks-pod-identity-agent", Kind: "DaemonSet", Containers: []string{"eks-pod-identity-agent"}, Services: []string{"eks-auth"}, Rule: Calls,
			Why: "it fetches the pods' credentials; releases before November 2025 ignored the variables (eks-pod-identity-agent PR 109)"},
		{Name: "ebs-csi-controller", Addon: "aws-ebs-csi-driver", Kind: "Deployment", Containers: []string{"ebs-plugin"}, Services: []string{"ec2", "sts"}, Rule: Calls, Why: "it makes and attaches volumes; its sidecars speak to the API server alone"},
		{Name: "ebs-csi-node", Addon: "aws-ebs-csi-driver", Kind: "DaemonSet", Containers: []string{"ebs-plugin"}, Rule: Harmless, Why: "it asks instance metadata and the API server"},
		{Name: "efs-csi-controller", Addon: "aws-efs-csi-driver", Kind: "Deployment", Containers: []string{"efs-plugin"}, Services: []string{"elasticfilesystem", "sts"}, Rule: Calls, Why: "it makes access points"},
		{Name: "efs-csi-node", Addon: "aws-efs-csi-driver", Kind: "DaemonSet", Containers: []string{"efs-plugin"}, Services: []string{"elasticfilesystem", "ec2"}, Rule: Calls, Why: "it looks up mount targets"},
		{Name: "metrics-server", Addon: "metrics-server", Kind: "Deployment", Rule: Harmless, Why: "it asks kubelets and the API server"},
		{Name: "kube-state-metrics", Addon: "kube-state-metrics", Kind: "Deployment", Rule: Harmless, Why: "it asks the API server"},
		{Name: "snapshot-controller", Addon: "snapshot-controller", Kind: "Deployment", Rule: Harmless, Why: "it asks the API server"},
		{Name: "cluster-autoscaler", Kind: "Deployment", Containers: []string{"cluster-autoscaler"}, Services: []string{"autoscaling", "ec2", "eks", "sts"}, Rule: Calls, Why: "it resizes node groups"},
		{Name: "aws-load-balancer-controller", Kind: "Deployment", Containers: []string{"aws-load-balancer-controller"}, Services: []string{"elasticloadbalancing", "ec2", "sts"}, Internet: "WAF, Shield and ACM", Rule: Calls, Why: "it makes load balancers"},
		{Name: "karpenter", Kind: "Deployment", Containers: []string{"controller"}, Services: []string{"ec2", "eks", "sqs", "ssm", "sts"}, Internet: "IAM and the price list", Rule: Calls, Why: "it launches nodes"},
		{Name: "external-dns", Kind: "Deployment", Containers: []string{"external-dns"}, Services: []string{"sts"}, Internet: "Route 53", Rule: Calls, Why: "it writes DNS records"},
		{Name: "cloudwatch-agent", Addon: "amazon-cloudwatch-observability", Namespace: "amazon-cloudwatch", Kind: "DaemonSet", Containers: []string{"otc-container"}, Services: []string{"logs", "monitoring", "sts", "xray"}, Rule: Calls, Why: "it sends metrics and logs"},
		{Name: "fluent-bit", Addon: "amazon-cloudwatch-observability", Namespace: "amazon-cloudwatch", Kind: "DaemonSet", Containers: []string{"fluent-bit"}, Services: []string{"logs", "sts"}, Rule: Calls,
			Why: "it sends logs; it reads HTTP_PROXY for every request, and old releases no NO_PROXY (fluent-bit issue 2805)", NoCA: "it is no Go program: give its output plugin tls.ca_file"},
		{Name: "cert-manager", Namespace: "cert-manager", Kind: "Deployment", Containers: []string{"cert-manager-controller"}, Services: []string{"sts"}, Internet: "the ACME authority and DNS providers", Rule: Calls, Why: "it orders certificates"},
	}
	for i := range all {
		if all[i].Namespace == "" {
			all[i].Namespace = Namespace
		}
		if all[i].Workload == "" {
			all[i].Workload = all[i].Name
		}
	}
	return all
}

// ComponentNames are the names of all components.
func ComponentNames() []string {
	var names []string
	for _, c := range Components() {
		names = append(names, c.Name)
	}
	return names
}

// FindComponent finds a component by its name.
func FindComponent(name string) (Component, error) {
	all := Components()
	i := slices.IndexFunc(all, func(c Component) bool { return c.Name == name })
	if i < 0 {
		return Component{}, fmt.Errorf("%q is not a component that eksproxy knows; known are %s. Others are named by --workload NAMESPACE/KIND/NAME", name, strings.Join(ComponentNames(), ", "))
	}
	return all[i], nil
}

// Need says whether a component needs the proxy in one cluster.
type Need string

// The needs.
const (
	Needs      Need = "needs"
	Irrelevant Need = "irrelevant" // it calls nobody, or endpoints serve all of it
	Risky      Need = "harmful"    // the variables can only hurt
)

// Decision is what is to be thought of one component in one cluster.
type Decision struct {
	Component string   `json:"component"`
	Need      Need     `json:"need"`
	Why       string   `json:"why"`
	Proxied   []string `json:"proxied,omitempty"` // what it calls through the proxy
}

// Decide says whether a component needs the proxy in a cluster: not where
// endpoints serve everything that it calls. Where nothing is known of endpoints,
// everything goes through the proxy.
func (c Component) Decide(cluster facts.Cluster) Decision {
	d := Decision{Component: c.Name, Why: c.Why}
	switch c.Rule {
	case Harmless:
		d.Need = Irrelevant
		return d
	case Harmful:
		d.Need = Risky
		return d
	case Calls:
	}
	var served []string
	for _, s := range c.Services {
		if e, ok := cluster.ServiceReachable(s); ok {
			served = append(served, s+" through "+e.ID)
		} else {
			d.Proxied = append(d.Proxied, s)
		}
	}
	if c.Internet != "" {
		d.Proxied = append(d.Proxied, c.Internet)
	}
	if len(d.Proxied) == 0 {
		d.Need, d.Why = Irrelevant, "endpoints serve all that it calls: "+strings.Join(served, ", ")
		return d
	}
	d.Need = Needs
	d.Why = fmt.Sprintf("%s; through the proxy: %s", c.Why, strings.Join(d.Proxied, ", "))
	return d
}
