package controlplane

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"
)

// client asks the API server as the admin, without a proxy.
type client struct {
	http.Client
	url string
}

// newClient makes a client of a server that is known by this certificate.
func newClient(url, ca string) (*client, error) {
	data, err := os.ReadFile(ca)
	if err != nil {
		return nil, fmt.Errorf("reading the certificate of the API server: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(data) {
		return nil, errors.New("reading the certificate of the API server: it is none")
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true}
	return &client{http.Client{Transport: transport}, url}, nil
}

// call makes one request, and returns the status and the body.
func (c *client) call(ctx context.Context, method, path, contentType string, body []byte) (int, []byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.url+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Authorization", "Bearer "+token(admin))
	req.Header.Set("Content-Type", contentType)
	resp, err := c.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	return resp.StatusCode, data, err
}

// get reads a path, and demands that the server has it.
func (c *ControlPlane) get(ctx context.Context, path string) ([]byte, error) {
	status, body, err := c.client.call(ctx, http.MethodGet, path, "", nil)
	if err != nil {
		return nil, fmt.Errorf("getting %s: %w", path, err)
	}
	if status != http.StatusOK {
		return nil, fmt.Errorf("getting %s: status %d: %s", path, status, body)
	}
	return body, nil
}

// Get reads an object or a list by its path on the API server into out.
func (c *ControlPlane) Get(tb testing.TB, path string, out any) {
	tb.Helper()
	body, err := c.get(tb.Context(), path)
	if err == nil {
		err = json.Unmarshal(body, out)
	}
	if err != nil {
		tb.Fatalf("%s: %v", path, err)
	}
}

// Object reads an object of a namespace by kind and name, as in
// "daemonset/aws-node".
func (c *ControlPlane) Object(tb testing.TB, namespace, name string) map[string]any {
	tb.Helper()
	kind, name, _ := strings.Cut(name, "/")
	group := "/api/v1"
	if kind != "configmap" && kind != "secret" && kind != "pod" {
		group = "/apis/apps/v1"
	}
	var doc map[string]any
	c.Get(tb, group+"/namespaces/"+namespace+"/"+kind+"s/"+name, &doc)
	return doc
}

// Merge sends a merge patch as a field manager, as a writer that tests cannot
// wait for does.
func (c *ControlPlane) Merge(ctx context.Context, path, manager, patch string) error {
	status, body, err := c.client.call(ctx, http.MethodPatch, path+"?fieldManager="+manager, "application/merge-patch+json", []byte(patch))
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("status %d: %s", status, body)
	}
	if err != nil {
		return fmt.Errorf("patching %s: %w", path, err)
	}
	return nil
}

// Eventually tries until there is no error, and fails the test with the last
// one when the time is up.
func (c *ControlPlane) Eventually(tb testing.TB, limit time.Duration, what string, try func() error) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), limit)
	defer cancel()
	if err := c.poll(ctx, what, try); err != nil {
		tb.Fatal(err)
	}
}
