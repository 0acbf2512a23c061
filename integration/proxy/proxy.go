// Package proxy is a forward proxy for tests that records what it is asked.
package proxy

import (
	"context"
	"encoding/base64"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// Request is one entry of the proxy's log.
type Request struct {
	Method string
	Host   string // as asked for, with the port where one was given
	Auth   string // user:password of Proxy-Authorization, decoded
	Status int
}

// Proxy passes on requests in absolute form and CONNECT.
type Proxy struct {
	// User and Password are needed where User is not empty.
	User, Password string
	// Dial opens connections to the outside; nil means to where was asked.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)

	mu  sync.Mutex
	log []Request
}

// Requests is what was asked so far, in order.
func (p *Proxy) Requests() []Request {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.log)
}

// ServeHTTP records the request, and passes it on.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	auth := credentials(r.Header.Get("Proxy-Authorization"))
	status := http.StatusOK
	switch {
	case p.User != "" && auth != p.User+":"+p.Password:
		status = http.StatusProxyAuthRequired
	case r.Method != http.MethodConnect && !r.URL.IsAbs():
		status = http.StatusBadRequest
	}
	p.mu.Lock()
	p.log = append(p.log, Request{r.Method, r.Host, auth, status})
	p.mu.Unlock()
	switch {
	case status != http.StatusOK:
		w.Header().Set("Proxy-Authenticate", `Basic realm="proxy"`)
		http.Error(w, http.StatusText(status), status)
	case r.Method == http.MethodConnect:
		p.tunnel(w, r)
	default:
		p.forward(w, r)
	}
}

// forward sends the request on and copies the answer.
func (p *Proxy) forward(w http.ResponseWriter, r *http.Request) {
	out := r.Clone(r.Context())
	out.RequestURI = ""
	for _, name := range []string{"Proxy-Authorization", "Proxy-Connection", "Connection"} {
		out.Header.Del(name)
	}
	transport := &http.Transport{DialContext: p.dial, DisableKeepAlives: true}
	resp, err := transport.RoundTrip(out)
	if err != nil {
		http.Error(w, "passing on: "+err.Error(), http.StatusBadGateway)
		return
	}
	defer resp.Body.Close()
	maps.Copy(w.Header(), resp.Header)
	w.WriteHeader(resp.StatusCode)
	io.Copy(w, resp.Body)
}

// tunnel joins the client to the host that it asked for.
func (p *Proxy) tunnel(w http.ResponseWriter, r *http.Request) {
	server, err := p.dial(r.Context(), "tcp", r.Host)
	if err != nil {
		http.Error(w, "connecting: "+err.Error(), http.StatusBadGateway)
		return
	}
	defer server.Close()
	client, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer client.Close()
	io.WriteString(client, "HTTP/1.1 200 Connection established\r\n\r\n")
	done := make(chan struct{}, 2)
	pipe := func(to io.Writer, from io.Reader) {
		io.Copy(to, from)
		done <- struct{}{}
	}
	go pipe(server, buffered)
	go pipe(client, server)
	<-done
}

// dial opens a connection to the outside.
func (p *Proxy) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if p.Dial != nil {
		return p.Dial(ctx, network, address)
	}
	return new(net.Dialer).DialContext(ctx, network, address)
}

// credentials decodes a Basic authorization, as "user:password".
func credentials(header string) string {
	encoded, _ := strings.CutPrefix(header, "Basic ")
	decoded, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return header
	}
	return string(decoded)
}
