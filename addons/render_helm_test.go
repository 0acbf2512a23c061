package addons

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/eksproxy/eksproxy/internal/podenv"
)

// TestRenderCharts: every chart is of a component, and what its values carry is
// what the container would get.
func TestRenderCharts(t *testing.T) {
	for name := range charts() {
		if _, err := FindComponent(name); err != nil {
			t.Error(err)
		}
	}
	r, err := renderCases(t)["helm"].run(t)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range charts() {
		i := slices.IndexFunc(r.Files, func(f File) bool { return f.Name == "values-"+name+".yaml" })
		if i < 0 {
			t.Errorf("%s has no values", name)
			continue
		}
		var values map[string]any
		if err := yaml.Unmarshal(r.Files[i].Data, &values); err != nil {
			t.Fatal(err)
		}
		want := VariableNames()
		if c.Mounts != "" {
			want = append(want, caVariable)
		}
		if got := chartNames(t, values, c); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
			t.Errorf("%s carries %v", name, got)
		}
	}
}

// chartNames are the variables in the values of a chart.
func chartNames(t *testing.T, values map[string]any, c Chart) []string {
	t.Helper()
	var at any = values
	for p := range strings.SplitSeq(c.Env, ".") {
		at = at.(map[string]any)[p]
	}
	var got []string
	switch list := at.(type) {
	case map[string]any:
		for name := range list {
			got = append(got, name)
		}
	case []any:
		container := corev1.Container{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(map[string]any{"env": list}, &container); err != nil {
			t.Fatal(err)
		}
		for _, e := range (podenv.Container{Container: &container}).Env {
			got = append(got, e.Name)
		}
	}
	slices.Sort(got)
	return got
}
