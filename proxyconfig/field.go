// Package proxyconfig is what the user configures: the ProxyConfig file, flags
// and environment, merged field by field with the origin of each value kept,
// and resolved into the settings of one place. It reads the files that the user
// names and nothing else: what is fetched is fetched by its caller, and what the
// world says comes from package facts.
package proxyconfig

import (
	"slices"
	"strings"
)

// Type is the form of a field's value.
type Type string

// The types. A list is a YAML sequence of texts, a repeated flag, or a comma
// separated environment variable.
const (
	Text     Type = "text"
	List     Type = "list"
	Bool     Type = "true or false"
	Duration Type = "duration"
)

// Field is one setting: where it stands in the file, and its flag.
type Field struct {
	// Path is where the value stands below spec, as in "cluster.endpoint".
	Path string
	Type Type
	// Flag is the name of the flag, without dashes; empty where there is
	// none. The environment variable follows from it.
	Flag string
	// Scoped says that scopes.node, scopes.addons and scopes.pods can
	// override it.
	Scoped bool
	// Allowed lists the values, where there are but a few.
	Allowed []string
	// Default is what holds where nothing is given, in words.
	Default string
	// Usage is one line for help and documentation.
	Usage string
}

// Env is the environment variable that sets the field: EKSPROXY_ and the
// flag's name; empty where the field has no flag.
func (f Field) Env() string {
	if f.Flag == "" {
		return ""
	}
	return "EKSPROXY_" + strings.ToUpper(strings.ReplaceAll(f.Flag, "-", "_"))
}

// Scopes are the places that can have settings of their own.
func Scopes() []string { return []string{"node", "addons", "pods"} }

// The paths of the fields that this package reads by name.
const (
	pathHTTPProxy       = "httpProxy"
	pathHTTPSProxy      = "httpsProxy"
	pathCredentialsFile = "credentials.file"
	pathCredentialsFrom = "credentials.from"
	pathTrustedCA       = "trustedCA"
	pathInspection      = "tlsInspection"
	pathExempt          = "inspectionExempt"
	pathAdd             = "noProxy.add"
	pathOmit            = "noProxy.omit"
	pathIPv6CIDRs       = "noProxy.ipv6CIDRs"
	pathClusterName     = "cluster.name"
	pathRegion          = "cluster.region"
	pathEndpoint        = "cluster.endpoint"
	pathVPCCIDRs        = "cluster.vpcCIDRs"
	pathServiceCIDRs    = "cluster.serviceCIDRs"
	pathDomain          = "cluster.domain"
	pathOS              = "node.os"
	pathRuntime         = "node.runtime"
	pathInEtc           = "node.credentialsInEtcEnvironment"
	pathIMDSEndpoint    = "node.imdsEndpoint"
	pathIMDSTimeout     = "node.imdsTimeout"
	pathTargets         = "node.targets."
)

// Fields are all settings, in the order of the documentation.
func Fields() []Field {
	fields := []Field{
		{Path: pathHTTPProxy, Flag: "http-proxy", Scoped: true, Default: "httpsProxy", Usage: "proxy for http:// targets, as http://HOST:PORT; empty together with httpsProxy takes eksproxy's settings back"},
		{Path: pathHTTPSProxy, Flag: "https-proxy", Scoped: true, Default: "httpProxy", Usage: "proxy for https:// targets, as http://HOST:PORT"},
		{Path: pathCredentialsFile, Flag: "credentials-file", Scoped: true, Usage: "file with user:password for the proxy on one line, not encoded"},
		{Path: pathCredentialsFrom, Flag: "credentials-from", Scoped: true, Usage: "where the proxy's credentials are: secretsmanager:ARN[#key], ssm:NAME or file:PATH"},
		{Path: pathTrustedCA, Flag: "trusted-ca", Scoped: true, Usage: "certificates of the company's own authority: a file of PEM blocks, or in the configuration file the PEM text itself"},
		{Path: pathInspection, Type: Bool, Scoped: true, Usage: "true where the proxy re-signs TLS with its own authority: userdata render says which nodes cannot boot behind it"},
		{Path: pathExempt, Type: List, Scoped: true, Usage: "what the proxy does not re-sign although tlsInspection is true: a host or a zone"},
		{Path: pathAdd, Type: List, Flag: "no-proxy-add", Scoped: true, Usage: "what is reached directly besides the cluster and the VPC: a host, a zone (.corp.example), an address or a CIDR"},
		{Path: pathOmit, Type: List, Flag: "no-proxy-omit", Scoped: true, Usage: "what is left out of NO_PROXY: an entry, a zone, or a group (loopback, metadata, vpc, service, endpoint, cluster, ec2, aws, user)"},
		{Path: pathIPv6CIDRs, Flag: "ipv6-cidrs", Scoped: true, Allowed: []string{"auto", "always", "never"}, Default: "auto", Usage: "IPv6 CIDRs in NO_PROXY; auto: only where the service CIDR is IPv6, because one makes Python's httpx fail for every host"},
		{Path: pathClusterName, Flag: "cluster", Usage: "name of the EKS cluster"},
		{Path: pathRegion, Flag: "region", Default: "instance metadata", Usage: "AWS region, for EC2's private host names"},
		{Path: pathEndpoint, Flag: "cluster-endpoint", Default: "the instance's user data", Usage: "the cluster's API server, as URL or host"},
		{Path: pathVPCCIDRs, Type: List, Flag: "vpc-cidr", Default: "instance metadata", Usage: "a CIDR of the VPC; replaces what would be discovered"},
		{Path: pathServiceCIDRs, Type: List, Flag: "service-cidr", Default: "the instance's user data", Usage: "the range of Kubernetes service addresses; replaces what would be discovered"},
		{Path: pathDomain, Flag: "cluster-domain", Default: "cluster.local", Usage: "DNS domain of the cluster"},
		{Path: pathOS, Flag: "os", Allowed: []string{"al2", "al2023", "ubuntu"}, Default: "/etc/os-release", Usage: "operating system of the node"},
		{Path: pathRuntime, Flag: "runtime", Allowed: []string{"containerd", "docker"}, Default: "the installed units, else both", Usage: "container runtime of the node"},
		{Path: pathInEtc, Type: Bool, Flag: "credentials-in-etc-environment", Default: "false", Usage: "write the credentials to /etc/environment too, which then only root can read"},
		{Path: pathIMDSEndpoint, Flag: "imds-endpoint", Default: "AWS_EC2_METADATA_SERVICE_ENDPOINT, else 169.254.169.254 and fd00:ec2::254", Usage: "URL of the instance metadata service"},
		{Path: pathIMDSTimeout, Type: Duration, Flag: "imds-timeout", Default: "60s", Usage: "how long metadata is asked before eksproxy gives up"},
	}
	for _, t := range Targets() {
		fields = append(fields, Field{Path: pathTargets + t.Name, Type: Bool, Default: "true", Usage: t.Usage})
	}
	for i := range fields {
		if fields[i].Type == "" {
			fields[i].Type = Text
		}
	}
	return fields
}

