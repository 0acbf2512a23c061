package integration

import (
	"bytes"
	"debug/elf"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/eksproxy/eksproxy/integration/container"
	"github.com/eksproxy/eksproxy/integration/program"
)

// releaseVersion is what the test's release calls itself.
const releaseVersion = "v9.8.7"

// release builds a release into a new folder, for every system where none is
// named.
func release(t *testing.T, targets string) string {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "../release/release.sh", dir, releaseVersion)
	cmd.Env = append(os.Environ(), "RELEASE_TARGETS="+targets)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("building a release: %v\n%s", err, out)
	}
	return dir
}

// A release has all that is shipped, is the same when it is built again, and
// its programs are static and for the architecture that their name says.
func TestRelease(t *testing.T) {
	dir := release(t, "")
	names := entries(t, dir)
	again := release(t, "linux/amd64")
	compared := entries(t, again)
	for _, name := range compared {
		if name != "SHA256SUMS" && !bytes.Equal(readFile(t, dir, name), readFile(t, again, name)) {
			t.Errorf("two builds of %s differ", name)
		}
	}
	if len(compared) < 7 { // two programs with their bills, two packages, the sums
		t.Errorf("the second build has %q alone", compared)
	}
	checkPrograms(t, dir)
	checkBillsOfMaterials(t, dir, names)
	if r := program.Exec(t, nil, "sh", "-c", "cd "+dir+" && sha256sum --quiet --strict -c SHA256SUMS"); r.Code != 0 {
		t.Errorf("checking SHA256SUMS: %s", r.Stderr)
	}
	if sums := readFile(t, dir, "SHA256SUMS"); bytes.Count(sums, []byte("\n")) != len(names)-1 {
		t.Errorf("SHA256SUMS does not have every file:\n%s", sums)
	}
	t.Run("packages", func(t *testing.T) { checkPackages(t, dir) })
}

func entries(t *testing.T, dir string) []string {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

func readFile(t *testing.T, dir, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func checkPrograms(t *testing.T, dir string) {
	t.Helper()
	for arch, machine := range map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64} {
		for _, name := range []string{"eksproxy-linux-" + arch, "eksproxy-agent-linux-" + arch} {
			f, err := elf.NewFile(bytes.NewReader(readFile(t, dir, name)))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if f.Machine != machine {
				t.Errorf("%s is for %s", name, f.Machine)
			}
			if slices.ContainsFunc(f.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP || p.Type == elf.PT_DYNAMIC }) {
				t.Errorf("%s is not static", name)
			}
		}
	}
	r := program.Exec(t, nil, filepath.Join(dir, "eksproxy-agent-linux-amd64"), "version")
	if !strings.HasPrefix(r.Stdout, "eksproxy "+releaseVersion+" ") {
		t.Errorf("the agent says %q", r.Stdout)
	}
}

// checkBillsOfMaterials looks for the bill of each program, and for a module
// that every program links.
func checkBillsOfMaterials(t *testing.T, dir string, names []string) {
	t.Helper()
	for _, name := range names {
		if !strings.HasPrefix(name, "eksproxy-linux") && !strings.HasPrefix(name, "eksproxy-agent-linux") || strings.HasSuffix(name, ".json") {
			continue
		}
		var bill struct {
			BomFormat  string
			Components []struct{ Name, Version string }
		}
		if err := json.Unmarshal(readFile(t, dir, name+".sbom.json"), &bill); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if bill.BomFormat != "CycloneDX" || !slices.ContainsFunc(bill.Components, func(c struct{ Name, Version string }) bool {
			return c.Name == "github.com/aws/aws-sdk-go-v2" && c.Version != ""
		}) {
			t.Errorf("the bill of %s has no aws-sdk-go-v2: %v", name, bill)
		}
	}
}

// checkPackages installs and removes the packages on a node.
func checkPackages(t *testing.T, dir string) {
	t.Helper()
	c := container.New(t, container.Options{})
	deb, rpm := "eksproxy-agent_9.8.7_amd64.deb", "eksproxy-agent-9.8.7-1.x86_64.rpm"
	c.CopyFile(t, filepath.Join(dir, deb), "/root/"+deb)
	c.CopyFile(t, filepath.Join(dir, rpm), "/root/"+rpm)
	c.Boot(t)
	for _, way := range []struct{ add, remove []string }{
		{[]string{"dpkg", "-i", "/root/" + deb}, []string{"dpkg", "-r", "eksproxy-agent"}},
		{[]string{"rpm", "-i", "--nodeps", "/root/" + rpm}, []string{"rpm", "-e", "eksproxy-agent"}},
	} {
		c.Must(t, way.add...)
		if got := c.Must(t, "/usr/local/bin/eksproxy", "version"); !strings.HasPrefix(got, "eksproxy "+releaseVersion+" ") {
			t.Errorf("%v installs a program that says %q", way.add, got)
		}
		c.Must(t, way.remove...)
		if r := c.Exec(t, "test", "-e", "/usr/local/bin/eksproxy"); r.Code == 0 {
			t.Errorf("%v leaves the program", way.remove)
		}
	}
}
