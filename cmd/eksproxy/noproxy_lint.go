package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"github.com/eksproxy/eksproxy/facts"
	"github.com/eksproxy/eksproxy/noproxy"
	"github.com/eksproxy/eksproxy/plan"
)

// The flags of lint.
const (
	flagEnvFile  = "env-file"
	flagFilename = "filename"
)

func (p *program) noproxyLintCommand() *cli.Command {
	return &cli.Command{
		Name: "lint", Usage: "say what is wrong with a NO_PROXY value and the variables beside it",
		Description: "Exits with 1 where there is an error, with --strict also where there is a warning. " +
			"Where no proxy is given, both URLs are taken as set. The codes are in docs/lint.md.\n\nExamples:\n" +
			"  eksproxy noproxy lint --no-proxy 'localhost, .svc'\n" +
			"  eksproxy noproxy lint --env-file /etc/environment --strict\n" +
			"  kubectl get cm proxy -o yaml | eksproxy noproxy lint -f -\n" +
			"  eksproxy noproxy lint --from-env --fix",
		Flags: slices.Concat(proxyFlags(), valueFlags(), []cli.Flag{
			&cli.StringFlag{Name: flagEnvFile, Usage: "`FILE` of lines NAME=VALUE, as /etc/environment is"},
			&cli.StringFlag{Name: flagFilename, Aliases: []string{"f"}, Usage: "`MANIFEST` of Kubernetes to read, or - for standard input"},
			&cli.BoolFlag{Name: "strict", Usage: "exit with 1 for warnings too", DisableDefaultText: true},
			&cli.BoolFlag{Name: "fix", Usage: "print a value without the faults that have a safe fix", DisableDefaultText: true},
			outputFlag("table", "json", "yaml"),
		}),
		Action: noArgs(p.noproxyLint),
	}
}

// proxyFlags are the flags of the proxies alone.
func proxyFlags() []cli.Flag {
	return settingFlags("httpProxy", "httpsProxy")[1:] // without --config
}

// noProxyLintDoc is what lint prints.
type noProxyLintDoc struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Findings   []noproxy.Finding `json:"findings"`
}

func (p *program) noproxyLint(c *cli.Context) error {
	envs, err := p.noproxyLintSources(c)
	if err != nil {
		return err
	}
	doc := noProxyLintDoc{APIVersion: facts.APIVersion, Kind: "NoProxyFindings", Findings: []noproxy.Finding{}}
	for _, e := range envs {
		for _, f := range noproxy.Lint(e.env) {
			if e.where != "" {
				f.Where = e.where + ": " + f.Where
			}
			f.Entry, f.Message, f.Fix = plan.Mask(f.Entry), plan.Mask(f.Message), plan.Mask(f.Fix)
			doc.Findings = append(doc.Findings, f)
		}
	}
	if c.Bool("fix") {
		return p.noproxyLintFix(c, envs, doc)
	}
	if err := p.write(c.String(flagOutput), doc, doc.table); err != nil {
		return err
	}
	return noProxyAnswer(c, doc.Findings)
}

// noProxyAnswer is the exit code that findings make.
func noProxyAnswer(c *cli.Context, findings []noproxy.Finding) error {
	for _, f := range findings {
		if f.Severity == noproxy.SeverityError || c.Bool("strict") {
			return errNo
		}
	}
	return nil
}

// noproxyLintSources are the environments that lint looks at, of the one place that is
// named.
func (p *program) noproxyLintSources(c *cli.Context) ([]namedEnvironment, error) {
	given := []string{}
	for _, name := range []string{flagNoProxy, flagFromEnv, flagEnvFile, flagFilename} {
		if c.IsSet(name) {
			given = append(given, "--"+name)
		}
	}
	if len(given) == 0 {
		return nil, usagef("nothing to look at; give --no-proxy VALUE, --from-env, --env-file FILE or -f MANIFEST")
	}
	if len(given) > 1 {
		return nil, usagef("%s exclude each other", strings.Join(given, " and "))
	}
	switch given[0] {
	case "--" + flagNoProxy:
		env, err := givenValue(c)
		return []namedEnvironment{{"", env}}, err
	case "--" + flagFromEnv:
		return []namedEnvironment{{"", p.environment()}}, nil
	case "--" + flagEnvFile:
		data, err := os.ReadFile(c.String(flagEnvFile))
		if err != nil {
			return nil, usagef("reading --%s: %w", flagEnvFile, err)
		}
		return p.noted(c.String(flagEnvFile), []namedEnvironment{{"", parseEnvFile(string(data))}}), nil
	default:
		return p.noproxyManifestSources(c.String(flagFilename))
	}
}

