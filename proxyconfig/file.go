package proxyconfig

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/eksproxy/eksproxy/facts"
)

// Kind is the kind of the configuration document.
const Kind = "ProxyConfig"

// ReadFile reads a ProxyConfig from a file.
func ReadFile(name string) (Layer, error) {
	data, err := ReadTrusted(name)
	if err != nil {
		return nil, fmt.Errorf("reading the configuration: %w", err)
	}
	return ParseFile(name, data)
}

// ParseFile parses a ProxyConfig. Every fault is reported, each with file, line
// and column; the text of the file is not repeated, for it may hold a password.
func ParseFile(name string, data []byte) (Layer, error) {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc yaml.Node
	if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s is empty; eksproxy config init writes a file to begin with", name)
	} else if err != nil {
		return nil, fmt.Errorf("%s: parsing YAML: %w", name, syntax(err))
	}
	if err := dec.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s holds more than one document; give several files with --config, later ones win", name)
	}
	p := &parser{file: name, layer: Layer{}}
	p.document(doc.Content[0])
	return p.layer, errors.Join(p.faults...)
}

// syntax is an error of the YAML library without the one text of the file that
// it repeats: a password that begins with a star is an alias in YAML.
func syntax(err error) error {
	if strings.Contains(err.Error(), "unknown anchor") {
		return errors.New("a value that begins with * is an alias, and no anchor has its name; put the text in quotes")
	}
	return err
}

// parser walks the document and collects values and faults.
type parser struct {
	file   string
	layer  Layer
	faults []error
}

func (p *parser) fault(n *yaml.Node, format string, args ...any) {
	p.faults = append(p.faults, fmt.Errorf("%s:%d:%d: %s", p.file, n.Line, n.Column, fmt.Sprintf(format, args...)))
}

func (p *parser) document(root *yaml.Node) {
	seen := map[string]bool{}
	p.mapping(root, func(key, value *yaml.Node) {
		seen[key.Value] = true
		switch key.Value {
		case "apiVersion":
			p.constant(value, facts.APIVersion)
		case "kind":
			p.constant(value, Kind)
		case "spec":
			p.section(value, "")
		default:
			p.fault(key, "unknown field %q; allowed here: apiVersion, kind, spec", clip(key.Value))
		}
	})
	for _, want := range []string{"apiVersion", "kind"} {
		if !seen[want] {
			p.fault(root, "%s is missing; write apiVersion: %s and kind: %s", want, facts.APIVersion, Kind)
		}
	}
}

func (p *parser) constant(n *yaml.Node, want string) {
	if n.Value != want {
		p.fault(n, "this must be %s", want)
	}
}

// mapping calls visit for each key; a key that stands twice is a fault.
func (p *parser) mapping(n *yaml.Node, visit func(key, value *yaml.Node)) {
	if n.Kind != yaml.MappingNode {
		if n.Tag != "!!null" {
			p.fault(n, "want fields (name: value) here")
		}
		return
	}
	var seen []string
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], target(n.Content[i+1])
		if slices.Contains(seen, key.Value) {
			p.fault(key, "field %q stands twice", clip(key.Value))
			continue
		}
		seen = append(seen, key.Value)
		visit(key, value)
	}
}

// target is the node that an alias stands for.
func target(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// section reads the fields below a path.
func (p *parser) section(n *yaml.Node, prefix string) {
	p.mapping(n, func(key, value *yaml.Node) {
		path := prefix + key.Value
		names := children(prefix)
		f, isField := lookup(path)
		switch {
		case !slices.Contains(names, key.Value):
			p.fault(key, "unknown field %q; allowed here: %s", clip(key.Value), strings.Join(names, ", "))
		case isField:
			p.field(f, path, value)
		default:
			p.section(value, path+".")
		}
	})
}

// field reads one value. A null is no value.
func (p *parser) field(f Field, path string, n *yaml.Node) {
	if n.Tag == "!!null" {
		return
	}
	v := Value{Origin: Origin{Level: File, Name: p.file, Line: n.Line}}
	nodes := []*yaml.Node{n}
	if f.Type == List {
		if n.Kind != yaml.SequenceNode {
			p.fault(n, "%s is a list; write one entry a line, each after a dash", f.Path)
			return
		}
		nodes = n.Content
	}
	for _, item := range nodes {
		item = target(item)
		if why := wrongType(f, item); why != "" {
			p.fault(item, "%s %s", f.Path, why)
			return
		}
		v.Items = append(v.Items, Item{item.Value, Origin{Level: File, Name: p.file, Line: item.Line}})
	}
	p.layer[path] = v
}

// wrongType says what is wrong with a scalar; empty where nothing is.
func wrongType(f Field, n *yaml.Node) string {
	switch {
	case n.Kind != yaml.ScalarNode:
		return "is a single value"
	case f.Type == Bool && n.Tag != "!!bool":
		return "is true or false"
	case f.Type == Text && n.Tag != "!!str", f.Type == List && n.Tag != "!!str":
		return "is a text; put it in quotes"
	}
	return wrongText(f, n.Value)
}

// wrongText says what is wrong with the text of a value, whatever its source.
func wrongText(f Field, text string) string {
	switch {
	case f.Type == Bool && text != "true" && text != "false":
		return "is true or false"
	case f.Type == Duration:
		if d, err := time.ParseDuration(text); err != nil || d <= 0 {
			return "is a duration above zero, as in 60s or 2m"
		}
	case len(f.Allowed) > 0 && !slices.Contains(f.Allowed, text):
		return fmt.Sprintf("%q is not known; allowed: %s", clip(text), strings.Join(f.Allowed, ", "))
	}
	return ""
}
