//go:build integration

package rollout_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"github.com/eksproxy/eksproxy/internal/kube"
)

// transport does to the nth request what a test wants; the first is 1.
type transport struct {
	sync.Mutex
	next  http.RoundTripper
	count int
	seen  []string
	do    func(n int, r *http.Request, forward func() (*http.Response, error)) (*http.Response, error)
}

func (x *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	x.Lock()
	x.count++
	n := x.count
	x.seen = append(x.seen, r.Method+" "+r.URL.Path)
	x.Unlock()
	return x.do(n, r, func() (*http.Response, error) { return x.next.RoundTrip(r) })
}

// answer is one of the API server's errors.
func answer(r *http.Request, code int, reason string) (*http.Response, error) {
	text := fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","status":"Failure","code":%d,"reason":%q,"message":"made by the test"}`, code, reason)
	header := http.Header{"Content-Type": {"application/json"}}
	if code == http.StatusTooManyRequests {
		header.Set("Retry-After", "1")
	}
	return &http.Response{StatusCode: code, Header: header, Body: io.NopCloser(bytes.NewBufferString(text)), Request: r, ProtoMajor: 1, ProtoMinor: 1}, nil
}

// through is a client whose requests pass the transport.
func (w *world) through(x *transport) *kube.Client {
	w.Helper()
	client, err := kube.Connect(kube.Options{Kubeconfig: w.client.Kubeconfig, Direct: true, Getenv: func(string) string { return "" }})
	if err != nil {
		w.Fatal(err)
	}
	client.Config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		x.next = next
		return x
	})
	if client.Dynamic, err = dynamic.NewForConfig(client.Config); err != nil {
		w.Fatal(err)
	}
	return client
}

// notReady changes an answer with nodes so that one is not ready.
func notReady(resp *http.Response, name string) (*http.Response, error) {
	var list unstructured.UnstructuredList
	text, err := io.ReadAll(resp.Body)
	if err == nil {
		err = errors.Join(resp.Body.Close(), list.UnmarshalJSON(text))
	}
	if err != nil {
		return nil, err
	}
	for _, node := range list.Items {
		if node.GetName() != name {
			continue
		}
		ready := []any{map[string]any{"type": "Ready", "status": "Unknown"}}
		if err := unstructured.SetNestedSlice(node.Object, ready, "status", "conditions"); err != nil {
			return nil, err
		}
	}
	if text, err = list.MarshalJSON(); err != nil {
		return nil, err
	}
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
	resp.Header.Del("Content-Length")
	return resp, nil
}
