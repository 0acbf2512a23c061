package addons

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Use is what a right is for: a command, or a part of one.
type Use string

// The uses. What Plan needs, patch needs too.
const (
	UsePlan   Use = "plan"
	UsePatch  Use = "patch"
	UseCanary Use = "canary" // of patch, unless --canary=off
	UseStatus Use = "status"
	UseRevert Use = "revert"
	UseVerify Use = "verify"
	UseRender Use = "render"
)

// Right is something that is done in Kubernetes with aws-node and kube-proxy, the
// components that are patched without being named (docs/permissions.md).
type Right struct {
	Verbs           []string
	Group, Resource string
	// Names are the only objects; none means all.
	Names []string
	// Namespace is empty where the right must hold in the whole cluster.
	Namespace string
	Uses      []Use
	// Only is the option without which it is not needed; empty where it always is.
	Only string
	Why  string
}

// The options that need more rights.
const (
	OnlyCA     = "trustedCA"
	OnlySecret = "--create-secret"
	// OnlyNamespaces is no option alone: a namespace is named, labelled or found by
	// a Fargate profile.
	OnlyNamespaces = "workload namespaces"
	// OnlyAutoMode is no option alone: EKS runs nodes.
	OnlyAutoMode = "EKS Auto Mode"
	// OnlyManaged is no option: EKS manages the add-on, and its configuration has a
	// place for the variables.
	OnlyManaged = "add-ons that EKS manages"
)

// Rights are the least rights in Kubernetes. A test runs the program with just
// these, and fails on a call outside and on a right that is never used.
func Rights() []Right {
	workloads := []string{"aws-node", "kube-proxy"}
	probes := []string{"eksproxy-probe-aws-node", "eksproxy-probe-kube-proxy"}
	looking, rolling := []Use{UsePlan, UsePatch, UseVerify}, []Use{UsePatch, UseRevert}
	everyone := []Use{UsePlan, UsePatch, UseStatus, UseRevert, UseVerify}
	verbs := func(v ...string) []string { return v }
	return slices.Concat([]Right{
		{verbs("get"), "", "services", []string{"kubernetes"}, "default", looking, "", "the address of the API server inside the cluster, for NO_PROXY"},
		{verbs("list"), "networking.k8s.io", "servicecidrs", nil, "", looking, "", "the ranges of services, for NO_PROXY"},
		{verbs("get"), "", "configmaps", []string{"coredns", "kube-proxy"}, Namespace, looking, "", "the domain of the cluster, and the host of its API server"},
		{verbs("list"), "apps", "daemonsets", nil, "", everyone, "", "what runs on the nodes, and what eksproxy has changed"},
		{verbs("list"), "apps", "deployments", nil, "", []Use{UseStatus, UseRevert}, "", "what eksproxy has changed"},
		{verbs("list"), "apps", "statefulsets", nil, "", []Use{UseStatus, UseRevert}, "", "what eksproxy has changed"},
		{verbs("get"), "apps", "daemonsets", workloads, Namespace, []Use{UsePlan, UsePatch, UseRevert}, "", "what is to be changed"},
		{verbs("patch"), "apps", "daemonsets", workloads, Namespace, rolling, "", "eksproxy's own fields, and for the time of a rollout the update strategy"},
		{verbs("get"), "", "configmaps", []string{ConfigMapName}, Namespace, []Use{UsePlan, UsePatch, UseStatus, UseVerify, UseRevert}, "", "the settings that are there"},
		{verbs("create", "patch"), "", "configmaps", []string{ConfigMapName}, Namespace, []Use{UsePatch}, "", "the settings"},
		{verbs("delete"), "", "configmaps", []string{ConfigMapName}, Namespace, []Use{UseRevert}, "", "what eksproxy made"},
		{verbs("list"), "", "pods", nil, Namespace, []Use{UsePatch, UseStatus, UseRevert, UseVerify}, "", "which pods have the new template"},
		{verbs("list"), "apps", "controllerrevisions", nil, Namespace, []Use{UsePatch, UseStatus, UseRevert, UseVerify}, "", "by which a pod's template is known"},
		{verbs("get"), "apps", "daemonsets", []string{"cloudwatch-agent", "fluent-bit"}, "", []Use{UseVerify}, "", "who else needs the proxy, in a namespace that may not be there"},
		{verbs("get"), "apps", "deployments", []string{"cert-manager"}, "", []Use{UseVerify}, "", "who else needs the proxy, in a namespace that may not be there"},
		{verbs("list"), "batch", "cronjobs", nil, Namespace, []Use{UseVerify}, "", "who else has variables"},
		{verbs("get"), "", "configmaps", nil, Namespace, []Use{UseVerify}, "", "whether what containers refer to is there"},
		{verbs("list"), "", "events", nil, Namespace, rolling, "", "why a pod could not be made"},
		{verbs("list"), "", "nodes", nil, "", []Use{UseCanary}, "", "a node that is ready and takes pods"},
		{verbs("create", "delete"), "", "pods", nil, Namespace, []Use{UseCanary}, "", "the probe pod, and the pod that is replaced first; their names are not known before"},
		{verbs("get"), "", "pods", probes, Namespace, []Use{UseCanary}, "", "what became of the probe pod"},
		{verbs("get"), "", "configmaps", []string{CAConfigMapName}, Namespace, []Use{UsePlan, UsePatch}, OnlyCA, "the certificates that are there"},
		{verbs("create", "patch"), "", "configmaps", []string{CAConfigMapName}, Namespace, []Use{UsePatch}, OnlyCA, "the certificates"},
		{verbs("delete"), "", "configmaps", []string{CAConfigMapName}, Namespace, []Use{UseRevert}, OnlyCA, "what eksproxy made"},
		{verbs("get"), "", "configmaps", []string{CAConfigMapName}, Namespace, []Use{UseRevert}, "", "whether eksproxy made it"},
		{verbs("get"), "", "secrets", []string{SecretName}, Namespace, []Use{UseRevert}, "", "whether eksproxy made it"},
		{verbs("get"), "", "configmaps", []string{RecordName}, Namespace, []Use{UsePlan, UsePatch, UseStatus, UseRevert}, "", "what eksproxy has put into the configuration of add-ons"},
		{verbs("create", "patch"), "", "configmaps", []string{RecordName}, Namespace, []Use{UsePatch}, OnlyManaged, "the record of that"},
		{verbs("delete"), "", "configmaps", []string{RecordName}, Namespace, rolling, OnlyManaged, "the record of that"},
		{verbs("get"), "", "secrets", []string{SecretName}, Namespace, []Use{UsePlan, UsePatch}, OnlySecret, "whether the credentials have changed"},
		{verbs("create", "patch"), "", "secrets", []string{SecretName}, Namespace, []Use{UsePatch}, OnlySecret, "the credentials"},
		{verbs("delete"), "", "secrets", []string{SecretName}, Namespace, []Use{UseRevert}, OnlySecret, "what eksproxy made"},
	}, namespaceRights(), nodeClassRights())
}

