package userdata

import (
	"bytes"
	"fmt"
	"strings"
)

// indented puts blanks before each line that is not empty.
func indented(text []byte, blanks int) string {
	var b strings.Builder
	for line := range bytes.Lines(text) {
		if len(bytes.TrimSpace(line)) > 0 {
			b.WriteString(strings.Repeat(" ", blanks))
		}
		b.Write(line)
	}
	return b.String()
}

// heredocTF ends the text in Terraform.
const heredocTF = "EKSPROXY_USER_DATA"

// terraform is a local value with the document.
func (in Input) terraform(text []byte) []byte {
	escaped := strings.NewReplacer("${", "$${", "%{", "%%{").Replace(string(text))
	return fmt.Appendf(nil, "# eksproxy format %d. In aws_launch_template:\n#   user_data = base64encode(local.eksproxy_user_data)\n"+
		"locals {\n  eksproxy_user_data = <<%s\n%s%s\n}\n", in.Format, heredocTF, escaped, heredocTF)
}

// cloudFormation is the property UserData of LaunchTemplateData.
func (in Input) cloudFormation(text []byte) []byte {
	escaped := strings.ReplaceAll(string(text), "${", "${!")
	if stack, _, ok := strings.Cut(in.Bootstrap.CFNSignal, "/"); ok && strings.HasPrefix(stack, "${") {
		escaped = strings.ReplaceAll(escaped, "${!AWS::StackName}", "${AWS::StackName}")
	}
	head := fmt.Sprintf("# eksproxy format %d: a property of LaunchTemplateData.\nUserData:\n  Fn::Base64:\n    Fn::Sub:\n", in.Format)
	if in.needsMap() {
		return []byte(head + "      - |\n" + indented([]byte(escaped), 8))
	}
	return []byte(strings.TrimSuffix(head, "\n") + " |\n" + indented([]byte(escaped), 6))
}

// needsMap says whether Fn::Sub derives names from others.
func (in Input) needsMap() bool {
	_, endpoint := in.Placeholders[holdEndpoint]
	_, service := in.Placeholders[holdService]
	return endpoint || service
}

// ec2NodeClass is Karpenter's class of nodes, as far as user data goes.
func (in Input) ec2NodeClass(text []byte) []byte {
	family := map[OS]string{AL2: "AL2", AL2023: "AL2023", Bottlerocket: "Bottlerocket", Ubuntu: "Custom"}[in.OS]
	return fmt.Appendf(nil, "# eksproxy format %d. Put spec.userData into your class: changed user data\n# replaces its nodes.\napiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata:\n  name: default\nspec:\n  amiFamily: %s\n  userData: |\n%s",
		in.Format, family, indented(text, 4))
}

// checkSize refuses what EC2 or the launcher would refuse.
func (in Input) checkSize(text []byte) (int, error) {
	size, most := len(text), room(in.For)
	if size <= most {
		return size, nil
	}
	why := fmt.Sprintf("the user data has %d bytes, and EC2 takes %d before base64", size, MaxSize)
	if most < MaxSize {
		why += fmt.Sprintf(", of which the part of the launcher needs up to %d", MaxSize-most)
	}
	var ways []string
	certificates := 0
	for _, ca := range in.Config.CAs {
		certificates += len(ca.PEM)
	}
	if certificates > 0 {
		ways = append(ways, fmt.Sprintf("give fewer certificates: they take %d bytes, and a proxy needs but its root", certificates))
	}
	if list, err := in.composed(); err == nil {
		ways = append(ways, fmt.Sprintf("give fewer noProxy.add: NO_PROXY takes %d bytes wherever it stands; a zone stands for its hosts", len(list.String())))
	}
	if scripted(in.OS) && !in.Agent.InImage {
		ways = append(ways, "put agent and certificates into the image (eksproxy node install), and give --agent-in-image")
	}
	return size, refuse(why, ways...)
}
