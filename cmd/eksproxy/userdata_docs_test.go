package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/eksproxy/eksproxy/userdata"
)

// Two pages are written from the tables of package userdata. -update writes
// them.
const (
	bootPathsPage = "docs/boot-paths.md"
	launchersPage = "docs/launchers/README.md"
)

func TestBootPathsPage(t *testing.T) { comparePage(t, bootPathsPage, bootPathsText()) }

func TestLaunchersPage(t *testing.T) { comparePage(t, launchersPage, launchersText()) }

func comparePage(t *testing.T, name, want string) {
	t.Helper()
	got := ""
	if data, err := os.ReadFile(filepath.Join(repository, name)); err == nil {
		got = string(data)
	}
	compareDoc(t, name, got, want)
}

// bootPathsText is the page of the decision table.
func bootPathsText() string {
	var b strings.Builder
	b.WriteString("# Can such a node boot?\n\n" +
		"This page is written from the decision table of `userdata render` by\n" +
		"`go test ./cmd/eksproxy -run TestBootPathsPage -update`. Before it prints anything, render looks for\n" +
		"the first row that matches. An empty cell matches everything. Where a node cannot boot it ends with\n" +
		"exit code 2 and lists the ways out.\n\n" +
		"- **credentials**: the proxy asks for a password.\n" +
		"- **re-signed**: `tlsInspection` is true, and no element of `inspectionExempt` covers ec2.REGION.\n" +
		"- **endpoint**: the VPC has an interface endpoint for ec2 (`--vpc-endpoint ec2`).\n" +
		"- **in image**: the agent is in the image (`--agent-in-image`).\n" +
		"- **id names**: nodes are named by their instance (`--instance-id-node-name`).\n" +
		"- **rule**: the proxy lets ec2.REGION through as it is (`--ec2-rule`).\n" +
		"- **release**: that of the EKS image (`--ami-release`). One that is not given is taken for a new one,\n" +
		"  and render says so. v20251007 brought the environment of a NodeConfig; up to v20251112 nodeadm\n" +
		"  sets it after its call to EC2, and from v20251120 on before.\n\n" +
		"| | system | release | credentials | re-signed | endpoint | in image | id names | rule | boots | nodeadm's call is fed by | why |\n" +
		"| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n")
	ways := []userdata.WayOut{userdata.WayRelease, userdata.WayEndpoint, userdata.WayInImage, userdata.WayIDNodeName, userdata.WayRule}
	for i, p := range userdata.BootPaths() {
		boots, feed := "yes", string(p.Feed)
		if !p.Boots {
			boots, feed = "**no**: "+wayNumbers(ways, p.Ways), ""
		}
		fmt.Fprintf(&b, "| %d | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", i+1, orAuto(p.OS), strings.Join(p.Releases, ", "),
			p.Credentials, p.Resigned, p.Endpoint, p.InImage, p.IDNodeName, p.Rule, boots, feed, p.Why)
	}
	b.WriteString("\n## The ways out\n\nThe letters in the table are these, the best first:\n\n")
	for i, w := range ways {
		fmt.Fprintf(&b, "- **%c**: %s.\n", 'a'+i, w)
	}
	b.WriteString("\nNothing here was run on an instance of EC2: what nodeadm does was read in its source.\n")
	return b.String()
}

func wayNumbers(all, some []userdata.WayOut) string {
	var letters []string
	for _, w := range some {
		for i, a := range all {
			if a == w {
				letters = append(letters, string(rune('a'+i)))
			}
		}
	}
	return strings.Join(letters, ", ")
}

func orAuto(os userdata.OS) string {
	if os == "" {
		return "(auto-mode)"
	}
	return string(os)
}

// launchersText is the page of what there is for each system and launcher.
func launchersText() string {
	var b strings.Builder
	b.WriteString("# User data for every launcher\n\n" +
		"`eksproxy userdata render` prints the user data of one kind of node. It asks nobody: what it is to\n" +
		"know comes from flags, from a [configuration](../configuration.md) and from `--facts`. Whether such a\n" +
		"node can boot at all is decided first, see [boot paths](../boot-paths.md). Each launcher has a page:\n\n" +
		"- [self-managed](self-managed.md), [CloudFormation](cloudformation.md) and [Terraform](terraform.md)\n" +
		"- [managed node groups](managed-node-group.md), with EKS's image and with your own\n" +
		"- [Karpenter](karpenter.md)\n- [eksctl](eksctl.md)\n- [auto-mode](auto-mode.md)\n- [Bottlerocket](bottlerocket.md), whatever launches it\n\n" +
		"This table is written from the program by `go test ./cmd/eksproxy -run TestLaunchersPage -update`.\n\n" +
		"| `--os` | `--for` | |\n| --- | --- | --- |\n")
	for _, p := range userdata.Pairs() {
		text := p.Gives
		if p.Refused != "" {
			text = "refused: " + p.Refused
		}
		os := "`" + string(p.OS) + "`"
		if p.OS == "" {
			os = "none"
		}
		fmt.Fprintf(&b, "| %s | `%s` | %s |\n", os, p.For, text)
	}
	return b.String()
}
