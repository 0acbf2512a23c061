package addons

import (
	"fmt"
	"reflect"
	"slices"

	"go.yaml.in/yaml/v3"
)

// child is the value of a name in an object; nil where there is none.
func child(n *yaml.Node, name string) *yaml.Node {
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			if n.Content[i+1].Kind == yaml.AliasNode {
				// An edit here must not show where the anchor stands.
				n.Content[i+1] = unaliased(n.Content[i+1])
			}
			return n.Content[i+1]
		}
	}
	return nil
}

// unaliased is a copy of what an alias stands for.
func unaliased(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return unaliased(n.Alias)
	}
	c := *n
	c.Anchor = ""
	c.Content = nil
	for _, part := range n.Content {
		c.Content = append(c.Content, unaliased(part))
	}
	return &c
}

// at finds the node at a pointer; nil where there is none.
func (d *document) at(pointer string) *yaml.Node {
	n := d.root
	for _, part := range splitPointer(pointer) {
		if n = child(n, part); n == nil {
			return nil
		}
	}
	return n
}

// find is where an addition stands in its container; negative where it does not.
func (d *document) find(a Addition) (container *yaml.Node, index int) {
	container = d.at(a.container())
	if container == nil {
		return nil, -1
	}
	same := func(n *yaml.Node) bool {
		budget := 10_000
		v, err := decodeNode(n, &budget)
		return err == nil && reflect.DeepEqual(v, a.Value)
	}
	if a.isItem() {
		if container.Kind != yaml.SequenceNode {
			return container, -1
		}
		return container, slices.IndexFunc(container.Content, same)
	}
	for i := 0; container.Kind == yaml.MappingNode && i+1 < len(container.Content); i += 2 {
		if container.Content[i].Value == a.key() && same(container.Content[i+1]) {
			return container, i
		}
	}
	return container, -1
}

// has says that an addition is there.
func (d *document) has(a Addition) bool {
	_, i := d.find(a)
	return i >= 0
}

// names says that a container has an item or a property of the addition's name,
// whatever its value.
func (d *document) names(a Addition) bool {
	container := d.at(a.container())
	if container == nil {
		return false
	}
	if !a.isItem() {
		return child(container, a.key()) != nil
	}
	return container.Kind == yaml.SequenceNode && a.name() != "" && slices.ContainsFunc(container.Content, func(n *yaml.Node) bool {
		if n.Kind == yaml.AliasNode {
			n = n.Alias
		}
		name := child(n, "name")
		return name != nil && name.Value == a.name()
	})
}

// add puts an addition in, with the containers that lack, and says which those
// are.
func (d *document) add(a Addition) (created []string, err error) {
	n, pointer := d.root, ""
	parts := splitPointer(a.container())
	for i, part := range parts {
		pointer += "/" + escape(part)
		next := child(n, part)
		if next == nil {
			made := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
			if i == len(parts)-1 && a.isItem() {
				made = &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
			}
			n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: part}, made)
			next = made
			created = append(created, pointer)
		}
		n = next
	}
	if want := map[bool]yaml.Kind{true: yaml.SequenceNode, false: yaml.MappingNode}[a.isItem()]; n.Kind != want {
		return created, fmt.Errorf("%s in the configuration values is not what the schema says", a.container())
	}
	value := &yaml.Node{}
	if err := value.Encode(a.Value); err != nil {
		return created, fmt.Errorf("writing %s: %w", a.Pointer, err)
	}
	if len(n.Content) == 0 {
		n.Style = 0 // "[]" and "{}" are written in flow style
	}
	if !a.isItem() {
		n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: a.key()})
	}
	n.Content = append(n.Content, value)
	return created, nil
}

// remove takes an addition out; it does nothing where that is not there as it was
// put in.
func (d *document) remove(a Addition) {
	container, i := d.find(a)
	if i < 0 {
		return
	}
	n := 2
	if a.isItem() {
		n = 1
	}
	container.Content = slices.Delete(container.Content, i, i+n)
}

// prune takes out those of the containers that are empty, the inner ones first.
func (d *document) prune(created []string) {
	for _, pointer := range slices.Backward(slices.Sorted(slices.Values(created))) {
		if n := d.at(pointer); n != nil && len(n.Content) == 0 && n.Kind != yaml.ScalarNode {
			parts := splitPointer(pointer)
			parent := d.at(pointer[:len(pointer)-len("/"+escape(parts[len(parts)-1]))])
			for i := 0; i+1 < len(parent.Content); i += 2 {
				if parent.Content[i].Value == parts[len(parts)-1] {
					parent.Content = slices.Delete(parent.Content, i, i+2)
					break
				}
			}
		}
	}
}

// edited are values without what was recorded and no longer wanted, and with what
// is wanted. Names that are there and not recorded are left, and returned.
func edited(before string, recorded managedRecord, want []Addition) (after string, now managedRecord, left []Addition, err error) {
	d, err := parseValues(before)
	if err != nil {
		return "", now, nil, err
	}
	now.Created = slices.Clone(recorded.Created)
	for _, a := range recorded.Additions {
		if !slices.ContainsFunc(want, a.is) {
			d.remove(a)
		}
	}
	for _, a := range want {
		mine := slices.ContainsFunc(recorded.Additions, a.is)
		switch {
		case d.has(a) && mine:
			now.Additions = append(now.Additions, a)
			continue
		case d.names(a):
			left = append(left, a)
			continue
		}
		created, err := d.add(a)
		if err != nil {
			return "", now, nil, err
		}
		now.Additions = append(now.Additions, a)
		now.Created = append(now.Created, created...)
	}
	if len(now.Additions) == 0 {
		d.prune(now.Created)
		now.Created = nil
	}
	if after, err = d.text(); err != nil {
		return "", now, nil, err
	}
	return after, now, left, keeps(before, after, recorded, now)
}
