package userdata

import (
	"fmt"
	"maps"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"github.com/eksproxy/eksproxy/facts"
)

// Placeholders are what does not exist yet, by name, with the expression that
// stands for it in Terraform or CloudFormation; empty means the usual one.
type Placeholders map[string]string

// The names of what may not exist yet.
const (
	holdCluster  = "cluster"
	holdEndpoint = "cluster-endpoint"
	holdCA       = "cluster-ca"
	holdService  = "service-cidr"
	holdVPC      = "vpc-cidr"
)

// PlaceholderNames are those of what may not exist yet.
func PlaceholderNames() []string {
	return []string{holdCluster, holdEndpoint, holdCA, holdService, holdVPC}
}

// The marks that are rendered first: valid values that nobody has.
const (
	markCluster  = "eksproxy-placeholder-cluster"
	markEndpoint = "eksproxy-placeholder-endpoint.invalid"
	markCA       = "ZWtzcHJveHktcGxhY2Vob2xkZXI="
	markService  = "192.0.2.240/28"
	markAddress  = "192.0.2.241"
	markDNS      = "192.0.2.250"
	markVPC      = "192.0.2.208/28"
)

// expression is a name of Terraform or CloudFormation, with dots and indexes.
var expression = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.:\[\]"-]*$`)

// withPlaceholders puts marks for what does not exist yet. In Terraform and
// CloudFormation that is what is not given, for a document that would be whole
// with it.
func (in Input) withPlaceholders() Input {
	held := Placeholders{}
	maps.Copy(held, in.Placeholders)
	if in.joins() && (in.As == Terraform || in.As == CloudFormation) {
		for name, missing := range map[string]bool{
			holdCluster: in.Facts.ClusterName == "", holdEndpoint: in.Facts.EndpointHost == "",
			holdCA: in.ClusterCA == "", holdService: len(in.Facts.ServiceCIDRs) == 0,
		} {
			if _, given := held[name]; missing && !given {
				held[name] = ""
			}
		}
	}
	in.Placeholders = held
	for name := range held {
		in.hold(name)
	}
	return in
}

func (in *Input) hold(name string) {
	const source = "--placeholder"
	switch name {
	case holdCluster:
		in.Facts.ClusterName = markCluster
	case holdEndpoint:
		in.Facts.EndpointHost = markEndpoint
	case holdCA:
		in.ClusterCA = markCA
	case holdService:
		in.Facts.ServiceCIDRs, in.Facts.ServiceAddress = []netip.Prefix{netip.MustParsePrefix(markService)}, netip.Addr{}
	case holdVPC:
		in.Facts.VPCCIDRs = []netip.Prefix{netip.MustParsePrefix(markVPC)}
	}
	if field := map[string]string{holdEndpoint: facts.FieldEndpointHost, holdService: facts.FieldServiceCIDRs, holdVPC: facts.FieldVPCCIDRs}[name]; field != "" {
		sources := map[string]string{field: source}
		for k, v := range in.Facts.Sources {
			if k != field {
				sources[k] = v
			}
		}
		in.Facts.Sources = sources
	}
}

// check refuses placeholders that cannot be filled.
func (p Placeholders) check(in Input) error {
	for name, text := range p {
		switch {
		case !slices.Contains(PlaceholderNames(), name):
			return fmt.Errorf("--placeholder %q is not known; allowed: %s", name, strings.Join(PlaceholderNames(), ", "))
		case in.As == Base64:
			return refuse("a placeholder cannot be filled in base64; take --as document, terraform or cloudformation")
		case text != "" && in.As != Terraform && in.As != CloudFormation:
			return fmt.Errorf("--placeholder %s=%s: an expression is for --as terraform and cloudformation; leave out what follows the name", name, text)
		case text != "" && !expression.MatchString(text):
			return fmt.Errorf("--placeholder %s=%s: want a name, as in aws_eks_cluster.demo.endpoint or Cluster.Endpoint", name, text)
		case name == holdVPC && scripted(in.OS):
			return refuse("--placeholder vpc-cidr is for bottlerocket and auto-mode: other nodes ask metadata for the CIDRs of the VPC")
		}
	}
	for _, item := range in.Config.NoProxy.Add {
		if len(p) > 0 && strings.Contains(item.Text, "192.0.2.") {
			return fmt.Errorf("%s: %q lies in 192.0.2.0/24, which stands for placeholders while they are rendered; give the values instead", item.Origin, item.Text)
		}
	}
	return nil
}

