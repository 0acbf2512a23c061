package integration

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/eksproxy/eksproxy/integration/program"
)

// mockConfig is the configuration of the mock of AWS. It has its own document
// about IPv6 (2001:db8::/32), so the blocks here are only those of IPv4.
const mockConfig = `{
  "metadata": {
    "values": {
      "mac": "0a:00:00:00:00:01",
      "mac-vpc-ipv4-cidr-blocks": "10.40.0.0/16\n100.64.0.0/16",
      "placement-region": "eu-west-1"
    }
  }
}`

// mock starts the metadata mock of AWS with tokens required, and returns its
// URL. It keeps tokens and the answer in variables that it does not lock: two
// requests at once can end it or get each other's answer, so they are let in
// one by one.
func mock(t *testing.T) string {
	t.Helper()
	binary, err := program.Helper("github.com/aws/amazon-ec2-metadata-mock/cmd/ec2-metadata-mock")
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(t.TempDir(), "config.json")
	if err := os.WriteFile(config, []byte(mockConfig), 0o600); err != nil {
		t.Fatal(err)
	}
	address := freeAddress(t)
	host, port, _ := net.SplitHostPort(address)
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, binary, "-n", host, "-p", port, "-I", "-c", config)
	cmd.Env = []string{"HOME=" + t.TempDir()}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		cmd.Wait()
	})
	waitFor(t, address)
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(&url.URL{Scheme: "http", Host: address})
	}}
	var turn sync.Mutex
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		turn.Lock()
		defer turn.Unlock()
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(ts.Close)
	return ts.URL
}

// freeAddress is an address that nobody listens on.
func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// waitFor waits until somebody listens on the address.
func waitFor(t *testing.T, address string) {
	t.Helper()
	for range 1200 {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			conn.Close()
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("nobody listens on %s after a minute", address)
}

// Metadata as AWS mocks it, not as this module understands it.
func TestFactsFromTheMockOfAWS(t *testing.T) {
	facts := parseFacts(t, program.Expect(t, 0, "facts", "node", "-o", "json", "--imds-endpoint", mock(t)))
	if facts.Region != "eu-west-1" || facts.DNSSuffix != "amazonaws.com" {
		t.Errorf("got region %q and suffix %q", facts.Region, facts.DNSSuffix)
	}
	for _, want := range []string{"10.40.0.0/16", "100.64.0.0/16", "2001:db8::/32"} {
		if !slices.Contains(facts.VPCCIDRs, want) {
			t.Errorf("VPC CIDRs: got %v without %s", facts.VPCCIDRs, want)
		}
	}
	var gaps []string
	for _, gap := range facts.Gaps {
		gaps = append(gaps, gap.Field)
	}
	if !slices.Contains(gaps, "endpointHost") || !slices.Contains(gaps, "serviceCIDRs") {
		t.Errorf("user data that says nothing leaves no gaps: %v", gaps)
	}
}

// The mock is what it is taken for: no answer without a token.
func TestMockRequiresTokens(t *testing.T) {
	resp, err := http.Get(mock(t) + "/latest/meta-data/mac")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("got %d, want 401", resp.StatusCode)
	}
}
