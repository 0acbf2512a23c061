package addons

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Addition is one thing that eksproxy puts into configuration values.
type Addition struct {
	// Pointer is a JSON pointer (RFC 6901): of a property, or with "-" at its
	// end, of an item at the end of an array. An item is found again by its
	// value, since whoever edits the values may move it.
	Pointer string `json:"pointer"`
	// Value is a text or an object.
	Value any `json:"value"`
}

// container is the pointer of the object or array that is added to.
func (a Addition) container() string { return a.Pointer[:strings.LastIndexByte(a.Pointer, '/')] }

// key is the property, "-" for an item.
func (a Addition) key() string { return splitPointer(a.Pointer)[strings.Count(a.Pointer, "/")-1] }

func (a Addition) isItem() bool { return strings.HasSuffix(a.Pointer, "/-") }

// name is the name of an item, or the property.
func (a Addition) name() string {
	if item, ok := a.Value.(map[string]any); ok {
		name, _ := item["name"].(string)
		return name
	}
	return a.key()
}

// is says that two additions are the same.
func (a Addition) is(other Addition) bool {
	return a.Pointer == other.Pointer && reflect.DeepEqual(a.Value, other.Value)
}

// document is the configuration values of an add-on, with order and comments as
// they were written.
type document struct {
	root *yaml.Node
	// json says that they were written as JSON, indented that over several lines.
	json, indented bool
}

// parseValues reads configuration values; none are an empty object.
func parseValues(text string) (*document, error) {
	d := &document{indented: strings.Contains(strings.TrimSpace(text), "\n")}
	var err error
	switch {
	case strings.TrimSpace(text) == "" || strings.TrimSpace(text) == "null":
		d.root, d.json = &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}, true
	case json.Valid([]byte(text)):
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.UseNumber()
		d.json = true
		d.root, err = jsonNode(decoder)
	default:
		var whole yaml.Node
		decoder := yaml.NewDecoder(strings.NewReader(text))
		if err = decoder.Decode(&whole); err == nil {
			d.root = whole.Content[0]
			if more := decoder.Decode(&yaml.Node{}); !errors.Is(more, io.EOF) {
				err = errors.New("there is more than one document")
			}
			d.root.HeadComment, d.root.FootComment = whole.HeadComment+d.root.HeadComment, d.root.FootComment+whole.FootComment
		}
	}
	if err == nil && d.root.Kind != yaml.MappingNode {
		err = errors.New("they are no object")
	}
	if err != nil {
		return nil, fmt.Errorf("reading the configuration values: %w", err)
	}
	return d, nil
}

// jsonNode reads one value of JSON, with the order of its names.
func jsonNode(d *json.Decoder) (*yaml.Node, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch t := token.(type) {
	case json.Delim:
		n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		if t == '[' {
			n.Kind, n.Tag = yaml.SequenceNode, "!!seq"
		}
		for d.More() {
			part, err := jsonNode(d) // names of an object are values here too
			if err != nil {
				return nil, err
			}
			n.Content = append(n.Content, part)
		}
		_, err = d.Token()
		return n, err
	case string:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: t}, nil
	case json.Number:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!float", Value: t.String()}, nil
	case bool:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: strconv.FormatBool(t)}, nil
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}, nil
}

// text is the values as EKS takes them, in the language that they were written in.
func (d *document) text() (string, error) {
	if d.json {
		var b bytes.Buffer
		if err := writeJSON(&b, d.root); err != nil || !d.indented {
			return b.String(), err
		}
		var indented bytes.Buffer
		err := json.Indent(&indented, b.Bytes(), "", "  ")
		return indented.String(), err
	}
	return d.yaml()
}

// yaml is the values for a person, whatever they were written in.
func (d *document) yaml() (string, error) {
	if len(d.root.Content) == 0 {
		return "{}\n", nil
	}
	var b strings.Builder
	encoder := yaml.NewEncoder(&b)
	encoder.SetIndent(2)
	err := errors.Join(encoder.Encode(d.root), encoder.Close())
	return b.String(), err
}

// writeJSON writes a node with its order.
func writeJSON(b *bytes.Buffer, n *yaml.Node) error {
	switch n.Kind {
	case yaml.MappingNode, yaml.SequenceNode:
		open, end := byte('{'), byte('}')
		if n.Kind == yaml.SequenceNode {
			open, end = '[', ']'
		}
		b.WriteByte(open)
		for i, part := range n.Content {
			switch {
			case i > 0 && n.Kind == yaml.MappingNode && i%2 == 1:
				b.WriteByte(':')
			case i > 0:
				b.WriteByte(',')
			}
			if err := writeJSON(b, part); err != nil {
				return err
			}
		}
		b.WriteByte(end)
		return nil
	default:
	}
	value, err := scalar(n)
	if err != nil {
		return err
	}
	encoder := json.NewEncoder(b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return err
	}
	b.Truncate(b.Len() - 1) // the line end of Encode
	return nil
}

// decoded is the values as encoding/json would give them, with numbers as they
// are written.
func (d *document) decoded() (any, error) {
	budget := 100_000 // aliases of YAML can make a small text a huge tree
	return decodeNode(d.root, &budget)
}

func decodeNode(n *yaml.Node, budget *int) (any, error) {
	if *budget--; *budget < 0 {
		return nil, errors.New("reading the configuration values: there are too many")
	}
	switch n.Kind {
	case yaml.AliasNode:
		return decodeNode(n.Alias, budget)
	case yaml.SequenceNode:
		list := []any{}
		for _, part := range n.Content {
			v, err := decodeNode(part, budget)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		return list, nil
	case yaml.MappingNode:
		m := map[string]any{}
		for pair := range slices.Chunk(n.Content, 2) {
			if pair[0].Tag == "!!merge" {
				return nil, errors.New("reading the configuration values: a merge key of YAML (<<) is not taken apart; write out what it merges")
			}
			v, err := decodeNode(pair[1], budget)
			if err != nil {
				return nil, err
			}
			m[pair[0].Value] = v
		}
		return m, nil
	default:
		return scalar(n)
	}
}

// scalar is a single value.
func scalar(n *yaml.Node) (any, error) {
	switch n.ShortTag() {
	case "!!int", "!!float":
		if json.Valid([]byte(n.Value)) {
			return json.Number(n.Value), nil
		}
		var v any
		if err := n.Decode(&v); err != nil {
			return nil, fmt.Errorf("reading the configuration values: %w", err)
		}
		return json.Number(fmt.Sprint(v)), nil
	case "!!bool":
		var v bool
		err := n.Decode(&v)
		return v, err
	case "!!null":
		return nil, nil
	}
	return n.Value, nil
}
