package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"
)

func (p *program) manCommand() *cli.Command {
	return &cli.Command{
		Name: "man", Usage: "print the manual page",
		Description: "Examples:\n  eksproxy man | man -l -\n  eksproxy man > /usr/local/share/man/man1/eksproxy.1\n  eksproxy man | less",
		Action: noArgs(func(*cli.Context) error {
			_, err := io.WriteString(p.Out, manPage(p.app("eksproxy")))
			return err
		}),
	}
}

// manPage renders the command tree in man(7).
func manPage(app *cli.App) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH EKSPROXY 1\n.SH NAME\neksproxy \\- %s\n.SH SYNOPSIS\n.B eksproxy\nCOMMAND [FLAGS]\n.SH COMMANDS\n", roff(app.Usage))
	for _, c := range leaves("eksproxy", app.Commands) {
		fmt.Fprintf(&b, ".SS %s\n%s.\n", roff(c.path), roff(c.Usage))
		for _, f := range c.VisibleFlags() {
			names, text := flagText(f)
			fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", roff(names), roff(text))
		}
		if c.Description != "" {
			fmt.Fprintf(&b, ".PP\n.nf\n%s\n.fi\n", roff(c.Description))
		}
	}
	b.WriteString(".SH EXIT STATUS\n0 done, or the answer is yes; 1 the answer is no, or the work is not done; 2 usage or configuration; 3 could not decide.\n")
	return b.String()
}

// leaf is a command that does something, with the words that call it.
type leaf struct {
	*cli.Command
	path string
}

func leaves(prefix string, commands []*cli.Command) []leaf {
	var out []leaf
	for _, c := range commands {
		path := prefix + " " + c.Name
		if len(c.Subcommands) == 0 {
			out = append(out, leaf{c, path})
		}
		out = append(out, leaves(path, c.Subcommands)...)
	}
	return out
}

// flagText is a flag as help shows it: its names with the value, and its text.
func flagText(f cli.Flag) (names, text string) {
	names, text, _ = strings.Cut(f.String(), "\t")
	return names, text
}

// roff escapes a text: a line that starts with a dot or a quote is a request.
func roff(s string) string {
	s = strings.ReplaceAll(s, "\\", "\\e")
	s = strings.ReplaceAll(s, "-", "\\-")
	s = strings.ReplaceAll("\n"+s, "\n.", "\n\\&.")
	return strings.ReplaceAll(s, "\n'", "\n\\&'")[1:]
}
