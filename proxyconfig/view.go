package proxyconfig

import (
	"bytes"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Setting is one merged value as it may be shown: passwords are masked.
type Setting struct {
	Path   string
	Value  any // a string, a bool or a list of strings
	Origin Origin
	// Origins are those of a list's entries.
	Origins []Origin
}

// View is a merged configuration as it may be shown, in the order of Fields.
type View []Setting

// In returns what holds in a scope, as a configuration without scopes.
func (l Layer) In(scope string) Layer {
	in := Layer{}
	for _, f := range Fields() {
		if v, ok := l.at(scope, f.Path); ok {
			in[f.Path] = v
		}
	}
	return in
}

// View makes a configuration showable.
func (l Layer) View() View {
	var view View
	prefixes := []string{""}
	for _, s := range Scopes() {
		prefixes = append(prefixes, "scopes."+s+".")
	}
	for _, prefix := range prefixes {
		for _, f := range Fields() {
			if v, ok := l[prefix+f.Path]; ok {
				view = append(view, show(f, prefix+f.Path, v))
			}
		}
	}
	return view
}

func show(f Field, path string, v Value) Setting {
	s := Setting{Path: path, Origin: v.Origin}
	switch f.Type {
	case Bool:
		s.Value = v.Text() == "true"
	case List:
		texts := []string{}
		for _, item := range v.Items {
			texts = append(texts, maskURL(item.Text))
			s.Origins = append(s.Origins, item.Origin)
		}
		s.Value = texts
	default:
		s.Value = v.Text()
		if strings.Contains(v.Text(), "://") {
			s.Value = maskURL(v.Text())
		}
	}
	if f.Path == pathHTTPProxy || f.Path == pathHTTPSProxy {
		s.Value = maskURL(v.Text())
	}
	return s
}

// maskURL hides user information even in what is no valid URL.
func maskURL(text string) string {
	at := strings.LastIndexByte(text, '@')
	if at < 0 {
		return text
	}
	scheme, _, ok := strings.Cut(text[:at], "://")
	if !ok {
		return hidden + text[at:]
	}
	return scheme + "://" + hidden + text[at:]
}

// Origins are the places of the values, by path.
func (v View) Origins() map[string]string {
	origins := map[string]string{}
	for _, s := range v {
		origins[s.Path] = s.Origin.String()
	}
	return origins
}

// Tree is the configuration as nested fields.
func (v View) Tree() map[string]any {
	tree := map[string]any{}
	for _, s := range v {
		at := tree
		names := strings.Split(s.Path, ".")
		for _, name := range names[:len(names)-1] {
			below, ok := at[name].(map[string]any)
			if !ok {
				below = map[string]any{}
				at[name] = below
			}
			at = below
		}
		at[names[len(names)-1]] = s.Value
	}
	return tree
}

// YAML is the spec as YAML, with the origins as comments if wanted.
func (v View) YAML(origins bool) (string, error) {
	spec := &yaml.Node{Kind: yaml.MappingNode}
	for _, s := range v {
		at := spec
		names := strings.Split(s.Path, ".")
		for _, name := range names[:len(names)-1] {
			at = below(at, name)
		}
		value := &yaml.Node{}
		if err := value.Encode(s.Value); err != nil {
			return "", err
		}
		if origins {
			s.comment(value)
		}
		at.Content = append(at.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: names[len(names)-1]}, value)
	}
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(map[string]*yaml.Node{"spec": spec}); err != nil {
		return "", err
	}
	return b.String(), enc.Close()
}

// below finds or makes the mapping of that name.
func below(at *yaml.Node, name string) *yaml.Node {
	for i := 0; i+1 < len(at.Content); i += 2 {
		if at.Content[i].Value == name {
			return at.Content[i+1]
		}
	}
	m := &yaml.Node{Kind: yaml.MappingNode}
	at.Content = append(at.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: name}, m)
	return m
}

func (s Setting) comment(value *yaml.Node) {
	if len(value.Content) == 0 {
		value.LineComment = s.Origin.String()
		return
	}
	for i, item := range value.Content {
		item.LineComment = s.Origins[i].String()
	}
}
