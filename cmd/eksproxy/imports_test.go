package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/eksproxy/eksproxy/"

// packageInfo is what "go list -json" tells of a package.
type packageInfo struct {
	ImportPath string
	Imports    []string
	Deps       []string
	Standard   bool
	Doc        string
}

func listPackages(t *testing.T, args ...string) []packageInfo {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"list", "-json=ImportPath,Imports,Deps,Standard,Doc"}, args...)...)
	cmd.Dir = "../.."
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var list []packageInfo
	for dec := json.NewDecoder(strings.NewReader(string(out))); dec.More(); {
		var p packageInfo
		if err := dec.Decode(&p); err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
	return list
}

// importTable reads the table of docs/architecture.md: which folder may import
// which of ours.
func importTable(t *testing.T) map[string][]string {
	t.Helper()
	data, err := os.ReadFile("../../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(data), "| folder | may import |\n")
	if !ok {
		t.Fatal("docs/architecture.md has no table headed | folder | may import |")
	}
	table := map[string][]string{}
	for line := range strings.Lines(rest) {
		cells := strings.Split(strings.Trim(line, "| \n"), "|")
		if len(cells) < 2 {
			break
		}
		if folder := strings.Trim(cells[0], "` "); !strings.HasPrefix(folder, "-") {
			table[folder] = strings.FieldsFunc(cells[1], func(r rune) bool { return strings.ContainsRune("`, ", r) })
		}
	}
	return table
}

// owner is the row of the table that a package belongs to.
func owner(table map[string][]string, pkg string) string {
	for pkg != "" {
		if _, ok := table[pkg]; ok {
			return pkg
		}
		i := strings.LastIndexByte(pkg, '/')
		pkg = pkg[:max(i, 0)]
	}
	return ""
}

// An arrow between packages that is not in the table of docs/architecture.md
// is a mistake in one of the two, in both builds.
func TestImportTable(t *testing.T) {
	table := importTable(t)
	for _, tags := range []string{"", "nodeonly"} {
		for _, p := range listPackages(t, "-tags", tags, "./...") {
			own := strings.TrimPrefix(p.ImportPath, module)
			row := owner(table, own)
			if row == "" {
				t.Errorf("%s is not in the table of docs/architecture.md", own)
				continue
			}
			if p.Doc == "" {
				t.Errorf("%s has no package comment", own)
			}
			for _, imported := range p.Imports {
				other, ours := strings.CutPrefix(imported, module)
				to := owner(table, other)
				allowed := slices.Contains(table[row], "everything") || slices.Contains(table[row], to) || to == row || to == "internal" && row != "plan"
				if ours && !allowed {
					t.Errorf("%s imports %s, which the table of docs/architecture.md does not allow", own, other)
				}
			}
		}
	}
}

// The agent links no client of Kubernetes, EC2 or EKS, and only cmd knows the
// library of the command line.
func TestForbiddenImports(t *testing.T) {
	for _, p := range listPackages(t, "-tags", "nodeonly", "./cmd/eksproxy") {
		for _, dep := range p.Deps {
			for _, forbidden := range []string{"k8s.io/", "aws-sdk-go-v2/service/ec2", "aws-sdk-go-v2/service/eks"} {
				if strings.Contains(dep, forbidden) && !strings.Contains(dep, "sigs.k8s.io") {
					t.Errorf("the agent links %s", dep)
				}
			}
		}
	}
	for _, p := range listPackages(t, "./...") {
		if slices.Contains(p.Imports, "github.com/urfave/cli/v2") && p.ImportPath != module+"cmd/eksproxy" {
			t.Errorf("%s imports the library of the command line", p.ImportPath)
		}
	}
}
