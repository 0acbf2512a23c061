package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/eksproxy/eksproxy/facts"
	"github.com/eksproxy/eksproxy/imds"
	"github.com/eksproxy/eksproxy/node"
	"github.com/eksproxy/eksproxy/noproxy/compose"
	"github.com/eksproxy/eksproxy/proxyconfig"
)

// The flags that are no fields of the configuration.
const (
	flagConfig = "config"
	flagFacts  = "facts"
	flagRoot   = "root"
	flagOutput = "output"
)

// settingFlags are the flags of these fields, and --config.
func settingFlags(paths ...string) []cli.Flag {
	flags := []cli.Flag{
		&cli.StringSliceFlag{Name: flagConfig, Usage: "`FILE` with a ProxyConfig, or ssm:NAME of a parameter; repeat the flag, later files win [" + proxyconfig.EnvConfig + "]"},
	}
	for _, f := range proxyconfig.Fields() {
		if f.Flag == "" || !slices.ContainsFunc(paths, func(p string) bool { return strings.HasPrefix(f.Path, p) }) {
			continue
		}
		flags = append(flags, settingFlag(f))
	}
	return flags
}

func settingFlag(f proxyconfig.Field) cli.Flag {
	text := f.Usage
	if len(f.Allowed) > 0 {
		text += "; allowed: " + strings.Join(f.Allowed, ", ")
	}
	if f.Default != "" {
		text += " (default: " + f.Default + ")"
	}
	text += " [" + f.Env() + "]"
	switch f.Type {
	case proxyconfig.List:
		return &cli.StringSliceFlag{Name: f.Flag, Usage: text + "; repeat the flag"}
	case proxyconfig.Bool:
		return &cli.BoolFlag{Name: f.Flag, Usage: text, DisableDefaultText: true}
	default:
		return &cli.StringFlag{Name: f.Flag, Usage: text}
	}
}

// outputFlag is -o with these formats, the first being the default.
func outputFlag(formats ...string) cli.Flag {
	return &cli.StringFlag{
		Name: flagOutput, Aliases: []string{"o"}, Value: formats[0],
		Usage: "`FORMAT` of what is printed: " + strings.Join(formats, ", "),
		Action: func(_ *cli.Context, value string) error {
			if !slices.Contains(formats, value) {
				return usagef("-o %q is not known; allowed: %s", value, strings.Join(formats, ", "))
			}
			return nil
		},
	}
}

// settings merges flags, environment and files over what a plan was made from.
// On a node the installed configuration is read where no other is named; a plan
// was made from it already.
func (p *program) settings(c *cli.Context, planned proxyconfig.Layer) (proxyconfig.Layer, error) {
	own, defaults, err := proxyconfig.FromEnvironment(p.env)
	if err != nil {
		return nil, usage(err)
	}
	files := c.StringSlice(flagConfig)
	if name := p.getenv(proxyconfig.EnvConfig); len(files) == 0 && name != "" {
		files = []string{name}
	}
	if len(files) == 0 && planned == nil && !isImage(c) {
		files = installed(node.ConfigPath)
	}
	flags := fromFlags(c)
	layers := []proxyconfig.Layer{defaults, planned}
	for _, name := range files {
		l, err := p.readConfig(c, name, proxyconfig.Merge(defaults, planned, own, flags))
		if err != nil {
			return nil, err
		}
		layers = append(layers, l)
	}
	return proxyconfig.Merge(append(layers, own, flags)...), nil
}

// installed is the configuration of a node, where there is one.
func installed(path string) []string {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return []string{path}
}

func fromFlags(c *cli.Context) proxyconfig.Layer {
	l := proxyconfig.Layer{}
	given := c.LocalFlagNames()
	for _, f := range proxyconfig.Fields() {
		if !slices.Contains(given, f.Flag) {
			continue
		}
		o := proxyconfig.Origin{Level: proxyconfig.Flag, Name: "--" + f.Flag}
		switch f.Type {
		case proxyconfig.List:
			l.Set(f.Path, o, c.StringSlice(f.Flag)...)
		case proxyconfig.Bool:
			l.Set(f.Path, o, strconv.FormatBool(c.Bool(f.Flag)))
		default:
			l.Set(f.Path, o, c.String(f.Flag))
		}
	}
	return l
}

// warn prints what a configuration should not stay like.
func (p *program) warn(warnings []string) {
	for _, w := range warnings {
		p.talk.Warn("%s", w)
	}
}

