//go:build !nodeonly

package main

import (
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/eksproxy/eksproxy/facts"
	"github.com/eksproxy/eksproxy/proxyconfig"
	"github.com/eksproxy/eksproxy/userdata"
)

// The flags of what is rendered.
const (
	flagLauncher         = "for"
	flagAs               = "as"
	flagMode             = "mode"
	flagAMIRelease       = "ami-release"
	flagVPCEndpoint      = "vpc-endpoint"
	flagAgentInImage     = "agent-in-image"
	flagAgentURL         = "agent-url"
	flagAgentSHA256      = "agent-sha256"
	flagIDNodeName       = "instance-id-node-name"
	flagEC2Rule          = "ec2-rule"
	flagClusterCA        = "cluster-ca"
	flagBootstrapArgs    = "bootstrap-args"
	flagKubeletFlag      = "kubelet-flag"
	flagCFNSignal        = "cfn-signal"
	flagPlaceholder      = "placeholder"
	flagInUserData       = "credentials-in-user-data"
	flagFormat           = "format"
	pathOfOS             = "node.os"
	pathOfVPCCIDRs       = "cluster.vpcCIDRs"
	pathOfEndpoint       = "cluster.endpoint"
	pathOfServiceCIDRs   = "cluster.serviceCIDRs"
	pathOfRegion         = "cluster.region"
	pathOfInspection     = "tlsInspection"
	pathOfInspectionFree = "inspectionExempt"
)

// workstationCommands are those that the agent does not have.
func (p *program) workstationCommands() []*cli.Command {
	return []*cli.Command{p.userdataCommand(), p.addonsCommand()}
}

func (p *program) userdataCommand() *cli.Command {
	return &cli.Command{
		Name: "userdata", Usage: "write user data for every launcher of nodes, and say what becomes of it",
		Subcommands: []*cli.Command{p.userdataRenderCommand(), p.userdataMergeCommand(), p.userdataLintCommand(), p.userdataSimulateCommand()},
	}
}

func (p *program) userdataRenderCommand() *cli.Command {
	return &cli.Command{
		Name: "render", Usage: "print user data that puts nodes behind the proxy",
		Description: "Exit code 2 says that such a node could never boot, or that a password would stand in user data; the ways out follow.\n\n" +
			"Examples:\n" +
			"  eksproxy userdata render --os al2023 --for managed-node-group --http-proxy http://proxy.example:3128\n" +
			"  eksproxy userdata render --os al2023 --for karpenter --as ec2nodeclass --config proxy.yaml --facts node.json\n" +
			"  eksproxy userdata render --os bottlerocket --for eksctl --config proxy.yaml --vpc-cidr 10.40.0.0/16\n" +
			"  eksproxy userdata render --for auto-mode --config proxy.yaml --vpc-cidr 10.40.0.0/16",
		Flags:  append(renderFlags(), bootstrapFlags()...),
		Action: noArgs(p.userdataRender),
	}
}

// settingsForNodes are the paths of the settings that user data is made from.
func settingsForNodes() []string {
	return []string{"httpProxy", "httpsProxy", "credentials.", "trustedCA", "noProxy.", "cluster.", "node.runtime", "node.credentialsInEtc"}
}

