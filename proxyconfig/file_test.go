package proxyconfig_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/eksproxy/eksproxy/proxyconfig"
	"github.com/eksproxy/eksproxy/templates"
)

const head = "apiVersion: eksproxy.dev/v1alpha1\nkind: ProxyConfig\n"

// mustParse parses a file that is right.
func mustParse(t *testing.T, name, text string) proxyconfig.Layer {
	t.Helper()
	l, err := proxyconfig.ParseFile(name, []byte(text))
	if err != nil {
		t.Fatalf("ParseFile(%q): %v", text, err)
	}
	return l
}

// texts are the values of a layer, lists joined with blanks.
func texts(l proxyconfig.Layer) map[string]string {
	out := map[string]string{}
	for path, v := range l {
		var items []string
		for _, i := range v.Items {
			items = append(items, i.Text)
		}
		out[path] = strings.Join(items, " ")
	}
	return out
}

// TestParseFile: every kind of value.
func TestParseFile(t *testing.T) {
	tests := map[string]struct {
		in   string
		want map[string]string
	}{
		"no spec":          {head, map[string]string{}},
		"null spec":        {head + "spec:\n", map[string]string{}},
		"JSON":             {`{"apiVersion":"eksproxy.dev/v1alpha1","kind":"ProxyConfig","spec":{"httpProxy":"http://a:1"}}`, map[string]string{"httpProxy": "http://a:1"}},
		"null is no value": {head + "spec: {httpProxy: , noProxy: {add: ~}, cluster: null}", map[string]string{}},
		"empty is a value": {head + "spec: {httpProxy: '', noProxy: {add: []}}", map[string]string{"httpProxy": "", "noProxy.add": ""}},
		"list":             {head + "spec:\n  noProxy:\n    add:\n    - .a\n    - 10.0.0.0/8\n", map[string]string{"noProxy.add": ".a 10.0.0.0/8"}},
		"types": {
			head + "spec: {node: {credentialsInEtcEnvironment: true, imdsTimeout: 2m, targets: {soci: false}}}",
			map[string]string{"node.credentialsInEtcEnvironment": "true", "node.imdsTimeout": "2m", "node.targets.soci": "false"},
		},
		"scopes": {
			head + "spec: {scopes: {node: {httpProxy: http://n:1}, pods: {noProxy: {add: [x]}}, addons: {credentials: {from: 'file:x'}}}}",
			map[string]string{"scopes.node.httpProxy": "http://n:1", "scopes.pods.noProxy.add": "x", "scopes.addons.credentials.from": "file:x"},
		},
		"alias": {
			head + "spec: {httpProxy: &p http://a:1, httpsProxy: *p, cluster: {vpcCIDRs: &l [&c 10.0.0.0/8], serviceCIDRs: *l}, noProxy: {add: [*c]}}",
			map[string]string{"httpProxy": "http://a:1", "httpsProxy": "http://a:1", "cluster.vpcCIDRs": "10.0.0.0/8", "cluster.serviceCIDRs": "10.0.0.0/8", "noProxy.add": "10.0.0.0/8"},
		},
		"alias of a section": {
			head + "spec: {scopes: {node: &n {httpProxy: http://a:1}, pods: *n}}",
			map[string]string{"scopes.node.httpProxy": "http://a:1", "scopes.pods.httpProxy": "http://a:1"},
		},
		"quoted number":           {head + "spec: {cluster: {name: '12'}}", map[string]string{"cluster.name": "12"}},
		"byte order mark, CRLF":   {"\ufeff" + strings.ReplaceAll(head, "\n", "\r\n") + "spec:\r\n  httpProxy: http://a:1\r\n", map[string]string{"httpProxy": "http://a:1"}},
		"what config init writes": {templates.ConfigInit, map[string]string{}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, texts(mustParse(t, "f.yaml", tt.in))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// uncommented takes the comment sign from every setting of the template.
func uncommented(text string) string {
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		bare := strings.TrimLeft(line, " ")
		setting, isComment := strings.CutPrefix(bare, "# ")
		first, _, ok := strings.Cut(strings.TrimLeft(setting, " ")+" ", ": ")
		if isComment && (ok && !strings.ContainsAny(first, " ,") || strings.HasPrefix(setting, "- ")) {
			line = line[:len(line)-len(bare)] + setting
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// TestInitTemplate: every setting that the template shows is one.
func TestInitTemplate(t *testing.T) {
	l := mustParse(t, "init.yaml", uncommented(templates.ConfigInit))
	for _, path := range []string{"noProxy.add", "credentials.file", "trustedCA", "scopes.node.httpProxy", "cluster.name", "cluster.serviceCIDRs", "node.os", "node.imdsTimeout", "node.targets.packageManager"} {
		if len(l[path].Items) == 0 {
			t.Errorf("the template shows no %s", path)
		}
	}
	if first, second := strings.Index(templates.ConfigInit, "noProxy:"), strings.Index(templates.ConfigInit, "httpProxy:"); first > second {
		t.Error("the template does not ask for the company's own network first")
	}
}

// TestParseFileOrigins: each value and each entry knows its line.
func TestParseFileOrigins(t *testing.T) {
	l := mustParse(t, "f.yaml", head+"spec:\n  httpProxy: http://a:1\n  noProxy:\n    add:\n    - a\n    - b\n")
	got := []string{l["httpProxy"].Origin.String()}
	for _, i := range l["noProxy.add"].Items {
		got = append(got, i.Origin.String())
	}
	if diff := cmp.Diff([]string{"f.yaml:4", "f.yaml:7", "f.yaml:8"}, got); diff != "" {
		t.Error(diff)
	}
}

// TestParseFileRefuses: each error names the place and what is allowed, and
// shows no text of the file (BL-035).
func TestParseFileRefuses(t *testing.T) {
	const proxy = "  httpProxy: http://svc:" + secret + "@proxy.example:3128\n"
	tests := map[string]struct {
		in    string
		words []string
	}{
		"empty":             {"", []string{"f.yaml is empty", "eksproxy config init"}},
		"comments only":     {"# " + secret + "\n", []string{"f.yaml is empty", "eksproxy config init"}},
		"null":              {"~", []string{"f.yaml:1:1", "apiVersion is missing", "kind is missing"}},
		"no YAML":           {head + "spec:\n" + proxy + " x: [\n", []string{"f.yaml", "parsing YAML", "line "}},
		"tab":               {head + "spec:\n\thttpProxy: " + secret, []string{"f.yaml", "parsing YAML", "line 4"}},
		"alias of nothing":  {head + "spec:\n  httpProxy: *" + secret, []string{"f.yaml", "alias", "in quotes"}},
		"two documents":     {head + "---\n" + head, []string{"f.yaml", "more than one document", "--config"}},
		"broken second":     {head + "---\n" + secret + ": [", []string{"more than one document"}},
		"text":              {secret, []string{"f.yaml:1:1", "want fields"}},
		"list":              {"- " + secret, []string{"f.yaml:1:1", "want fields"}},
		"apiVersion":        {"apiVersion: " + secret + "\nkind: ProxyConfig\n", []string{"f.yaml:1:13", "must be eksproxy.dev/v1alpha1"}},
		"kind":              {"apiVersion: eksproxy.dev/v1alpha1\nkind: [" + secret + "]\n", []string{"f.yaml:2:7", "must be ProxyConfig"}},
		"unknown at top":    {head + "http: " + secret, []string{"f.yaml:3:1", `"http"`, "apiVersion, kind, spec"}},
		"unknown in spec":   {head + "spec:\n" + proxy + "  httpproxy: " + secret, []string{"f.yaml:5:3", `unknown field "httpproxy"`, "httpProxy, httpsProxy, credentials"}},
		"unknown below":     {head + "spec: {credentials: {password: " + secret + "}}", []string{"f.yaml:3:22", `"password"`, "allowed here: file, from"}},
		"unknown scope":     {head + "spec: {scopes: {nodes: {}}}", []string{"f.yaml:3:17", `"nodes"`, "node, addons, pods"}},
		"unscoped in scope": {head + "spec: {scopes: {node: {cluster: {name: x}}}}", []string{"f.yaml:3:24", `"cluster"`, "httpProxy"}},
		"scope in scope":    {head + "spec: {scopes: {node: {scopes: {}}}}", []string{"f.yaml:3:24", `"scopes"`}},
		"unknown target":    {head + "spec: {node: {targets: {snap: false}}}", []string{"f.yaml:3:25", `"snap"`, "etcEnvironment, profile"}},
		"merge key":         {head + "spec: {<<: {httpProxy: " + secret + "}}", []string{"f.yaml:3:8", `"<<"`}},
		"URL as a key":      {head + "spec: {'http://svc:" + secret + "@proxy.example': x}", []string{"f.yaml:3:8", "unknown field"}},
		"mapping as a key":  {head + "spec:\n  ? [" + secret + "]\n  : x\n", []string{"f.yaml:4:5", "unknown field"}},
		"path as a key":     {head + "spec: {credentials.file: x}", []string{"f.yaml:3:8", "unknown field"}},
		"twice":             {head + "spec:\n" + proxy + proxy, []string{"f.yaml:5:3", `"httpProxy" stands twice`}},
		"twice at top":      {head + "spec: {}\nspec: {}\n", []string{"f.yaml:4:1", `"spec" stands twice`}},
		"number":            {head + "spec: {httpProxy: 3128}", []string{"f.yaml:3:19", "httpProxy is a text", "quotes"}},
		"bool for text":     {head + "spec: {cluster: {name: true}}", []string{"cluster.name is a text", "quotes"}},
		"own tag":           {head + "spec: {httpProxy: !x " + secret + "}", []string{"httpProxy is a text"}},
		"list for text":     {head + "spec: {httpProxy: [" + secret + "]}", []string{"f.yaml:3:19", "httpProxy is a single value"}},
		"fields for text":   {head + "spec: {httpProxy: {a: " + secret + "}}", []string{"httpProxy is a single value"}},
		"text for list":     {head + "spec: {noProxy: {add: " + secret + "}}", []string{"f.yaml:3:23", "noProxy.add is a list", "after a dash"}},
		"list in list":      {head + "spec: {noProxy: {add: [[" + secret + "]]}}", []string{"noProxy.add is a single value"}},
		"number in list":    {head + "spec: {noProxy: {add: [a, 10]}}", []string{"f.yaml:3:27", "noProxy.add is a text"}},
		"null in list":      {head + "spec: {noProxy: {add: [~]}}", []string{"noProxy.add is a text"}},
		"text for section":  {head + "spec: {credentials: " + secret + "}", []string{"f.yaml:3:21", "want fields"}},
		"text for bool":     {head + "spec: {node: {targets: {soci: 'false'}}}", []string{"node.targets.soci is true or false"}},
		"yes for bool":      {head + "spec: {node: {targets: {soci: no}}}", []string{"node.targets.soci is true or false"}},
		"number for time":   {head + "spec: {node: {imdsTimeout: 60}}", []string{"duration above zero", "60s"}},
		"no time":           {head + "spec: {node: {imdsTimeout: 0s}}", []string{"duration above zero", "60s"}},
		"not allowed":       {head + "spec: {node: {os: windows}}", []string{"f.yaml:3:19", `"windows"`, "al2, al2023, ubuntu"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := proxyconfig.ParseFile("f.yaml", []byte(tt.in))
			wantError(t, err, tt.words...)
		})
	}
}

// TestParseFileEveryFault: one run reports them all.
func TestParseFileEveryFault(t *testing.T) {
	_, err := proxyconfig.ParseFile("f.yaml", []byte(head+"spec:\n  a: 1\n  httpProxy: 2\n  node: {os: x}\n"))
	wantError(t, err, "f.yaml:4:3", "f.yaml:5:14", "f.yaml:6:14")
}

// TestReadFile: the name is kept, and a file that is not there is named.
func TestReadFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "p.yaml")
	_, err := proxyconfig.ReadFile(name)
	wantError(t, err, "reading the configuration", name)
	if err := os.WriteFile(name, []byte(head+"spec: {httpProxy: http://a:1}"), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := proxyconfig.ReadFile(name)
	if err != nil || l["httpProxy"].Origin.String() != name+":3" {
		t.Errorf("ReadFile: %v, %v", l, err)
	}
}
