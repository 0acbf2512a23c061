package proxyconfig

import (
	"fmt"
	"maps"
	"path/filepath"
	"strings"
)

// Level is a kind of source. A higher level wins.
type Level int

// The levels, from the weakest.
const (
	Default Level = iota
	File
	Environment
	Flag
)

// Origin says where a value stands.
type Origin struct {
	Level Level
	// Name is the file, the variable, the flag with its dashes, or empty.
	Name string
	// Line is the line in the file, from 1.
	Line int
}

// String names the origin for a person: "proxy.yaml:7", "EKSPROXY_REGION",
// "--region", "default".
func (o Origin) String() string {
	switch {
	case o.Level == Default && o.Name == "":
		return "default"
	case o.Line > 0:
		return fmt.Sprintf("%s:%d", o.Name, o.Line)
	}
	return o.Name
}

// Item is one text with its place.
type Item struct {
	Text   string
	Origin Origin
}

// Value is what one source gives for a field: one item for a scalar, any
// number for a list. An empty text is a value: it says "none".
type Value struct {
	Items  []Item
	Origin Origin
}

// Text is the scalar.
func (v Value) Text() string {
	if len(v.Items) == 0 {
		return ""
	}
	return v.Items[0].Text
}

// Layer is what one source gives, by the path of the field.
type Layer map[string]Value

// Set records texts that all stand in one place.
func (l Layer) Set(path string, o Origin, texts ...string) {
	v := Value{Origin: o}
	for _, t := range texts {
		v.Items = append(v.Items, Item{t, o})
	}
	l[path] = v
}

// FromEnvironment reads the EKSPROXY_* variables into own, and the AWS SDKs'
// variable for the metadata endpoint into defaults, which every other source
// overrides. An EKSPROXY_ variable that no field has is an error: a misspelt
// setting must not be lost.
func FromEnvironment(env []string) (own, defaults Layer, err error) {
	own, defaults = Layer{}, Layer{}
	known := map[string]Field{}
	for _, f := range Fields() {
		if f.Flag != "" {
			known[f.Env()] = f
		}
	}
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		if name == "AWS_EC2_METADATA_SERVICE_ENDPOINT" && value != "" {
			defaults.Set(pathIMDSEndpoint, Origin{Name: name}, value)
		}
		if !strings.HasPrefix(name, "EKSPROXY_") || name == EnvConfig {
			continue
		}
		f, ok := known[name]
		if !ok {
			return nil, nil, fmt.Errorf("the environment variable %s is not one of eksproxy's; the names are EKSPROXY_ and the flag in capitals, as in EKSPROXY_HTTP_PROXY", name)
		}
		own.Set(f.Path, Origin{Level: Environment, Name: name}, split(f, value)...)
	}
	return own, defaults, nil
}

// EnvConfig names a configuration file, as --config does.
const EnvConfig = "EKSPROXY_CONFIG"

// split cuts the list in an environment variable at its commas.
func split(f Field, value string) []string {
	if f.Type != List {
		return []string{value}
	}
	var texts []string
	for t := range strings.SplitSeq(value, ",") {
		if t = strings.TrimSpace(t); t != "" {
			texts = append(texts, t)
		}
	}
	return texts
}

// Defaults are the values that hold where nothing is given. A default that is
// found out, or is another field, is no value and not among them.
func Defaults() Layer {
	l := Layer{}
	for _, f := range Fields() {
		if isValue := f.Type != Text || len(f.Allowed) > 0; isValue && f.Default != "" && wrongText(f, f.Default) == "" && f.Type != List {
			l.Set(f.Path, Origin{}, f.Default)
		}
	}
	return l
}

// Merge puts the layers on each other, the weakest first: a field that a later
// layer gives replaces it as a whole, lists too.
func Merge(layers ...Layer) Layer {
	merged := Layer{}
	for _, l := range layers {
		maps.Copy(merged, l)
	}
	return merged
}

// at returns what holds for a field in a scope. Flags and environment describe
// the one place a command works on, so they win over a scope of a file, and a
// scope wins over the rest of the files.
func (l Layer) at(scope, path string) (Value, bool) {
	v, ok := l[path]
	if ok && v.Origin.Level > File {
		return v, true
	}
	if s, found := l["scopes."+scope+"."+path]; found && scope != "" {
		return s, true
	}
	return v, ok
}

// Flatten returns what holds in a scope as plain texts by path, for a plan that
// is applied elsewhere and later: names of files are made absolute, and a value
// that holds a password or was not given to eksproxy is left out.
func (l Layer) Flatten(scope string) map[string][]string {
	flat := map[string][]string{}
	for _, f := range Fields() {
		v, ok := l.at(scope, f.Path)
		if !ok || v.Origin.Level == Default {
			continue
		}
		texts := []string{}
		for _, item := range v.Items {
			texts = append(texts, absolute(f.Path, item))
		}
		if u, err := ParseURL(v.Text()); err != nil || !u.HasCredentials() {
			flat[f.Path] = texts
		}
	}
	return flat
}

// absolute makes the file that an item names independent of where it stands.
func absolute(path string, item Item) string {
	name, kind := item.Text, ""
	isFile := path == pathCredentialsFile || path == pathTrustedCA && !strings.Contains(name, pemStart)
	if path == pathCredentialsFrom {
		name, isFile = strings.CutPrefix(name, fileRef)
		kind = fileRef
	}
	if !isFile || name == "" {
		return item.Text
	}
	abs, err := beside(item.Origin, name)
	if err == nil {
		abs, err = filepath.Abs(abs)
	}
	if err != nil {
		return item.Text
	}
	return kind + abs
}

// FromFlat is the layer of a flattened one, which stands in the named file.
func FromFlat(name string, flat map[string][]string) Layer {
	l := Layer{}
	for path, texts := range flat {
		l.Set(path, Origin{Level: File, Name: name}, texts...)
	}
	return l
}
