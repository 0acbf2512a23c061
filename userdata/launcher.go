package userdata

import (
	"fmt"
	"slices"
	"strings"
)

// OS is the operating system of a node.
type OS string

// The systems. Empty is for auto-mode, whose nodes have the system that AWS
// gives them.
const (
	AL2          OS = "al2"
	AL2023       OS = "al2023"
	Bottlerocket OS = "bottlerocket"
	Ubuntu       OS = "ubuntu"
	Windows      OS = "windows"
)

// OSes are those that --os names.
func OSes() []OS { return []OS{AL2, AL2023, Bottlerocket, Ubuntu} }

// Launcher is what launches nodes.
type Launcher string

// The launchers.
const (
	SelfManaged      Launcher = "self-managed"
	ManagedNodeGroup Launcher = "managed-node-group"
	ManagedCustomAMI Launcher = "managed-node-group-custom-ami"
	Karpenter        Launcher = "karpenter"
	Eksctl           Launcher = "eksctl"
	AutoMode         Launcher = "auto-mode"
)

// Launchers are those that --for names.
func Launchers() []Launcher {
	return []Launcher{SelfManaged, ManagedNodeGroup, ManagedCustomAMI, Karpenter, Eksctl, AutoMode}
}

// Form is how the user data is printed.
type Form string

// The forms.
const (
	Document       Form = "document"
	Base64         Form = "base64"
	EC2NodeClass   Form = "ec2nodeclass"
	ClusterConfig  Form = "clusterconfig"
	Terraform      Form = "terraform"
	CloudFormation Form = "cloudformation"
)

// Forms are those that --as names.
func Forms() []Form {
	return []Form{Document, Base64, EC2NodeClass, ClusterConfig, Terraform, CloudFormation}
}

// forms are those of a launcher, the first being its own.
func forms(l Launcher) []Form {
	switch l {
	case AutoMode:
		return []Form{Document}
	case Eksctl:
		return []Form{ClusterConfig}
	case Karpenter:
		return []Form{Document, Base64, EC2NodeClass, Terraform, CloudFormation}
	default:
		return []Form{Document, Base64, Terraform, CloudFormation}
	}
}

// Mode is how the node is put behind the proxy.
type Mode string

// The modes.
const (
	Static    Mode = "static"
	AgentMode Mode = "agent"
)

// Modes are those that --mode names.
func Modes() []Mode { return []Mode{Static, AgentMode} }

// Pair is what there is for a system and a launcher.
type Pair struct {
	OS  OS
	For Launcher
	// Refused is why there is nothing; empty where there is something.
	Refused string
	// Gives is what is rendered.
	Gives string
}

const windowsReason = "Windows is not supported: one <powershell> block sets machine variables, which containerd does not read in the same boot " +
	"(containerd#6609, #8846); set HTTPS_PROXY and NO_PROXY in each service's own Environment value in an image of your own"

// Pairs are all systems with all launchers, in the order of --os and --for.
func Pairs() []Pair {
	var pairs []Pair
	for _, os := range append(OSes(), Windows) {
		for _, l := range Launchers() {
			pairs = append(pairs, pair(os, l))
		}
	}
	return append(pairs, Pair{For: AutoMode, Gives: "a NodeClass with `advancedNetworking` and `certificateBundles`"})
}

// pair says what there is for one system and launcher.
func pair(os OS, l Launcher) Pair {
	p := Pair{OS: os, For: l}
	switch {
	case os == Windows:
		p.Refused = windowsReason
	case l == AutoMode:
		p.Refused = "auto-mode takes no user data and chooses the system itself; leave --os out"
	case os == Ubuntu && l == ManagedNodeGroup:
		p.Refused = "EKS has no Ubuntu image for managed node groups; take managed-node-group-custom-ami"
	case l == Eksctl:
		p.Gives = eksctlGives(os)
	case os == Bottlerocket:
		p.Gives = "TOML with `settings.network` and `settings.pki`"
	case os == AL2023:
		p.Gives = "MIME: NodeConfig, boothook"
	default:
		p.Gives = "MIME: boothook"
		if l != ManagedNodeGroup && (l != Karpenter || os == Ubuntu) {
			p.Gives += ", the call of bootstrap.sh"
		}
	}
	return p
}

func eksctlGives(os OS) string {
	switch os {
	case Bottlerocket:
		return "a ClusterConfig with `bottlerocket.settings`"
	case AL2023:
		return "a ClusterConfig with NodeConfig and `preBootstrapCommands`, which run once"
	default:
		return "a ClusterConfig with `preBootstrapCommands`, which run once, and `overrideBootstrapCommand`"
	}
}

// checkPair refuses what there is nothing for.
func checkPair(os OS, l Launcher) error {
	if !slices.Contains(Launchers(), l) {
		return fmt.Errorf("--for %q is not known; allowed: %s", l, joined(Launchers()))
	}
	if os == "" && l == AutoMode {
		return nil
	}
	if os != Windows && !slices.Contains(OSes(), os) {
		return fmt.Errorf("--os %q is not known; allowed: %s", os, joined(OSes()))
	}
	if p := pair(os, l); p.Refused != "" {
		return refuse(fmt.Sprintf("--os %s with --for %s is refused: %s", os, l, p.Refused))
	}
	return nil
}

// joined lists values for a message.
func joined[T ~string](values []T) string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = string(v)
	}
	return strings.Join(texts, ", ")
}

// scripted says whether the nodes of the system run scripts.
func scripted(os OS) bool { return os == AL2 || os == AL2023 || os == Ubuntu }