// fillPlaceholders puts names or expressions for the marks.
func (in Input) fillPlaceholders(text []byte) []byte {
	if len(in.Placeholders) == 0 {
		return text
	}
	word := namedPlaceholder
	switch in.As {
	case Terraform:
		word = terraformPlaceholder
	case CloudFormation:
		word = cloudFormationPlaceholder
	default:
	}
	var pairs []string
	for _, m := range []struct{ name, mark, form string }{
		{holdCluster, markCluster, ""},
		{holdEndpoint, "https://" + markEndpoint, ""}, {holdEndpoint, markEndpoint, "host"},
		{holdCA, markCA, ""},
		{holdService, markService, ""}, {holdService, markAddress, "address"}, {holdService, markDNS, "dns"},
		{holdVPC, markVPC, ""},
	} {
		if expr, ok := in.Placeholders[m.name]; ok {
			pairs = append(pairs, m.mark, word(m.name, expr, m.form))
		}
	}
	out := fill(string(text), pairs...)
	if in.As == CloudFormation {
		out = in.substitutions(out)
	}
	return []byte(out)
}

// namedPlaceholder is a word between at signs.
func namedPlaceholder(name, _, form string) string {
	name = map[string]string{
		"": name, "host": "cluster-endpoint-host", "address": "service-address", "dns": "cluster-dns",
	}[form]
	if name == holdCluster {
		name = "cluster-name"
	}
	return "@" + strings.ToUpper(strings.ReplaceAll(name, "-", "_")) + "@"
}

// terraformPlaceholder is an expression in a template.
func terraformPlaceholder(name, expr, form string) string {
	if expr == "" {
		expr = "var." + map[string]string{
			holdCluster: "cluster_name", holdEndpoint: "cluster_endpoint", holdCA: "cluster_ca", holdService: "service_cidr", holdVPC: "vpc_cidr",
		}[name]
	}
	switch form {
	case "host":
		return fmt.Sprintf(`${replace(%s, "https://", "")}`, expr)
	case "address":
		return fmt.Sprintf("${cidrhost(%s, 1)}", expr)
	case "dns":
		return fmt.Sprintf("${cidrhost(%s, 10)}", expr)
	}
	return "${" + expr + "}"
}

// cloudFormationPlaceholder is a name in Fn::Sub.
func cloudFormationPlaceholder(name, expr, form string) string {
	if form != "" {
		return "${" + map[string]string{"host": "EksproxyEndpointHost", "address": "EksproxyServiceAddress", "dns": "EksproxyClusterDNS"}[form] + "}"
	}
	return "${" + cloudFormationName(name, expr) + "}"
}

func cloudFormationName(name, expr string) string {
	if expr != "" {
		return expr
	}
	return map[string]string{
		holdCluster: "ClusterName", holdEndpoint: "ClusterEndpoint", holdCA: "ClusterCA", holdService: "ServiceCIDR", holdVPC: "VPCCIDR",
	}[name]
}

// substitutions adds what Fn::Sub derives from other names.
func (in Input) substitutions(text string) string {
	if expr, ok := in.Placeholders[holdEndpoint]; ok {
		text += "      - EksproxyEndpointHost: {\"Fn::Select\": [1, {\"Fn::Split\": [\"//\", {\"Fn::Sub\": \"${" + cloudFormationName(holdEndpoint, expr) + "}\"}]}]}\n"
	}
	expr, ok := in.Placeholders[holdService]
	if !ok {
		return text
	}
	lead := "        "
	if !strings.Contains(text, "      - EksproxyEndpointHost") {
		lead = "      - "
	}
	var octets strings.Builder
	for i := range 3 {
		fmt.Fprintf(&octets, "{\"Fn::Select\": [%d, {\"Fn::Split\": [\".\", {\"Fn::Sub\": \"${%s}\"}]}]}, ", i, cloudFormationName(holdService, expr))
	}
	address := func(name, last string) string {
		return fmt.Sprintf("%s: {\"Fn::Join\": [\".\", [%s\"%s\"]]}\n", name, octets.String(), last)
	}
	return text + lead + address("EksproxyServiceAddress", "1") + "        " + address("EksproxyClusterDNS", "10")
}
