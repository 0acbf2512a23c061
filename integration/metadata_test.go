package integration

import (
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/eksproxy/eksproxy/integration/metadata"
	"github.com/eksproxy/eksproxy/integration/program"
)

// The paths that faults are tried on.
const (
	macsPath   = "/latest/meta-data/network/interfaces/macs/"
	blocksPath = macsPath + "0a:00:00:00:00:01/vpc-ipv4-cidr-blocks"
	otherPath  = macsPath + "0a:00:00:00:00:02/vpc-ipv4-cidr-blocks"
	regionPath = "/latest/meta-data/placement/region"
	tokenPath  = "/latest/api/token"
)

// wantNoProxy is the value for the instance twoBlocks (BL-005).
const wantNoProxy = "localhost,127.0.0.1,::1," +
	"169.254.169.254,fd00:ec2::254,169.254.170.2,169.254.170.23,fd00:ec2::23," +
	"10.40.0.0/16,100.64.0.0/16,10.100.0.0/16,10.100.0.1," + endpointHost + "," +
	".svc,*.svc,.cluster.local,*.cluster.local," +
	".eu-west-1.compute.internal,*.eu-west-1.compute.internal"

// applyTo applies with this metadata endpoint to a tree.
func applyTo(t *testing.T, root, url, timeout string) program.Result {
	t.Helper()
	return program.Run(t, nil, node("apply", root, "--imds-endpoint", url,
		"--imds-timeout", timeout, "--http-proxy", httpProxy)...)
}

// checkNoProxy fails where apply failed or NO_PROXY is not as it should be.
func checkNoProxy(t *testing.T, root string, r program.Result) {
	t.Helper()
	if r.Code != 0 {
		t.Fatalf("apply: exit %d, want 0\n%s", r.Code, r.Stderr)
	}
	for _, name := range []string{"NO_PROXY", "no_proxy"} {
		if got := variable(t, root, name); got != wantNoProxy {
			t.Errorf("%s\ngot  %s\nwant %s", name, got, wantNoProxy)
		}
	}
}

func TestNoProxyFromMetadata(t *testing.T) {
	server, url := serve(t, twoBlocks())
	root := program.Tree(t, "al2023")
	checkNoProxy(t, root, applyTo(t, root, url, "20s"))
	for _, r := range server.Requests() {
		if r.Status == http.StatusUnauthorized || r.Path != tokenPath && !r.Token {
			t.Errorf("asked without a token (BL-003): %v", r)
		}
	}
}

// An endpoint that is a URL becomes a bare host (BL-008). Its letters stay as they
// are, which the report would have in lower case: the list takes the exact host.
func TestEndpointBecomesAHost(t *testing.T) {
	instance := twoBlocks()
	instance.UserData = nodeConfig("https://0123ABCD.gr7.eu-west-1.eks.amazonaws.com:443/", serviceCIDR)
	_, url := serve(t, instance)
	root := program.Tree(t, "al2023")
	if r := applyTo(t, root, url, "20s"); r.Code != 0 {
		t.Fatalf("apply: exit %d\n%s", r.Code, r.Stderr)
	}
	got := variable(t, root, "NO_PROXY")
	if !strings.Contains(got, ",0123ABCD.gr7.eu-west-1.eks.amazonaws.com,") || strings.Contains(got, "://") {
		t.Errorf("NO_PROXY has no bare host: %s", got)
	}
}

func TestFaultsThatHeal(t *testing.T) {
	blocks := strings.Join(twoBlocks().Interfaces[0].VPCIPv4, "\n")
	for name, c := range map[string]struct {
		path  string
		fault metadata.Fault
	}{
		"expired token":      {blocksPath, metadata.Status(401).Times(1)},
		"throttled":          {blocksPath, metadata.Status(429).Times(2)},
		"server error":       {regionPath, metadata.Status(500).Times(3)},
		"token server error": {tokenPath, metadata.Status(503).Times(2)},
		"hang":               {blocksPath, metadata.Hang().Times(1)},
		"token hang":         {tokenPath, metadata.Hang().Times(1)},
		"reset":              {blocksPath, metadata.Reset().Times(2)},
		"token reset":        {tokenPath, metadata.Reset().Times(2)},
		"slow drip":          {blocksPath, metadata.Drip(blocks, 20*time.Millisecond)},
		"vanished interface": {otherPath, metadata.Status(404)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, url := serve(t, twoBlocks())
			server.Break(c.path, c.fault)
			root := program.Tree(t, "al2023")
			checkNoProxy(t, root, applyTo(t, root, url, "30s"))
		})
	}
}

