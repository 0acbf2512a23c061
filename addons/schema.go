package addons

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Schema is the JSON Schema of the configuration values of one version of an
// add-on, as DescribeAddonConfiguration gives it.
type Schema struct {
	doc      any
	compiled *jsonschema.Schema
}

// errSchema says that a schema cannot be used.
var errSchema = errors.New("reading the schema of configuration values")

// ParseSchema reads a schema. What it refers to outside of itself is not fetched,
// and is an error.
func ParseSchema(text string) (*Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errSchema, err)
	}
	const name = "schema.json"
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	if err := c.AddResource(name, doc); err != nil {
		return nil, fmt.Errorf("%w: %w", errSchema, err)
	}
	compiled, err := c.Compile(name)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errSchema, err)
	}
	return &Schema{doc, compiled}, nil
}

// noLoader loads nothing: a schema comes from the network, and must not lead to
// files or further hosts.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, errors.New("it refers to " + url + ", which is not fetched")
}

// Validate says what in configuration values, as text in YAML or JSON, is against
// the schema. EKS does the same when an add-on is updated.
func (s *Schema) Validate(values string) error {
	doc, err := parseValues(values)
	if err != nil {
		return err
	}
	instance, err := doc.decoded()
	if err != nil {
		return err
	}
	if err := s.compiled.Validate(instance); err != nil {
		return fmt.Errorf("validating the configuration values: %s", strings.Join(strings.Fields(err.Error()), " "))
	}
	return nil
}

// Form says how a place takes variables.
type Form string

// The forms, in the order in which they are chosen: the first reach one
// container, with any name.
const (
	// FormItems is an array of {name, value}, as in a container's env.
	FormItems Form = "items"
	// FormMap is an object with any names, whose values are texts.
	FormMap Form = "map"
	// FormSources is an array of ConfigMaps and Secrets, as in a container's
	// envFrom.
	FormSources Form = "sources"
	// FormProxy is an object with fixed names, such as http_proxy.
	FormProxy Form = "proxy"
)

// Place is where configuration values take variables.
type Place struct {
	// Pointer is the JSON pointer into the values, as in "/controller/env".
	Pointer string
	Form    Form
	// References says that an item may name a ConfigMap or Secret in place of a
	// value: without that a place holds texts, and no credentials.
	References bool
	// Proxy are the names that FormProxy has for HTTP_PROXY, HTTPS_PROXY and
	// NO_PROXY, those that it has.
	Proxy map[string]string
	// Annotations is the pointer of the pods' annotations in the same section, an
	// object with any names; empty where there is none.
	Annotations string
}

// section is the pointer of the object that the place stands in.
func (p Place) section() string { return p.Pointer[:strings.LastIndexByte(p.Pointer, '/')] }

// String says what the place takes, as in "/extraEnv (items, with references)".
func (p Place) String() string {
	if p.References {
		return fmt.Sprintf("%s (%s, with references)", p.Pointer, p.Form)
	}
	return fmt.Sprintf("%s (%s)", p.Pointer, p.Form)
}

// Places are where the schema takes variables, in the order in which they are
// chosen: by name extraEnv, env, envFrom, proxy, then those nearer the root.
func (s *Schema) Places() []Place {
	w := &schemaWalk{root: s.doc}
	w.object("", s.doc, 0)
	rank := func(p Place) int {
		return slices.Index(placeNames(), p.Pointer[strings.LastIndexByte(p.Pointer, '/')+1:])
	}
	slices.SortStableFunc(w.found, func(a, b Place) int {
		return cmp.Or(rank(a)-rank(b), strings.Count(a.Pointer, "/")-strings.Count(b.Pointer, "/"), strings.Compare(a.Pointer, b.Pointer))
	})
	return w.found
}

// placeNames are the names under which charts take variables.
func placeNames() []string { return []string{"extraEnv", "env", "envFrom", "proxy"} }
