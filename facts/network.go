// Package facts holds what the world says about a node and a cluster: plain
// data that can be printed, written to a file and read back (--facts FILE), so
// that every later step runs offline. It asks nobody and decides nothing.
package facts

import "net/netip"

// APIVersion stands in every document that eksproxy writes or reads.
const APIVersion = "eksproxy.dev/v1alpha1"

// Network is what a NO_PROXY value is composed from. A zero field is unknown.
type Network struct {
	// Region is the AWS region, as in "eu-west-1".
	Region string `json:"region,omitempty"`
	// DNSSuffix is the domain of the partition's services, as in
	// "amazonaws.com" or "amazonaws.com.cn".
	DNSSuffix string `json:"dnsSuffix,omitempty"`
	// VPCCIDRs are all blocks of the VPC, IPv4 and IPv6, without host bits.
	VPCCIDRs []netip.Prefix `json:"vpcCIDRs,omitempty"`
	// ServiceCIDRs are the ranges of Kubernetes service addresses.
	ServiceCIDRs []netip.Prefix `json:"serviceCIDRs,omitempty"`
	// ServiceAddress is the address of the service "kubernetes". It is given
	// where it is known without its range; else it is the first address of
	// the range.
	ServiceAddress netip.Addr `json:"serviceAddress,omitzero"`
	// EndpointHost is the host name of the cluster's API server, without
	// scheme and port, in the case in which it was given.
	EndpointHost string `json:"endpointHost,omitempty"`
	// ClusterDomain is the DNS domain of the cluster; empty means
	// cluster.local.
	ClusterDomain string `json:"clusterDomain,omitempty"`
	// Sources says where each field came from, by the field's JSON name:
	// "instance metadata", "user data (NodeConfig)", "--vpc-cidr".
	Sources map[string]string `json:"sources,omitempty"`
}

// SetSource records where the field with this JSON name came from.
func (n *Network) SetSource(field, source string) {
	if n.Sources == nil {
		n.Sources = map[string]string{}
	}
	n.Sources[field] = source
}

// The names of Network's fields in JSON, in Sources and in gaps.
const (
	FieldRegion         = "region"
	FieldDNSSuffix      = "dnsSuffix"
	FieldVPCCIDRs       = "vpcCIDRs"
	FieldServiceCIDRs   = "serviceCIDRs"
	FieldServiceAddress = "serviceAddress"
	FieldEndpointHost   = "endpointHost"
	FieldClusterDomain  = "clusterDomain"
)
