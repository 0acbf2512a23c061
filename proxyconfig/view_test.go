package proxyconfig_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/eksproxy/eksproxy/proxyconfig"
)

// viewed is a layer with every kind of value, and the secret in it.
func viewed(t *testing.T) proxyconfig.Layer {
	t.Helper()
	l := mustParse(t, "f.yaml", head+`spec:
  node: {targets: {soci: false}, imdsTimeout: 5s}
  noProxy:
    add:
    - .corp.example
    - https://svc:`+secret+`@host.example
    omit: []
  httpProxy: http://svc:`+secret+`@proxy.example:3128
  cluster: {name: "yes", endpoint: "https://svc:`+secret+`@e.example"}
  scopes: {node: {httpsProxy: svc:`+secret+`@node.example:3128}}
`)
	return proxyconfig.Merge(l, flags(map[string]string{"cluster.region": "eu-west-1"}))
}

// TestViewYAML: in the order of the documentation, the origins as comments,
// nobody's password (BL-035).
func TestViewYAML(t *testing.T) {
	want := `spec:
  httpProxy: http://[secret]@proxy.example:3128 # f.yaml:10
  noProxy:
    add:
      - .corp.example # f.yaml:7
      - https://[secret]@host.example # f.yaml:8
    omit: [] # f.yaml:9
  cluster:
    name: "yes" # f.yaml:11
    region: eu-west-1 # --cluster.region
    endpoint: https://[secret]@e.example # f.yaml:11
  node:
    imdsTimeout: 5s # f.yaml:4
    targets:
      soci: false # f.yaml:4
  scopes:
    node:
      httpsProxy: '[secret]@node.example:3128' # f.yaml:12
`
	got, err := viewed(t).View().YAML(true)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	bare, err := viewed(t).View().YAML(false)
	if err != nil || strings.Contains(bare, "#") {
		t.Errorf("without origins: %v\n%s", err, bare)
	}
}

// TestViewParses: what is printed is a file that gives the same.
func TestViewParses(t *testing.T) {
	l := mustParse(t, "f.yaml", head+"spec: {httpProxy: 'http://a:1', httpsProxy: '', noProxy: {add: [.a, '*.b'], omit: []}, trustedCA: \"a\\nb\", node: {targets: {soci: false}}, scopes: {pods: {noProxy: {add: []}}}}")
	text, err := l.View().YAML(true)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(texts(l), texts(mustParse(t, "f.yaml", head+text))); diff != "" {
		t.Error(diff)
	}
}

// TestViewEmpty: no settings are still a document.
func TestViewEmpty(t *testing.T) {
	text, err := proxyconfig.Layer{}.View().YAML(true)
	if err != nil || text != "spec: {}\n" {
		t.Errorf("%q, %v", text, err)
	}
}

// TestViewTree: the same as nested fields, with types.
func TestViewTree(t *testing.T) {
	want := map[string]any{
		"httpProxy": "http://[secret]@proxy.example:3128",
		"noProxy":   map[string]any{"add": []string{".corp.example", "https://[secret]@host.example"}, "omit": []string{}},
		"cluster":   map[string]any{"name": "yes", "region": "eu-west-1", "endpoint": "https://[secret]@e.example"},
		"node":      map[string]any{"imdsTimeout": "5s", "targets": map[string]any{"soci": false}},
		"scopes":    map[string]any{"node": map[string]any{"httpsProxy": "[secret]@node.example:3128"}},
	}
	tree := viewed(t).View().Tree()
	if diff := cmp.Diff(want, tree); diff != "" {
		t.Error(diff)
	}
	data, err := json.Marshal(tree)
	if err != nil || strings.Contains(string(data), secret) {
		t.Errorf("JSON %s, %v", data, err)
	}
}

// TestIn: one scope, as a configuration without scopes.
func TestIn(t *testing.T) {
	l := viewed(t)
	want := texts(l)
	want["httpsProxy"] = want["scopes.node.httpsProxy"]
	delete(want, "scopes.node.httpsProxy")
	if diff := cmp.Diff(want, texts(l.In("node"))); diff != "" {
		t.Error(diff)
	}
	if _, ok := l.In("pods")["httpsProxy"]; ok {
		t.Error("the pods have the nodes' proxy")
	}
}
