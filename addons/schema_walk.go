package addons

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// schemaDepth bounds the walk: sections of charts are two or three deep, and a
// schema may refer to itself.
const schemaDepth = 6

// schemaWalk looks through a schema for places.
type schemaWalk struct {
	root  any
	found []Place
}

// object looks at the properties of the object at a pointer.
func (w *schemaWalk) object(at string, node any, depth int) {
	if depth > schemaDepth {
		return
	}
	v := w.view(node)
	annotations := ""
	if a, ok := v.properties["podAnnotations"]; ok && w.view(a).isOpenMap() {
		annotations = at + "/podAnnotations"
	}
	for _, name := range slices.Sorted(maps.Keys(v.properties)) {
		pointer := at + "/" + escape(name)
		if slices.Contains(placeNames(), name) {
			if p, ok := w.place(name, pointer, w.view(v.properties[name])); ok {
				p.Annotations = annotations
				w.found = append(w.found, p)
			}
			continue
		}
		w.object(pointer, v.properties[name], depth+1)
	}
}

// place reads one property with the name of a place; not ok where it takes no
// variables of ours.
func (w *schemaWalk) place(name, pointer string, v schemaView) (Place, bool) {
	p := Place{Pointer: pointer}
	switch {
	case name == "proxy":
		p.Form, p.Proxy = FormProxy, proxyNames(v)
		return p, len(p.Proxy) > 0
	case v.is("array") && name == "envFrom":
		p.Form, p.References = FormSources, true
		item := w.view(v.items)
		return p, item.takes("configMapRef")
	case v.is("array"):
		item := w.view(v.items)
		p.Form, p.References = FormItems, item.takes("valueFrom")
		return p, item.takes("name") && item.takes("value")
	case name != "envFrom" && v.isOpenMap() && w.takesText(v):
		p.Form = FormMap
		return p, true
	}
	return p, false
}

// takesText says whether the values of an open map may be texts.
func (w *schemaWalk) takesText(v schemaView) bool {
	values := w.view(v.additional)
	return len(values.types) == 0 || values.is("string")
}

// proxyNames are the properties of an object that are the variables of a proxy,
// however they are spelled.
func proxyNames(v schemaView) map[string]string {
	known := map[string]string{"httpproxy": httpProxy, "httpsproxy": httpsProxy, "noproxy": noProxy}
	found := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(v.properties)) {
		plain := strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(name))
		if variable, ok := known[plain]; ok && found[variable] == "" {
			found[variable] = name
		}
	}
	return found
}

// schemaView is a subschema together with what it refers to and combines.
type schemaView struct {
	types      []string
	properties map[string]any
	// additional is additionalProperties: nil where it is not said, else a bool
	// or a schema.
	additional any
	patterns   bool
	items      any
}

func (v schemaView) is(kind string) bool { return slices.Contains(v.types, kind) }

// isOpenMap says whether an object takes names that the schema does not list. One
// that lists names and says nothing of others takes them by the letter, but what
// reads the values may not: it counts as closed.
func (v schemaView) isOpenMap() bool {
	if v.is("array") || v.additional == false || len(v.types) > 0 && !v.is("object") {
		return false
	}
	return v.additional != nil || v.is("object") && len(v.properties) == 0 && !v.patterns
}

// takes says whether an item of an array may have a property.
func (v schemaView) takes(property string) bool {
	if len(v.types) > 0 && !v.is("object") {
		return false
	}
	_, listed := v.properties[property]
	return listed || v.additional != false
}

// view reads a subschema. A property that several parts give is that of the
// first: the validation of the whole has the last word.
func (w *schemaWalk) view(node any) schemaView {
	v := schemaView{properties: map[string]any{}}
	w.collect(node, &v, map[string]bool{}, 0)
	return v
}

func (w *schemaWalk) collect(node any, v *schemaView, seen map[string]bool, depth int) {
	m, ok := node.(map[string]any)
	if !ok || depth > schemaDepth {
		return
	}
	v.take(m)
	if ref, ok := m["$ref"].(string); ok && !seen[ref] {
		seen[ref] = true
		w.collect(w.follow(ref), v, seen, depth+1)
	}
	for _, combined := range []string{"allOf", "anyOf", "oneOf"} {
		parts, _ := m[combined].([]any)
		for _, part := range parts {
			w.collect(part, v, seen, depth+1)
		}
	}
}

// take adds what one subschema says itself.
func (v *schemaView) take(m map[string]any) {
	types, isList := m["type"].([]any)
	if !isList {
		types = []any{m["type"]}
	}
	for _, one := range types {
		if text, ok := one.(string); ok {
			v.types = append(v.types, text)
		}
	}
	properties, _ := m["properties"].(map[string]any)
	for name, property := range properties {
		if _, known := v.properties[name]; !known {
			v.properties[name] = property
		}
	}
	if additional, ok := m["additionalProperties"]; ok && v.additional != false {
		v.additional = additional
	}
	if patterns, _ := m["patternProperties"].(map[string]any); len(patterns) > 0 {
		v.patterns = true
	}
	if items, ok := m["items"]; ok && v.items == nil {
		v.items = items
	}
}

// follow finds what a reference inside the schema means (RFC 6901, as a fragment);
// nil where there is nothing.
func (w *schemaWalk) follow(ref string) any {
	pointer, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil
	}
	node := w.root
	for _, part := range splitPointer(pointer) {
		switch at := node.(type) {
		case map[string]any:
			node = at[part]
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i < 0 || i >= len(at) {
				return nil
			}
			node = at[i]
		default:
			return nil
		}
	}
	return node
}

// splitPointer are the parts of a JSON pointer (RFC 6901).
func splitPointer(pointer string) []string {
	if pointer == "" {
		return nil
	}
	parts := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	for i, p := range parts {
		parts[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(p)
	}
	return parts
}
