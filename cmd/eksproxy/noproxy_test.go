package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/eksproxy/eksproxy/internal/ui"
	"github.com/eksproxy/eksproxy/noproxy"
)

// runFuzzed runs the program on arguments that a fuzzer made. It ends with 0, 1
// or 2; with 2 it names an argument, and prints nothing else.
func runFuzzed(t *testing.T, in []byte, named []string, args ...string) {
	t.Helper()
	var out, talk bytes.Buffer
	code := Run(t.Context(), append([]string{"eksproxy", "noproxy"}, args...), ui.Streams{In: bytes.NewReader(in), Out: &out, Err: &talk}, nil)
	if code < exitDone || code > exitUsage {
		t.Fatalf("%q: exit %d\n%s", args, code, talk.String())
	}
	if code != exitUsage {
		return
	}
	if out.Len() > 0 {
		t.Errorf("%q: exit 2 with output %q", args, out.String())
	}
	for _, name := range named {
		if strings.Contains(talk.String(), name) {
			return
		}
	}
	t.Errorf("%q: exit 2, and %q names none of %q", args, talk.String(), named)
}

func FuzzNoProxyExplain(f *testing.F) {
	f.Add("localhost,.svc", "http://localhost/", "Go")
	f.Add("[fd00::1]:80, x", "http://[fd00::1%25eth0]:99999/", "")
	f.Add("*", "--help", "--from-env")
	f.Fuzz(func(t *testing.T, value, url, client string) {
		runFuzzed(t, nil, []string{"URL"}, "explain", "--no-proxy="+value, "--client="+client, "--only-differences", "--", url)
	})
}

func FuzzNoProxyLint(f *testing.F) {
	f.Add("localhost, .svc;x", "http://proxy.example:3128", []byte("kind: ConfigMap\nmetadata: {name: p}\ndata: {NO_PROXY: 'a b'}\n"))
	f.Add("\x00,[", "u:p@x", []byte("a: &a [*a]\n---\n- env: [{name: NO_PROXY, value: [1]}]\n"))
	f.Fuzz(func(t *testing.T, value, proxy string, manifest []byte) {
		runFuzzed(t, nil, []string{"--http-proxy"}, "lint", "--no-proxy="+value, "--http-proxy="+proxy)
		runFuzzed(t, manifest, []string{"-f -"}, "lint", "-f", "-", "-o", "json")
		noproxy.Lint(parseEnvFile(string(manifest)))
	})
}

func FuzzNoProxyDiff(f *testing.F) {
	f.Add("localhost", "localhost,.svc", "http://localhost/")
	f.Add("missing.yaml", "", "x")
	f.Fuzz(func(t *testing.T, before, after, url string) {
		t.Chdir(t.TempDir())
		if strings.HasPrefix(before, "/") || strings.HasPrefix(after, "/") {
			t.Skip("a file of this machine")
		}
		runFuzzed(t, nil, []string{"OLD", "NEW", "URL"}, "diff", "--", before, after, url)
	})
}

// TestEnvFile: assignments as systemd reads them.
func TestEnvFile(t *testing.T) {
	got := parseEnvFile("# NO_PROXY=x\n;HTTP_PROXY=y\n  export NO_PROXY='a,b' # c\nno_proxy=\"open\nHTTPS_PROXY=http://p:1\r\nPATH=/bin\nHTTP_PROXY=1\nHTTP_PROXY=2\nnothing\n")
	want := noproxy.Environment{"NO_PROXY": "a,b # c", "no_proxy": "\"open", "HTTPS_PROXY": "http://p:1\r", "HTTP_PROXY": "2"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestManifest: the variables of ConfigMaps, Secrets and containers, wherever
// they stand; what is not ours, and what has another shape, is passed over.
func TestManifest(t *testing.T) {
	const text = `
kind: ConfigMap
metadata: {name: a}
data: {NO_PROXY: x, OTHER: y, no_proxy: 5}
---
kind: Secret
metadata: {name: b, namespace: n}
data: {HTTP_PROXY: aHR0cDovL3A6MQo=, HTTPS_PROXY: "%"}
stringData: {NO_PROXY: z}
---
kind: Pod
metadata: {name: c}
spec:
  initContainers: [{name: i, env: [{name: NO_PROXY, value: p}]}]
  containers: [{name: m, env: [5, {name: no_proxy, value: 10}, {name: NO_PROXY, valueFrom: {}}]}]
---
kind: [odd]
metadata: 7
env: {a: b}
---
`
	got, err := readProxyManifest([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]noproxy.Environment{}
	for _, e := range got {
		seen[e.where] = e.env
	}
	want := map[string]noproxy.Environment{
		"ConfigMap a":        {"NO_PROXY": "x"},
		"Secret n/b":         {"HTTP_PROXY": "http://p:1\n", "HTTPS_PROXY": "", "NO_PROXY": "z"},
		"Pod c, container i": {"NO_PROXY": "p"},
		"Pod c, container m": {"no_proxy": "10"},
	}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Error(diff)
	}
}
