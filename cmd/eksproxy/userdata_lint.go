//go:build !nodeonly

package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/eksproxy/eksproxy/plan"
	"github.com/eksproxy/eksproxy/userdata"
)

const (
	flagStrict = "strict"
	flagOS     = "os"
)

// maxUserData bounds what is read: EC2 takes 16 KiB.
const maxUserData = 1 << 20

// launchedFlags say what the document is for.
func launchedFlags() []cli.Flag {
	var systems, launchers []string
	for _, s := range userdata.OSes() {
		systems = append(systems, string(s))
	}
	for _, l := range userdata.SimulateLaunchers() {
		launchers = append(launchers, string(l))
	}
	return []cli.Flag{
		&cli.StringFlag{Name: flagOS, Usage: "`SYSTEM` of the nodes; allowed: " + strings.Join(systems, ", "), Action: oneOf(flagOS, systems...)},
		&cli.StringFlag{Name: flagLauncher, Usage: "`LAUNCHER` of the nodes; allowed: " + strings.Join(launchers, ", "), Action: oneOf(flagLauncher, launchers...)},
	}
}

func (p *program) userdataLintCommand() *cli.Command {
	return &cli.Command{
		Name: "lint", Usage: "say which faults user data has, each with its line and remedy", ArgsUsage: "FILE",
		Description: "FILE is a document of user data, or - for standard input; gzip and base64 are undone. Errors are exit 1, and with --strict warnings too. " +
			"With --os and --for, what that system and launcher suffer is looked for as well. No content of the document is printed.\n\nExamples:\n" +
			"  eksproxy userdata lint user-data.txt\n" +
			"  eksproxy userdata lint user-data.txt --os al2023 --for karpenter --strict\n" +
			"  eksproxy userdata lint - -o json",
		Flags: append(launchedFlags(),
			&cli.BoolFlag{Name: flagStrict, Usage: "exit with 1 for warnings too", DisableDefaultText: true},
			outputFlag("table", "json", "yaml", "markdown")),
		Action: p.userdataLint,
	}
}

// lintDoc is what lint prints.
type lintDoc struct {
	APIVersion string           `json:"apiVersion"`
	Kind       string           `json:"kind"`
	File       string           `json:"file"`
	Errors     int              `json:"errors"`
	Warnings   int              `json:"warnings"`
	Findings   []userdata.Fault `json:"findings"`
}

func (p *program) userdataLint(c *cli.Context) error {
	name, raw, err := p.userDataFile(c)
	if err != nil {
		return err
	}
	found := userdata.Lint(raw, userdata.LintOptions{OS: userdata.OS(c.String(flagOS)), For: userdata.Launcher(c.String(flagLauncher))})
	doc := lintDoc{APIVersion: plan.APIVersion, Kind: "UserDataLint", File: name, Findings: found}
	for _, f := range found {
		if f.Severity == userdata.Error {
			doc.Errors++
		} else {
			doc.Warnings++
		}
	}
	if doc.Findings == nil {
		doc.Findings = []userdata.Fault{}
	}
	table := doc.table
	if c.String(flagOutput) == "markdown" {
		table = doc.markdown
	}
	if err := p.write(c.String(flagOutput), doc, table); err != nil {
		return err
	}
	if doc.Errors > 0 || c.Bool(flagStrict) && doc.Warnings > 0 {
		return errNo
	}
	return nil
}

// userDataFile reads the one argument.
func (p *program) userDataFile(c *cli.Context) (name string, raw []byte, err error) {
	if c.NArg() != 1 {
		return "", nil, usagef("%s takes one FILE, or - for standard input", c.Command.HelpName)
	}
	name = c.Args().First()
	in := p.In
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return "", nil, usage(fmt.Errorf("reading user data: %w", err))
		}
		defer file.Close() //nolint:errcheck // it was only read
		in = file
	}
	raw, err = io.ReadAll(io.LimitReader(in, maxUserData+1))
	if err == nil && len(raw) > maxUserData {
		err = fmt.Errorf("%s is larger than 1 MiB, and EC2 takes %d bytes", name, userdata.MaxSize)
	}
	if err != nil {
		return "", nil, usage(fmt.Errorf("reading user data: %w", err))
	}
	return name, raw, nil
}

// faultPlace is where a fault is.
func faultPlace(f userdata.Fault) string {
	switch {
	case f.Line == 0:
		return "document"
	case f.Part == 0:
		return fmt.Sprintf("line %d", f.Line)
	}
	return fmt.Sprintf("line %d, part %d", f.Line, f.Part)
}

// faultText is the fault with what was seen.
func faultText(f userdata.Fault) string {
	if f.Detail == "" {
		return f.Title
	}
	return f.Title + " (" + f.Detail + ")"
}

func (d lintDoc) table(w io.Writer) error {
	for _, f := range d.Findings {
		if _, err := fmt.Fprintf(w, "%-8s %s  %s: %s\n         remedy: %s\n", f.Severity, f.Code, faultPlace(f), faultText(f), f.Remedy); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "errors: %d, warnings: %d\n", d.Errors, d.Warnings)
	return err
}

func (d lintDoc) markdown(w io.Writer) error {
	_, _ = fmt.Fprintf(w, "errors: %d, warnings: %d\n\n| severity | code | where | fault | remedy |\n| --- | --- | --- | --- | --- |\n", d.Errors, d.Warnings)
	for _, f := range d.Findings {
		if _, err := fmt.Fprintf(w, "| %s | %s | %s | %s | %s |\n", f.Severity, f.Code, faultPlace(f), tableCell(faultText(f)), tableCell(f.Remedy)); err != nil {
			return err
		}
	}
	return nil
}

// tableCell is text in a table of markdown.
func tableCell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }
