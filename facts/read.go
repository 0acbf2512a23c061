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
func ReadNode(file string) (Node, error) { return read(file, DecodeNode) }

// ReadCluster reads the cluster facts that "facts cluster" wrote, as ReadNode
// does.
func ReadCluster(file string) (Cluster, error) { return read(file, DecodeCluster) }

// IsCluster says whether a file holds cluster facts, and not those of a node.
func IsCluster(file string) bool {
	var head struct {
		Kind string `yaml:"kind"`
	}
	data, err := os.ReadFile(file)
	return err == nil && yaml.Unmarshal(data, &head) == nil && head.Kind == ClusterKind
}

func read[T any](file string, decode func([]byte) (T, error)) (T, error) {
	var none T
	data, err := os.ReadFile(file)
	if err != nil {
		return none, fmt.Errorf("reading facts: %w", err)
	}
	var doc any
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return none, fmt.Errorf("reading facts from %s: %w", file, err)
	}
	if data, err = json.Marshal(doc); err != nil {
		return none, fmt.Errorf("reading facts from %s: %w", file, err)
	}
	known, err := decode(data)
	if err != nil {
		return none, fmt.Errorf("reading facts from %s: %w", file, err)
	}
	return known, nil
}

// DecodeNode decodes node facts from JSON.
func DecodeNode(data []byte) (Node, error) {
	var n Node
	if err := decode(data, &n); err != nil {
		return Node{}, err
	}
	return n, n.check(NodeKind, "node")
}

// DecodeCluster decodes cluster facts from JSON.
func DecodeCluster(data []byte) (Cluster, error) {
	var c Cluster
	if err := decode(data, &c); err != nil {
		return Cluster{}, err
	}
	return c, c.check(ClusterKind, "cluster")
}

func decode(data []byte, to any) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	return dec.Decode(to)
}

func (n Node) check(kind, command string) error {
	if n.APIVersion != APIVersion || n.Kind != kind {
		return fmt.Errorf("the document is %q %q, not %s %s; eksproxy facts %s -o json writes one", n.APIVersion, n.Kind, APIVersion, kind, command)
	}
	return nil
}
