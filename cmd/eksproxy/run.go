package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/eksproxy/eksproxy/internal/ui"
	"github.com/eksproxy/eksproxy/plan"
)

// The exit codes, which docs/reference/exit-codes.md explains.
const (
	exitDone      = 0
	exitNo        = 1 // the answer is no, or the work is not done
	exitUsage     = 2 // usage, or a configuration that can never work
	exitUndecided = 3 // unreachable, denied
	exitTimeout   = 4 // --timeout ran out
)

// codeError is an error with the exit code that it ends the program with.
type codeError struct {
	code int
	err  error
}

func (e codeError) Error() string { return e.err.Error() }
func (e codeError) Unwrap() error { return e.err }

// usage marks an error as one of usage or configuration.
func usage(err error) error {
	if err == nil {
		return nil
	}
	return codeError{exitUsage, err}
}

func usagef(format string, args ...any) error { return usage(fmt.Errorf(format, args...)) }

// errNo is the answer of a command that asks: there is nothing to explain.
var errNo = codeError{exitNo, errors.New("")}

// program is one run of eksproxy.
type program struct {
	ui.Streams
	env  []string
	talk ui.Printer
}

// Run runs eksproxy with these arguments, the first being the program's name,
// and returns the exit code.
func Run(ctx context.Context, args []string, streams ui.Streams, env []string) int {
	p := &program{Streams: streams, env: env, talk: ui.Printer{W: streams.Err}}
	p.talk.Journal = toJournal(streams.Err, p.getenv)
	app := p.app(filepath.Base(args[0]))
	err := app.RunContext(ctx, permute(app, args))
	if err == nil {
		return exitDone
	}
	code := codeOf(err)
	if text := err.Error(); text != "" {
		p.talk.Error(errors.New(plan.Mask(text) + remedy(err)))
	}
	return code
}

// codeOf is the exit code of an error.
func codeOf(err error) int {
	if ce, ok := errors.AsType[codeError](err); ok {
		return ce.code
	}
	return exitNo
}

// remedy is what helps against errors that come from the system.
func remedy(err error) string {
	if errors.Is(err, fs.ErrPermission) && os.Geteuid() != 0 {
		return "; run it as root, or with --root on a tree of your own"
	}
	return ""
}

// app is the command tree. A program that is called kubectl-eksproxy is a
// plugin, and its help reads as one types it.
func (p *program) app(name string) *cli.App {
	name = strings.Replace(strings.TrimSuffix(name, ".exe"), "kubectl-", "kubectl ", 1)
	app := &cli.App{
		Name:  name,
		Usage: "put an Amazon EKS cluster behind a corporate proxy, and prove that it is",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "color", Value: "auto", Usage: "colour on standard error: " + strings.Join(ui.ColorModes(), ", "), EnvVars: nil},
		},
		Commands: slices.Concat([]*cli.Command{p.nodeCommand()}, p.workstationCommands(), []*cli.Command{
			p.noproxyCommand(), p.verifyCommand(), p.factsCommand(), p.configCommand(),
			p.versionCommand(), p.completionCommand(), p.manCommand(),
		}),
		Before:                    p.before,
		Action:                    group,
		Writer:                    p.Out,
		ErrWriter:                 p.Err,
		Reader:                    p.In,
		HideVersion:               true,
		HideHelpCommand:           true,
		Suggest:                   true,
		EnableBashCompletion:      true,
		DisableSliceFlagSeparator: true,
		ExitErrHandler:            func(*cli.Context, error) {},
		OnUsageError:              usageError,
	}
	finish(app.Commands)
	return app
}

// finish sets what holds for every command.
func finish(commands []*cli.Command) {
	for _, c := range commands {
		c.OnUsageError = usageError
		c.HideHelpCommand = true
		if len(c.Subcommands) > 0 {
			if c.Action == nil {
				c.Action = group
			}
			finish(c.Subcommands)
		}
	}
}

func (p *program) before(c *cli.Context) error {
	mode := c.String("color")
	if slices.Contains(ui.ColorModes(), mode) {
		p.talk.Color = ui.Color(mode, p.Err, p.getenv)
		return nil
	}
	return usagef("--color %q is not known; allowed: %s", mode, strings.Join(ui.ColorModes(), ", "))
}

func (p *program) getenv(name string) string {
	for _, kv := range p.env {
		if value, ok := strings.CutPrefix(kv, name+"="); ok {
			return value
		}
	}
	return ""
}

