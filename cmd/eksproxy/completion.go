package main

import (
	"io"

	"github.com/urfave/cli/v2"

	"github.com/eksproxy/eksproxy/templates"
)

func (p *program) completionCommand() *cli.Command {
	return &cli.Command{
		Name: "completion", Usage: "print the completion script of a shell", ArgsUsage: "bash|zsh|fish",
		Description: "Examples:\n  source <(eksproxy completion bash)\n  source <(eksproxy completion zsh)\n  eksproxy completion fish | source",
		Action: func(c *cli.Context) error {
			script := map[string]string{
				"bash": templates.CompletionBash, "zsh": templates.CompletionZsh, "fish": templates.CompletionFish,
			}[c.Args().First()]
			if script == "" || c.NArg() != 1 {
				return usagef("name one shell: bash, zsh or fish")
			}
			_, err := io.WriteString(p.Out, script)
			return err
		},
	}
}
