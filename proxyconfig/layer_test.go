package proxyconfig_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/eksproxy/eksproxy/proxyconfig"
)

// flags is the layer of these flags, by path.
func flags(values map[string]string) proxyconfig.Layer {
	l := proxyconfig.Layer{}
	for path, text := range values {
		l.Set(path, proxyconfig.Origin{Level: proxyconfig.Flag, Name: "--" + path}, text)
	}
	return l
}

// mustEnv reads an environment that is right.
func mustEnv(t *testing.T, env ...string) (own, defaults proxyconfig.Layer) {
	t.Helper()
	own, defaults, err := proxyconfig.FromEnvironment(env)
	if err != nil {
		t.Fatal(err)
	}
	return own, defaults
}

// TestFromEnvironment: one variable a flag, lists cut at commas.
func TestFromEnvironment(t *testing.T) {
	own, defaults := mustEnv(t,
		"EKSPROXY_HTTP_PROXY=http://a:1?x=y", "EKSPROXY_NO_PROXY_ADD= .a ,, 10.0.0.0/8,", "EKSPROXY_NO_PROXY_OMIT=",
		"EKSPROXY_REGION=", "EKSPROXY_CREDENTIALS_IN_ETC_ENVIRONMENT=true", "EKSPROXY_CONFIG=x.yaml",
		"HTTP_PROXY=http://other:1", "NOT_EKSPROXY_X=1", "eksproxy_x=1", "AWS_EC2_METADATA_SERVICE_ENDPOINT=http://i")
	want := map[string]string{
		"httpProxy": "http://a:1?x=y", "noProxy.add": ".a 10.0.0.0/8", "noProxy.omit": "",
		"cluster.region": "", "node.credentialsInEtcEnvironment": "true",
	}
	if diff := cmp.Diff(want, texts(own)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]string{"node.imdsEndpoint": "http://i"}, texts(defaults)); diff != "" {
		t.Error(diff)
	}
	if got := own["cluster.region"].Origin.String(); got != "EKSPROXY_REGION" {
		t.Errorf("the origin is %q", got)
	}
}

// TestUnknownVariable: a misspelt setting is not lost, and not shown.
func TestUnknownVariable(t *testing.T) {
	for _, name := range []string{"EKSPROXY_HTTPPROXY", "EKSPROXY_", "EKSPROXY_http_proxy", "EKSPROXY_NODE_TARGETS_SOCI"} {
		_, _, err := proxyconfig.FromEnvironment([]string{name + "=" + secret})
		wantError(t, err, name+" is not one of eksproxy's", "EKSPROXY_HTTP_PROXY")
	}
}

// TestFields: each field can be told apart and is explained.
func TestFields(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range proxyconfig.Fields() {
		for _, name := range []string{f.Path, f.Flag} {
			if seen[name] && name != "" {
				t.Errorf("%s stands twice", name)
			}
			seen[name] = true
		}
		if f.Usage == "" || f.Type == "" || strings.HasSuffix(f.Usage, ".") {
			t.Errorf("%s: usage %q, type %q", f.Path, f.Usage, f.Type)
		}
		if want := "EKSPROXY_" + strings.ToUpper(strings.ReplaceAll(f.Flag, "-", "_")); f.Flag != "" && f.Env() != want || f.Flag == "" && f.Env() != "" {
			t.Errorf("%s: variable %q, want %q", f.Path, f.Env(), want)
		}
		if scoped := strings.HasPrefix(f.Path, "cluster.") || strings.HasPrefix(f.Path, "node."); f.Scoped == scoped {
			t.Errorf("%s: scoped %v", f.Path, f.Scoped)
		}
	}
}

// TestMergeOrder: flag, environment, later file, earlier file, default; field
// by field, a list as a whole.
func TestMergeOrder(t *testing.T) {
	own, defaults := mustEnv(t, "EKSPROXY_CLUSTER=env", "EKSPROXY_REGION=env", "EKSPROXY_NO_PROXY_OMIT=env", "AWS_EC2_METADATA_SERVICE_ENDPOINT=http://default")
	one := mustParse(t, "one.yaml", head+`spec:
  cluster: {name: one, region: one, domain: one, endpoint: one}
  noProxy: {add: [one, more], omit: [one]}
  node: {imdsEndpoint: http://one}`)
	two := mustParse(t, "two.yaml", head+`spec:
  cluster: {name: two, region: two, domain: two}
  noProxy: {add: [two], omit: [two]}`)
	merged := proxyconfig.Merge(defaults, nil, one, two, own, flags(map[string]string{"cluster.name": "flag"}))
	want := map[string]string{
		"cluster.name": "--cluster.name", "cluster.region": "EKSPROXY_REGION", "cluster.domain": "two.yaml:4",
		"cluster.endpoint": "one.yaml:4", "noProxy.add": "two.yaml:5", "noProxy.omit": "EKSPROXY_NO_PROXY_OMIT",
		"node.imdsEndpoint": "one.yaml:6",
	}
	if diff := cmp.Diff(want, merged.View().Origins()); diff != "" {
		t.Error(diff)
	}
	if got := texts(merged)["noProxy.add"]; got != "two" {
		t.Errorf("the list is %q, want it replaced as a whole", got)
	}
	if got := defaults.View().Origins()["node.imdsEndpoint"]; got != "AWS_EC2_METADATA_SERVICE_ENDPOINT" {
		t.Errorf("the weakest origin is %q", got)
	}
}

