package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/eksproxy/eksproxy/facts"
	"github.com/eksproxy/eksproxy/internal/rootfs"
	"github.com/eksproxy/eksproxy/node"
	"github.com/eksproxy/eksproxy/proxyconfig"
	"github.com/eksproxy/eksproxy/secretref"
)

// resolve resolves what holds on a node, and fetches its credentials. Where
// they cannot be fetched, those that are kept below --root are used, with a
// warning. Planned are the facts that an approved plan was made from.
func (p *program) resolve(c *cli.Context, merged proxyconfig.Layer, planned *facts.Node) (proxyconfig.Config, error) {
	f := &fetching{program: p, c: c, merged: merged, planned: planned}
	cfg, err := merged.Resolve("node", f.fetch)
	cfg.Warnings = append(cfg.Warnings, f.warnings...)
	return cfg, unresolved(err)
}

// fetching resolves the reference to credentials of one configuration.
type fetching struct {
	*program
	c        *cli.Context
	merged   proxyconfig.Layer
	planned  *facts.Node
	warnings []string
}

func (f *fetching) fetch(ref string) (proxyconfig.Credentials, error) {
	credentials, err := secretref.Credentials(f.c.Context, ref, f.refOptions(f.c, f.merged, f.planned))
	if _, ok := errors.AsType[*secretref.Error](err); !ok {
		return credentials, err
	}
	kept, keptErr := keptCredentials(f.c.String(flagRoot))
	switch {
	case errors.Is(keptErr, fs.ErrNotExist):
		return credentials, err
	case keptErr != nil:
		return credentials, fmt.Errorf("%w; the credentials kept in %s are not used either: %w", err, node.CredentialsPath, keptErr)
	}
	f.warnings = append(f.warnings, fmt.Sprintf("used the credentials kept in %s: %v", node.CredentialsPath, err))
	return kept, nil
}

// keptCredentials reads the copy that an earlier run kept in the tree.
func keptCredentials(dir string) (proxyconfig.Credentials, error) {
	if dir == "" {
		dir = "/"
	}
	root, err := rootfs.Open(dir)
	if err != nil {
		return proxyconfig.Credentials{}, err
	}
	defer root.Close() //nolint:errcheck // nothing was written
	file, err := root.Read(node.CredentialsPath)
	switch {
	case err != nil:
		return proxyconfig.Credentials{}, err
	case !file.Exists:
		return proxyconfig.Credentials{}, fs.ErrNotExist
	case file.Mode.Perm()&0o022 != 0:
		return proxyconfig.Credentials{}, fmt.Errorf("others can write the file; run: chmod 0600 %s", node.CredentialsPath)
	}
	return proxyconfig.ParseCredentials(file.Data)
}

// refOptions say where references are resolved: what the user says of the
// place, else what the facts say.
func (p *program) refOptions(c *cli.Context, merged proxyconfig.Layer, planned *facts.Node) secretref.Options {
	place, err := merged.ResolvePlace("node")
	o := secretref.Options{Getenv: p.getenv}
	if err != nil { // reported by who resolves all of it
		return o
	}
	o.Region, o.IMDSEndpoint = place.Cluster.Region, place.Node.IMDSEndpoint
	if name := c.String(flagFacts); name != "" {
		if n, err := facts.ReadNode(name); err == nil { // reported by who needs all of it
			planned = &n
		}
	}
	if planned != nil {
		o.DNSSuffix = planned.DNSSuffix
		if o.Region == "" {
			o.Region = planned.Region
		}
	}
	return o
}

// readConfig reads a ProxyConfig from a file, or from SSM, with what flags and
// environment say of the place.
func (p *program) readConfig(c *cli.Context, name string, given proxyconfig.Layer) (proxyconfig.Layer, error) {
	if !strings.HasPrefix(name, proxyconfig.SSMRef) {
		l, err := proxyconfig.ReadFile(name)
		return l, usage(err)
	}
	if _, err := given.ResolvePlace("node"); err != nil {
		return nil, usage(err)
	}
	data, err := secretref.Fetch(c.Context, name, p.refOptions(c, given, nil))
	if err != nil {
		return nil, unresolved(fmt.Errorf("reading the configuration: %w", err))
	}
	l, err := proxyconfig.ParseFile(name, data)
	return l, usage(err)
}

// unresolved gives an error of a configuration its exit code: what could not be
// fetched now may be there later, everything else can never work.
func unresolved(err error) error {
	e, ok := errors.AsType[*secretref.Error](err)
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case ok && e.Kind != secretref.Malformed:
		return codeError{exitUndecided, fmt.Errorf("%w; nothing was written", err)}
	}
	return usage(err)
}

// unfetchedRef stands for credentials that another run fetches: it says only
// whether the reference is one.
func unfetchedRef(ref string) (proxyconfig.Credentials, error) {
	if err := secretref.Check(ref); err != nil {
		return proxyconfig.Credentials{}, err
	}
	return proxyconfig.ParseCredentials([]byte("fetched:later"))
}
