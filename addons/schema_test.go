package addons

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// recorded reads a schema shape that the integration tests serve.
func recorded(t *testing.T, name string) *Schema {
	t.Helper()
	data, err := os.ReadFile("../integration/ekssim/testdata/" + name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	s, err := ParseSchema(string(data))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func placesOf(s *Schema) string {
	var texts []string
	for _, p := range s.Places() {
		text := p.String()
		if p.Annotations != "" {
			text += " " + p.Annotations
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, "; ")
}

func TestPlacesOfRecordedSchemas(t *testing.T) {
	for name, want := range map[string]string{
		"vpc-cni-v1.21":             "/extraEnv (items, with references)",
		"vpc-cni-v1.15":             "",
		"kube-proxy-v1.36":          "",
		"aws-ebs-csi-driver-v1.53":  "/controller/env (items, with references) /controller/podAnnotations; /node/env (items, with references); /proxy (proxy)",
		"aws-ebs-csi-driver-v1.20":  "/proxy (proxy)",
		"eks-pod-identity-agent-v9": "/agent/env (map)",
	} {
		if got := placesOf(recorded(t, name)); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestPlaces(t *testing.T) {
	for _, c := range []struct{ env, want string }{
		{`"env": {"type": "array", "items": {"type": "object", "properties": {"name": {}, "value": {}}, "additionalProperties": false}}`, "/env (items)"},
		{`"env": {"type": "array", "items": {"type": "object", "properties": {"name": {}, "value": {}}}}`, "/env (items, with references)"},
		{`"env": {"type": ["array", "null"]}`, "/env (items, with references)"},
		{`"env": {"type": "array", "items": {"type": "string"}}`, ""},
		{`"env": {"type": "array", "items": {"type": "object", "properties": {"key": {}}, "additionalProperties": false}}`, ""},
		{`"env": {"type": "object"}`, "/env (map)"},
		{`"env": {"additionalProperties": {"type": "string"}}`, "/env (map)"},
		{`"env": {"type": "object", "additionalProperties": {"type": "integer"}}`, ""},
		{`"env": {"type": "object", "properties": {"A": {}}}`, ""},
		{`"env": {"type": "object", "properties": {"A": {}}, "additionalProperties": true}`, "/env (map)"},
		{`"env": {"type": "object", "additionalProperties": false}`, ""},
		{`"env": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/open"}]}`, "/env (map)"},
		{`"env": {}`, ""},
		{`"envFrom": {"type": "array"}, "env": {"type": "array"}, "extraEnv": {"type": "array"}`, "/extraEnv (items, with references); /env (items, with references); /envFrom (sources, with references)"},
		{`"envFrom": {"type": "array", "items": {"properties": {"secretRef": {}}, "additionalProperties": false}}`, ""},
		{`"proxy": {"properties": {"HTTP_PROXY": {}, "httpsProxy": {}, "no-proxy": {}}}`, "/proxy (proxy)"},
		{`"proxy": {"properties": {"url": {}}}`, ""},
		{`"a": {"properties": {"b": {"properties": {"env": {"type": "object"}}}}}`, "/a/b/env (map)"},
		{`"a": {"$ref": "#"}`, ""}, // it refers to itself
		{`"a": {"$ref": "#/$defs/none"}`, ""},
		{`"a/b~": {"properties": {"env": {"type": "object"}}}`, "/a~1b~0/env (map)"},
	} {
		s, err := ParseSchema(fmt.Sprintf(`{"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": {"open": {"type": "object", "additionalProperties": {"type": "string"}}, "none": {}}, "properties": {%s}}`, c.env))
		if err != nil {
			t.Fatalf("%s: %v", c.env, err)
		}
		if got := placesOf(s); got != c.want {
			t.Errorf("%s: %q, want %q", c.env, got, c.want)
		}
	}
}

func TestSchemaIsHostile(t *testing.T) {
	for _, text := range []string{"", "[", `{"$ref": "file:///etc/passwd"}`, `{"$ref": "https://example.com/schema"}`, `{"properties": {"a": {"pattern": "("}}}`} {
		if _, err := ParseSchema(text); err == nil {
			t.Errorf("%s is taken", text)
		}
	}
}

func TestValidate(t *testing.T) {
	s := recorded(t, "vpc-cni-v1.21")
	for values, ok := range map[string]bool{
		"": true, "{}": true, "env:\n  WARM_ENI_TARGET: \"1\"\n": true, `{"extraEnv": [{"name": "A"}]}`: true,
		"env:\n  HTTP_PROXY: x\n": false, `{"extraEnv": {}}`: false, "livenessProbeTimeoutSeconds: 15": true, "livenessProbeTimeoutSeconds: 1.5": false,
	} {
		if err := s.Validate(values); (err == nil) != ok {
			t.Errorf("%q: %v", values, err)
		}
	}
}
