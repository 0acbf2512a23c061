package userdata

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/eksproxy/eksproxy/bootdata"
	"github.com/eksproxy/eksproxy/facts"
	"github.com/eksproxy/eksproxy/proxyconfig"
)

// Format is the number of the newest form of rendered user data. What one form
// renders stays the same bytes: changed user data replaces nodes.
const Format = 1

// FormatLine stands in every part of ours, so that merge knows it again.
const FormatLine = "# eksproxy format 1"

// Input is what user data is rendered from.
type Input struct {
	OS   OS
	For  Launcher
	As   Form
	Mode Mode
	// Config is what holds on a node, Facts what is known of its network.
	Config proxyconfig.Config
	Facts  facts.Node
	// Agent says where the program comes from, and Portable gives the
	// configuration that it reads there.
	Agent    Agent
	Portable func(facts.Node) (proxyconfig.Portable, error)
	// ClusterCA is the authority of the API server, in base64 as EKS gives it.
	ClusterCA string
	Bootstrap Bootstrap
	Boot      BootOptions
	// CredentialsInUserData says that a password may stand in the output.
	CredentialsInUserData bool
	// Placeholders are the texts for what does not exist yet.
	Placeholders Placeholders
	// Format is that of the output; 0 is the newest.
	Format int
}

// Agent says where the program on the node comes from.
type Agent struct {
	// InImage says that "node install" put it into the image.
	InImage bool
	// URL is https:// or s3://, and SHA256 is that of the program.
	URL, SHA256 string
}

// Output is rendered user data.
type Output struct {
	// Text is what is to be printed.
	Text []byte
	// Size is that of the document before base64.
	Size int
	// Notes are for who launches nodes with it.
	Notes []string
}

// Render writes the user data of one kind of node. An error that holds a
// *RefusedError says what can never work, and what to do.
func Render(in Input) (Output, error) {
	if err := in.check(); err != nil {
		return Output{}, err
	}
	in = in.withPlaceholders()
	out, err := in.render()
	if err != nil {
		return Output{}, err
	}
	out.Text = in.fillPlaceholders(out.Text)
	return out, nil
}

// render writes the form that is asked for, with marks for what does not exist
// yet.
func (in Input) render() (Output, error) {
	verdict, err := in.bootPath()
	if err != nil {
		return Output{}, err
	}
	out := Output{Notes: verdict.notes(in)}
	switch {
	case in.For == AutoMode:
		out.Text, err = in.nodeClass()
		return out, err
	case in.For == Eksctl:
		return in.clusterConfig(out)
	case in.OS == Bottlerocket:
		out.Text, err = in.bottlerocket()
		if _, lacks := in.whole(); lacks != "" {
			out.Notes = append(out.Notes, lacks)
		}
	default:
		out, err = in.document(out)
	}
	if err != nil {
		return Output{}, err
	}
	if out.Size, err = in.checkSize(out.Text); err != nil {
		return Output{}, err
	}
	out.Text = in.wrap(out.Text)
	return out, nil
}

// document is the MIME document of a node that runs cloud-init.
func (in Input) document(out Output) (Output, error) {
	parts, err := Parts(in)
	if err != nil {
		return Output{}, err
	}
	whole, lacks := in.whole()
	if whole {
		parts = in.withCluster(parts)
	} else if lacks != "" {
		out.Notes = append(out.Notes, lacks)
	}
	if err := checkASCII(parts); err != nil {
		return Output{}, err
	}
	out.Text = bootdata.Encode(parts)
	return out, nil
}

// checkASCII holds the parts to 7bit: Karpenter drops the header that would say
// how another encoding is undone.
func checkASCII(parts []bootdata.Part) error {
	for _, p := range parts {
		if !p.IsASCII() {
			return fmt.Errorf("rendering %s: it holds bytes that are not ASCII, which Karpenter breaks; write names in ASCII (punycode)", p.FileName())
		}
	}
	return nil
}

// wrap gives a document the form that is asked for.
func (in Input) wrap(text []byte) []byte {
	switch in.As {
	case Base64:
		return []byte(base64.StdEncoding.EncodeToString(text) + "\n")
	case EC2NodeClass:
		return in.ec2NodeClass(text)
	case Terraform:
		return in.terraform(text)
	case CloudFormation:
		return in.cloudFormation(text)
	default:
		return text
	}
}

// RefusedError says that what was asked for can never work.
type RefusedError struct {
	Why string
	// Ways are what helps, the best first.
	Ways []string
}

// Error is the reason with the ways out, one a line.
func (r *RefusedError) Error() string {
	var b strings.Builder
	b.WriteString(r.Why)
	for i, way := range r.Ways {
		fmt.Fprintf(&b, "\n  %d. %s", i+1, way)
	}
	return b.String()
}

func refuse(why string, ways ...string) error { return &RefusedError{Why: why, Ways: ways} }

// check refuses input that has no answer.
func (in *Input) check() error {
	if in.Format == 0 {
		in.Format = Format
	}
	if in.Format != Format {
		return fmt.Errorf("format %d is not known; allowed: %d", in.Format, Format)
	}
	if err := checkPair(in.OS, in.For); err != nil {
		return err
	}
	if err := in.checkForm(); err != nil {
		return err
	}
	if in.Config.HTTPSProxy.IsZero() {
		return proxyconfig.ErrNoProxy
	}
	if err := in.Placeholders.check(*in); err != nil {
		return err
	}
	if err := in.Bootstrap.check(*in); err != nil {
		return err
	}
	if _, err := in.bootPath(); err != nil { // its ways out come before those of a mode
		return err
	}
	return in.chooseMode()
}

// checkForm chooses the form where none is given.
func (in *Input) checkForm() error {
	allowed := forms(in.For)
	if in.As == "" {
		in.As = allowed[0]
	}
	if !slices.Contains(allowed, in.As) {
		return refuse(fmt.Sprintf("--as %s is not for --for %s; allowed: %s", in.As, in.For, joined(allowed)))
	}
	return nil
}

// errNoMode says that the launcher or system has no script.
var errNoMode = errors.New("--mode is for al2, al2023 and ubuntu: Bottlerocket and auto-mode nodes run no script; leave it out")
