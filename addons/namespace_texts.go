package addons

import (
	"maps"

	"github.com/eksproxy/eksproxy/plan"
)

// texts are fields as they are shown, by what they are: those of thousands of
// workloads are alike, and YAML takes long to write.
type texts map[string]*plan.Value

// value is what a plan shows of fields; nil where there are none. The same fields
// have the same value.
func (t texts) value(f Fields) (*plan.Value, error) {
	f.Annotations = maps.Clone(f.Annotations)
	delete(f.Annotations, AnnotationReason) // it is no part of what is shown
	key, err := jsonOf(f)
	if err != nil {
		return nil, err
	}
	if v, ok := t[key]; ok {
		return v, nil
	}
	text, err := f.YAML()
	if err != nil || text == "" {
		return nil, err
	}
	v := &plan.Value{Content: plan.NewContent([]byte(text))}
	if t != nil {
		t[key] = v
	}
	return v, nil
}

// sameText says whether two sides of a change show the same.
func sameText(a, b *plan.Value) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Content.Equal(b.Content)
}