// Action is one call to AWS.
type Action struct {
	Name string
	// Resource is what it is done to: the cluster or a part of it, by the first
	// word of its ARN's last part; * where IAM knows no resource for the action.
	Resource string
	Uses     []Use
	Why      string
}

// Actions are the least rights in AWS. They are needed only where the cluster is
// named by --cluster.
func Actions() []Action {
	uses := []Use{UsePlan, UsePatch, UseVerify}
	return []Action{
		{"eks:DescribeCluster", "cluster", uses, "endpoint, service ranges, VPC, remote networks, Auto Mode"},
		{"eks:ListFargateProfiles", "cluster", uses, "which pods run on Fargate"},
		{"eks:DescribeFargateProfile", "fargateprofile", uses, "which pods run on Fargate"},
		{"eks:ListAddons", "cluster", uses, "which add-ons EKS manages"},
		{"eks:DescribeAddon", "addon", uses, "their versions and settings"},
		{"ec2:DescribeVpcs", "*", uses, "the ranges of the VPC"},
		{"ec2:DescribeVpcEndpoints", "*", uses, "which services have an endpoint in the VPC"},
		{"ec2:DescribeVpcEndpointServices", "*", uses, "the names of those services"},
		{"ec2:DescribeDhcpOptions", "*", uses, "the VPC's own domains"},
	}
}

