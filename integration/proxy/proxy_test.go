package proxy_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"github.com/eksproxy/eksproxy/integration/proxy"
)

// through returns a client that goes through the proxy as this user, and
// trusts the server.
func through(t *testing.T, p *proxy.Proxy, user *url.Userinfo, server *httptest.Server) *http.Client {
	t.Helper()
	ts := httptest.NewServer(p)
	t.Cleanup(ts.Close)
	address := &url.URL{Scheme: "http", Host: ts.Listener.Addr().String(), User: user}
	transport := server.Client().Transport.(*http.Transport).Clone()
	transport.Proxy = http.ProxyURL(address)
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// hello answers hello.
func hello(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "hello") }

func TestForwardAndTunnel(t *testing.T) {
	plain := httptest.NewServer(http.HandlerFunc(hello))
	defer plain.Close()
	secure := httptest.NewTLSServer(http.HandlerFunc(hello))
	defer secure.Close()
	p := &proxy.Proxy{User: "u", Password: "p@ss:word"}
	client := through(t, p, url.UserPassword("u", "p@ss:word"), secure)
	for _, target := range []string{plain.URL, secure.URL} {
		resp, err := client.Get(target)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if string(body) != "hello" {
			t.Errorf("%s: got %q", target, body)
		}
	}
	want := []proxy.Request{
		{Method: "GET", Host: strings.TrimPrefix(plain.URL, "http://"), Auth: "u:p@ss:word", Status: 200},
		{Method: "CONNECT", Host: strings.TrimPrefix(secure.URL, "https://"), Auth: "u:p@ss:word", Status: 200},
	}
	if got := p.Requests(); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestAsksForAPassword(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(hello))
	defer server.Close()
	p := &proxy.Proxy{User: "u", Password: "right"}
	client := through(t, p, url.UserPassword("u", "wrong"), server)
	resp, err := client.Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusProxyAuthRequired || resp.Header.Get("Proxy-Authenticate") == "" {
		t.Errorf("got %d %v, want 407", resp.StatusCode, resp.Header)
	}
}
