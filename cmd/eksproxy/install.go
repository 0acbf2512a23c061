package main

import (
	"fmt"
	"os"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/eksproxy/eksproxy/internal/rootfs"
	"github.com/eksproxy/eksproxy/node"
	"github.com/eksproxy/eksproxy/proxyconfig"
)

func (p *program) installCommand(settings []cli.Flag, onFailure, dryRun cli.Flag) *cli.Command {
	return &cli.Command{
		Name: "install", Usage: "put program, configuration and boot unit into a node or an image",
		Description: "Examples:\n" +
			"  eksproxy node install --root /mnt/image --config proxy.yaml\n" +
			"  eksproxy node install --config proxy.yaml --refresh 30m\n" +
			"  eksproxy node install --root /mnt/arm-image --binary eksproxy-linux-arm64 --config proxy.yaml",
		Flags: append(settings[:len(settings):len(settings)], onFailure, dryRun,
			&cli.StringFlag{Name: "binary", Usage: "`FILE` with the program to install (default: this one)"},
			&cli.DurationFlag{Name: "refresh", Usage: "apply again every `DURATION`, by a timer (default: no timer)"},
			outputFlag("table", "json", "yaml", "markdown")),
		Action: noArgs(p.nodeInstall),
	}
}

func (p *program) uninstallCommand(root, dryRun cli.Flag) *cli.Command {
	return &cli.Command{
		Name: "uninstall", Usage: "take away what install put there",
		Description: "Examples:\n  eksproxy node uninstall --dry-run\n  eksproxy node uninstall\n  eksproxy node uninstall --root /mnt/image",
		Flags:       []cli.Flag{root, dryRun, outputFlag("table", "json", "yaml", "markdown")},
		Action: noArgs(func(c *cli.Context) error {
			return p.carryOut(c, c.String(flagRoot), nil, func(root *rootfs.Root) (*walk, error) {
				prepared, err := node.PrepareUninstall(root)
				return &walk{Prepared: prepared}, err
			})
		}),
	}
}

func (p *program) nodeInstall(c *cli.Context) error {
	return p.carryOut(c, c.String(flagRoot), nil, func(root *rootfs.Root) (*walk, error) {
		in, err := p.installation(c, root)
		if err != nil {
			return &walk{}, err
		}
		prepared, err := node.PrepareInstall(root, in)
		return &walk{Prepared: prepared}, usage(err)
	})
}

// installation is what the flags ask for; a configuration that could never
// work is not installed.
func (p *program) installation(c *cli.Context, root *rootfs.Root) (node.Installation, error) {
	in := node.Installation{OnFailure: c.String(flagOnFailure), Refresh: c.Duration("refresh")}
	if c.IsSet("refresh") && in.Refresh < time.Minute {
		return in, usagef("--refresh %s is too often; give a minute or more, as in 30m", in.Refresh)
	}
	merged, err := p.settings(c, nil)
	if err != nil {
		return in, err
	}
	cfg, err := merged.Resolve("node", unfetchedRef)
	if err != nil {
		return in, usage(err)
	}
	p.warn(cfg.Warnings)
	if in.System, err = node.Detect(root, cfg.Node.OS, cfg.Node.Runtime); err != nil {
		return in, usage(err)
	}
	if in.Program, err = readProgram(c.String("binary")); err != nil {
		return in, err
	}
	portable, err := merged.Portable("node")
	if err != nil {
		return in, usage(err)
	}
	in.Config, in.Files = portable.Config, map[string]node.InstalledFile{}
	if portable.Credentials != nil {
		in.Files[proxyconfig.PortableCredentials] = node.InstalledFile{Data: portable.Credentials, Secret: true}
	}
	if portable.TrustedCA != nil {
		in.Files[proxyconfig.PortableCA] = node.InstalledFile{Data: portable.TrustedCA}
	}
	return in, nil
}

func readProgram(name string) ([]byte, error) {
	if name == "" {
		var err error
		if name, err = os.Executable(); err != nil {
			return nil, fmt.Errorf("finding this program: %w; give --binary", err)
		}
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, usage(fmt.Errorf("reading the program: %w", err))
	}
	return data, nil
}
