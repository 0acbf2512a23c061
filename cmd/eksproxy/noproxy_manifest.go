package main

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/eksproxy/eksproxy/noproxy"
)

// namedEnvironment is the proxy variables of one process or object.
type namedEnvironment struct {
	// where names it, as in "Deployment shop/web, container app"; empty where
	// there is but one.
	where string
	env   noproxy.Environment
}

// readProxyManifest reads the proxy variables out of Kubernetes YAML: the data of
// ConfigMaps and Secrets, and the env lists of containers in whatever object.
// Objects without any are passed over.
func readProxyManifest(data []byte) ([]namedEnvironment, error) {
	var found []namedEnvironment
	for dec := yaml.NewDecoder(bytes.NewReader(data)); ; {
		var doc any
		err := dec.Decode(&doc)
		if errors.Is(err, io.EOF) {
			return found, nil
		}
		if err != nil {
			return nil, err
		}
		found = append(found, walkProxyManifest(doc, "")...)
	}
}

// walkProxyManifest looks at a part of a document; where names the object around it.
func walkProxyManifest(doc any, where string) []namedEnvironment {
	var found []namedEnvironment
	switch v := doc.(type) {
	case map[string]any:
		if name := proxyObjectName(v); name != "" {
			where = name
		}
		found = append(found, proxyObjectVariables(v, where)...)
		for _, key := range slices.Sorted(maps.Keys(v)) {
			found = append(found, walkProxyManifest(v[key], where)...)
		}
	case []any:
		for _, item := range v {
			found = append(found, walkProxyManifest(item, where)...)
		}
	}
	return found
}

// proxyObjectName is "Kind namespace/name" of an object of Kubernetes.
func proxyObjectName(v map[string]any) string {
	kind, _ := v["kind"].(string)
	metadata, _ := v["metadata"].(map[string]any)
	name, _ := metadata["name"].(string)
	if kind == "" || name == "" {
		return ""
	}
	if namespace, _ := metadata["namespace"].(string); namespace != "" {
		name = namespace + "/" + name
	}
	return kind + " " + name
}

// proxyObjectVariables are the proxy variables that stand in one mapping itself.
func proxyObjectVariables(v map[string]any, where string) []namedEnvironment {
	env := noproxy.Environment{}
	switch v["kind"] {
	case "ConfigMap":
		addProxyData(env, v["data"], asItIs)
	case "Secret":
		addProxyData(env, v["data"], fromBase64)
		addProxyData(env, v["stringData"], asItIs)
	}
	if list, ok := v["env"].([]any); ok {
		if name, _ := v["name"].(string); name != "" {
			where += ", container " + name
		}
		for _, item := range list {
			m, _ := item.(map[string]any)
			name, _ := m["name"].(string)
			if value, ok := m["value"]; ok {
				addProxyVariable(env, name, fmt.Sprint(value))
			}
		}
	}
	if len(env) == 0 {
		return nil
	}
	return []namedEnvironment{{where, env}}
}

func addProxyData(env noproxy.Environment, data any, decode func(string) string) {
	m, _ := data.(map[string]any)
	for name, value := range m {
		if text, ok := value.(string); ok {
			addProxyVariable(env, name, decode(text))
		}
	}
}

func addProxyVariable(env noproxy.Environment, name, value string) {
	if slices.Contains(noproxy.ProxyVariables(), name) {
		env[name] = value
	}
}

func asItIs(text string) string { return text }

// fromBase64 is what a Secret holds; what is no base64 is no value.
func fromBase64(text string) string {
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return ""
	}
	return string(data)
}
