package userdata

import (
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"strings"

	"github.com/eksproxy/eksproxy/bootdata"
	"github.com/eksproxy/eksproxy/templates"
)

// Bootstrap is what joins a node to its cluster, beside the cluster's facts.
type Bootstrap struct {
	// Args are added to the call of bootstrap.sh as they are.
	Args string
	// KubeletFlags are flags of kubelet, as in --node-labels=a=b.
	KubeletFlags []string
	// CFNSignal is STACK/RESOURCE to tell when the script has ended.
	CFNSignal string
}

func (b Bootstrap) isZero() bool {
	return b.Args == "" && len(b.KubeletFlags) == 0 && b.CFNSignal == ""
}

var (
	signalForm  = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9-]*|\$\{AWS::StackName\})/[A-Za-z0-9]+$`)
	kubeletForm = regexp.MustCompile(`^--[a-z0-9-]+(=[A-Za-z0-9._/:=,@%+-]*)?$`)
)

// check refuses what cannot be put into a script or a NodeConfig.
func (b Bootstrap) check(in Input) error {
	if b.isZero() {
		return nil
	}
	whole, lacks := in.withPlaceholders().whole()
	switch {
	case !in.joins():
		return refuse(fmt.Sprintf("--bootstrap-args, --kubelet-flag and --cfn-signal are for documents that join the cluster themselves; with --for %s the launcher does; give them to it", in.For))
	case !whole:
		return refuse("--bootstrap-args, --kubelet-flag and --cfn-signal need the whole document: " + lacks)
	case !scripted(in.OS):
		return errors.New("--bootstrap-args, --kubelet-flag and --cfn-signal are for al2, al2023 and ubuntu; Bottlerocket has settings for it")
	case b.Args != "" && in.OS == AL2023:
		return errors.New("--bootstrap-args is for bootstrap.sh of al2 and ubuntu; on al2023 give --kubelet-flag")
	case strings.ContainsFunc(b.Args, func(r rune) bool { return r < 0x20 || r > 0x7e }):
		return errors.New("--bootstrap-args holds a control character or a letter that is not ASCII; write it on one line")
	case b.CFNSignal != "" && (!signalForm.MatchString(b.CFNSignal) || strings.Contains(b.CFNSignal, "$") && in.As != CloudFormation):
		return fmt.Errorf("--cfn-signal %q is not STACK/RESOURCE; with --as cloudformation STACK may be ${AWS::StackName}", b.CFNSignal)
	}
	for _, f := range b.KubeletFlags {
		if !kubeletForm.MatchString(f) {
			return fmt.Errorf("--kubelet-flag %q is not --NAME=VALUE of letters, digits and . _ / : = , @ %% + -", f)
		}
	}
	return nil
}

// joins says whether the document itself joins the node to its cluster.
func (in Input) joins() bool {
	return in.For == SelfManaged || in.For == ManagedCustomAMI || in.For == Karpenter && in.OS == Ubuntu
}

// whole says whether all is there that joins the node to its cluster, and else
// what such a node lacks.
func (in Input) whole() (whole bool, lacks string) {
	if !in.joins() {
		return false, ""
	}
	var missing []string
	for _, m := range []struct {
		there bool
		flag  string
	}{
		{in.Facts.ClusterName != "", "--cluster"},
		{in.Facts.EndpointHost != "", "--cluster-endpoint"},
		{in.ClusterCA != "", "--cluster-ca"},
		{len(in.Facts.ServiceCIDRs) > 0, "--service-cidr"},
	} {
		if !m.there {
			missing = append(missing, m.flag)
		}
	}
	if len(missing) == 0 {
		return true, ""
	}
	return false, fmt.Sprintf("this is our part alone: such a node still lacks what joins it to its cluster. Give %s for the whole document, or merge it into yours (userdata merge)", strings.Join(missing, ", "))
}

// withCluster adds what joins the node to its cluster. It is not marked as
// ours: it stays where our parts are merged anew or taken out.
func (in Input) withCluster(parts []bootdata.Part) []bootdata.Part {
	if in.OS != AL2023 {
		return append(parts, bootdata.NewPart(bootdata.TypeShell, "bootstrap.sh", []byte(templates.UserDataBootstrap+in.bootstrapCall()+in.signal("$joined"))))
	}
	config := bootdata.NewPart(bootdata.TypeNodeConfig, "nodeconfig.yaml", []byte(in.clusterNodeConfig()))
	at := 0
	if len(parts) > 0 && parts[0].ContentType == bootdata.TypeNodeConfig {
		at = 1
	}
	out := append(append(parts[:at:at], config), parts[at:]...)
	if in.Bootstrap.CFNSignal != "" {
		out = append(out, bootdata.NewPart(bootdata.TypeShell, "cfn-signal.sh", []byte(templates.UserDataBootstrap+in.signal("0"))))
	}
	return out
}

// clusterNodeConfig is the NodeConfig that names the cluster.
func (in Input) clusterNodeConfig() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  cluster:\n    name: %q\n    apiServerEndpoint: %q\n    certificateAuthority: %s\n    cidr: %q\n", nodeConfigHead,
		in.Facts.ClusterName, "https://"+urlHost(in.Facts.EndpointHost), in.ClusterCA, in.Facts.ServiceCIDRs[0].String())
	if len(in.Bootstrap.KubeletFlags) > 0 {
		b.WriteString("  kubelet:\n    flags:\n")
		for _, f := range in.Bootstrap.KubeletFlags {
			fmt.Fprintf(&b, "    - %q\n", f)
		}
	}
	return b.String()
}

// urlHost puts an IPv6 address in brackets.
func urlHost(host string) string {
	if addr, err := netip.ParseAddr(host); err == nil && addr.Is6() {
		return "[" + host + "]"
	}
	return host
}

// bootstrapCall calls bootstrap.sh with all that it would ask AWS for.
func (in Input) bootstrapCall() string {
	words := []string{
		"/etc/eks/bootstrap.sh " + quote(in.Facts.ClusterName),
		"--apiserver-endpoint " + quote("https://"+urlHost(in.Facts.EndpointHost)),
		"--b64-cluster-ca " + quote(in.ClusterCA),
	}
	if cidr := in.Facts.ServiceCIDRs[0]; cidr.Addr().Is6() {
		words = append(words, "--ip-family ipv6 --service-ipv6-cidr "+quote(cidr.String()))
	} else {
		words = append(words, "--dns-cluster-ip "+quote(clusterDNS(cidr)))
	}
	if len(in.Bootstrap.KubeletFlags) > 0 {
		words = append(words, "--kubelet-extra-args "+quote(strings.Join(in.Bootstrap.KubeletFlags, " ")))
	}
	if in.Bootstrap.Args != "" {
		words = append(words, in.Bootstrap.Args)
	}
	return strings.Join(words, " \\\n  ") + "\njoined=$?\n"
}

// clusterDNS is the tenth address of the range, which EKS gives to its DNS.
func clusterDNS(cidr netip.Prefix) string {
	a := cidr.Masked().Addr()
	for range 10 {
		a = a.Next()
	}
	return a.String()
}

// quote quotes a word for a shell; what comes here holds no quote.
func quote(word string) string { return "'" + word + "'" }

// signal tells CloudFormation how the script has ended, through the proxy.
func (in Input) signal(status string) string {
	if in.Bootstrap.CFNSignal == "" {
		if in.OS == AL2023 {
			return ""
		}
		return "exit \"" + status + "\"\n"
	}
	stack, resource, _ := strings.Cut(in.Bootstrap.CFNSignal, "/")
	region := ""
	if in.Facts.Region != "" {
		region = " --region " + in.Facts.Region
	}
	text := "PATH=$PATH:/opt/aws/bin:/usr/local/bin\n" + fmt.Sprintf("cfn-signal --exit-code \"%s\" --stack '%s' --resource '%s'%s \\\n  --http-proxy \"$HTTP_PROXY\" --https-proxy \"$HTTPS_PROXY\"\n", status, stack, resource, region)
	if in.OS != AL2023 {
		text += "exit \"" + status + "\"\n"
	}
	return text
}
