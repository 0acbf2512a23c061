package facts

// NodeKind is the kind of the document that holds a Node.
const NodeKind = "NodeFacts"

// Node is what instance metadata and user data say about one node.
type Node struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Network
	// ClusterName is the cluster that the user data names.
	ClusterName string `json:"clusterName,omitempty"`
	// Gaps are the facts that nobody gave, and how to give them.
	Gaps []Gap `json:"gaps,omitempty"`
}

// Gap is a fact that is missing: nothing is guessed in its place.
type Gap struct {
	// Field is the JSON name of the missing field.
	Field string `json:"field"`
	// Why says where it was looked for and what was found instead.
	Why string `json:"why"`
	// Remedy says how to give it.
	Remedy string `json:"remedy"`
}

// NewNode returns a Node that knows nothing yet.
func NewNode() Node { return Node{APIVersion: APIVersion, Kind: NodeKind} }

// Fill drops the gap of a field that has become known.
func (n *Node) Fill(field, source string) {
	n.SetSource(field, source)
	kept := n.Gaps[:0]
	for _, g := range n.Gaps {
		if g.Field != field {
			kept = append(kept, g)
		}
	}
	n.Gaps = kept
}
