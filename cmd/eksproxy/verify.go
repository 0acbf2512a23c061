package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/eksproxy/eksproxy/facts"
	"github.com/eksproxy/eksproxy/imds"
	"github.com/eksproxy/eksproxy/internal/rootfs"
	"github.com/eksproxy/eksproxy/internal/systemd"
	"github.com/eksproxy/eksproxy/internal/ui"
	"github.com/eksproxy/eksproxy/node"
	"github.com/eksproxy/eksproxy/proxyconfig"
	"github.com/eksproxy/eksproxy/verify"
	"github.com/eksproxy/eksproxy/verify/nodecheck"
)

// verifyMetadata is how long verify waits for metadata where --imds-timeout
// does not say: the node has booted.
const verifyMetadata = 10 * time.Second

func (p *program) verifyCommand() *cli.Command {
	root := &cli.StringFlag{Name: flagRoot, Value: "/", Usage: "`DIR` with the tree of a node, as when an image is built"}
	return p.withCluster(&cli.Command{
		Name: "verify", Usage: "say whether a node is behind the proxy, and what is wrong",
		Subcommands: []*cli.Command{{
			Name: "node", Usage: "say whether this node, or the tree of an image, is behind the proxy",
			Description: "Examples:\n" +
				"  eksproxy verify node\n" +
				"  eksproxy verify node --root /mnt/image --facts node.json\n" +
				"  eksproxy verify node --config proxy.yaml -o markdown",
			Flags: append(settingFlags(""), root,
				&cli.StringFlag{Name: flagFacts, Usage: "`FILE` that facts node -o json or -o yaml wrote, instead of instance metadata"},
				outputFlag("table", "json", "yaml", "markdown")),
			Action: noArgs(p.verifyNode),
		}},
	})
}

func (p *program) verifyNode(c *cli.Context) error {
	root, err := openRoot(c.String(flagRoot))
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // nothing was written
	o, err := p.nodeChecks(c, root)
	if err != nil {
		return err
	}
	if o.Live {
		m, err := systemd.Connect(c.Context)
		if o.ServicesErr = err; err == nil {
			defer m.Close()
			o.Services = m
		}
	}
	checks := nodecheck.Checks(o)
	tell, end := p.progress(len(checks))
	report := verify.Run(c.Context, checks, tell)
	end()
	report.Target = map[string]string{"root": root.Dir(), "system": o.System.String()}
	return p.showReport(c, report)
}

// showReport prints a report and gives it its exit code.
func (p *program) showReport(c *cli.Context, r verify.Report) error {
	if c.String(flagOutput) == "markdown" {
		if err := r.WriteMarkdown(p.Out); err != nil {
			return err
		}
	} else if err := p.write(c.String(flagOutput), r, r.WriteTable); err != nil {
		return err
	}
	switch r.ExitCode() {
	case exitNo:
		return errNo
	case exitUndecided:
		return codeError{exitUndecided, fmt.Errorf("some checks could not decide: %s", strings.Join(r.IDs(verify.Unknown), ", "))}
	}
	return nil
}

// progress names the check that runs, on a terminal alone.
func (p *program) progress(total int) (tell func(verify.Check), end func()) {
	if !ui.Color("auto", p.Err, p.getenv) {
		return nil, func() {}
	}
	n := 0
	tell = func(c verify.Check) {
		n++
		_, _ = fmt.Fprintf(p.Err, "\r\x1b[K%d/%d %s %s", n, total, c.ID, c.Title)
	}
	return tell, func() { _, _ = fmt.Fprint(p.Err, "\r\x1b[K") }
}