// group is the action of a command that has only subcommands.
func group(c *cli.Context) error {
	var names []string
	commands := c.App.Commands
	if c.Command != nil && len(c.Command.Subcommands) > 0 {
		commands = c.Command.Subcommands
	}
	for _, sub := range commands {
		names = append(names, sub.Name)
	}
	if c.Args().Present() {
		return usagef("%q is not a command; allowed: %s", c.Args().First(), strings.Join(names, ", "))
	}
	return usagef("a command is missing; allowed: %s (--help explains them)", strings.Join(names, ", "))
}

// usageError says what is wrong with the flags of a command, and what was meant.
func usageError(c *cli.Context, err error, _ bool) error {
	meant := ""
	if name, ok := strings.CutPrefix(err.Error(), "flag provided but not defined: -"); ok {
		if flag := cli.SuggestFlag(c.Command.Flags, name, false); strings.HasPrefix(flag, "--") {
			meant = "did you mean " + flag + "? "
		}
	}
	return usagef("%w; %s%s --help shows what is allowed", err, meant, c.Command.HelpName)
}

// noArgs wraps the action of a command that takes flags only.
func noArgs(action cli.ActionFunc) cli.ActionFunc {
	return func(c *cli.Context) error {
		if c.Args().Present() {
			return usagef("unexpected argument %q; %s takes flags only", c.Args().First(), c.Command.HelpName)
		}
		return action(c)
	}
}

// permute puts flags before arguments, which is where the library looks for
// them, and flags of the program before the commands.
func permute(app *cli.App, args []string) []string {
	if len(args) == 0 || args[len(args)-1] == "--generate-bash-completion" {
		return args
	}
	commands := app.Commands
	var global, path, local, positional []string
	for i := 1; i < len(args); i++ {
		arg := args[i]
		switch {
		case arg == "--":
			positional = append(positional, args[i+1:]...)
			i = len(args)
		case len(arg) > 1 && arg[0] == '-':
			f, isGlobal := lookupFlag(app, path, arg)
			words := []string{arg}
			if takesNext(f, arg) {
				i++
				words = args[i-1 : min(i+1, len(args))]
			}
			switch {
			case i == len(args): // nothing may come to stand where the value is missing
				return withoutValue(args[0], path, arg, isGlobal)
			case isGlobal:
				global = append(global, words...)
			default:
				local = append(local, words...)
			}
		case len(positional) == 0 && findCommand(commands, arg) != nil:
			path = append(path, arg)
			commands = findCommand(commands, arg).Subcommands
		default:
			positional = append(positional, arg)
		}
	}
	out := append([]string{args[0]}, append(global, append(path, local...)...)...)
	if len(positional) > 0 {
		out = append(append(out, "--"), positional...)
	}
	return out
}

// lookupFlag finds a flag of the program, or else of the commands that a path
// leads to.
func lookupFlag(app *cli.App, path []string, arg string) (f cli.Flag, isGlobal bool) {
	if f, ok := findFlag(app.Flags, nil, arg); ok {
		return f, true
	}
	flags, below := leafFlags(app, path)
	f, _ = findFlag(flags, below, arg)
	return f, false
}

// withoutValue is a command line that ends with a flag which lacks its value.
func withoutValue(program string, path []string, arg string, isGlobal bool) []string {
	if isGlobal {
		return []string{program, arg}
	}
	return slices.Concat([]string{program}, path, []string{arg})
}

func findCommand(commands []*cli.Command, name string) *cli.Command {
	for _, c := range commands {
		if c.HasName(name) {
			return c
		}
	}
	return nil
}

// leafFlags are the flags of the command that a path leads to, and the commands
// below it.
func leafFlags(app *cli.App, path []string) ([]cli.Flag, []*cli.Command) {
	commands, flags := app.Commands, []cli.Flag(nil)
	for _, name := range path {
		c := findCommand(commands, name)
		commands, flags = c.Subcommands, c.Flags
	}
	return flags, commands
}

// findFlag finds a flag among these, or among those of the commands below.
func findFlag(flags []cli.Flag, below []*cli.Command, arg string) (cli.Flag, bool) {
	name, _, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
	for _, f := range flags {
		if slices.Contains(f.Names(), name) {
			return f, true
		}
	}
	for _, c := range below {
		if f, ok := findFlag(c.Flags, c.Subcommands, arg); ok {
			return f, true
		}
	}
	return nil, false
}

// takesNext says whether the argument after the flag is its value.
func takesNext(f cli.Flag, arg string) bool {
	d, ok := f.(cli.DocGenerationFlag)
	return ok && d.TakesValue() && !strings.Contains(arg, "=")
}

// write prints a document in one of the formats that a command has.
func (p *program) write(format string, doc any, table func(io.Writer) error) error {
	switch format {
	case "json":
		return ui.WriteJSON(p.Out, doc)
	case "yaml":
		return ui.WriteYAML(p.Out, doc)
	}
	return table(p.Out)
}
