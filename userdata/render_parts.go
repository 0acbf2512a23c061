package userdata

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/eksproxy/eksproxy/bootdata"
	"github.com/eksproxy/eksproxy/node"
	"github.com/eksproxy/eksproxy/proxyconfig"
	"github.com/eksproxy/eksproxy/templates"
)

// The names of our parts.
const (
	partNodeConfig = "eksproxy-nodeconfig.yaml"
	partBoothook   = "eksproxy-boothook.sh"
	partTOML       = "eksproxy.toml"
)

// everyBoot is when a boothook runs.
const everyBoot = "every boot"

// Parts are our parts alone, in their order: for a document that says itself
// how the node joins its cluster. For Bottlerocket it is one part of TOML.
func Parts(in Input) ([]bootdata.Part, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	if in.For == AutoMode {
		return nil, refuse("auto-mode takes no user data: its NodeClass has fields for the proxy")
	}
	if _, err := in.bootPath(); err != nil {
		return nil, err
	}
	if in.OS == Bottlerocket {
		text, err := in.bottlerocketOurs()
		return []bootdata.Part{bootdata.NewPart(bootdata.TypeTOML, partTOML, text)}, err
	}
	var parts []bootdata.Part
	config, err := in.nodeConfig()
	if err != nil {
		return nil, err
	}
	if config != "" {
		parts = append(parts, bootdata.NewPart(bootdata.TypeNodeConfig, partNodeConfig, []byte(config)))
	}
	script, err := in.script(everyBoot)
	if err != nil {
		return nil, err
	}
	return append(parts, bootdata.NewPart(bootdata.TypeBoothook, partBoothook, []byte(script))), nil
}

// script is the one that puts the node behind the proxy, in either mode.
func (in Input) script(when string) (string, error) {
	if in.Mode == AgentMode {
		return in.agentScript(when)
	}
	return staticScript(in, when)
}

// chooseMode takes the mode that can work where none is given, and refuses one
// that cannot.
func (in *Input) chooseMode() error {
	if !scripted(in.OS) {
		if in.Mode != "" {
			return errNoMode
		}
		return in.checkCredentials("the proxy's URL holds it")
	}
	if in.Mode == "" {
		in.Mode = Static
		if in.Agent.InImage || in.Agent.URL != "" || secretIn(in.Config) {
			in.Mode = AgentMode
		}
	}
	if in.Mode == Static {
		return in.checkCredentials("a static script has nothing that could fetch it")
	}
	if err := in.Agent.check(); err != nil {
		return err
	}
	p, err := in.portable()
	if err == nil && p.Credentials != nil {
		err = in.checkCredentials("credentials.file is a file of this machine")
	}
	return err
}

// portable is the configuration that the program reads on the node.
func (in Input) portable() (proxyconfig.Portable, error) {
	if in.Portable == nil {
		return proxyconfig.Portable{}, errors.New("rendering the configuration of the agent: none is given")
	}
	return in.Portable(in.Facts)
}

// checkCredentials refuses a password in user data that nobody asked for.
func (in *Input) checkCredentials(why string) error {
	if !secretIn(in.Config) || in.CredentialsInUserData {
		return nil
	}
	ways := []string{"--credentials-in-user-data puts it there all the same"}
	if scripted(in.OS) {
		ways = append([]string{"--credentials-from secretsmanager:ARN or ssm:NAME, with --agent-in-image or --agent-url: the node fetches it at boot"}, ways...)
	} else {
		ways = append([]string{"let the proxy know these nodes by their addresses, and give a URL without credentials"}, ways...)
	}
	return refuse("the password of the proxy would stand in user data ("+why+"). Every process on the node that reaches metadata reads it, "+
		"and so does who may describe the instance or its launch template", ways...)
}