// renderFlags are those of our parts, which merge needs too.
func renderFlags() []cli.Flag {
	return append(settingFlags(settingsForNodes()...),
		&cli.StringFlag{Name: "os", Usage: "operating system of the node; allowed: " + names(userdata.OSes()) + " (none for auto-mode)"},
		&cli.StringFlag{Name: flagLauncher, Usage: "what launches the nodes; allowed: " + names(userdata.Launchers())},
		&cli.StringFlag{Name: flagMode, Usage: "static: a script that needs nothing of ours; agent: the program on the node; allowed: " + names(userdata.Modes()) + " (default: the one that can work)"},
		&cli.StringFlag{Name: flagFacts, Usage: "`FILE` that facts node -o json or -o yaml wrote; nothing is asked here"},
		&cli.StringFlag{Name: flagAMIRelease, Usage: "`RELEASE` of the EKS image, as in v20251120"},
		&cli.StringSliceFlag{Name: flagVPCEndpoint, Usage: "`SERVICE` that has an interface endpoint in the VPC, as in ec2; repeat the flag"},
		&cli.BoolFlag{Name: flagAgentInImage, Usage: "node install put the program into the image", DisableDefaultText: true},
		&cli.StringFlag{Name: flagAgentURL, Usage: "`URL` that nodes fetch the program from: https://HOST/PATH, or s3://BUCKET/KEY with the role of the instance"},
		&cli.StringFlag{Name: flagAgentSHA256, Usage: "SHA-256 of that program, in `HEX`"},
		&cli.BoolFlag{Name: flagIDNodeName, Usage: "name nodes of al2023 by their instance, so that nodeadm asks no EC2", DisableDefaultText: true},
		&cli.BoolFlag{Name: flagEC2Rule, Usage: "the proxy lets ec2.REGION through without a password and without re-signing", DisableDefaultText: true},
		&cli.BoolFlag{Name: flagInUserData, Usage: "let the password of the proxy stand in user data", DisableDefaultText: true},
		&cli.IntFlag{Name: flagFormat, Usage: "`N` of the form that is rendered; changed user data replaces nodes", Value: userdata.Format})
}

// bootstrapFlags are those of a whole document.
func bootstrapFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: flagAs, Usage: "form of the output; allowed: " + names(userdata.Forms()) + " (default: document, for eksctl clusterconfig)"},
		&cli.StringFlag{Name: flagClusterCA, Usage: "authority of the API server: base64 as aws eks describe-cluster prints it, or a `FILE` with it or with PEM"},
		&cli.StringFlag{Name: flagBootstrapArgs, Usage: "`ARGUMENTS` for bootstrap.sh, as they are"},
		&cli.StringSliceFlag{Name: flagKubeletFlag, Usage: "`FLAG` of kubelet, as in --node-labels=a=b; repeat the flag"},
		&cli.StringFlag{Name: flagCFNSignal, Usage: "`STACK/RESOURCE` that is told when the node's script has ended, through the proxy"},
		&cli.StringSliceFlag{Name: flagPlaceholder, Usage: "`NAME` of what does not exist yet, or NAME=EXPRESSION for terraform and cloudformation; repeat the flag; allowed: " + strings.Join(userdata.PlaceholderNames(), ", ")},
	}
}

func (p *program) userdataRender(c *cli.Context) error {
	in, err := p.renderInput(c)
	if err != nil {
		return err
	}
	in.As = userdata.Form(c.String(flagAs))
	if in.As != "" && !strings.Contains(", "+names(userdata.Forms())+",", ", "+string(in.As)+",") {
		return usagef("--as %q is not known; allowed: %s", in.As, names(userdata.Forms()))
	}
	in.Bootstrap = userdata.Bootstrap{Args: c.String(flagBootstrapArgs), KubeletFlags: c.StringSlice(flagKubeletFlag), CFNSignal: c.String(flagCFNSignal)}
	if in.ClusterCA, err = clusterCA(c.String(flagClusterCA)); err != nil {
		return usage(err)
	}
	in.Placeholders = userdata.Placeholders{}
	for _, text := range c.StringSlice(flagPlaceholder) {
		name, expr, _ := strings.Cut(text, "=")
		in.Placeholders[name] = expr
	}
	out, err := userdata.Render(in)
	if err != nil {
		return usage(err)
	}
	for _, note := range out.Notes {
		p.talk.Note("%s", note)
	}
	if out.Size > 0 {
		p.talk.Note("%d bytes before base64, of %d", out.Size, userdata.MaxSize)
	}
	_, err = p.Out.Write(out.Text)
	return err
}

