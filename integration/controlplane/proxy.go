package controlplane

import (
	"crypto/tls"
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
)

// Fault makes some of the requests fail.
type Fault struct {
	// Match says which requests are counted.
	Match Match
	// From is the first one that fails, counted from 1; 0 is the first.
	From int
	// Times is how many fail from there on, all where it is 0.
	Times int
	// Answer is how.
	Answer Answer
}

// fault is a fault and how many requests it has counted.
type fault struct {
	Fault
	seen int
}

// Faults is a reverse proxy in front of the API server, which remembers what
// was asked and makes requests fail. What no fault stops is forwarded as it
// comes, watches and the user included.
type Faults struct {
	url, ca  string
	forward  *httputil.ReverseProxy
	mu       sync.Mutex
	requests []*Request
	faults   []*fault
}

// NewFaults starts the proxy, which runs until the test ends.
func NewFaults(tb testing.TB, c *ControlPlane) *Faults {
	tb.Helper()
	target, err := url.Parse(c.URL())
	if err != nil {
		tb.Fatal(err)
	}
	f := &Faults{ca: filepath.Join(tb.TempDir(), "faults.crt")}
	f.forward = &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport:     c.client.Transport,
		FlushInterval: -1, // watches must not wait for a full buffer
		ErrorLog:      log.New(io.Discard, "", 0),
	}
	server := httptest.NewUnstartedServer(f)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.EnableHTTP2 = true // as the API server; kubeconfigs give no token without TLS
	server.TLS = &tls.Config{}
	server.StartTLS()
	tb.Cleanup(func() {
		server.CloseClientConnections() // ends what hangs
		server.Close()
	})
	f.url = server.URL
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(f.ca, certificate, 0o644); err != nil {
		tb.Fatal(err)
	}
	return f
}

// Kubeconfig writes the file of the admin for this proxy.
func (f *Faults) Kubeconfig(tb testing.TB) string {
	tb.Helper()
	return f.UserKubeconfig(tb, admin)
}

// UserKubeconfig writes the file of one of Users for this proxy.
func (f *Faults) UserKubeconfig(tb testing.TB, user string) string {
	tb.Helper()
	return userKubeconfig(tb, user, f.url, f.ca)
}

// URL is the address of the proxy.
func (f *Faults) URL() string { return f.url }

// Add adds faults. Each counts for itself, from now on; where several stop a
// request the one that was added first does.
func (f *Faults) Add(faults ...Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, one := range faults {
		f.faults = append(f.faults, &fault{Fault: one})
	}
}

// Reset takes away all faults and forgets the requests.
func (f *Faults) Reset() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults, f.requests = nil, nil
}

// Requests are the requests for which all of the matches hold, in the order in
// which they came.
func (f *Faults) Requests(matches ...Match) []Request {
	f.mu.Lock()
	defer f.mu.Unlock()
	var found []Request
	for _, r := range f.requests {
		if !slices.ContainsFunc(matches, func(m Match) bool { return !m.Holds(*r) }) {
			found = append(found, *r)
		}
	}
	return found
}

// Writes are the requests that could have changed what is stored.
func (f *Faults) Writes() []Request {
	return slices.DeleteFunc(f.Requests(), func(r Request) bool { return !r.Write() })
}

// ServeHTTP answers a request by the first fault that stops it, or forwards it.
func (f *Faults) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	noted := newRequest(r)
	answer := f.note(&noted)
	seen := &recorder{ResponseWriter: w}
	forward := func(to http.ResponseWriter) { f.forward.ServeHTTP(to, r) }
	defer func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		noted.Status = seen.status
	}()
	if answer == nil {
		forward(seen)
		return
	}
	answer(seen, r, forward)
}

// note remembers the request and lets every fault count it.
func (f *Faults) note(r *Request) Answer {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.requests = append(f.requests, r)
	var answer Answer
	for _, one := range f.faults {
		if !one.Match.Holds(*r) {
			continue
		}
		one.seen++
		from := max(one.From, 1)
		if answer == nil && one.seen >= from && (one.Times == 0 || one.seen < from+one.Times) {
			answer = one.Answer
		}
	}
	return answer
}

// recorder remembers the status that was answered.
type recorder struct {
	http.ResponseWriter
	status int
}

// WriteHeader notes the status and passes it on.
func (r *recorder) WriteHeader(status int) {
	r.status = status
	r.ResponseWriter.WriteHeader(status)
}

// Unwrap lets a watch flush what it has.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }
