package userdata

import (
	"fmt"
	"strings"

	"github.com/eksproxy/eksproxy/noproxy"
)

// nodeConfigHead begins each NodeConfig.
const nodeConfigHead = "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n"

// nodeConfig is our NodeConfig: the proxy for nodeadm's own calls, which come
// before any script. It is empty where nodeadm needs nothing of us.
func (in Input) nodeConfig() (string, error) {
	if in.OS != AL2023 {
		return "", nil
	}
	verdict, err := in.bootPath()
	if err != nil {
		return "", err
	}
	text := ""
	if verdict.Feed == FeedEnvironment {
		list, err := in.composed()
		if err != nil {
			return "", fmt.Errorf("composing NO_PROXY: %w", err)
		}
		text += "  instance:\n    environment:\n      default:\n" + in.environment(list)
	}
	if in.Boot.InstanceIDNodeName {
		text += "  featureGates:\n    InstanceIdNodeName: true\n"
	}
	if text == "" {
		return "", nil
	}
	return FormatLine + "\n" + nodeConfigHead + text, nil
}

// environment is that of nodeadm, which becomes the default of all services;
// those that have a drop-in of ours have the whole list from it. It never holds
// a password: nodeadm prints it to the console. Upper case alone is enough for
// Go, and keeps cloud-init's own requests off the proxy. Every byte counts, so
// that star forms, which are for Java, and dotted twins stay out.
func (in Input) environment(list noproxy.List) string {
	var entries []string
	for _, e := range list {
		name, dotted := strings.CutPrefix(e.Text, ".")
		if !strings.HasPrefix(e.Text, "*.") && (!dotted || !list.Contains(name)) {
			entries = append(entries, e.Text)
		}
	}
	if host := in.ec2Host(); host != "" && in.Boot.hasEndpoint("ec2") {
		entries = append(entries, host)
	}
	return fmt.Sprintf("        HTTP_PROXY: %q\n        HTTPS_PROXY: %q\n        NO_PROXY: %q\n",
		in.Config.HTTPProxy.Bare(), in.Config.HTTPSProxy.Bare(), strings.Join(entries, ","))
}
