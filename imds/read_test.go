package imds

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/eksproxy/eksproxy/facts"
)

var byValue = cmpopts.EquateComparable(netip.Addr{}, netip.Prefix{})

// wantNode is what the fake says, as a node without user data.
func wantNode() facts.Node {
	n := facts.NewNode()
	n.Region, n.DNSSuffix = "eu-west-1", "amazonaws.com"
	n.VPCCIDRs = []netip.Prefix{
		netip.MustParsePrefix("10.40.0.0/16"), netip.MustParsePrefix("100.64.0.0/16"), netip.MustParsePrefix("2a05:d018::/56"),
	}
	n.Sources = map[string]string{"region": sourceMetadata, "dnsSuffix": sourceMetadata, "vpcCIDRs": sourceMetadata}
	n.Gaps = []facts.Gap{
		{Field: "endpointHost", Why: "no user data", Remedy: "give --cluster-endpoint"},
		{Field: "serviceCIDRs", Why: "no user data", Remedy: "give --service-cidr"},
	}
	return n
}

func checkNode(t *testing.T, c *client, want facts.Node) {
	t.Helper()
	got, err := c.node(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, byValue); diff != "" {
		t.Errorf("node (-want +got):\n%s", diff)
	}
}

// BL-005: every block of the VPC, each once, whatever the listing looks like.
func TestBL005AllBlocks(t *testing.T) {
	for name, list := range map[string]string{
		"slashes":    mac1 + "/\n" + mac2 + "/",
		"no slashes": mac1 + "\n" + mac2 + "\n",
		"CRLF":       mac1 + "/\r\n" + mac2 + "/\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.answers[metadataRoot+interfacesPath] = list
			f.answers[blocksPath(mac1, ipv4)] = "10.40.0.0/16\n"
			f.answers[blocksPath(mac2, ipv4)] = "100.64.7.8/16\r\n\r\n10.40.0.0/16"
			checkNode(t, f.client(), wantNode())
		})
	}
}

func TestReadTakesTheEndpointAndNoEnvironment(t *testing.T) {
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	t.Setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", "http://127.0.0.1:1")
	f := newFake(t)
	got, err := Read(t.Context(), Options{Endpoint: f.URL + "/", Timeout: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(wantNode(), got, byValue); diff != "" {
		t.Errorf("node (-want +got):\n%s", diff)
	}
}

func TestReadRefusesTheEndpoint(t *testing.T) {
	for _, in := range []string{"169.254.169.254", "ftp://host", "http://", "http://u:hunter2@host", "http://a b"} {
		_, err := Read(t.Context(), Options{Endpoint: in, Timeout: time.Millisecond})
		if err == nil || !strings.Contains(err.Error(), "parsing the metadata endpoint") || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("Read from %q: error is %v", in, err)
		}
	}
}

func TestReadSurvives(t *testing.T) {
	region := metadataRoot + "placement/region"
	for name, fault := range map[string]http.HandlerFunc{
		"429": status(429), "500": status(500), "503": status(503),
		"hang": hang, "reset": reset, "cut": cut, "drip": drip,
	} {
		for _, path := range []string{tokenPath, metadataRoot + interfacesPath, blocksPath(mac2, ipv6), region, userDataPath} {
			t.Run(name+path, func(t *testing.T) {
				t.Parallel()
				f := newFake(t)
				f.faults[path] = []http.HandlerFunc{fault}
				checkNode(t, f.client(), wantNode())
				if f.count(path) < 2 {
					t.Errorf("%s was asked for once: the fault did not happen", path)
				}
			})
		}
	}
}

func TestReadRenewsAnExpiredToken(t *testing.T) {
	f := newFake(t)
	f.faults[blocksPath(mac1, ipv4)] = []http.HandlerFunc{f.expire}
	checkNode(t, f.client(), wantNode())
	if f.count(tokenPath) < 2 {
		t.Errorf("asked for %d tokens, want a second one", f.count(tokenPath))
	}
}

func TestReadSkipsAVanishedInterface(t *testing.T) {
	f := newFake(t)
	delete(f.answers, blocksPath(mac2, ipv4))
	checkNode(t, f.patient(), wantNode())
	if n := f.count(blocksPath(mac2, ipv4)); n != 1 {
		t.Errorf("asked %d times for what is not there, want once", n)
	}
}

func TestReadStops(t *testing.T) {
	region, v4 := metadataRoot+"placement/region", blocksPath(mac1, ipv4)
	list := metadataRoot + interfacesPath
	tests := []struct {
		name, path string
		fault      http.HandlerFunc
		status     int
		want       string // after the URL
	}{
		{"400", region, status(400), 400, ": 400 Bad Request"},
		{"403", v4, status(403), 403, ": 403 Forbidden"},
		{"no region", region, status(404), 404, ": 404 Not Found"},
		{"no listing", list, status(404), 404, ": 404 Not Found"},
		{"redirect", region, redirect, 302, ": 302 Found"},
		{"token denied", tokenPath, status(403), 403, ": 403 Forbidden: instance metadata is disabled, or its hop limit"},
		{"no IMDSv2", tokenPath, status(404), 404, ": 404 Not Found"},
		{"captive portal", tokenPath, text("<html>log in</html>"), 200, ": the answer is no token"},
		{"too large", userDataPath, text(strings.Repeat("x", maxBody+1)), 200, ": the answer is larger"},
		{"garbage", v4, text("\x00\xff"), 200, `: "\x00\xff" is not a CIDR`},
		{"HTML", v4, text("<html>\n<body>10.0.0.0/8"), 200, `: "<html>" is not a CIDR`},
		{"newline trick", v4, text("10.40.0.0/16\nHTTP_PROXY=http://evil.example:3128/some/where"), 200,
			`: "HTTP_PROXY=http://evil.example:3128/some"... is not a CIDR`},
		{"carriage-return trick", v4, text("10.40.0.0/16\rX=Y"), 200, `: "10.40.0.0/16\rX=Y" is not a CIDR`},
		{"two in a line", v4, text("10.40.0.0/16,10.0.0.0/8"), 200, `: "10.40.0.0/16,10.0.0.0/8" is not a CIDR`},
		{"everything", v4, text("0.0.0.0/0"), 200, `: "0.0.0.0/0" is not a CIDR that a VPC can have`},
		{"other family", v4, text("2a05::/56"), 200, `: "2a05::/56" is not a CIDR that a VPC can have`},
		{"no interface", list, text("\n"), 200, ": no interface is listed"},
		{"path for a MAC", list, text("../../user-data/"), 200, `: "../../user-data" is not a MAC address`},
		{"all vanished", list, text("0a:00:00:00:00:09/"), 200, ": none of its 1 interfaces has a CIDR of the VPC"},
		{"region", region, text("eu-west-1\nX=Y"), 200, `: "eu-west-1\nX=Y" is not a region`},
		{"domain", metadataRoot + "services/domain", text("a b.com"), 200, `: "a b.com" is not a DNS name`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			f.faults[tt.path] = forever(tt.fault)
			_, err := f.patient().node(t.Context())
			checkError(t, err, tt.path, tt.status, f.URL+tt.path+tt.want)
			// Four reads side by side may each ask for a token.
			if n := f.count(tt.path); n != 1 && (tt.path != tokenPath || n > 4) {
				t.Errorf("%s was asked for %d times, want once", tt.path, n)
			}
		})
	}
}