// ManagedActions are those that are needed beside, where add-ons that EKS manages
// are configured. They are made with aws-node alone.
func ManagedActions() []Action {
	looking, changing := []Use{UsePlan, UsePatch, UseRevert}, []Use{UsePatch, UseRevert}
	return []Action{
		{"eks:DescribeCluster", "cluster", looking, "whether the kubeconfig leads to the cluster"},
		{"eks:DescribeAddon", "addon", looking, "the configuration values"},
		{"eks:DescribeAddonConfiguration", "*", looking, "the schema of the installed version"},
		{"eks:UpdateAddon", "addon", changing, "the configuration values with the variables"},
		{"eks:DescribeUpdate", "cluster", changing, "whether EKS has applied them"},
		{"eks:DescribeUpdate", "addon", changing, "whether EKS has applied them"},
		{"iam:PassRole", "role", changing, "the role of the add-on's service account, where it has one: it is given again as it is"},
	}
}

// AheadActions are those that are needed beside, for what tells of versions of
// add-ons: plan with --addon and --kubernetes-version, render for Terraform and
// eksctl, and verify of add-ons that are configured.
func AheadActions() []Action {
	return []Action{
		{"eks:DescribeAddonConfiguration", "*", []Use{UsePlan, UseRender, UseVerify}, "the schema of a version"},
		{"eks:DescribeAddonVersions", "*", []Use{UsePlan}, "the versions that go with a Kubernetes to come, for --kubernetes-version"},
	}
}

// Roles are the roles in Kubernetes with some of the rights, as YAML, with bindings
// for a group: a ClusterRole, and a Role in each namespace, as far as needed.
func Roles(name, group string, needed func(Right) bool) string {
	rules := map[string]string{}
	for _, r := range Rights() {
		if needed(r) {
			rules[r.Namespace] += r.rule()
		}
	}
	var docs []string
	for _, ns := range slices.Sorted(maps.Keys(rules)) {
		kind, meta := "Role", fmt.Sprintf("metadata: {name: %s, namespace: %s}\n", name, ns)
		if ns == "" {
			kind, meta = "ClusterRole", fmt.Sprintf("metadata: {name: %s}\n", name)
		}
		const api = "rbac.authorization.k8s.io"
		docs = append(docs,
			fmt.Sprintf("apiVersion: %s/v1\nkind: %s\n%srules:\n%s", api, kind, meta, rules[ns]),
			fmt.Sprintf("apiVersion: %s/v1\nkind: %sBinding\n%sroleRef: {apiGroup: %s, kind: %s, name: %s}\nsubjects: [{apiGroup: %s, kind: Group, name: %s}]\n",
				api, kind, meta, api, kind, name, api, group))
	}
	return strings.Join(docs, "---\n")
}

// Reads says that a right serves uses that write nothing, with no further option.
func (r Right) Reads() bool {
	return r.Only == "" && slices.ContainsFunc(r.Uses, func(u Use) bool { return u == UsePlan || u == UseStatus || u == UseVerify })
}

// rule is the right as a line of a role.
func (r Right) rule() string {
	group := r.Group
	if group == "" {
		group = `""` // the core group has no name
	}
	objects := ""
	if len(r.Names) > 0 {
		objects = fmt.Sprintf(", resourceNames: [%s]", strings.Join(r.Names, ", "))
	}
	return fmt.Sprintf("- {apiGroups: [%s], resources: [%s]%s, verbs: [%s]}\n", group, r.Resource, objects, strings.Join(r.Verbs, ", "))
}

// Policy is the IAM policy of some actions for one cluster, as JSON, one statement
// for each kind of resource. Partition is the second word of the ARNs.
func Policy(all []Action, partition, region, account, cluster string) (string, error) {
	var statements []any
	var kinds []string
	actions := map[string][]string{}
	for _, a := range all {
		if !slices.Contains(kinds, a.Resource) {
			kinds = append(kinds, a.Resource)
		}
		actions[a.Resource] = append(actions[a.Resource], a.Name)
	}
	for _, kind := range kinds {
		resource := "*"
		if kind != "*" {
			resource = fmt.Sprintf("arn:%s:eks:%s:%s:%s/%s", partition, region, account, kind, cluster)
		}
		switch kind {
		case "*", "cluster":
		case "role":
			resource = fmt.Sprintf("arn:%s:iam::%s:role/*", partition, account)
		default:
			resource += "/*"
		}
		statements = append(statements, map[string]any{"Effect": "Allow", "Action": actions[kind], "Resource": resource})
	}
	data, err := json.MarshalIndent(map[string]any{"Version": "2012-10-17", "Statement": statements}, "", "  ")
	return string(data) + "\n", err
}
