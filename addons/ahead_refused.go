package addons

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/eksproxy/eksproxy/plan"
)

// Refusal is a value that a schema refuses.
type Refusal struct {
	// Pointer is the JSON pointer of the value; empty for the whole.
	Pointer string `json:"pointer"`
	// Why is what the schema says, without a password.
	Why string `json:"why"`
	// Ours says that eksproxy has put it there.
	Ours bool `json:"ours,omitempty"`
}

// Refused are the values in a text of configuration values that the schema
// refuses; a schema that is nil takes none.
func (s *Schema) Refused(values string) ([]Refusal, error) {
	doc, err := parseValues(values)
	if err != nil {
		return nil, err
	}
	instance, err := doc.decoded()
	if err != nil {
		return nil, err
	}
	if s == nil {
		if m, ok := instance.(map[string]any); ok && len(m) == 0 {
			return nil, nil
		}
		return []Refusal{{Why: "this version takes no configuration values"}}, nil
	}
	failure, ok := errors.AsType[*jsonschema.ValidationError](s.compiled.Validate(instance))
	if !ok {
		return nil, nil
	}
	var all []Refusal
	collectRefused(failure, &all)
	slices.SortStableFunc(all, func(a, b Refusal) int { return strings.Compare(a.Pointer, b.Pointer) })
	return slices.Compact(all), nil
}

// collectRefused takes the innermost errors; of alternatives none of which fits,
// the value as a whole.
func collectRefused(e *jsonschema.ValidationError, to *[]Refusal) {
	at := pointerOf(e.InstanceLocation)
	switch k := e.ErrorKind.(type) {
	case *kind.AdditionalProperties:
		for _, name := range k.Properties {
			*to = append(*to, Refusal{Pointer: at + "/" + escape(name), Why: "this version has no such name"})
		}
		return
	case *kind.AnyOf, *kind.OneOf:
		*to = append(*to, Refusal{Pointer: at, Why: "it is none of the forms that this version takes"})
		return
	}
	if len(e.Causes) == 0 {
		_, why, _ := strings.Cut(e.Error(), "': ")
		*to = append(*to, Refusal{Pointer: at, Why: plan.Mask(strings.Join(strings.Fields(why), " "))})
		return
	}
	for _, cause := range e.Causes {
		collectRefused(cause, to)
	}
}

func pointerOf(parts []string) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString("/" + escape(p))
	}
	return b.String()
}

// within says that a pointer is another one, or lies below it.
func within(pointer, outer string) bool {
	return pointer == outer || strings.HasPrefix(pointer, outer+"/")
}

// claims are the names of the proxy's variables that a schema lists itself, and
// that reach the component. An object "proxy" is a place, and no claim.
func (s *Schema) claims(c Component) []Claim {
	if s == nil {
		return nil
	}
	w := &schemaWalk{root: s.doc}
	var found []Claim
	var walk func(at string, node any, depth int)
	walk = func(at string, node any, depth int) {
		if depth > schemaDepth {
			return
		}
		properties := w.view(node).properties
		for _, name := range slices.Sorted(maps.Keys(properties)) {
			pointer := at + "/" + escape(name)
			switch {
			case name == "proxy":
			case slices.Contains(VariableNames(), name) && at != "" && c.reaches(Place{Pointer: at}):
				found = append(found, Claim{pointer, w.defaultOf(properties[name])})
			default:
				walk(pointer, properties[name], depth+1)
			}
		}
	}
	walk("", s.doc, 0)
	return found
}

// defaultOf is the default of a subschema as a text; nil where it has none.
func (w *schemaWalk) defaultOf(node any) *string {
	for range schemaDepth {
		m, ok := node.(map[string]any)
		if !ok {
			return nil
		}
		if value, ok := m["default"]; ok {
			text, isText := value.(string)
			if !isText {
				data, err := json.Marshal(value)
				if err != nil {
					return nil
				}
				text = string(data)
			}
			text = plan.Mask(text)
			return &text
		}
		ref, ok := m["$ref"].(string)
		if !ok {
			return nil
		}
		node = w.follow(ref)
	}
	return nil
}

// String is "/env/HTTP_PROXY (default "")".
func (c Claim) String() string {
	if c.Default == nil {
		return c.Pointer
	}
	return fmt.Sprintf("%s (default %q)", c.Pointer, *c.Default)
}