func checkError(t *testing.T, err error, path string, status int, want string) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("error is %v, want an *Error", err)
	}
	if e.Path != path || e.Status != status {
		t.Errorf("error has path %q and status %d, want %q and %d", e.Path, e.Status, path, status)
	}
	if !strings.Contains(err.Error(), want) {
		t.Errorf("error is %q, want %q", err, want)
	}
	if !strings.HasPrefix(err.Error(), "reading the ") {
		t.Errorf("error %q does not say what was read", err)
	}
}

// BL-003: what comes without a token is never taken for a value.
func TestBL003RefusedTokenIsNoValue(t *testing.T) {
	f := newFake(t)
	f.faults[blocksPath(mac1, ipv4)] = forever(unauthorized)
	c := f.client()
	c.limits.total = 2 * time.Second
	_, err := c.node(t.Context())
	checkError(t, err, blocksPath(mac1, ipv4), 401, "reading the VPC CIDRs: GET "+f.URL+blocksPath(mac1, ipv4)+": 401 Unauthorized (tried for ")
}

func TestReadTimesOut(t *testing.T) {
	region := metadataRoot + "placement/region"
	tests := []struct {
		name   string
		faults []http.HandlerFunc
		status int
		want   string
	}{
		{"503", forever(status(503)), 503, ": 503 Service Unavailable (tried for "},
		{"hang", forever(hang), 0, "(tried for "},
		{"drip", forever(drip), 0, ": no complete answer: context deadline exceeded (tried for "},
		// The last attempt is cut off; what came before says more.
		{"503, then hang", append([]http.HandlerFunc{status(503), status(503)}, forever(hang)...), 503, ": 503 Service Unavailable (tried for "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			f.faults[region] = tt.faults
			l := quick()
			l.total = 2 * time.Second
			if tt.name == "503, then hang" { // the whole alone cuts it off
				l.request, l.header = time.Minute, time.Minute
			}
			_, err := newClient([]string{f.URL}, l).node(t.Context())
			checkError(t, err, region, tt.status, tt.want)
		})
	}
}

func TestReadIsCancelled(t *testing.T) {
	f := newFake(t)
	ctx, cancel := context.WithCancel(t.Context())
	f.faults[userDataPath] = []http.HandlerFunc{status(503), func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		hang(nil, r)
	}}
	start := time.Now()
	_, err := f.client().node(ctx)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v, want %v", err, context.Canceled)
	}
	checkError(t, err, userDataPath, 503, "503 Service Unavailable")
	if d := time.Since(start); d > 2*time.Second {
		t.Errorf("took %s to stop", d)
	}
}

// A stand-in for EC2 that does not know the domain of AWS services: nothing
// that a node needs at boot is missing.
func TestDomainIsNotNeeded(t *testing.T) {
	f := newFake(t)
	delete(f.answers, metadataRoot+"services/domain")
	n, err := f.client().node(t.Context())
	if err != nil || n.DNSSuffix != "" || n.Region == "" || n.Sources["dnsSuffix"] != "" {
		t.Errorf("facts %+v, error %v", n, err)
	}
}
