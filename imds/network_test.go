package imds

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// dialTo sends each connection to the fake, except those to a proxy, and
// counts by the address that was asked for.
func (f *fake) dialTo(c *client, fail func(address string) error) {
	c.transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		if err := fail(address); err != nil {
			return nil, err
		}
		if strings.HasPrefix(address, "169.254.") || strings.HasPrefix(address, "[fd00:") {
			address = f.address()
		}
		return new(net.Dialer).DialContext(ctx, network, address)
	}
}

func ec2() []string { return []string{"http://169.254.169.254", "http://[fd00:ec2::254]"} }

func unreachable() error {
	return &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ENETUNREACH)}
}

// BL-001: the environment names a proxy, which would answer with the metadata
// of its own instance. Go asks the environment for no proxy to 127.0.0.1, so
// that this reads from the real address.
func TestBL001NoProxy(t *testing.T) {
	var asked atomic.Int32
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		fmt.Fprint(w, "172.31.0.0/16")
	}))
	defer proxy.Close()
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"} {
		t.Setenv(name, proxy.URL)
	}
	t.Setenv("NO_PROXY", "")
	t.Setenv("no_proxy", "")
	f := newFake(t)
	c := newClient(ec2(), quick())
	f.dialTo(c, func(string) error { return nil })
	checkNode(t, c, wantNode())
	if n := asked.Load(); n != 0 {
		t.Errorf("the proxy saw %d requests, want none", n)
	}
	if c.transport.Proxy != nil {
		t.Error("the transport has a proxy function")
	}
}

// BL-004: early in the boot there is no network; both endpoints say so.
func TestBL004UnreachableForAWhile(t *testing.T) {
	f := newFake(t)
	c := newClient(ec2(), quick())
	from := time.Now().Add(100 * time.Millisecond)
	f.dialTo(c, func(string) error {
		if time.Now().Before(from) {
			return unreachable()
		}
		return nil
	})
	checkNode(t, c, wantNode())
}

// BL-004: the bound holds, and the error names path and cause.
func TestBL004UnreachableForGood(t *testing.T) {
	f := newFake(t)
	c := newClient(ec2(), quick())
	c.limits.total = 150 * time.Millisecond
	f.dialTo(c, func(string) error { return unreachable() })
	_, err := c.node(t.Context())
	checkError(t, err, tokenPath, 0,
		": PUT http://169.254.169.254/latest/api/token: dial tcp: connect: network is unreachable (tried for ")
}

// BL-004: a port that refuses at first.
func TestBL004RefusedForAWhile(t *testing.T) {
	f := newFake(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	_ = l.Close()
	late := &http.Server{Handler: f}
	defer func() { _ = late.Close() }()
	time.AfterFunc(100*time.Millisecond, func() {
		l, err := net.Listen("tcp", address)
		if err != nil {
			t.Errorf("somebody else took %s: %v", address, err)
			return
		}
		_ = late.Serve(l)
	})
	checkNode(t, newClient([]string{"http://" + address}, quick()), wantNode())
}

func TestIPv6AloneIsEnoughAndPreferred(t *testing.T) {
	f := newFake(t)
	c := newClient(ec2(), quick())
	var v4 atomic.Int32
	f.dialTo(c, func(address string) error {
		if strings.HasPrefix(address, "169.254.") {
			v4.Add(1)
			return unreachable()
		}
		return nil
	})
	checkNode(t, c, wantNode())
	// The first four reads find out; the reads of the interfaces know.
	if n := v4.Load(); n < 1 || n > 4 {
		t.Errorf("tried IPv4 %d times, want 1 to 4", n)
	}
}

func TestAnAnswerSaysMoreThanSilence(t *testing.T) {
	f := newFake(t)
	f.faults[tokenPath] = forever(status(503))
	c := newClient(ec2(), quick())
	c.limits.total = 2 * time.Second
	f.dialTo(c, func(address string) error {
		if strings.HasPrefix(address, "169.254.") {
			return unreachable()
		}
		return nil
	})
	_, err := c.node(t.Context())
	checkError(t, err, tokenPath, 503, ": PUT http://[fd00:ec2::254]/latest/api/token: 503 Service Unavailable")
}

// Metadata throttles: few requests side by side, over few connections.
func TestReadIsModest(t *testing.T) {
	f := newFake(t)
	var list strings.Builder
	for i := range 15 {
		mac := fmt.Sprintf("0a:00:00:00:01:%02x", i)
		fmt.Fprintln(&list, mac+"/")
		f.answers[blocksPath(mac, ipv4)] = "10.40.0.0/16\n100.64.0.0/16"
		f.answers[blocksPath(mac, ipv6)] = "2a05:d018::/56"
		slow := func(w http.ResponseWriter, _ *http.Request) {
			time.Sleep(5 * time.Millisecond)
			fmt.Fprint(w, "10.40.0.0/16\n100.64.0.0/16")
		}
		f.faults[blocksPath(mac, ipv4)] = []http.HandlerFunc{slow}
	}
	f.answers[metadataRoot+interfacesPath] = list.String()
	checkNode(t, f.patient(), wantNode())
	if f.most < 2 || f.most > 4 {
		t.Errorf("%d requests side by side, want 2 to 4", f.most)
	}
	if f.conns > 4 {
		t.Errorf("%d connections, want at most 4", f.conns)
	}
	if n := f.count(tokenPath); n != 1 {
		t.Errorf("asked for %d tokens, want one", n)
	}
}