// Target is a part of a node that can be switched off.
type Target struct{ Name, Usage string }

// The names of the targets.
const (
	TargetEtcEnvironment = "etcEnvironment"
	TargetProfile        = "profile"
	TargetPackageManager = "packageManager"
	TargetTrustStore     = "trustStore"
	TargetContainerd     = "containerd"
	TargetDocker         = "docker"
	TargetKubelet        = "kubelet"
	TargetCloudInit      = "cloudInit"
	TargetSSMAgent       = "ssmAgent"
	TargetSOCI           = "soci"
	TargetSandboxImage   = "sandboxImage"
	TargetNodeadm        = "nodeadm"
)

// Targets are the parts of a node that can be switched off.
func Targets() []Target {
	return []Target{
		{TargetEtcEnvironment, "the block in /etc/environment"},
		{TargetProfile, "/etc/profile.d/eksproxy.sh (Amazon Linux 2)"},
		{TargetPackageManager, "the proxy of yum, dnf or apt"},
		{TargetTrustStore, "the certificates of trustedCA in the system's trust store"},
		{TargetContainerd, "the drop-in of containerd"},
		{TargetDocker, "the drop-in of docker"},
		{TargetKubelet, "the drop-in of kubelet"},
		{TargetCloudInit, "the drop-ins of cloud-config and cloud-final"},
		{TargetSSMAgent, "the drop-in of amazon-ssm-agent"},
		{TargetSOCI, "the drop-in of soci-snapshotter"},
		{TargetSandboxImage, "the drop-in of sandbox-image (Amazon Linux 2)"},
		{TargetNodeadm, "the drop-ins of nodeadm-config and nodeadm-run (Amazon Linux 2023)"},
	}
}

// lookup finds a field by its path below spec, a scope's prefix included.
func lookup(path string) (Field, bool) {
	inner, scoped := unscope(path)
	for _, f := range Fields() {
		if f.Path == inner && (!scoped || f.Scoped) {
			return f, true
		}
	}
	return Field{}, false
}

// unscope cuts "scopes.NAME." from a path.
func unscope(path string) (inner string, scoped bool) {
	for _, s := range Scopes() {
		if inner, ok := strings.CutPrefix(path, "scopes."+s+"."); ok {
			return inner, true
		}
	}
	return path, false
}

// children are the names that can stand directly below a path, in order; none
// where the path is a field or unknown.
func children(prefix string) []string {
	paths := []string{}
	for _, f := range Fields() {
		paths = append(paths, f.Path)
	}
	for _, s := range Scopes() {
		for _, f := range Fields() {
			if f.Scoped {
				paths = append(paths, "scopes."+s+"."+f.Path)
			}
		}
	}
	var names []string
	for _, p := range paths {
		if rest, ok := strings.CutPrefix(p, prefix); ok {
			name, _, _ := strings.Cut(rest, ".")
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}
