package clustercheck_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
)

// ServeHTTP answers as an API server does, to reads alone.
func (c *aCluster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	prefix := 2
	if parts[0] == "apis" {
		prefix = 3
	}
	namespace, rest := "", parts[prefix:]
	if len(rest) == 0 {
		c.kinds(w, strings.Join(parts[1:], "/"))
		return
	}
	if rest[0] == "namespaces" && len(rest) > 2 {
		namespace, rest = rest[1], rest[2:]
	}
	c.reads[r.Method+" "+r.URL.Path+"?"+r.URL.RawQuery]++
	if slices.Contains(c.denied, rest[0]) {
		answer(w, http.StatusForbidden, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,"message":"`+rest[0]+` is forbidden: User \"u\" cannot get resource \"`+rest[0]+`\""}`)
		return
	}
	var found []map[string]any
	for _, o := range c.objects {
		if plural(o) == rest[0] && (namespace == "" || o.GetNamespace() == namespace) {
			if len(rest) == 2 && o.GetName() == rest[1] {
				data, _ := json.Marshal(o.Object)
				answer(w, http.StatusOK, string(data))
				return
			}
			if len(rest) == 1 && selected(o, r) {
				found = append(found, o.Object)
			}
		}
	}
	if len(rest) == 2 {
		answer(w, http.StatusNotFound, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}`)
		return
	}
	data, _ := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "metadata": map[string]any{}, "items": found})
	answer(w, http.StatusOK, strings.Replace(string(data), `"items":null`, `"items":[]`, 1))
}

// kinds answers which kinds a group and version has.
func (c *aCluster) kinds(w http.ResponseWriter, groupVersion string) {
	for _, o := range c.objects {
		if o.GetAPIVersion() == groupVersion {
			answer(w, http.StatusOK, `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"`+groupVersion+`","resources":[{"name":"`+plural(o)+`","kind":"`+o.GetKind()+`"}]}`)
			return
		}
	}
	answer(w, http.StatusNotFound, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}`)
}

func plural(o *unstructured.Unstructured) string {
	name := strings.ToLower(o.GetKind())
	if strings.HasSuffix(name, "s") {
		return name + "es"
	}
	return name + "s"
}

func selected(o *unstructured.Unstructured, r *http.Request) bool {
	byLabel, err1 := labels.Parse(r.URL.Query().Get("labelSelector"))
	byField, err2 := fields.ParseSelector(r.URL.Query().Get("fieldSelector"))
	return err1 == nil && err2 == nil && byLabel.Matches(labels.Set(o.GetLabels())) && byField.Matches(fields.Set{"metadata.namespace": o.GetNamespace()})
}

func answer(w http.ResponseWriter, code int, body string) {
	w.WriteHeader(code)
	_, _ = w.Write([]byte(body))
}

func set(t *testing.T, o *unstructured.Unstructured, value any, path ...string) {
	t.Helper()
	check(t, unstructured.SetNestedField(o.Object, value, path...))
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