func (p *program) noproxyManifestSources(name string) ([]namedEnvironment, error) {
	data, err := p.readInput(name)
	if err != nil {
		return nil, usagef("reading -f: %w", err)
	}
	envs, err := readProxyManifest(data)
	if err != nil {
		return nil, usagef("reading -f %s: %w", name, err)
	}
	return p.noted(name, envs), nil
}

// noted says where there is nothing to look at.
func (p *program) noted(name string, envs []namedEnvironment) []namedEnvironment {
	if !slices.ContainsFunc(envs, func(e namedEnvironment) bool { return len(e.env) > 0 }) {
		p.talk.Note("%s sets no proxy variable", name)
	}
	return envs
}

// readInput reads a file, or standard input where it is called "-".
func (p *program) readInput(name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(p.In)
	}
	return os.ReadFile(name)
}

func (d noProxyLintDoc) table(w io.Writer) error {
	if len(d.Findings) == 0 {
		_, err := fmt.Fprintln(w, "no findings")
		return err
	}
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(tab, "CODE\tSEVERITY\tWHERE\tENTRY\tMESSAGE\tFIX\tCLIENTS")
	for _, f := range d.Findings {
		_, _ = fmt.Fprintf(tab, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", f.Code, f.Severity, f.Where, orDash(f.Entry), f.Message, f.Fix, clientList(f.Clients))
	}
	return tab.Flush()
}

// clientList names clients for a table.
func clientList(names []string) string {
	if len(names) > 0 && len(names) == countReaders() {
		return "all that read the variables"
	}
	return orDash(strings.Join(names, "; "))
}

// countReaders is how many clients read the variables.
func countReaders() int {
	t, err := noproxy.ParseTarget("http://example.com/")
	if err != nil {
		return 0
	}
	items := noproxy.Explain(noproxy.Environment{}, noproxy.Clients(), []noproxy.Target{t})
	return len(slices.DeleteFunc(items, func(e noproxy.Explanation) bool { return e.Decision == noproxy.Ignored }))
}

// noProxyFixDoc is what lint --fix prints.
type noProxyFixDoc struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	noproxy.Fixed
}

// noproxyLintFix prints the value without the faults that can be put right, and says
// which are left.
func (p *program) noproxyLintFix(c *cli.Context, envs []namedEnvironment, found noProxyLintDoc) error {
	value, err := oneValue(envs)
	if err != nil {
		return err
	}
	doc := noProxyFixDoc{facts.APIVersion, "NoProxyFix", noproxy.Fix(value)}
	left := doc.Left
	for _, f := range found.Findings {
		if !f.OfValue() {
			left = append(left, f)
		}
	}
	for _, f := range left {
		p.talk.Warn("%s %s: %s has no safe fix: %s; %s", f.Code, f.Where, orDash(f.Entry), f.Message, f.Fix)
	}
	for _, row := range (noProxyDiffDoc{Diff: noproxy.Diff{Decisions: doc.Lost}}).rows() {
		p.talk.Note("%s goes through the proxy now in %s: no form of the entry is read by all clients", row.url, clientList(row.clients))
	}
	if err := p.write(c.String(flagOutput), doc, func(w io.Writer) error {
		_, err := fmt.Fprintln(w, doc.NoProxy)
		return err
	}); err != nil {
		return err
	}
	return noProxyAnswer(c, left)
}

// oneValue is the NO_PROXY value of the environments, which must have the same.
func oneValue(envs []namedEnvironment) (string, error) {
	value, found := "", false
	for _, e := range envs {
		v := e.env.NoProxyValue()
		if found && v != value {
			return "", usagef("%s and others hold different lists; --fix prints one", e.where)
		}
		value, found = v, true
	}
	return value, nil
}
