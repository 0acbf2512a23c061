package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/eksproxy/eksproxy/facts"
	"github.com/eksproxy/eksproxy/internal/ui"
	"github.com/eksproxy/eksproxy/plan"
	"github.com/eksproxy/eksproxy/proxyconfig"
)

func (p *program) configCommand() *cli.Command {
	return &cli.Command{
		Name: "config", Usage: "write and read the configuration file",
		Subcommands: []*cli.Command{
			{
				Name: "init", Usage: "print a commented configuration to begin with",
				Description: "Examples:\n  eksproxy config init\n  eksproxy config init --out proxy.yaml\n  eksproxy config init > proxy.yaml",
				Flags:       append([]cli.Flag{&cli.StringFlag{Name: "out", Usage: "write to `FILE`, which must not exist, instead of standard output"}}, fromClusterFlags()...),
				Action:      noArgs(p.configInit),
			},
			{
				Name: "view", Usage: "print what holds after flags, environment and files are merged",
				Description: "Examples:\n  eksproxy config view --config proxy.yaml\n  eksproxy config view --config base.yaml --config site.yaml --show-origin\n  eksproxy config view --scope node -o json",
				Flags: append(settingFlags(""),
					&cli.BoolFlag{Name: "show-origin", Usage: "say beside each value where it stands", DisableDefaultText: true},
					&cli.StringFlag{Name: "scope", Usage: "print what holds in `PLACE`: " + strings.Join(proxyconfig.Scopes(), ", ")},
					outputFlag("yaml", "json")),
				Action: noArgs(p.configView),
			},
		},
	}
}

func (p *program) configInit(c *cli.Context) error {
	text, err := p.initText(c)
	if err != nil {
		return err
	}
	name := c.String("out")
	if name == "" {
		_, err := io.WriteString(p.Out, text)
		return err
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return usagef("%s exists; eksproxy does not write over it: give another --out", name)
	}
	if err != nil {
		return usage(fmt.Errorf("writing the configuration: %w", err))
	}
	_, err = io.WriteString(f, text)
	return errors.Join(err, f.Close())
}

func (p *program) configView(c *cli.Context) error {
	merged, err := p.settings(c, nil)
	if err != nil {
		return err
	}
	merged = proxyconfig.Merge(proxyconfig.Defaults(), merged)
	scopes := proxyconfig.Scopes()
	scope := c.String("scope")
	switch {
	case scope == "":
		scopes = append([]string{""}, scopes...)
	case !slices.Contains(scopes, scope):
		return usagef("--scope %q is not known; allowed: %s", scope, strings.Join(scopes, ", "))
	default:
		merged, scopes = merged.In(scope), []string{scope}
	}
	for _, s := range scopes {
		if _, err := merged.Resolve(s, unfetchedRef); err != nil && !errors.Is(err, proxyconfig.ErrNoProxy) {
			return usage(err)
		}
	}
	view := merged.View()
	if c.String(flagOutput) == "json" {
		doc := configDoc{APIVersion: facts.APIVersion, Kind: proxyconfig.Kind, Spec: view.Tree()}
		if c.Bool("show-origin") {
			doc.Origins = view.Origins()
		}
		return ui.WriteJSON(p.Out, doc)
	}
	return p.viewYAML(view, c.Bool("show-origin"))
}

// configDoc is the merged configuration; origins are by path.
type configDoc struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Spec       map[string]any    `json:"spec"`
	Origins    map[string]string `json:"origins,omitempty"`
}

func (p *program) viewYAML(view proxyconfig.View, origins bool) error {
	text, err := view.YAML(origins)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.Out, "apiVersion: %s\nkind: %s\n%s", facts.APIVersion, proxyconfig.Kind, plan.Mask(text))
	return err
}