// place walks from the settings to the facts of a node, for commands that need
// no proxy.
func (p *program) place(c *cli.Context) (proxyconfig.Layer, proxyconfig.Config, facts.Node, error) {
	merged, err := p.settings(c, nil)
	if err != nil {
		return nil, proxyconfig.Config{}, facts.Node{}, err
	}
	cfg, err := merged.ResolvePlace("node")
	if err != nil {
		return nil, cfg, facts.Node{}, usage(err)
	}
	n, err := p.nodeFacts(c, cfg, nil)
	return merged, cfg, n, err
}

// nodeFacts finds out about the node's network: from a file, from flags alone,
// or from instance metadata; what the user gives replaces what is found.
func (p *program) nodeFacts(c *cli.Context, cfg proxyconfig.Config, planned *facts.Node) (facts.Node, error) {
	n, err := p.discover(c, cfg, planned)
	if err != nil {
		return n, err
	}
	cfg.Cluster.Overlay(&n)
	for _, g := range n.Gaps {
		p.talk.Note("%s is unknown: %s; %s", g.Field, g.Why, g.Remedy)
	}
	return n, nil
}

func (p *program) discover(c *cli.Context, cfg proxyconfig.Config, planned *facts.Node) (facts.Node, error) {
	image := isImage(c)
	switch {
	case c.String(flagFacts) != "":
		n, err := facts.ReadNode(c.String(flagFacts))
		return n, usage(err)
	case len(cfg.Cluster.VPCCIDRs) > 0 && (cfg.Cluster.Region != "" || image) && !cfg.Node.IMDSGiven:
		return fromFlagsAlone(), nil
	case planned != nil && !cfg.Node.IMDSGiven:
		return *planned, nil
	case image && !cfg.Node.IMDSGiven:
		return facts.Node{}, usagef("with --root, give --imds-endpoint, --facts or --vpc-cidr: the metadata of the machine that builds an image tells of another VPC")
	}
	n, err := imds.Read(c.Context, imds.Options{Endpoint: cfg.Node.IMDSEndpoint, Timeout: cfg.Node.IMDSTimeout})
	if err != nil && !errors.Is(err, context.Canceled) {
		err = codeError{exitUndecided, fmt.Errorf("reading instance metadata: %w; nothing was written. Outside EC2 give --facts FILE, or --vpc-cidr with --region; --imds-endpoint names another endpoint and --imds-timeout waits longer", err)}
	}
	return n, err
}

// fromFlagsAlone are facts that only flags will fill.
func fromFlagsAlone() facts.Node {
	n := facts.NewNode()
	const why = "metadata was not asked, because --vpc-cidr is given"
	n.Gaps = []facts.Gap{
		{Field: facts.FieldRegion, Why: why, Remedy: "give --region"},
		{Field: facts.FieldEndpointHost, Why: why, Remedy: "give --cluster-endpoint"},
		{Field: facts.FieldServiceCIDRs, Why: why, Remedy: "give --service-cidr"},
	}
	return n
}

// isImage says whether the tree is another one than the running system's.
func isImage(c *cli.Context) bool {
	root := c.String(flagRoot)
	return root != "" && root != "/"
}

// compose makes the NO_PROXY value and reports what there is to say about it.
func (p *program) compose(n facts.Node, cfg proxyconfig.Config) (compose.Result, error) {
	r, err := compose.Compose(n.Network, composeOptions(cfg))
	if err != nil {
		return r, usage(fmt.Errorf("composing NO_PROXY: %w", err))
	}
	p.sayComposed(r)
	return r, nil
}

func composeOptions(cfg proxyconfig.Config) compose.Options {
	o := compose.Options{IPv6CIDRs: compose.IPv6Mode(cfg.NoProxy.IPv6CIDRs)}
	for _, item := range cfg.NoProxy.Add {
		o.Add = append(o.Add, compose.Addition{Text: item.Text, Source: item.Origin.String()})
	}
	for _, item := range cfg.NoProxy.Omit {
		o.Omit = append(o.Omit, item.Text)
	}
	return o
}

// sayComposed reports what there is to say about a composed value.
func (p *program) sayComposed(r compose.Result) {
	p.warn(r.Warnings)
	for _, l := range r.LeftOut {
		p.talk.Note("%s is left out of NO_PROXY: %s", l.Text, l.Why)
	}
}

func names[T ~string](values []T) string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = string(v)
	}
	return strings.Join(texts, ", ")
}
