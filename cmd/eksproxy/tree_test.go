package main

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"github.com/urfave/cli/v2"
	"mvdan.cc/sh/v3/syntax"

	"github.com/eksproxy/eksproxy/proxyconfig"
)

// minExamples is how many examples each command shows.
const minExamples = 3

// everyLeaf runs a test for each command that does something.
func everyLeaf(t *testing.T, test func(*testing.T, leaf)) {
	t.Helper()
	for _, l := range leaves("eksproxy", new(program).app("eksproxy").Commands) {
		t.Run(l.path, func(t *testing.T) { test(t, l) })
	}
}

// TestTreeNames: the nouns and verbs are those of the design.
func TestTreeNames(t *testing.T) {
	want := []string{
		"eksproxy node plan", "eksproxy node apply", "eksproxy node status", "eksproxy node revert", "eksproxy node install", "eksproxy node uninstall",
		"eksproxy userdata render", "eksproxy userdata merge", "eksproxy userdata lint", "eksproxy userdata simulate",
		"eksproxy addons plan", "eksproxy addons patch", "eksproxy addons status", "eksproxy addons revert", "eksproxy addons render",
		"eksproxy noproxy compute", "eksproxy noproxy explain", "eksproxy noproxy lint", "eksproxy noproxy diff", "eksproxy verify node", "eksproxy verify cluster", "eksproxy facts node", "eksproxy facts cluster", "eksproxy config init", "eksproxy config view",
		"eksproxy version", "eksproxy completion", "eksproxy man",
	}
	var got []string
	for _, l := range leaves("eksproxy", new(program).app("eksproxy").Commands) {
		got = append(got, l.path)
		if diff := cmp.Diff(l.Name == "plan" || l.path == "eksproxy noproxy diff", l.HasName("diff")); diff != "" {
			t.Errorf("%s: diff is a second name of plan, and of nothing else but the comparison of two values", l.path)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestTreeUsage: what a command does, in a few words that start with the verb.
func TestTreeUsage(t *testing.T) {
	verbs := regexp.MustCompile(`^(print|put|show|write|say|take|work) `)
	var check func(prefix string, commands []*cli.Command)
	check = func(prefix string, commands []*cli.Command) {
		for _, c := range commands {
			path := prefix + " " + c.Name
			if !verbs.MatchString(c.Usage) || strings.HasSuffix(c.Usage, ".") || strings.Contains(c.Usage, "\n") {
				t.Errorf("%s: usage %q", path, c.Usage)
			}
			check(path, c.Subcommands)
		}
	}
	check("eksproxy", new(program).app("eksproxy").Commands)
}

// TestTreeFlags: each flag is explained, and a setting names its variable.
func TestTreeFlags(t *testing.T) {
	fields := map[string]proxyconfig.Field{}
	for _, f := range proxyconfig.Fields() {
		fields[f.Flag] = f
	}
	everyLeaf(t, func(t *testing.T, l leaf) {
		t.Helper()
		for _, f := range l.Flags {
			name := f.Names()[0]
			usage := f.(cli.DocGenerationFlag).GetUsage()
			first := []rune(strings.TrimLeft(usage, "`-"))
			if len(first) == 0 || strings.HasSuffix(usage, ".") || name != strings.ToLower(name) {
				t.Fatalf("--%s: usage %q", name, usage)
			}
			if word, _, _ := strings.Cut(usage, " "); unicode.IsUpper(first[0]) && word != strings.ToUpper(word) && word != "IPv6" {
				t.Errorf("--%s: usage %q starts with a capital", name, usage)
			}
			// --os of userdata is no setting of a node.
			if field, ok := fields[name]; ok && (name != "os" || !strings.HasPrefix(l.path, "eksproxy userdata")) && !strings.Contains(usage, "["+field.Env()+"]") {
				t.Errorf("--%s: usage %q does not name %s", name, usage, field.Env())
			}
		}
	})
}

// TestTreeSameFlags: the same flag means the same everywhere.
func TestTreeSameFlags(t *testing.T) {
	seen := map[string]string{}
	// --os of userdata knows systems that no program of ours runs on; some of
	// its commands know a launcher that others do not, and adopt is a word there too.
	except := map[string]bool{"output": true, "facts": true, "out": true, "os": true, "for": true, "adopt": true}
	everyLeaf(t, func(t *testing.T, l leaf) {
		t.Helper()
		for _, f := range l.Flags {
			name := f.Names()[0]
			text := fmt.Sprintf("%T %s", f, f)
			if old, ok := seen[name]; ok && old != text && !except[name] {
				t.Errorf("--%s is %q, elsewhere %q", name, text, old)
			}
			seen[name] = text
		}
	})
}

// TestTreeExamples: three or more, and each is a command line that parses.
func TestTreeExamples(t *testing.T) {
	everyLeaf(t, func(t *testing.T, l leaf) {
		t.Helper()
		_, text, ok := strings.Cut(l.Description, "Examples:\n")
		examples := strings.Split(text, "\n")
		if !ok || len(examples) < minExamples {
			t.Fatalf("%d examples, want %d or more", len(examples), minExamples)
		}
		for _, e := range examples {
			if !strings.HasPrefix(e, "  ") || !strings.Contains(e, l.path) {
				t.Errorf("example %q does not call %s", e, l.path)
			}
			checkExample(t, e)
		}
	})
}

// checkExample parses the line as a shell does, and every call of the program
// in it as the program does.
func checkExample(t *testing.T, line string) {
	t.Helper()
	file, err := syntax.NewParser().Parse(strings.NewReader(line), "")
	if err != nil {
		t.Errorf("example %q: %v", line, err)
		return
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		if call, ok := n.(*syntax.CallExpr); ok {
			var words []string
			for _, w := range call.Args {
				words = append(words, w.Lit())
			}
			if len(words) > 0 && words[0] == "eksproxy" {
				checkCall(t, words)
			}
		}
		return true
	})
}

// checkCall parses a command line down to its action, which is not run.
func checkCall(t *testing.T, words []string) {
	t.Helper()
	app := new(program).app("eksproxy")
	reached := false
	for _, l := range leaves("eksproxy", app.Commands) {
		l.Action = func(*cli.Context) error {
			reached = true
			return nil
		}
	}
	if err := app.Run(permute(app, words)); err != nil || !reached {
		t.Errorf("example %q: %v", words, err)
	}
}

// TestPermute: flags after positional arguments, and flags of the program after
// the commands, come to stand where the library looks for them.
func TestPermute(t *testing.T) {
	for in, want := range map[string]string{
		"eksproxy":                                    "eksproxy",
		"eksproxy version -o json":                    "eksproxy version -o json",
		"eksproxy -o json version":                    "eksproxy version -o json",
		"eksproxy version --color never":              "eksproxy --color never version",
		"eksproxy node --root t plan --exit-code":     "eksproxy node plan --root t --exit-code",
		"eksproxy completion bash --color=always":     "eksproxy --color=always completion -- bash",
		"eksproxy completion -- --color":              "eksproxy completion -- --color",
		"eksproxy node plan x --root t y":             "eksproxy node plan --root t -- x y",
		"eksproxy node plan --http-proxy -x --root t": "eksproxy node plan --http-proxy -x --root t",
		"eksproxy node plan --dry-run node":           "eksproxy node plan --dry-run -- node",
		"eksproxy node - x":                           "eksproxy node -- - x",
		"eksproxy x node":                             "eksproxy -- x node",
		"eksproxy node plan --root":                   "eksproxy node plan --root",
		"eksproxy node plan x --root":                 "eksproxy node plan --root",
		"eksproxy version --color":                    "eksproxy --color",
		"eksproxy node --generate-bash-completion":    "eksproxy node --generate-bash-completion",
	} {
		app := new(program).app("eksproxy")
		got := permute(app, strings.Fields(in))
		if diff := cmp.Diff(strings.Fields(want), got); diff != "" {
			t.Errorf("%s: %s", in, diff)
		}
	}
}

// TestManPage: a line that starts with a dot or a quote is one of the macros
// that man(7) knows, every command is there, and nothing is left unescaped.
func TestManPage(t *testing.T) {
	page := manPage(new(program).app("eksproxy"))
	macro := regexp.MustCompile(`^\.(TH|SH|SS|B|TP|PP|nf|fi)( .*)?$`)
	bare := regexp.MustCompile(`(^|[^\\])-`)
	for i, line := range strings.Split(page, "\n") {
		if strings.HasPrefix(line, "'") || strings.HasPrefix(line, ".") && !macro.MatchString(line) {
			t.Errorf("line %d is a request that man does not know: %q", i+1, line)
		}
		if bare.MatchString(line) {
			t.Errorf("line %d has a hyphen for a minus: %q", i+1, line)
		}
	}
	everyLeaf(t, func(t *testing.T, l leaf) {
		t.Helper()
		if !strings.Contains(page, "\n.SS "+l.path+"\n") {
			t.Error("not in the page")
		}
	})
}

// TestRoff: text is no request.
func TestRoff(t *testing.T) {
	for in, want := range map[string]string{
		"a.b": "a.b", ".a": `\&.a`, "a\n.b\n'c": "a\n\\&.b\n\\&'c", "--x": `\-\-x`, `\n`: `\en`, "": "",
	} {
		if got := roff(in); got != want {
			t.Errorf("roff(%q) is %q, want %q", in, got, want)
		}
	}
}
