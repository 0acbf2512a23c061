package container

import (
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/eksproxy/eksproxy/integration/netns"
)

// RegistryRequest is one entry of a registry's log.
type RegistryRequest struct {
	Peer         string // the address that asked, without a port
	Method, Path string
}

// Registry is an image registry that speaks HTTPS, with one small image.
type Registry struct {
	// Host is its name or address, and Image the name of the image.
	Host, Image string

	mu      sync.Mutex
	log     []RegistryRequest
	handler http.Handler
}

// NewRegistry serves a registry on port 443 of an address in a namespace.
//
// It closes every connection after one answer: squid logs a CONNECT when the
// tunnel closes, and containerd would keep one for 30 s. HTTP/2 would keep it
// too.
func NewRegistry(t *testing.T, ns netns.Namespace, ip, host string, ca *Authority) *Registry {
	t.Helper()
	quiet := log.New(io.Discard, "", 0)
	r := &Registry{Host: host, Image: host + "/test/small:1", handler: registry.New(registry.Logger(quiet))}
	r.Push(t, r.Image)
	server := &http.Server{
		Handler:      r,
		ErrorLog:     quiet,
		TLSConfig:    &tls.Config{Certificates: []tls.Certificate{ca.Certificate(t, host)}},
		TLSNextProto: map[string]func(*http.Server, *tls.Conn, http.Handler){},
	}
	server.SetKeepAlivesEnabled(false)
	listener := ns.Listen(t, net.JoinHostPort(ip, "443"))
	go func() { _ = server.ServeTLS(listener, "", "") }()
	t.Cleanup(func() { _ = server.Close() })
	return r
}

// Push gives the registry a random image under this name, for a pull that
// must not find layers of an earlier one.
func (r *Registry) Push(t *testing.T, image string) {
	t.Helper()
	content, err := random.Image(1024, 2)
	if err != nil {
		t.Fatal(err)
	}
	r.push(t, image, content)
}

// push puts an image into the registry, past the network and the log.
func (r *Registry) push(t *testing.T, image string, content v1.Image) {
	t.Helper()
	ref, err := name.ParseReference(image)
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.Write(ref, content, remote.WithTransport(direct{r.handler})); err != nil {
		t.Fatal(err)
	}
}

// Requests is what was asked so far, in order.
func (r *Registry) Requests() []RegistryRequest {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.log)
}

// Peers are the addresses that asked since the log was that long.
func (r *Registry) Peers(since int) []string {
	var peers []string
	for _, request := range r.Requests()[since:] {
		peers = append(peers, request.Peer)
	}
	slices.Sort(peers)
	return slices.Compact(peers)
}

// ServeHTTP records the request, and answers it.
func (r *Registry) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	peer, _, _ := net.SplitHostPort(req.RemoteAddr)
	r.mu.Lock()
	r.log = append(r.log, RegistryRequest{peer, req.Method, req.URL.Path})
	r.mu.Unlock()
	r.handler.ServeHTTP(w, req)
}

// direct asks a handler without a network.
type direct struct{ handler http.Handler }

// RoundTrip has the handler answer.
func (d direct) RoundTrip(req *http.Request) (*http.Response, error) {
	asked := req.Clone(req.Context())
	if asked.Body == nil {
		asked.Body = http.NoBody
	}
	recorder := httptest.NewRecorder()
	d.handler.ServeHTTP(recorder, asked)
	response := recorder.Result()
	response.Request = req
	return response, nil
}