// TestDefaults: those that are values, and they resolve.
func TestDefaults(t *testing.T) {
	want := map[string]string{"noProxy.ipv6CIDRs": "auto", "node.credentialsInEtcEnvironment": "false", "node.imdsTimeout": "60s"}
	for _, target := range proxyconfig.Targets() {
		want["node.targets."+target.Name] = "true"
	}
	if diff := cmp.Diff(want, texts(proxyconfig.Defaults())); diff != "" {
		t.Error(diff)
	}
	if got := proxyconfig.Defaults().View().Origins()["noProxy.ipv6CIDRs"]; got != "default" {
		t.Errorf("the origin is %q", got)
	}
	if _, err := proxyconfig.Defaults().ResolvePlace("node"); err != nil {
		t.Error(err)
	}
}

// TestMergeEmptyList: a list that is given as empty takes the other away.
func TestMergeEmptyList(t *testing.T) {
	one := mustParse(t, "one.yaml", head+"spec: {noProxy: {add: [one]}}")
	two := mustParse(t, "two.yaml", head+"spec: {noProxy: {add: []}}")
	own, _ := mustEnv(t, "EKSPROXY_NO_PROXY_ADD=")
	for _, l := range []proxyconfig.Layer{two, own} {
		if v, ok := proxyconfig.Merge(one, l)["noProxy.add"]; !ok || len(v.Items) != 0 {
			t.Errorf("the list is %v, %v", v, ok)
		}
	}
	null := mustParse(t, "null.yaml", head+"spec: {noProxy: {add: }}")
	if got := texts(proxyconfig.Merge(one, null))["noProxy.add"]; got != "one" {
		t.Errorf("a null made the list %q", got)
	}
}

// TestOriginString: the default has a name too.
func TestOriginString(t *testing.T) {
	for want, o := range map[string]proxyconfig.Origin{
		"default":         {},
		"--region":        {Level: proxyconfig.Flag, Name: "--region"},
		"EKSPROXY_REGION": {Level: proxyconfig.Environment, Name: "EKSPROXY_REGION"},
		"f.yaml:7":        {Level: proxyconfig.File, Name: "f.yaml", Line: 7},
		"plan.json":       {Level: proxyconfig.File, Name: "plan.json"},
	} {
		if got := o.String(); got != want {
			t.Errorf("origin %q, want %q", got, want)
		}
	}
}

// TestFlatten: what a plan keeps is independent of where it stands, and holds
// no password.
func TestFlatten(t *testing.T) {
	dir := t.TempDir()
	cwd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	own, defaults := mustEnv(t, "EKSPROXY_TRUSTED_CA=ca.pem", "AWS_EC2_METADATA_SERVICE_ENDPOINT=http://i")
	file := mustParse(t, filepath.Join(dir, "f.yaml"), head+`spec:
  httpProxy: http://svc:`+secret+`@proxy.example:3128
  credentials: {file: login, from: "file:login"}
  noProxy: {add: [], omit: [a, b]}
  scopes: {node: {httpsProxy: http://node:1}, pods: {httpsProxy: http://pods:1}}`)
	got := proxyconfig.Merge(defaults, file, own).Flatten("node")
	want := map[string][]string{
		"httpsProxy": {"http://node:1"}, "credentials.file": {filepath.Join(dir, "login")}, "credentials.from": {"file:" + filepath.Join(dir, "login")},
		"noProxy.add": {}, "noProxy.omit": {"a", "b"}, "trustedCA": {filepath.Join(cwd, "ca.pem")},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestFlattenKeepsPEM: the text of a certificate is no name of a file.
func TestFlattenKeepsPEM(t *testing.T) {
	ca, _ := newCert(t, "ca", nil)
	flat := flags(map[string]string{"trustedCA": ca, "credentials.file": ""}).Flatten("node")
	if diff := cmp.Diff(map[string][]string{"trustedCA": {ca}, "credentials.file": {""}}, flat); diff != "" {
		t.Error(diff)
	}
}

// TestFlatRoundTrip: a layer that went through a plan gives the same settings.
func TestFlatRoundTrip(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "login"), "svc:"+secret)
	l := mustParse(t, filepath.Join(dir, "f.yaml"), head+`spec:
  httpProxy: http://proxy.example:3128
  credentials: {from: "file:login"}
  noProxy: {add: [.corp.example], omit: [ec2], ipv6CIDRs: never}
  cluster: {name: c, region: eu-west-1, endpoint: "https://e.example", vpcCIDRs: [10.40.0.0/16], serviceCIDRs: [10.100.0.0/16], domain: d.local}
  node: {os: al2, runtime: docker, credentialsInEtcEnvironment: true, imdsEndpoint: "http://i", imdsTimeout: 5s, targets: {soci: false}}
  scopes: {node: {httpsProxy: "http://node.example:3128"}}`)
	flat := l.Flatten("node")
	again := proxyconfig.FromFlat("plan.json", flat)
	if diff := cmp.Diff(flat, again.Flatten("node")); diff != "" {
		t.Error(diff)
	}
	one, two := mustResolve(t, l, "node"), mustResolve(t, again, "node")
	if diff := cmp.Diff(one, two, ignoreOrigins()...); diff != "" {
		t.Error(diff)
	}
	if got := two.Cluster.Region + " " + again["cluster.region"].Origin.String(); got != "eu-west-1 plan.json" {
		t.Errorf("region and origin are %q", got)
	}
}

// write writes a file.
func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
