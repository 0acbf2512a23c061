package addons

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// InValues is a variable of the proxy in the configuration values of an add-on,
// whoever wrote it there.
type InValues struct {
	// Place is the JSON pointer of the object or array that it stands in, Pointer
	// that of the variable itself.
	Place, Pointer string
	// Variable is its name, in upper case where it stands in an object "proxy";
	// empty for a source of envFrom, which brings all of them.
	Variable string
	// Value is its text; empty where Reference says that it comes from elsewhere.
	Value     string
	Reference bool
}

// FindInValues finds the proxy's variables in configuration values; none where
// those cannot be read.
func FindInValues(values string) []InValues {
	doc, err := parseValues(values)
	if err != nil {
		return nil
	}
	root, err := doc.decoded()
	if err != nil {
		return nil
	}
	return findInNode("", "", root)
}

// findInNode looks through one value; name is that of the property it stands in.
func findInNode(at, name string, node any) []InValues {
	var found []InValues
	switch n := node.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(n)) {
			pointer := at + "/" + escape(key)
			variable := ""
			if slices.Contains(VariableNames(), key) {
				variable = key
			}
			if name == "proxy" {
				for v := range proxyNames(schemaView{properties: map[string]any{key: nil}}) {
					variable = v
				}
			}
			if text, ok := n[key].(string); ok && variable != "" {
				found = append(found, InValues{at, pointer, variable, text, false})
				continue
			}
			found = append(found, findInNode(pointer, key, n[key])...)
		}
	case []any:
		for i, item := range n {
			pointer := at + "/" + strconv.Itoa(i)
			if v, ok := variableOf(item); ok {
				v.Place, v.Pointer = at, pointer
				found = append(found, v)
			}
		}
	}
	return found
}

// variableOf reads an item of a list as a container's env or envFrom have it.
func variableOf(item any) (InValues, bool) {
	m, _ := item.(map[string]any)
	if name, ok := m["name"].(string); ok && slices.Contains(VariableNames(), name) {
		text, isText := m["value"].(string)
		return InValues{Variable: name, Value: text, Reference: !isText}, true
	}
	source, _ := m["configMapRef"].(map[string]any)
	return InValues{Reference: true}, source["name"] == ConfigMapName
}

// Takes says whether a variable in the values of its add-on comes to the component.
func (c Component) Takes(v InValues) bool { return c.reaches(placeAt(v.Place)) }

// Recorded is what eksproxy has put into the configuration values of an add-on, as
// its record says.
type Recorded struct {
	Addon string
	// Cluster is the name of the EKS cluster.
	Cluster      string
	SettingsHash string
	// Components get their variables by it.
	Components []string
	// Additions are what was put into the values.
	Additions []Addition
	// Broken says why the record cannot be read; the other fields are empty then.
	Broken error
}

// ReadRecorded reads the ConfigMap RecordName, one record an add-on, by the names
// of the add-ons.
func ReadRecorded(live *unstructured.Unstructured) []Recorded {
	data, _, err := unstructured.NestedStringMap(live.Object, "data")
	if err != nil {
		return []Recorded{{Addon: "(all)", Broken: err}}
	}
	var all []Recorded
	for _, name := range slices.Sorted(maps.Keys(data)) {
		var r managedRecord
		if err := json.Unmarshal([]byte(data[name]), &r); err != nil {
			all = append(all, Recorded{Addon: name, Broken: err})
			continue
		}
		all = append(all, Recorded{name, r.Cluster, r.SettingsHash, r.Components, r.Additions, nil})
	}
	return all
}

// Variables are the names that the additions set in containers; none where a
// source of envFrom brings them.
func (r Recorded) Variables() []string { return managedRecord{Additions: r.Additions}.variables() }

// Lost are the additions that are no longer in configuration values as they were
// put there.
func (r Recorded) Lost(values string) ([]Addition, error) {
	doc, err := parseValues(values)
	if err != nil {
		return nil, err
	}
	var lost []Addition
	for _, a := range r.Additions {
		if !doc.has(a) {
			lost = append(lost, a)
		}
	}
	return lost, nil
}

// Unplaced are the places that the additions stand in and that a schema does not
// have: an update with it takes the variables away.
func (r Recorded) Unplaced(s *Schema) []string {
	var gone []string
	for _, component := range r.Components {
		c, err := FindComponent(component)
		if err != nil {
			continue
		}
		if p := (managedRecord{Additions: r.Additions}).placeFor(c); p != "" && !s.hasPlace(p) && !slices.Contains(gone, p) {
			gone = append(gone, p)
		}
	}
	return gone
}

// String says what the addition is, without its value.
func (a Addition) String() string {
	if !a.isItem() {
		return a.Pointer
	}
	if name := a.name(); name != a.key() {
		return a.container() + " (" + name + ")"
	}
	return a.container()
}
