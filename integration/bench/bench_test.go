package bench

import (
	"bytes"
	"compress/gzip"
	"flag"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/eksproxy/eksproxy/integration/metadata"
	"github.com/eksproxy/eksproxy/integration/program"
)

var (
	runs    = flag.Int("runs", 3, "how often everything is run")
	enforce = flag.Bool("enforce", false, "fail where a median misses its target")
)

const (
	family = "al2023"
	proxy  = "http://proxy.example:3128"
	module = "github.com/eksproxy/eksproxy/integration"
)

// bench is what all runs share: the programs, and the metadata that they ask.
type bench struct {
	agent, bare, peak string
	url               string
	server            *metadata.Server
	work              []string // what bare has to do
}

func TestNodeApply(t *testing.T) {
	b := start(t)
	b.plan(t)
	table := append(b.race(t), b.sizes(t)...)
	table = append(table, b.memory(t), b.secondRun(t))
	fmt.Printf("\neksproxy node apply on a fresh tree of %s in %s, %d runs side by side\n\n", family, os.TempDir(), *runs)
	show(os.Stdout, table)
	for _, f := range table {
		if *enforce && f.verdict() == missed {
			t.Errorf("%s: the median is %.2f, want %s", f.name, median(f.values), f.target())
		}
	}
}

// start builds the programs and serves the metadata of a node with user data.
func start(t *testing.T) *bench {
	t.Helper()
	agent, err := program.Path()
	if err != nil {
		t.Fatal(err)
	}
	instance := metadata.NewInstance("10.40.0.0/16", "100.64.0.0/16")
	instance.UserData = []byte("apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  cluster:\n" +
		"    name: demo\n    apiServerEndpoint: https://0123456789abcdef.gr7.eu-west-1.eks.amazonaws.com\n" +
		"    certificateAuthority: Y2VydGlmaWNhdGU=\n    cidr: 10.100.0.0/16\n")
	server := metadata.NewServer(instance)
	ts := httptest.NewServer(server)
	t.Cleanup(ts.Close)
	return &bench{agent: agent, bare: helper(t, "bare"), peak: helper(t, "peak"), url: ts.URL, server: server}
}

// helper builds a program of this module.
func helper(t *testing.T, name string) string {
	t.Helper()
	path, err := program.Helper(module + "/cmd/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// apply is the command line of the agent for a tree.
func (b *bench) apply(root string) []string {
	return []string{b.agent, "node", "apply", "--root", root, "--imds-endpoint", b.url, "--http-proxy", proxy}
}

// plan finds out what bare has to do, from one run of the agent: its requests,
// and the size of all that it wrote.
func (b *bench) plan(t *testing.T) {
	t.Helper()
	root := program.Tree(t, family)
	before := sizes(t, root)
	run(t, b.apply(root)...)
	for _, r := range b.server.Requests() {
		if r.Method == http.MethodGet {
			b.work = append(b.work, r.Path)
		}
	}
	b.work = append(b.work, "--")
	for path, size := range sizes(t, root) {
		if before[path] != size {
			b.work = append(b.work, fmt.Sprintf("%s:%d", path, size))
		}
	}
}

// sizes are the sizes of all regular files of a tree.
func sizes(t *testing.T, root string) map[string]int64 {
	t.Helper()
	found := map[string]int64{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			found[path[len(root):]] = info.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// race runs agent, recipe and bare in turn, each on a fresh tree.
func (b *bench) race(t *testing.T) []figure {
	t.Helper()
	recipe, err := filepath.Abs("recipe.sh")
	if err != nil {
		t.Fatal(err)
	}
	var agents, recipes, bares []cost
	for range *runs {
		agents = append(agents, run(t, b.apply(program.Tree(t, family))...))
		recipes = append(recipes, run(t, "bash", recipe, program.Tree(t, family), b.url, proxy))
		bares = append(bares, run(t, append([]string{b.bare, b.url, program.Tree(t, family)}, b.work...)...))
	}
	cpu := [][]float64{each(agents, cost.cpuMS), each(recipes, cost.cpuMS), each(bares, cost.cpuMS)}
	wall := [][]float64{each(agents, cost.wallMS), each(recipes, cost.wallMS), each(bares, cost.wallMS)}
	return []figure{
		{name: "CPU of the agent", unit: "ms", values: cpu[0]},
		{name: "CPU of the recipe", unit: "ms", values: cpu[1]},
		{name: "CPU of bare", unit: "ms", values: cpu[2]},
		{name: "CPU, recipe / agent", unit: "x", values: pairs(cpu[1], cpu[0], ratio), bound: atLeast, limit: 3},
		{name: "time of the agent", unit: "ms", values: wall[0]},
		{name: "time of the recipe", unit: "ms", values: wall[1]},
		{name: "time of bare", unit: "ms", values: wall[2]},
		{name: "time, agent / bare", unit: "x", values: pairs(wall[0], wall[2], ratio)},
		{name: "time, agent - bare", unit: "ms", values: pairs(wall[0], wall[2], difference), bound: atMost, limit: 10},
	}
}

// sizes are those of the agent as it is shipped.
func (b *bench) sizes(t *testing.T) []figure {
	t.Helper()
	data, err := os.ReadFile(b.agent)
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return []figure{
		{name: "size of the agent", unit: "MB", bound: atMost, limit: 15, values: []float64{float64(len(data)) / 1e6}},
		{name: "size, gzip -9", unit: "MB", bound: atMost, limit: 6, values: []float64{float64(packed.Len()) / 1e6}},
	}
}

// memory is the peak of the agent's resident memory.
func (b *bench) memory(t *testing.T) figure {
	t.Helper()
	f := figure{name: "peak memory", unit: "MB", bound: atMost, limit: 25}
	for range *runs {
		out := run(t, append([]string{b.peak}, b.apply(program.Tree(t, family))...)...).stdout
		var kib float64
		if _, err := fmt.Sscan(out, &kib); err != nil {
			t.Fatal(err)
		}
		f.values = append(f.values, kib*1024/1e6)
	}
	return f
}

// secondRun counts what a second run wrote.
func (b *bench) secondRun(t *testing.T) figure {
	t.Helper()
	root := program.Tree(t, family)
	run(t, b.apply(root)...)
	before := program.Stamps(t, root)
	run(t, b.apply(root)...)
	diff := program.Diff(before, program.Stamps(t, root))
	return figure{
		name: "written by a second run", unit: "files", bound: atMost,
		values: []float64{float64(strings.Count("\n"+diff, "\n+"))},
	}
}
