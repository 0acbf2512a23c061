package ekssim

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/eksproxy/eksproxy/integration/controlplane"
)

// api applies objects on the API server.
type api struct {
	client     http.Client
	url, token string
}

func newAPI(t *testing.T, cp *controlplane.ControlPlane) *api {
	t.Helper()
	config, err := os.ReadFile(cp.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	ca, err := os.ReadFile(cp.CAFile())
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(ca)
	token := regexp.MustCompile(`token: "?([^"}\s]+)`).FindSubmatch(config)
	if token == nil {
		t.Fatal("the kubeconfig has no token")
	}
	return &api{http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}, cp.URL(), string(token[1])}
}

// objects are those of a manifest.
func objects(t *testing.T, cp *controlplane.ControlPlane, name string) []map[string]any {
	t.Helper()
	text, err := cp.Manifest(name)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "manifest.yaml")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	var all []map[string]any
	decoder := json.NewDecoder(strings.NewReader(cp.Kubectl(t, "create", "--dry-run=client", "-o", "json", "-f", file)))
	for {
		var object map[string]any
		err := decoder.Decode(&object)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		if items, ok := object["items"].([]any); ok {
			for _, item := range items {
				all = append(all, item.(map[string]any))
			}
			continue
		}
		all = append(all, object)
	}
}

// conflict is one field of an object that another manager owns.
type conflict struct{ field, manager string }

// patch applies an object as the manager eks.
func (a *api) patch(object map[string]any, force bool) ([]conflict, error) {
	meta := object["metadata"].(map[string]any)
	path := "/api/v1"
	if version := object["apiVersion"].(string); version != "v1" {
		path = "/apis/" + version
	}
	path += fmt.Sprintf("/namespaces/%s/%ss/%s?fieldManager=%s&force=%t", meta["namespace"], strings.ToLower(object["kind"].(string)), meta["name"], controlplane.Manager, force)
	body, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequest(http.MethodPatch, a.url+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+a.token)
	req.Header.Set("Content-Type", "application/apply-patch+yaml")
	resp, err := a.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode < 300 {
		return nil, err
	}
	var status struct {
		Message string
		Details struct {
			Causes []struct{ Reason, Message, Field string }
		}
	}
	if err := json.Unmarshal(data, &status); err != nil {
		return nil, err
	}
	var found []conflict
	for _, c := range status.Details.Causes {
		if resp.StatusCode == http.StatusConflict && c.Reason == "FieldManagerConflict" {
			found = append(found, conflict{c.Field, c.Message})
		}
	}
	return found, errors.New(status.Message)
}

// apply renders the values into the objects of an add-on and applies them.
func (s *Sim) apply(name, values, mode string) error {
	var doc map[string]any
	if err := yaml.Unmarshal([]byte(values), &doc); err != nil {
		return err
	}
	var lines []string
	for _, source := range s.objects[name] {
		object, err := copied(source)
		if err != nil {
			return err
		}
		delete(object["metadata"].(map[string]any), "creationTimestamp")
		delete(object, "status")
		if err := render(name, object, doc); err != nil {
			return err
		}
		conflicts, err := s.api.patch(object, mode == "OVERWRITE")
		for range 5 {
			if len(conflicts) == 0 || mode != "PRESERVE" {
				break
			}
			for _, c := range conflicts {
				remove(object, c.field)
			}
			conflicts, err = s.api.patch(object, false)
		}
		for _, c := range conflicts {
			lines = append(lines, fmt.Sprintf("%s.%s %s - %s", object["kind"], strings.Split(object["apiVersion"].(string), "/")[0], object["metadata"].(map[string]any)["name"], c.field))
		}
		if err != nil && len(conflicts) == 0 {
			return err
		}
	}
	if len(lines) > 0 {
		slices.Sort(lines)
		return errors.New("Conflicts found when trying to apply. Will not continue due to resolve conflicts mode. Conflicts:\n" + strings.Join(lines, "\n"))
	}
	return nil
}

// Conflict is what the API server says to the apply of an add-on's workload
// without force; empty without a conflict.
func (s *Sim) Conflict(name, kind string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var doc map[string]any
	yaml.Unmarshal([]byte(s.addons[name].Values), &doc)
	for _, source := range s.objects[name] {
		if source["kind"] != kind {
			continue
		}
		object, err := copied(source)
		if err != nil {
			return err.Error()
		}
		delete(object["metadata"].(map[string]any), "creationTimestamp")
		delete(object, "status")
		render(name, object, doc)
		if conflicts, err := s.api.patch(object, false); len(conflicts) > 0 {
			return err.Error()
		}
	}
	return ""
}

func copied(object map[string]any) (map[string]any, error) {
	data, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	var c map[string]any
	return c, json.Unmarshal(data, &c)
}

// part is one step of a path as the API server writes it: a name, or the key of an
// item.
var part = regexp.MustCompile(`^(?:\.([^.\[]+)|\[([a-zA-Z]+)="([^"]*)"\])`)

// remove takes the field at a path out of an object.
func remove(node any, path string) {
	step := part.FindStringSubmatch(path)
	if step == nil {
		return
	}
	rest := path[len(step[0]):]
	switch at := node.(type) {
	case map[string]any:
		name := step[1]
		if _, ok := at[name]; !ok { // a name with dots in it
			for key := range at {
				if strings.HasPrefix(path, "."+key) {
					name, rest = key, path[len(key)+1:]
				}
			}
		}
		if rest == "" {
			delete(at, name)
			return
		}
		remove(at[name], rest)
	case []any:
		for _, item := range at {
			if m, ok := item.(map[string]any); ok && m[step[2]] == step[3] {
				remove(item, rest)
			}
		}
	}
}
