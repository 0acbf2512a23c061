package main

import (
	"fmt"
	"io"
	"runtime"

	"github.com/urfave/cli/v2"

	"github.com/eksproxy/eksproxy/facts"
)

// version is set by the linker for a release (-X main.version=v1.2.3) and is
// never changed by the program.
var version = "devel"

type versionDoc struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Version    string `json:"version"`
	Go         string `json:"go"`
	Platform   string `json:"platform"`
}

func (p *program) versionCommand() *cli.Command {
	return &cli.Command{
		Name: "version", Usage: "print the version of this program",
		Description: "Examples:\n  eksproxy version\n  eksproxy version -o json\n  eksproxy version -o yaml",
		Flags:       []cli.Flag{outputFlag("table", "json", "yaml")},
		Action: noArgs(func(c *cli.Context) error {
			doc := versionDoc{facts.APIVersion, "Version", version, runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
			return p.write(c.String(flagOutput), doc, func(w io.Writer) error {
				_, err := fmt.Fprintf(w, "eksproxy %s (%s, %s)\n", doc.Version, doc.Go, doc.Platform)
				return err
			})
		}),
	}
}
