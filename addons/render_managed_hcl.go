package addons

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// hcl writes a value as an expression of HCL, as terraform fmt lays it out; indent
// is that of the line it begins on. Values are those of encoding/json.
func hcl(v any, indent string) string {
	more := indent + "  "
	switch v := v.(type) {
	case map[string]any:
		if len(v) == 0 {
			return "{}"
		}
		return "{\n" + hclNames(v, more) + indent + "}"
	case []any:
		if len(v) == 0 {
			return "[]"
		}
		var b strings.Builder
		b.WriteString("[\n")
		for _, item := range v {
			b.WriteString(more + hcl(item, more) + ",\n")
		}
		return b.String() + indent + "]"
	case string:
		return hclText(v)
	case nil:
		return "null"
	}
	return fmt.Sprint(v) // numbers and bools
}

// hclNames writes the names of an object in their order. Neighbours of one line
// have their equals signs below each other.
func hclNames(m map[string]any, indent string) string {
	names := slices.Sorted(maps.Keys(m))
	var b strings.Builder
	for i, name := range names {
		width := len(hclText(name))
		for _, step := range []int{-1, 1} {
			for j := i; j >= 0 && j < len(names) && oneLine(m[name]) && oneLine(m[names[j]]); j += step {
				width = max(width, len(hclText(names[j])))
			}
		}
		fmt.Fprintf(&b, "%s%-*s = %s\n", indent, width, hclText(name), hcl(m[name], indent))
	}
	return b.String()
}

// oneLine says that a value is written on one line.
func oneLine(v any) bool { return !strings.Contains(hcl(v, ""), "\n") }

// hclText writes a text. JSON's form is read by HCL, but for what begins a
// template; the escapes that HCL does not have are written as \u.
func hclText(s string) string {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(s); err != nil {
		return `""` // a text is never refused
	}
	text := strings.TrimSuffix(b.String(), "\n")
	return strings.NewReplacer(`\\`, `\\`, `\b`, `\u0008`, `\f`, `\u000c`, "${", "$${", "%{", "%%{").Replace(text)
}
