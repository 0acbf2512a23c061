//go:build !nodeonly

package main

import (
	"github.com/urfave/cli/v2"

	"github.com/eksproxy/eksproxy/userdata"
)

const (
	flagAdopt  = "adopt"
	flagRemove = "remove"
)

func (p *program) userdataMergeCommand() *cli.Command {
	return &cli.Command{
		Name: "merge", Usage: "put our parts into user data that is there, or take them out, and print it", ArgsUsage: "FILE",
		Description: "FILE is a document of user data, or - for standard input: MIME multipart, a script, cloud-config, a NodeConfig or Bottlerocket's TOML, each also in gzip or base64. " +
			"Other parts stay as they are, ours from an earlier merge are replaced, and a merge into the result changes nothing. " +
			"Faults that can be repaired without a guess are repaired and named; the others are errors. The document is printed as it is, with the secrets that it has.\n\nExamples:\n" +
			"  eksproxy userdata merge user-data.txt --os al2023 --for managed-node-group --config proxy.yaml\n" +
			"  eksproxy userdata merge user-data.txt --os al2 --for karpenter --http-proxy http://proxy.example:3128 --adopt\n" +
			"  eksproxy userdata merge user-data.txt --os al2023 --for karpenter --remove",
		Flags: append(renderFlags(),
			&cli.BoolFlag{Name: flagAdopt, Usage: "replace what the published recipes for a proxy wrote", DisableDefaultText: true},
			&cli.BoolFlag{Name: flagRemove, Usage: "take our parts out; no settings are needed", DisableDefaultText: true}),
		Action: p.userdataMerge,
	}
}

func (p *program) userdataMerge(c *cli.Context) error {
	if c.Bool(flagAdopt) && c.Bool(flagRemove) {
		return usagef("--adopt and --remove exclude each other; give one")
	}
	_, raw, err := p.userDataFile(c)
	if err != nil {
		return err
	}
	o := userdata.MergeOptions{
		OS: userdata.OS(c.String(flagOS)), For: userdata.Launcher(c.String(flagLauncher)),
		Adopt: c.Bool(flagAdopt), Remove: c.Bool(flagRemove),
	}
	if err := userdata.CheckMerge(o); err != nil {
		return usage(err)
	}
	if !o.Remove {
		in, err := p.renderInput(c)
		if err != nil {
			return err
		}
		if o.Ours, err = userdata.Parts(in); err != nil {
			return usage(err)
		}
	}
	m, err := userdata.Merge(raw, o)
	if err != nil {
		return codeError{exitNo, err}
	}
	for _, n := range m.Notes {
		p.talk.Note("%s", n)
	}
	p.warnOfFaults(m.Document, o)
	_, err = p.Out.Write(m.Document)
	return err
}

// warnOfFaults names what is wrong with the result: what stood there before.
func (p *program) warnOfFaults(document []byte, o userdata.MergeOptions) {
	if len(document) == 0 {
		return
	}
	for _, f := range userdata.Lint(document, userdata.LintOptions{OS: o.OS, For: o.For}) {
		p.talk.Warn("%s %s: %s; %s", f.Code, faultPlace(f), faultText(f), f.Remedy)
	}
}
