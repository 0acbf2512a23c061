package main

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// dependenciesPage says why each module is in the agent.
const dependenciesPage = "docs/dependencies.md"

// dependencyLine is a line of its table: the module, and why it is there.
var dependencyLine = regexp.MustCompile("(?m)^\\| `([^`]+)` \\| ([^|]*?) ?\\| (.*?) ?\\|$")

// Each module that the agent links has a line with a reason, and each line
// names one that is linked.
func TestDependencies(t *testing.T) {
	linked := agentModules(t)
	reasons := map[string]string{}
	for _, m := range dependencyLine.FindAllStringSubmatch(readDoc(t, dependenciesPage), -1) {
		reasons[m[1]] = m[3]
	}
	for _, name := range slices.Sorted(maps.Keys(linked)) {
		if reasons[name] == "" {
			t.Errorf("the agent links %s, by %s, and %s does not say why", name, strings.Join(linked[name], ", "), dependenciesPage)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(reasons)) {
		if linked[name] == nil {
			t.Errorf("%s has a line for %s, which the agent does not link", dependenciesPage, name)
		}
	}
}

// agentModules are the modules of others that the agent for Linux links, each
// with who imports it: folders of ours, and modules of others.
func agentModules(t *testing.T) map[string][]string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-tags", "nodeonly urfave_cli_no_docs",
		"-f", `{{with .Module}}{{.Path}} {{.Main}}{{end}}|{{.ImportPath}}|{{join .Imports " "}}`, ".")
	cmd.Env = append(os.Environ(), "GOOS=linux", "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("listing what the agent links: %v", err)
	}
	linked, owner, imports := map[string][]string{}, map[string]string{}, map[string][]string{}
	for line := range strings.Lines(string(out)) {
		part := strings.Split(strings.TrimSpace(line), "|")
		name, isOurs, inModule := strings.Cut(part[0], " ")
		switch {
		case !inModule: // the standard library
			continue
		case isOurs == "true":
			name = strings.TrimPrefix(part[1], module)
		default:
			linked[name] = []string{}
		}
		owner[part[1]] = name
		imports[name] = append(imports[name], strings.Fields(part[2])...)
	}
	for _, by := range slices.Sorted(maps.Keys(imports)) {
		for _, path := range imports[by] {
			name := owner[path]
			if users, ok := linked[name]; ok && name != by && !slices.Contains(users, by) {
				linked[name] = append(users, by)
			}
		}
	}
	return linked
}

// dependencyTable is the table with the reasons that are there; one that lacks
// is for a person to write.
func dependencyTable(t *testing.T, old []string) string {
	t.Helper()
	reasons := map[string]string{}
	for _, m := range dependencyLine.FindAllStringSubmatch(strings.Join(old, "\n"), -1) {
		reasons[m[1]] = m[3]
	}
	linked := agentModules(t)
	var b strings.Builder
	b.WriteString("| module | imported by | why |\n| --- | --- | --- |\n")
	for _, name := range slices.Sorted(maps.Keys(linked)) {
		fmt.Fprintf(&b, "| `%s` | `%s` | %s |\n", name, strings.Join(linked[name], "`, `"), reasons[name])
	}
	return b.String()
}