// renderInput is what our parts are rendered from. It asks nobody: what the
// world says comes from flags and --facts.
func (p *program) renderInput(c *cli.Context) (userdata.Input, error) {
	in := userdata.Input{
		OS: userdata.OS(c.String("os")), For: userdata.Launcher(c.String(flagLauncher)), Mode: userdata.Mode(c.String(flagMode)),
		Agent:                 userdata.Agent{InImage: c.Bool(flagAgentInImage), URL: c.String(flagAgentURL), SHA256: c.String(flagAgentSHA256)},
		Boot:                  userdata.BootOptions{AMIRelease: c.String(flagAMIRelease), VPCEndpoints: c.StringSlice(flagVPCEndpoint), InstanceIDNodeName: c.Bool(flagIDNodeName), EC2Rule: c.Bool(flagEC2Rule)},
		CredentialsInUserData: c.Bool(flagInUserData), Format: c.Int(flagFormat),
	}
	merged, err := p.settings(c, nil)
	if err != nil {
		return in, err
	}
	// The systems of --os are more than those of a node with the program.
	delete(merged, pathOfOS)
	if in.For == "" {
		return in, usagef("--for is missing; allowed: %s", names(userdata.Launchers()))
	}
	if in.Mode != "" && !strings.Contains(names(userdata.Modes()), string(in.Mode)) {
		return in, usagef("--mode %q is not known; allowed: %s", in.Mode, names(userdata.Modes()))
	}
	if in.Config, err = p.resolveForUserData(c, merged); err != nil {
		return in, err
	}
	p.warn(in.Config.Warnings)
	if in.Config.Revert() {
		return in, usagef("both proxies are given as empty: there is nothing to render; userdata merge --remove takes our parts out of a document")
	}
	if in.Facts, err = renderFacts(c, in.Config); err != nil {
		return in, err
	}
	if _, err := p.compose(in.Facts, in.Config); err != nil { // for what it has to say
		return in, err
	}
	in.Portable = func(n facts.Node) (proxyconfig.Portable, error) { return nodeConfiguration(merged, n).Portable("node") }
	return in, nil
}

// resolveForUserData fetches credentials only where they may stand in the
// output.
func (p *program) resolveForUserData(c *cli.Context, merged proxyconfig.Layer) (proxyconfig.Config, error) {
	if c.Bool(flagInUserData) {
		return p.resolve(c, merged, nil)
	}
	cfg, err := merged.Resolve("node", unfetchedRef)
	return cfg, usage(err)
}

// renderFacts is what flags and a file say of the network.
func renderFacts(c *cli.Context, cfg proxyconfig.Config) (facts.Node, error) {
	n := facts.NewNode()
	if name := c.String(flagFacts); name != "" {
		var err error
		if n, err = facts.ReadNode(name); err != nil {
			return n, usage(err)
		}
	}
	cfg.Cluster.Overlay(&n)
	return n, nil
}

// nodeConfiguration is what the agent reads on the node: what was given, and
// what is known of the cluster. The CIDRs of the VPC stay out, because the node
// asks metadata, and so does what is for render alone.
func nodeConfiguration(merged proxyconfig.Layer, n facts.Node) proxyconfig.Layer {
	l := proxyconfig.Merge(merged.In("node"))
	for _, path := range []string{pathOfVPCCIDRs, pathOfInspection, pathOfInspectionFree} {
		delete(l, path)
	}
	o := proxyconfig.Origin{Level: proxyconfig.Flag, Name: "--facts"}
	if n.EndpointHost != "" {
		l.Set(pathOfEndpoint, o, n.EndpointHost)
	}
	if len(n.ServiceCIDRs) > 0 {
		l.Set(pathOfServiceCIDRs, o, strings.Split(prefixes(n.ServiceCIDRs), ", ")...)
	}
	if n.Region != "" {
		l.Set(pathOfRegion, o, n.Region)
	}
	return l
}
