package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/eksproxy/eksproxy/integration/program"
)

// TestFull: the whole program, which links the clients of Kubernetes and AWS, is
// no burden on a node either: it uses no more CPU than the recipe.
func TestFull(t *testing.T) {
	b := start(t)
	full, err := program.Full()
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(full)
	if err != nil {
		t.Fatal(err)
	}
	recipe, err := filepath.Abs("recipe.sh")
	if err != nil {
		t.Fatal(err)
	}
	var starts, agents, applies, recipes []cost
	for range *runs {
		starts = append(starts, run(t, full, "version"))
		agents = append(agents, run(t, b.agent, "version"))
		apply := b.apply(program.Tree(t, family))
		apply[0] = full
		applies = append(applies, run(t, apply...))
		recipes = append(recipes, run(t, "bash", recipe, program.Tree(t, family), b.url, proxy))
	}
	cpu := [][]float64{each(applies, cost.cpuMS), each(recipes, cost.cpuMS)}
	table := []figure{
		{name: "size of the full program", unit: "MB", values: []float64{float64(info.Size()) / 1e6}},
		{name: "start (version)", unit: "ms", values: each(starts, cost.wallMS)},
		{name: "start, full / agent", unit: "x", values: pairs(each(starts, cost.wallMS), each(agents, cost.wallMS), ratio)},
		{name: "CPU of node apply", unit: "ms", values: cpu[0]},
		{name: "CPU of the recipe", unit: "ms", values: cpu[1]},
		{name: "CPU, full / recipe", unit: "x", values: pairs(cpu[0], cpu[1], ratio), bound: atMost, limit: 1},
	}
	fmt.Printf("\nthe full program, %d runs side by side\n\n", *runs)
	show(os.Stdout, table)
	for _, f := range table {
		if *enforce && f.verdict() == missed {
			t.Errorf("%s: the median is %.2f, want %s", f.name, median(f.values), f.target())
		}
	}
}
