package integration

import (
	"context"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/eksproxy/eksproxy/integration/metadata"
	"github.com/eksproxy/eksproxy/integration/netns"
	"github.com/eksproxy/eksproxy/integration/program"
	"github.com/eksproxy/eksproxy/integration/proxy"
)

// The addresses of the metadata service.
const (
	metadataV4 = "169.254.169.254"
	metadataV6 = "fd00:ec2::254"
)

// proxied are the variables that send everything to the recording proxy.
var proxied = []string{
	"HTTP_PROXY=http://127.0.0.1:3128", "http_proxy=http://127.0.0.1:3128",
	"HTTPS_PROXY=http://127.0.0.1:3128", "https_proxy=http://127.0.0.1:3128",
	"ALL_PROXY=http://127.0.0.1:3128", "all_proxy=http://127.0.0.1:3128",
}

// proxiedNode makes a namespace with metadata on both of its addresses and a
// proxy. Behind the proxy is the metadata of another machine, as where the
// proxy is an instance itself.
func proxiedNode(t *testing.T) (netns.Namespace, *proxy.Proxy) {
	t.Helper()
	ns := netns.New(t)
	ns.AddAddress(t, metadataV4+"/32")
	ns.AddAddress(t, metadataV6+"/128")
	server := metadata.NewServer(twoBlocks())
	for _, host := range []string{metadataV4, metadataV6} {
		listen(t, ns, net.JoinHostPort(host, "80"), server)
	}
	_, decoy := serve(t, metadata.NewInstance("172.31.0.0/16"))
	p := &proxy.Proxy{Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, strings.TrimPrefix(decoy, "http://"))
	}}
	listen(t, ns, "127.0.0.1:3128", p)
	return ns, p
}

// listen serves in the namespace until the test ends.
func listen(t *testing.T, ns netns.Namespace, address string, handler http.Handler) {
	t.Helper()
	server := &http.Server{Handler: handler}
	go server.Serve(ns.Listen(t, address))
	t.Cleanup(func() { server.Close() })
}

// Metadata is asked without the proxy, whatever the environment says (BL-001,
// BL-002).
func TestMetadataPassesTheProxyBy(t *testing.T) {
	ns, p := proxiedNode(t)
	for name, c := range map[string]struct{ env, args []string }{
		"BL-001 NO_PROXY unset":  {proxied, nil},
		"BL-001 address of IPv6": {proxied, []string{"--imds-endpoint", "http://[" + metadataV6 + "]"}},
		"BL-002 NO_PROXY set":    {slices.Concat(proxied, []string{"NO_PROXY=" + metadataV4, "no_proxy=" + metadataV4}), nil},
		"NO_PROXY empty":         {slices.Concat(proxied, []string{"NO_PROXY=", "no_proxy="}), nil},
	} {
		t.Run(name, func(t *testing.T) {
			args := append([]string{"facts", "node", "-o", "json", "--imds-timeout", "20s"}, c.args...)
			facts := parseFacts(t, program.RunUnder(t, ns.Exec(), c.env, args...))
			if want := []string{"10.40.0.0/16", "100.64.0.0/16"}; !slices.Equal(facts.VPCCIDRs, want) {
				t.Errorf("VPC CIDRs: got %v, want %v", facts.VPCCIDRs, want)
			}
			if log := p.Requests(); len(log) != 0 {
				t.Errorf("the proxy was asked: %v", log)
			}
		})
	}
}

// Control of the test above: a client that obeys the environment gets the
// metadata of the proxy's machine.
func TestControlAsksTheProxy(t *testing.T) {
	ns, p := proxiedNode(t)
	control, err := program.Helper("github.com/eksproxy/eksproxy/integration/cmd/sdk-default")
	if err != nil {
		t.Fatal(err)
	}
	command := append(ns.Exec(), control)
	r := program.Exec(t, proxied, command...)
	if r.Code != 0 || r.Stdout != "172.31.0.0/16\n" {
		t.Errorf("with proxy: exit %d, %q\n%s", r.Code, r.Stdout, r.Stderr)
	}
	asked := func(r proxy.Request) bool { return r.Host == metadataV4 }
	if !slices.ContainsFunc(p.Requests(), asked) {
		t.Errorf("the proxy was not asked: %v", p.Requests())
	}
	r = program.Exec(t, nil, command...)
	if r.Code != 0 || r.Stdout != "10.40.0.0/16\n100.64.0.0/16\n" {
		t.Errorf("without proxy: exit %d, %q\n%s", r.Code, r.Stdout, r.Stderr)
	}
}

// A network that is not up when the program starts: the kernel answers that
// it is unreachable (BL-004).
func TestNetworkComesLate(t *testing.T) {
	ns := netns.New(t)
	done := make(chan program.Result)
	go func() {
		defer close(done)
		done <- program.RunUnder(t, ns.Exec(), nil, "facts", "node", "-o", "json", "--imds-timeout", "30s")
	}()
	select {
	case r := <-done:
		t.Fatalf("did not wait for the network: exit %d\n%s", r.Code, r.Stderr)
	case <-time.After(2 * time.Second):
	}
	ns.AddAddress(t, metadataV4+"/32")
	listen(t, ns, metadataV4+":80", metadata.NewServer(twoBlocks()))
	if facts := parseFacts(t, <-done); facts.Region != "eu-west-1" {
		t.Errorf("region: got %q", facts.Region)
	}
}
