package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/eksproxy/eksproxy/internal/ui"
)

// The pages of the documentation are run. In a console block each line that
// starts with "$ " is a command, which must succeed, and what follows is what
// it prints, standard error included. A fence "yaml file=NAME" is a file that
// the commands after it find. What stands between the two comments of a
// generated part comes from the program. -update rewrites both.
//
// All commands of a page run in one directory, which has a tree of Amazon
// Linux 2023 (image), facts of a node (node.json), credentials (proxy-login)
// and a certificate authority (corporate-ca.pem). Its name is shown as
// shownDir, the only text that is replaced.

const (
	repository     = "../.."
	shownDir       = "/tmp/demo"
	consoleFence   = "```console"
	fileFence      = "```yaml file="
	fenceEnd       = "```"
	generatedBegin = "<!-- generated: "
	generatedEnd   = "<!-- end of generated -->"
)

// docPages are all pages, relative to the repository.
func docPages(t *testing.T) []string {
	t.Helper()
	var pages []string
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md"} {
		found, err := filepath.Glob(filepath.Join(repository, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			pages = append(pages, strings.TrimPrefix(f, repository+"/"))
		}
	}
	return pages
}

func TestDocs(t *testing.T) {
	bin := docProgram(t)
	for _, name := range docPages(t) {
		t.Run(name, func(t *testing.T) {
			p := &docPage{bin: bin}
			old := readDoc(t, name)
			compareDoc(t, name, old, p.render(t, old))
		})
	}
}

// compareDoc holds a page against what it must be, or writes it with -update.
func compareDoc(t *testing.T, name, got, want string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(filepath.Join(repository, name), []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s is not what the program does; go test ./cmd/eksproxy -run 'TestDocs|TestReference' -update writes it (-program +page):\n%s", name, diff)
	}
}

func readDoc(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(repository, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// docProgram builds the program and returns the directory that it is in.
func docProgram(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(dir, "eksproxy"), ".")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("building the program: %v\n%s", err, out)
	}
	return dir
}

// docPage is one page while it is run.
type docPage struct{ bin, dir string }

// render gives the page as the program says that it must be.
func (p *docPage) render(t *testing.T, text string) string {
	t.Helper()
	var out []string
	ls := strings.Split(text, "\n")
	for i := 0; i < len(ls); i++ {
		out = append(out, ls[i])
		name, isFile := strings.CutPrefix(ls[i], fileFence)
		part, isGenerated := strings.CutPrefix(ls[i], generatedBegin)
		switch {
		case ls[i] == consoleFence:
			end := docEnd(t, ls, i, fenceEnd)
			out = append(out, p.console(t, ls[i+1:end])...)
			i = end - 1
		case isFile:
			end := docEnd(t, ls, i, fenceEnd)
			putDocFile(t, filepath.Join(p.home(t), name), strings.Join(ls[i+1:end], "\n")+"\n")
		case isGenerated:
			end := docEnd(t, ls, i, generatedEnd)
			out = append(out, generated(t, strings.TrimSuffix(part, " -->"), ls[i+1:end])...)
			i = end - 1
		}
	}
	return strings.Join(out, "\n")
}

// docEnd finds the line that ends what begins at line i.
func docEnd(t *testing.T, ls []string, i int, end string) int {
	t.Helper()
	n := slices.Index(ls[i:], end)
	if n < 0 {
		t.Fatalf("line %d: %q has no %q", i+1, ls[i], end)
	}
	return i + n
}

// home is the directory of the page's commands.
func (p *docPage) home(t *testing.T) string {
	t.Helper()
	if p.dir == "" {
		p.dir = docFixture(t)
	}
	return p.dir
}