// Metadata that nobody serves yet when the program starts (BL-004).
func TestMetadataComesLate(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	server := &http.Server{Handler: metadata.NewServer(twoBlocks())}
	t.Cleanup(func() { server.Close() })
	go func() {
		time.Sleep(2 * time.Second)
		late, err := net.Listen("tcp", address)
		if err != nil {
			t.Errorf("somebody else took %s: %v", address, err)
			return
		}
		server.Serve(late)
	}()
	root := program.Tree(t, "al2023")
	checkNoProxy(t, root, applyTo(t, root, "http://"+address, "30s"))
}

// lasting are faults that never heal, and what standard error must say.
var lasting = map[string]struct {
	path  string
	fault metadata.Fault
	says  []string
}{
	"refused":         {blocksPath, metadata.Status(401), []string{"vpc-ipv4-cidr-blocks", "401"}},
	"no token":        {tokenPath, metadata.Status(403), []string{"/latest/api/token", "403"}},
	"throttled":       {blocksPath, metadata.Status(429), []string{"vpc-ipv4-cidr-blocks", "429"}},
	"server error":    {blocksPath, metadata.Status(500), []string{"vpc-ipv4-cidr-blocks", "500"}},
	"no interfaces":   {macsPath, metadata.Status(404), []string{"interfaces/macs", "404"}},
	"hang":            {blocksPath, metadata.Hang(), []string{"vpc-ipv4-cidr-blocks"}},
	"token hang":      {tokenPath, metadata.Hang(), []string{"/latest/api/token"}},
	"reset":           {blocksPath, metadata.Reset(), []string{"vpc-ipv4-cidr-blocks"}},
	"slow drip":       {blocksPath, metadata.Drip("10.40.0.0/16", 2*time.Second), []string{"vpc-ipv4-cidr-blocks"}},
	"garbage":         {blocksPath, metadata.Garbage(), []string{"vpc-ipv4-cidr-blocks"}},
	"HTML page":       {blocksPath, metadata.HTML(), []string{"vpc-ipv4-cidr-blocks"}},
	"no blocks":       {blocksPath, metadata.Status(404), []string{"vpc-ipv4-cidr-blocks", "404"}},
	"empty":           {blocksPath, metadata.Text(""), []string{"vpc-ipv4-cidr-blocks"}},
	"broken CIDR":     {blocksPath, metadata.Text("10.40.0.0\n/16"), []string{"vpc-ipv4-cidr-blocks"}},
	"second variable": {blocksPath, metadata.Text("10.40.0.0/16\nHTTP_PROXY=evil"), []string{"vpc-ipv4-cidr-blocks"}},
	"two on a line":   {blocksPath, metadata.Text("10.40.0.0/16,*"), []string{"vpc-ipv4-cidr-blocks"}},
}

// A fault that lasts ends the run in time with the path and the status, and
// nothing is written (BL-003).
func TestFaultsThatLast(t *testing.T) {
	for name, c := range lasting {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			instance := twoBlocks()
			instance.Interfaces = instance.Interfaces[:1]
			server, url := serve(t, instance)
			server.Break(c.path, c.fault)
			checkUndecided(t, url, c.says...)
		})
	}
	t.Run("nobody there", func(t *testing.T) {
		t.Parallel()
		checkUndecided(t, "http://127.0.0.1:1", "127.0.0.1:1")
	})
}

// checkUndecided applies against metadata that is no use.
func checkUndecided(t *testing.T, url string, says ...string) {
	t.Helper()
	root := program.Tree(t, "al2023")
	check := untouched(t, root)
	start := time.Now()
	r := applyTo(t, root, url, "2s")
	if took := time.Since(start); took > 12*time.Second {
		t.Errorf("took %s with a limit of 2s", took)
	}
	if r.Code != 3 {
		t.Errorf("exit %d, want 3\n%s", r.Code, r.Stderr)
	}
	for _, want := range says {
		if !strings.Contains(r.Stderr, want) {
			t.Errorf("standard error does not name %q:\n%s", want, r.Stderr)
		}
	}
	if strings.ContainsAny(r.Stderr, "\x00\x1b\r") {
		t.Errorf("standard error passes on control characters: %q", r.Stderr)
	}
	check()
}

// A fault after a good run keeps what the good run wrote (BL-003).
func TestFaultKeepsWhatWasApplied(t *testing.T) {
	server, url := serve(t, twoBlocks())
	root := program.Tree(t, "al2023")
	checkNoProxy(t, root, applyTo(t, root, url, "20s"))
	check := untouched(t, root)
	server.Break(otherPath, metadata.Text("10.40.0.0/16\nHTTP_PROXY=evil"))
	if r := applyTo(t, root, url, "2s"); r.Code != 3 {
		t.Errorf("exit %d, want 3\n%s", r.Code, r.Stderr)
	}
	check()
}