// The forms of what is fetched. Nothing in them is special to a shell.
var (
	agentURL  = regexp.MustCompile(`^(https|s3)://[A-Za-z0-9][A-Za-z0-9.:-]*/[A-Za-z0-9._~/+%-]+$`)
	agentHash = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

// check says whether the program can come to the node.
func (a Agent) check() error {
	switch {
	case a.InImage && a.URL != "":
		return errors.New("--agent-in-image and --agent-url exclude each other; give the one that holds")
	case a.InImage:
		return nil
	case a.URL == "":
		return refuse("--mode agent needs the program on the node",
			"put it into the image (eksproxy node install) and give --agent-in-image",
			"give --agent-url https://HOST/PATH or s3://BUCKET/KEY, and --agent-sha256",
			"without it: --mode static, for a proxy without credentials")
	case !agentURL.MatchString(a.URL):
		return fmt.Errorf("--agent-url %q is not https://HOST/PATH or s3://BUCKET/KEY, of letters, digits and . _ ~ / + %% -", a.URL)
	case !agentHash.MatchString(a.SHA256):
		return errors.New("--agent-sha256 is not 64 hex digits in lower case; sha256sum prints them, and SHA256SUMS of a release has them")
	}
	return nil
}

// agentScript writes the configuration and runs the program.
func (in Input) agentScript(when string) (string, error) {
	p, err := in.portable()
	if err != nil {
		return "", err
	}
	if !in.Agent.InImage && len(p.TrustedCA) == 0 { // the fetch needs a file
		for _, ca := range in.Config.CAs {
			p.TrustedCA = append(p.TrustedCA, ca.PEM...)
		}
	}
	var text strings.Builder
	text.WriteString(fill(templates.UserDataHead, "%WHEN%", when, "%SECONDS%", "300") + "\n")
	for _, f := range []struct {
		name, mode string
		data       []byte
	}{
		{"config.yaml", "644", p.Config},
		{proxyconfig.PortableCA, "644", p.TrustedCA},
		{proxyconfig.PortableCredentials, "600", p.Credentials},
	} {
		if len(f.data) == 0 {
			continue
		}
		call, err := put(node.ConfigDir+"/"+f.name, f.mode, "cat", strings.TrimRight(string(f.data), "\n")+"\n", "")
		if err != nil {
			return "", err
		}
		text.WriteString(call)
	}
	if in.Agent.InImage {
		text.WriteString("\n# The image has the program.\nprogram=$root" + node.ProgramPath + "\n")
	} else {
		text.WriteString(in.fetch(len(p.TrustedCA) > 0))
	}
	return text.String() + templates.UserDataRun, nil
}

// fetch gets the program: through the proxy where it asks for no password, and
// then past it, for endpoints of the VPC.
func (in Input) fetch(trusted bool) string {
	get := "curl -fsSL --proto '=https' --proto-redir '=https' --connect-timeout 5 --max-time 60 -o \"$new\" \"$@\" '" + in.Agent.URL + "'"
	proxied, trusting, direct := "get --proxy '"+in.Config.HTTPSProxy.Bare()+"'", " --cacert \"$root"+node.ConfigDir+"/"+proxyconfig.PortableCA+"\"", "get --noproxy '*'"
	if strings.HasPrefix(in.Agent.URL, "s3://") {
		region := ""
		if in.Facts.Region != "" {
			region = " --region " + in.Facts.Region
		}
		get = "env \"$@\" timeout 60 aws s3 cp --only-show-errors" + region + " '" + in.Agent.URL + "' \"$new\""
		proxied = "get HTTPS_PROXY='" + in.Config.HTTPSProxy.Bare() + "' NO_PROXY=169.254.169.254,fd00:ec2::254"
		trusting, direct = " AWS_CA_BUNDLE=\"$root"+node.ConfigDir+"/"+proxyconfig.PortableCA+"\"", "get HTTPS_PROXY="
	}
	var routes []string
	if !secretIn(in.Config) {
		routes = append(routes, proxied)
		if trusted {
			routes = append(routes, proxied+trusting)
		}
	}
	routes = append(routes, direct)
	return fill(templates.UserDataFetch, "%SHA256%", in.Agent.SHA256, "%GET%", get,
		"%ROUTES%", strings.Join(routes, " ||\n  "), "%SOURCE%", in.Agent.URL)
}
