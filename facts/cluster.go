package facts

import "net/netip"

// ClusterKind is the kind of the document that holds a Cluster.
const ClusterKind = "ClusterFacts"

// The names of Cluster's own fields in JSON, in Sources and in gaps.
const (
	FieldVPCEndpoints    = "vpcEndpoints"
	FieldFargateProfiles = "fargateProfiles"
	FieldAddons          = "addons"
	FieldDaemonSets      = "daemonSets"
	FieldAutoMode        = "autoMode"
	FieldRemoteNetworks  = "remoteNetworks"
	FieldDHCPDomains     = "dhcpDomains"
	FieldNodeLocalDNS    = "nodeLocalDNS"
)

// Cluster is what EKS, EC2 and Kubernetes say about one cluster: what a node
// knows of it, and more. What nobody could tell is a gap.
type Cluster struct {
	// Node holds the network; its kind is ClusterKind here.
	Node
	// Account is the AWS account, twelve digits.
	Account string `json:"account,omitempty"`
	// VPC is the id of the cluster's VPC.
	VPC string `json:"vpc,omitempty"`
	// KubernetesVersion is major.minor, as in "1.36".
	KubernetesVersion string `json:"kubernetesVersion,omitempty"`
	// EndpointAccess says from where the API server can be reached; nil where
	// EKS was not asked.
	EndpointAccess *EndpointAccess `json:"endpointAccess,omitempty"`
	// CertificateAuthority is that of the API server, in base64 of PEM.
	CertificateAuthority string `json:"certificateAuthority,omitempty"`
	// RemoteNetworks are the ranges of hybrid nodes and their pods.
	RemoteNetworks []netip.Prefix `json:"remoteNetworks,omitempty"`
	// AutoMode says that EKS runs the nodes: kube-proxy, the CNI and CoreDNS are
	// part of their image.
	AutoMode bool `json:"autoMode,omitempty"`
	// DHCPDomains are the domain names of the VPC's DHCP options.
	DHCPDomains []string `json:"dhcpDomains,omitempty"`
	// NodeLocalDNS are the addresses that node-local-dns listens on.
	NodeLocalDNS []netip.Addr `json:"nodeLocalDNS,omitempty"`
	// VPCEndpoints are all endpoints in the VPC, in the order of their ids.
	VPCEndpoints []VPCEndpoint `json:"vpcEndpoints,omitempty"`
	// FargateProfiles are in the order of their names.
	FargateProfiles []FargateProfile `json:"fargateProfiles,omitempty"`
	// Addons are the EKS add-ons, in the order of their names.
	Addons []Addon `json:"addons,omitempty"`
	// DaemonSets are those of kube-system, in the order of their names.
	DaemonSets []Workload `json:"daemonSets,omitempty"`
}

// EndpointAccess says from where an API server can be reached.
type EndpointAccess struct {
	Public  bool `json:"public"`
	Private bool `json:"private"`
	// PublicCIDRs may use the public endpoint.
	PublicCIDRs []netip.Prefix `json:"publicCIDRs,omitempty"`
}

// VPCEndpoint is one endpoint of a VPC.
type VPCEndpoint struct {
	ID string `json:"id"`
	// Service is the name without the partition's prefix and the region, as in
	// "ecr.api" or "s3"; the full name where it is none of AWS.
	Service string `json:"service"`
	// Type is "Interface", "Gateway" or another one of EC2.
	Type string `json:"type"`
	// State is "available", "pending" or another one of EC2, in lower case.
	State string `json:"state"`
	// PrivateDNS says that the service's public names resolve to the endpoint.
	PrivateDNS bool `json:"privateDNS,omitempty"`
	// Names are the private DNS names, as in "api.ecr.eu-west-1.amazonaws.com"
	// or "*.dkr.ecr.eu-west-1.amazonaws.com".
	Names []string `json:"names,omitempty"`
}

// FargateProfile says which pods run on Fargate.
type FargateProfile struct {
	Name      string            `json:"name"`
	Status    string            `json:"status,omitempty"`
	Selectors []FargateSelector `json:"selectors"`
}

// FargateSelector takes pods by namespace and labels; each text may have the
// wildcards * and ?.
type FargateSelector struct {
	Namespace string            `json:"namespace"`
	Labels    map[string]string `json:"labels,omitempty"`
}

// Addon is one EKS add-on.
type Addon struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Status  string `json:"status,omitempty"`
	// Configuration are the configuration values, as JSON or YAML.
	Configuration string `json:"configuration,omitempty"`
	// Issues are what EKS says is wrong with it.
	Issues []string `json:"issues,omitempty"`
}

// Workload names a workload and its containers.
type Workload struct {
	Namespace      string   `json:"namespace"`
	Kind           string   `json:"kind"`
	Name           string   `json:"name"`
	InitContainers []string `json:"initContainers,omitempty"`
	Containers     []string `json:"containers"`
}

// NewCluster returns a Cluster that knows nothing yet.
func NewCluster() Cluster { return Cluster{Node: Node{APIVersion: APIVersion, Kind: ClusterKind}} }

// Usable says that programs in the VPC reach the service by its usual names
// through this endpoint.
func (e VPCEndpoint) Usable() bool {
	return e.State == "available" && (e.Type == "Gateway" || e.Type == "Interface" && e.PrivateDNS)
}
