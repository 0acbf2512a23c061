package metadata_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/eksproxy/eksproxy/integration/metadata"
)

const blocksPath = "/latest/meta-data/network/interfaces/macs/0a:00:00:00:00:01/vpc-ipv4-cidr-blocks"

// start serves an instance with two blocks and returns the server and its URL.
func start(t *testing.T) (*metadata.Server, string) {
	t.Helper()
	instance := metadata.NewInstance("10.40.0.0/16", "100.64.0.0/16")
	instance.UserData = []byte("\x1f\x8b\x00bytes")
	server := metadata.NewServer(instance)
	ts := httptest.NewServer(server)
	t.Cleanup(ts.Close)
	return server, ts.URL
}

// ask sends a request with one header and returns the status and the body.
func ask(t *testing.T, method, url, header, value string) (int, string) {
	t.Helper()
	status, body, err := try(time.Minute, method, url, header, value)
	if err != nil {
		t.Fatal(err)
	}
	return status, body
}

// try is ask for a request that may break, or take too long.
func try(limit time.Duration, method, url, header, value string) (int, string, error) {
	req, err := http.NewRequest(method, url, nil)
	if err != nil {
		return 0, "", err
	}
	req.Header.Set(header, value)
	client := http.Client{Timeout: limit, Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(body), err
}

// token gets a token.
func token(t *testing.T, url string) string {
	t.Helper()
	status, body := ask(t, "PUT", url+"/latest/api/token", "X-aws-ec2-metadata-token-ttl-seconds", "60")
	if status != 200 || body == "" {
		t.Fatalf("PUT token: %d %q", status, body)
	}
	return body
}

func TestDocuments(t *testing.T) {
	_, url := start(t)
	tok := token(t, url)
	for path, want := range map[string]string{
		blocksPath: "10.40.0.0/16\n100.64.0.0/16",
		"/latest/meta-data/network/interfaces/macs/": "0a:00:00:00:00:01/",
		"/latest/meta-data/placement":                "availability-zone\nregion",
		"/latest/meta-data/services/domain":          "amazonaws.com",
		"/latest/user-data":                          "\x1f\x8b\x00bytes",
		"/latest/":                                   "dynamic/\nmeta-data/\nuser-data",
		"/2021-03-23/meta-data/network/interfaces":   "macs/",
		"/latest/meta-data/mac":                      "0a:00:00:00:00:01",
	} {
		status, body := ask(t, "GET", url+path, "X-aws-ec2-metadata-token", tok)
		if status != 200 || body != want {
			t.Errorf("GET %s: got %d %q, want %q", path, status, body, want)
		}
	}
}

func TestRefusals(t *testing.T) {
	server, url := start(t)
	tok := token(t, url)
	for _, c := range []struct {
		method, path, header, value string
		want                        int
	}{
		{"GET", "/latest/meta-data/mac", "X-None", "", 401},
		{"GET", "/latest/meta-data/mac", "X-aws-ec2-metadata-token", "made-up", 401},
		{"GET", "/2021-03-23/meta-data/mac", "X-None", "", 200},
		{"GET", "/latest/meta-data/nothing", "X-aws-ec2-metadata-token", tok, 404},
		{"GET", strings.Replace(blocksPath, "ipv4", "ipv6", 1), "X-aws-ec2-metadata-token", tok, 404},
		{"PUT", "/latest/api/token", "X-None", "", 400},
		{"PUT", "/latest/api/token", "X-aws-ec2-metadata-token-ttl-seconds", "21601", 400},
		{"GET", "/latest/api/token", "X-None", "", 405},
		{"GET", "/other", "X-None", "", 404},
	} {
		if status, _ := ask(t, c.method, url+c.path, c.header, c.value); status != c.want {
			t.Errorf("%s %s: got %d, want %d", c.method, c.path, status, c.want)
		}
	}
	server.ExpireTokens()
	if status, _ := ask(t, "GET", url+blocksPath, "X-aws-ec2-metadata-token", tok); status != 401 {
		t.Errorf("expired token: got %d, want 401", status)
	}
	want := metadata.Request{Method: "GET", Path: blocksPath, Status: 401}
	if log := server.Requests(); !slices.Contains(log, want) {
		t.Errorf("log %v has no %v", log, want)
	}
}

func TestFaults(t *testing.T) {
	server, url := start(t)
	get := func(limit time.Duration) (int, string, error) {
		return try(limit, "GET", url+"/2021-03-23/meta-data/mac", "X-None", "")
	}
	for name, c := range map[string]struct {
		fault  metadata.Fault
		status int
		body   string
	}{
		"status": {metadata.Status(429), 429, ""},
		"text":   {metadata.Text("10.40.0.0\n/16"), 200, "10.40.0.0\n/16"},
		"html":   {metadata.HTML(), 200, ""},
		"drip":   {metadata.Drip("slow", time.Millisecond), 200, "slow"},
		"hang":   {metadata.Hang(), 0, ""},
		"reset":  {metadata.Reset(), 0, ""},
	} {
		server.Break("/2021-03-23/meta-data/mac", c.fault.Times(1))
		limit := time.Minute
		if name == "hang" {
			limit = time.Second
		}
		status, body, err := get(limit)
		if status != c.status || (err != nil) != (c.status == 0) || c.body != "" && body != c.body {
			t.Errorf("%s: got %d %q %v", name, status, body, err)
		}
		if status, body, err := get(time.Minute); status != 200 || body != "0a:00:00:00:00:01" {
			t.Errorf("%s does not heal: %d %q %v", name, status, body, err)
		}
	}
}

func TestSet(t *testing.T) {
	server, url := start(t)
	server.Set(metadata.Instance{Region: "cn-north-1", Domain: "amazonaws.com.cn"})
	for path, want := range map[string]int{"placement/region": 200, "mac": 404, "services/partition": 200} {
		if status, _ := ask(t, "GET", url+"/2021-03-23/meta-data/"+path, "X-None", ""); status != want {
			t.Errorf("%s: got %d, want %d", path, status, want)
		}
	}
}

// A role has a listing and a document; without one there is neither.
func TestRole(t *testing.T) {
	server, url := start(t)
	tok := token(t, url)
	const path = "/latest/meta-data/iam/security-credentials/"
	if status, _ := ask(t, "GET", url+path, "X-aws-ec2-metadata-token", tok); status != 404 {
		t.Errorf("without a role: %d, want 404", status)
	}
	instance := metadata.NewInstance("10.40.0.0/16")
	instance.Role = "node-role"
	server.Set(instance)
	if status, body := ask(t, "GET", url+path, "X-aws-ec2-metadata-token", tok); status != 200 || body != "node-role" {
		t.Errorf("listing: %d %q", status, body)
	}
	if status, body := ask(t, "GET", url+path+"node-role", "X-aws-ec2-metadata-token", tok); status != 200 || !strings.Contains(body, metadata.RoleToken) {
		t.Errorf("document: %d %q", status, body)
	}
}
