package facts

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"

	"go.yaml.in/yaml/v3"
)

// ReadNode reads the node facts that "facts node -o json" or "-o yaml" wrote.
// Unknown fields are refused: a misspelt one would be a fact that is missing.
func ReadNode(file string) (Node, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return Node{}, fmt.Errorf("reading facts: %w", err)
	}
	var doc any
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return Node{}, fmt.Errorf("reading facts from %s: %w", file, err)
	}
	if data, err = json.Marshal(doc); err != nil {
		return Node{}, fmt.Errorf("reading facts from %s: %w", file, err)
	}
	n, err := DecodeNode(data)
	if err != nil {
		return Node{}, fmt.Errorf("reading facts from %s: %w", file, err)
	}
	return n, nil
}

// DecodeNode decodes node facts from JSON.
func DecodeNode(data []byte) (Node, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	var n Node
	if err := dec.Decode(&n); err != nil {
		return Node{}, err
	}
	if n.APIVersion != APIVersion || n.Kind != NodeKind {
		return Node{}, fmt.Errorf("the document is %q %q, not %s %s; eksproxy facts node -o json writes one", n.APIVersion, n.Kind, APIVersion, NodeKind)
	}
	return n, nil
}