// nodeChecks are the inputs of the checks: what the user gave, and what the
// running system tells.
func (p *program) nodeChecks(c *cli.Context, root *rootfs.Root) (nodecheck.Options, error) {
	quiet := *p // what the settings compose is compared, not talked about
	quiet.talk = ui.Printer{W: io.Discard}
	merged, err := p.settings(c, nil)
	if err != nil {
		return nodecheck.Options{}, err
	}
	place, err := merged.ResolvePlace("node")
	if err != nil {
		return nodecheck.Options{}, usage(err)
	}
	sys, err := node.Detect(root, place.Node.OS, place.Node.Runtime)
	if err != nil {
		return nodecheck.Options{}, usage(err)
	}
	if !c.IsSet("imds-timeout") {
		place.Node.IMDSTimeout = min(place.Node.IMDSTimeout, verifyMetadata)
	}
	v := &nodeVerify{program: &quiet, c: c, root: root, merged: merged, place: place}
	o := nodecheck.Options{
		Root: root, System: sys, Live: !isImage(c), Environ: systemd.Environ, Metadata: v.metadata(),
		Limit: place.Node.IMDSTimeout + verify.DefaultLimit, Apply: applyAgain(c, "eksproxy node apply"),
	}
	var known facts.Node
	place.Cluster.Overlay(&known)
	o.Known = known.Network
	o.Wanted, err = v.wanted(o.Metadata)
	return o, err
}

// nodeVerify is where verify gets what the checks compare with.
type nodeVerify struct {
	*program
	c      *cli.Context
	root   *rootfs.Root
	merged proxyconfig.Layer
	place  proxyconfig.Config
}

// metadata reads what the world says, once; nil where nobody gave a way.
func (v *nodeVerify) metadata() func(context.Context) (facts.Node, error) {
	name := v.c.String(flagFacts)
	if name == "" && isImage(v.c) && !v.place.Node.IMDSGiven {
		return nil
	}
	read := sync.OnceValues(func() (facts.Node, error) {
		if name != "" {
			return facts.ReadNode(name)
		}
		return imds.Read(v.c.Context, imds.Options{Endpoint: v.place.Node.IMDSEndpoint, Timeout: v.place.Node.IMDSTimeout})
	})
	return func(context.Context) (facts.Node, error) {
		n, err := read()
		n.Sources, n.Gaps = maps.Clone(n.Sources), slices.Clone(n.Gaps) // what is laid over it is not kept
		return n, err
	}
}

// wanted composes what the settings want; nil where there are no settings, or
// where they would need facts that nobody gave.
func (v *nodeVerify) wanted(metadata func(context.Context) (facts.Node, error)) (func(context.Context) (node.Desired, error), error) {
	cfg, err := v.merged.Resolve("node", unfetchedRef)
	alone := len(cfg.Cluster.VPCCIDRs) > 0 && (cfg.Cluster.Region != "" || isImage(v.c)) && !cfg.Node.IMDSGiven && v.c.String(flagFacts) == ""
	switch {
	case errors.Is(err, proxyconfig.ErrNoProxy):
		return nil, nil
	case err != nil:
		return nil, unresolved(err)
	case cfg.Revert(), metadata == nil && !alone:
		return nil, nil
	}
	return func(ctx context.Context) (node.Desired, error) {
		cfg, err := v.resolve(v.c, v.merged, nil)
		if err != nil {
			return node.Desired{}, err
		}
		n := fromFlagsAlone()
		if !alone {
			if n, err = metadata(ctx); err != nil {
				return node.Desired{}, fmt.Errorf("reading instance metadata: %w", err)
			}
		}
		cfg.Cluster.Overlay(&n)
		return v.want(v.root, cfg, n)
	}, nil
}

// applyAgain is a command that applies with what this one was given.
func applyAgain(c *cli.Context, command string) string {
	words := []string{command}
	given := c.LocalFlagNames()
	for _, f := range c.Command.Flags {
		name := f.Names()[0]
		if !slices.Contains(given, name) || name == flagOutput {
			continue
		}
		var values []string
		switch f.(type) {
		case *cli.StringSliceFlag:
			values = c.StringSlice(name)
		case *cli.BoolFlag:
			words = append(words, fmt.Sprintf("--%s=%t", name, c.Bool(name)))
		default:
			values = []string{c.String(name)}
		}
		for _, value := range values {
			words = append(words, "--"+name+" "+shellWord(value))
		}
	}
	return strings.Join(words, " ")
}

// shellWord is a text as a shell takes it back.
func shellWord(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/.:,@%+=_-") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