// console runs the commands of a block and gives the block as it must be.
func (p *docPage) console(t *testing.T, block []string) []string {
	t.Helper()
	var out []string
	for i := 0; i < len(block); i++ {
		command, ok := strings.CutPrefix(block[i], "$ ")
		if !ok {
			continue
		}
		out = append(out, block[i])
		for strings.HasSuffix(command, `\`) && i+1 < len(block) {
			i++
			command += "\n" + block[i]
			out = append(out, block[i])
		}
		if text := p.run(t, command); text != "" {
			out = append(out, strings.Split(strings.TrimSuffix(text, "\n"), "\n")...)
		}
	}
	return out
}

// run runs one command as a shell would.
func (p *docPage) run(t *testing.T, command string) string {
	t.Helper()
	dir := p.home(t)
	cmd := exec.CommandContext(t.Context(), "sh", "-c", command)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + p.bin + ":/usr/bin:/bin", "HOME=" + dir, "LC_ALL=C"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("$ %s\n%s%v; a page shows an exit code by ; echo $?", command, out, err)
	}
	return strings.ReplaceAll(string(out), dir, shownDir)
}

// generated gives the lines of a generated part, of which old is the last.
func generated(t *testing.T, name string, old []string) []string {
	t.Helper()
	makers := map[string]func(*testing.T, []string) string{
		"apply flags": applyFlags, "fields": fieldTable, "files": fileTable, "entries": entryTable, "bug reports": bugTable, "node checks": checkTable, "cluster checks": clusterCheckTable,
		"dependencies": dependencyTable, "rights in Kubernetes": rightsTable, "roles": rolesText, "actions in AWS": actionsTable, "policy": policyText, "policy of versions": aheadPolicyText, "charts": chartTable, "clients": clientTable, "client answers": probeTable, "lint codes": lintTable,
	}
	maker := makers[name]
	if maker == nil {
		t.Fatalf("there is no generated part %q, only %v", name, slices.Sorted(maps.Keys(makers)))
	}
	return strings.Split(strings.TrimSuffix(maker(t, old), "\n"), "\n")
}

// runInside runs the program in this process and returns what it prints.
func runInside(t *testing.T, args ...string) []byte {
	t.Helper()
	var out, talk bytes.Buffer
	if code := Run(t.Context(), append([]string{"eksproxy"}, args...), ui.Streams{In: new(bytes.Buffer), Out: &out, Err: &talk}, nil); code != 0 {
		t.Fatalf("eksproxy %v: exit %d\n%s", args, code, talk.String())
	}
	return out.Bytes()
}

// bugID is the number of a public report in docs/bug-reports.md.
var bugID = regexp.MustCompile(`BL-\d{3}`)

// bugTests are the test files that name each report.
func bugTests(t *testing.T) map[string][]string {
	t.Helper()
	tests := map[string][]string{}
	for _, file := range repositoryFiles(t, "_test.go") {
		for _, id := range bugID.FindAllString(readDoc(t, file), -1) {
			if name := "`" + file + "`"; !slices.Contains(tests[id], name) {
				tests[id] = append(tests[id], name)
			}
		}
	}
	return tests
}

// bugTable fills the last column of each row with the tests that name the
// report. Where none does, the text stays, which must say so.
func bugTable(t *testing.T, old []string) string {
	t.Helper()
	tests := bugTests(t)
	var b strings.Builder
	for _, row := range old {
		cells := strings.Split(strings.Trim(row, "|"), " | ")
		id := bugID.FindString(cells[0])
		last := len(cells) - 1
		switch files := tests[id]; {
		case id == "":
		case len(files) > 0:
			slices.Sort(files)
			cells[last] = strings.Join(files, ", ") + " "
		case !strings.HasPrefix(cells[last], "not yet"):
			t.Errorf("no test names %s, so its row must say not yet, and why", id)
		}
		delete(tests, id)
		fmt.Fprintf(&b, "|%s|\n", strings.Join(cells, " | "))
	}
	for _, id := range slices.Sorted(maps.Keys(tests)) {
		t.Errorf("%s has no row, and is named by %v", id, tests[id])
	}
	return b.String()
}

// link is a link in markdown, without its anchor.
var link = regexp.MustCompile(`\]\(([^)#\s]+)(?:#[^)]*)?\)`)

// Every link leads to a file, and so does each page that the code names; the
// tests and test files that a page names are there.
func TestDocsLinks(t *testing.T) {
	var tests strings.Builder
	for _, file := range repositoryFiles(t, "_test.go") {
		tests.WriteString(file + "\n" + readDoc(t, file))
	}
	for _, page := range docPages(t) {
		text := readDoc(t, page)
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			if !strings.Contains(m[1], "://") {
				checkThere(t, page, filepath.Join(filepath.Dir(page), m[1]))
			}
		}
		for _, m := range testName.FindAllStringSubmatch(text, -1) {
			if !strings.Contains(tests.String(), m[1]) {
				t.Errorf("%s names the test %s, which is not there", page, m[1])
			}
		}
	}
	for _, file := range repositoryFiles(t, ".go", ".yaml") {
		for _, page := range pageName.FindAllString(readDoc(t, file), -1) {
			checkThere(t, file, page)
		}
	}
}

var (
	// testName is a test, or a file of tests, in a page.
	testName = regexp.MustCompile("`(Test[A-Z]\\w+|[a-z0-9/_]+_test\\.go)`")
	// pageName is a page in a comment.
	pageName = regexp.MustCompile(`\bdocs/[a-z/0-9-]+\.md`)
)

// checkThere fails where what a file names is not in the repository.
func checkThere(t *testing.T, file, named string) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(repository, named)); err != nil {
		t.Errorf("%s names %s, which is not there", file, named)
	}
}

// repositoryFiles are the files of the repository with one of these ends.
func repositoryFiles(t *testing.T, ends ...string) []string {
	t.Helper()
	var files []string
	err := fs.WalkDir(os.DirFS(repository), ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && len(path) > 1 && (path[0] == '.' || path == "bin") {
			return fs.SkipDir
		}
		if slices.ContainsFunc(ends, func(end string) bool { return strings.HasSuffix(path, end) }) {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
