package proxyconfig_test

import (
	"errors"
	"fmt"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/eksproxy/eksproxy/facts"
	"github.com/eksproxy/eksproxy/proxyconfig"
)

// ignoreOrigins compares what holds, wherever it stands.
func ignoreOrigins() cmp.Options {
	return cmp.Options{
		cmpopts.IgnoreUnexported(proxyconfig.Cluster{}), cmpopts.EquateComparable(netip.Prefix{}),
		cmpopts.IgnoreTypes(proxyconfig.Origin{}), cmpopts.EquateEmpty(),
	}
}

func mustResolve(t *testing.T, l proxyconfig.Layer, scope string) proxyconfig.Config {
	t.Helper()
	c, err := l.Resolve(scope, nil)
	if err != nil {
		t.Fatalf("Resolve(%q): %v", scope, err)
	}
	return c
}

// TestEitherProxy is BL-022: either defaults to the other, so that both are set.
func TestEitherProxy(t *testing.T) {
	const a, b = "http://a:1", "https://b:2"
	tests := map[string]struct {
		given         map[string]string
		wantH, wantHS string
	}{
		"http alone":    {map[string]string{"httpProxy": a}, a, a},
		"https alone":   {map[string]string{"httpsProxy": b}, b, b},
		"both":          {map[string]string{"httpProxy": a, "httpsProxy": b}, a, b},
		"both as empty": {map[string]string{"httpProxy": "", "httpsProxy": ""}, "", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := mustResolve(t, flags(tt.given), "node")
			if diff := cmp.Diff([]string{tt.wantH, tt.wantHS}, []string{c.HTTPProxy.Reveal(), c.HTTPSProxy.Reveal()}); diff != "" {
				t.Error(diff)
			}
			if c.Revert() != (tt.wantH == "") {
				t.Errorf("revert: %v", c.Revert())
			}
		})
	}
}

// TestProxiesRefused: one given as empty is a mistake, none is another.
func TestProxiesRefused(t *testing.T) {
	tests := map[string]struct {
		given map[string]string
		words []string
	}{
		"http empty":         {map[string]string{"httpProxy": "", "httpsProxy": "http://b:2"}, []string{"one proxy is given as empty", "both as empty"}},
		"https empty":        {map[string]string{"httpProxy": "http://a:1", "httpsProxy": ""}, []string{"one proxy is given as empty", "both as empty"}},
		"http empty, alone":  {map[string]string{"httpProxy": ""}, []string{"the other not at all", "both as empty"}},
		"https empty, alone": {map[string]string{"httpsProxy": ""}, []string{"the other not at all", "both as empty"}},
		"none":               {nil, []string{"no proxy is given", "--http-proxy", "--config", "eksproxy config init"}},
		"wrong":              {map[string]string{"httpProxy": "a:1"}, []string{"--httpProxy: httpProxy: ", "no scheme"}},
		"both wrong":         {map[string]string{"httpProxy": "a:1", "httpsProxy": "socks5://a:1"}, []string{"httpProxy: ", "httpsProxy: ", "SOCKS"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := flags(tt.given).Resolve("node", nil)
			wantError(t, err, tt.words...)
			if errors.Is(err, proxyconfig.ErrNoProxy) != (tt.given == nil) {
				t.Errorf("%v is ErrNoProxy: %v", err, tt.given != nil)
			}
		})
	}
}

// TestErrNoProxyAlone: another fault is not hidden behind a missing proxy.
func TestErrNoProxyAlone(t *testing.T) {
	for _, path := range []string{"trustedCA", "node.os", "noProxy.ipv6CIDRs", "cluster.region"} {
		_, err := flags(map[string]string{path: "none.such"}).Resolve("", nil)
		if err == nil || errors.Is(err, proxyconfig.ErrNoProxy) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestInlineCredentials: refused in a flag, which every user of the machine can
// read; a warning elsewhere; never shown (BL-035).
func TestInlineCredentials(t *testing.T) {
	const url = "http://svc:" + secret + "@proxy.example:3128"
	_, err := flags(map[string]string{"httpsProxy": url}).Resolve("node", nil)
	wantError(t, err, "--httpsProxy", "a password in a flag", "--credentials-file")
	own, _ := mustEnv(t, "EKSPROXY_HTTP_PROXY="+url)
	for origin, l := range map[string]proxyconfig.Layer{
		"EKSPROXY_HTTP_PROXY": own,
		"f.yaml:3":            mustParse(t, "f.yaml", head+"spec: {httpProxy: '"+url+"'}"),
	} {
		c := mustResolve(t, l, "node")
		if got := c.HTTPProxy.Reveal() + c.HTTPSProxy.Reveal(); got != url+url {
			t.Errorf("%s: the proxies are %s", origin, got)
		}
		warning := strings.Join(c.Warnings, "\n")
		if len(c.Warnings) != 1 || !strings.HasPrefix(warning, origin+": httpProxy holds a password") || strings.Contains(warning, secret) {
			t.Errorf("%s: warnings %q", origin, c.Warnings)
		}
	}
}

// TestCredentials: from a file, by both names, for both proxies.
func TestCredentials(t *testing.T) {
	login := filepath.Join(t.TempDir(), "login")
	write(t, login, "svc:p@ss\n")
	for path, text := range map[string]string{"credentials.file": login, "credentials.from": "file:" + login} {
		c := mustResolve(t, flags(map[string]string{"httpProxy": "http://a:1", "httpsProxy": "http://b:2", path: text}), "node")
		want := []string{"http://svc:p%40ss@a:1", "http://svc:p%40ss@b:2"}
		if diff := cmp.Diff(want, []string{c.HTTPProxy.Reveal(), c.HTTPSProxy.Reveal()}); diff != "" {
			t.Errorf("%s: %s", path, diff)
		}
	}
	c := mustResolve(t, flags(map[string]string{"httpProxy": "", "httpsProxy": "", "credentials.file": login}), "node")
	if !c.Revert() || c.HTTPProxy.HasCredentials() {
		t.Error("credentials alone are no proxy")
	}
	c = mustResolve(t, flags(map[string]string{"httpProxy": "http://a:1", "credentials.file": "", "credentials.from": ""}), "node")
	if c.HTTPProxy.HasCredentials() {
		t.Error("an empty name is not none")
	}
}

// TestCredentialsRefused: the credentials that stand where a name should are
// not shown either.
func TestCredentialsRefused(t *testing.T) {
	dir := t.TempDir()
	login, bad := filepath.Join(dir, "login"), filepath.Join(dir, "bad")
	write(t, login, "svc:"+secret)
	write(t, bad, secret)
	tests := map[string]struct {
		file, from string
		words      []string
	}{
		"twice":              {login, "file:" + login, []string{"given twice", "--credentials.file"}},
		"no such file":       {filepath.Join(dir, "none"), "", []string{"reading the credentials", "none"}},
		"a directory":        {dir, "", []string{"reading the credentials"}},
		"no credentials":     {bad, "", []string{bad, "no colon"}},
		"unknown reference":  {"", "ssm:/proxy", []string{"--credentials.from", "allowed: file:PATH"}},
		"itself in file":     {"svc:" + secret, "", []string{"not the credentials themselves"}},
		"itself in from":     {"", "svc:" + secret, []string{"allowed: file:PATH"}},
		"itself behind file": {"", "file:svc:" + secret, []string{"not the credentials themselves"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			given := map[string]string{"httpProxy": "http://a:1", "credentials.file": tt.file, "credentials.from": tt.from}
			_, err := flags(given).Resolve("node", nil)
			wantError(t, err, tt.words...)
		})
	}
	file := mustParse(t, "f.yaml", head+"spec: {httpProxy: 'http://u:"+secret+"@a:1'}")
	_, err := proxyconfig.Merge(file, flags(map[string]string{"credentials.file": login})).Resolve("node", nil)
	wantError(t, err, "the proxy URL holds credentials as well", "take them out")
}

// TestBesideTheFile: a relative name in a file is beside it, in a flag or the
// environment below the working directory.
func TestBesideTheFile(t *testing.T) {
	dir := t.TempDir()
	ca, _ := newCert(t, "beside", nil)
	write(t, filepath.Join(dir, "ca.pem"), ca)
	write(t, filepath.Join(dir, "login"), "svc:pw")
	l := mustParse(t, filepath.Join(dir, "f.yaml"), head+"spec: {httpProxy: 'http://a:1', trustedCA: ca.pem, credentials: {file: login}}")
	c := mustResolve(t, l, "node")
	if len(c.CAs) != 1 || !c.HTTPProxy.HasCredentials() {
		t.Errorf("%d certificates, credentials %v", len(c.CAs), c.HTTPProxy.HasCredentials())
	}
	given := flags(map[string]string{"httpProxy": "http://a:1", "trustedCA": "ca.pem"})
	_, err := given.Resolve("node", nil)
	wantError(t, err, "--trustedCA: reading the trusted CA", "open ca.pem")
	t.Chdir(dir)
	if c := mustResolve(t, given, "node"); len(c.CAs) != 1 {
		t.Error("a flag's name is not below the working directory")
	}
}

// TestTrustedCA: the text itself or a file; expired is a warning.
func TestTrustedCA(t *testing.T) {
	good, key := newCert(t, "good", nil)
	old, _ := newCert(t, "old", expired)
	resolve := func(text string) (proxyconfig.Config, error) {
		return flags(map[string]string{"httpProxy": "http://a:1", "trustedCA": text}).Resolve("node", nil)
	}
	c, err := resolve(good + old)
	if err != nil || len(c.CAs) != 2 {
		t.Fatalf("%d certificates, %v", len(c.CAs), err)
	}
	if diff := cmp.Diff([]string{`--trustedCA: the certificate "CN=old" expired on 2021-02-03`}, c.Warnings); diff != "" {
		t.Error(diff)
	}
	if c, err = resolve(""); err != nil || c.CAs != nil {
		t.Errorf("an empty text gave %v, %v", c.CAs, err)
	}
	_, err = resolve(good + key)
	wantError(t, err, "--trustedCA: reading the trusted CA", "never a key")
	if strings.Contains(err.Error(), strings.Split(key, "\n")[1]) {
		t.Error("the error shows the key")
	}
}

// TestScopes: a scope wins over the rest of the files, of an earlier file too;
// flags and environment win over both.
func TestScopes(t *testing.T) {
	one := mustParse(t, "one.yaml", head+"spec: {httpProxy: 'http://all:1', noProxy: {add: [all]}, scopes: {node: {httpProxy: 'http://node:1', noProxy: {add: [node]}}, pods: {noProxy: {add: []}}}}")
	two := mustParse(t, "two.yaml", head+"spec: {httpProxy: 'http://two:1'}")
	both := proxyconfig.Merge(one, two)
	own, _ := mustEnv(t, "EKSPROXY_HTTP_PROXY=http://env:1")
	tests := []struct {
		layer             proxyconfig.Layer
		scope, proxy, add string
	}{
		{one, "", "http://all:1", "all"},
		{one, "node", "http://node:1", "node"},
		{one, "addons", "http://all:1", "all"},
		{one, "pods", "http://all:1", ""},
		{both, "node", "http://node:1", "node"},
		{both, "pods", "http://two:1", ""},
		{proxyconfig.Merge(both, own), "node", "http://env:1", "node"},
		{proxyconfig.Merge(both, flags(map[string]string{"noProxy.add": "flag"})), "node", "http://node:1", "flag"},
	}
	for _, tt := range tests {
		c := mustResolve(t, tt.layer, tt.scope)
		var texts []string
		for _, i := range c.NoProxy.Add {
			texts = append(texts, i.Text)
		}
		add := strings.Join(texts, " ")
		if c.HTTPProxy.Reveal() != tt.proxy || add != tt.add {
			t.Errorf("scope %q: %s and %q, want %s and %q", tt.scope, c.HTTPProxy, add, tt.proxy, tt.add)
		}
	}
}

// TestClusterAndNode: everything is parsed into types.
func TestClusterAndNode(t *testing.T) {
	l := mustParse(t, "f.yaml", head+`spec:
  noProxy: {omit: [ec2], ipv6CIDRs: always}
  cluster:
    name: c
    region: us-gov-west-1
    endpoint: https://ID.gr7.eu-west-1.eks.amazonaws.com/
    vpcCIDRs: [10.40.0.0/16, "100.64.0.0/16", 10.40.0.0/16, "2001:db8::/56"]
    serviceCIDRs: [10.100.0.0/16]
    domain: .cluster.example.
  node: {os: al2, runtime: docker, credentialsInEtcEnvironment: true, imdsEndpoint: "http://[::1]:80/", imdsTimeout: 5s, targets: {soci: false, kubelet: true}}`)
	c, err := l.ResolvePlace("node")
	if err != nil {
		t.Fatal(err)
	}
	want := proxyconfig.Config{
		NoProxy: proxyconfig.NoProxy{Omit: []proxyconfig.Item{{Text: "ec2"}}, IPv6CIDRs: "always"},
		Cluster: proxyconfig.Cluster{
			Name: "c", Region: "us-gov-west-1", EndpointHost: "ID.gr7.eu-west-1.eks.amazonaws.com", Domain: "cluster.example",
			VPCCIDRs:     []netip.Prefix{netip.MustParsePrefix("10.40.0.0/16"), netip.MustParsePrefix("100.64.0.0/16"), netip.MustParsePrefix("2001:db8::/56")},
			ServiceCIDRs: []netip.Prefix{netip.MustParsePrefix("10.100.0.0/16")},
		},
		Node: proxyconfig.Node{
			OS: "al2", Runtime: "docker", CredentialsInEtcEnvironment: true, IMDSEndpoint: "http://[::1]:80/", IMDSGiven: true,
			IMDSTimeout: 5 * time.Second, Off: map[string]bool{"soci": true},
		},
	}
	if diff := cmp.Diff(want, c, ignoreOrigins()); diff != "" {
		t.Error(diff)
	}
}

// TestEndpointForms: a URL or a host, with or without a port; a name or an
// address.
func TestEndpointForms(t *testing.T) {
	for in, want := range map[string]string{
		"https://A.example": "A.example", "https://a.example:443/": "a.example", "a.example": "a.example", "a.example.": "a.example",
		"a.example:6443": "a.example", "10.0.0.1": "10.0.0.1", "https://10.0.0.1:6443": "10.0.0.1", "https://[2001:DB8::1]:443": "2001:db8::1",
		"2001:db8::1": "2001:db8::1", "": "",
	} {
		c, err := flags(map[string]string{"cluster.endpoint": in}).ResolvePlace("node")
		if err != nil || c.Cluster.EndpointHost != want {
			t.Errorf("endpoint %q gave %q, %v; want %q", in, c.Cluster.EndpointHost, err, want)
		}
	}
}

// TestPlaceRefused: what is no such thing is refused with its form, and what
// stands before an @ is not shown.
func TestPlaceRefused(t *testing.T) {
	long := strings.Repeat("x", 60)
	tests := []struct {
		path, text string
		words      []string
	}{
		{"cluster.region", "Frankfurt", []string{`"Frankfurt" is not an AWS region`, "eu-west-1"}},
		{"cluster.region", "eu-west-1\nx", []string{"not an AWS region"}},
		{"cluster.region", long + "-a-b", []string{"not an AWS region", "x...\""}},
		{"cluster.endpoint", "https://svc:" + secret + "@a.example", []string{"not a cluster endpoint", "describe-cluster"}},
		{"cluster.endpoint", "https://" + secret + long + "@a.example", []string{"not a cluster endpoint"}},
		{"cluster.endpoint", "a.example:https", []string{"not a cluster endpoint"}},
		{"cluster.endpoint", "a b", []string{"not a cluster endpoint"}},
		{"cluster.endpoint", "https://", []string{"not a cluster endpoint"}},
		{"cluster.domain", "a..b", []string{"not a DNS domain", "cluster.local"}},
		{"cluster.vpcCIDRs", "10.40.0.0", []string{"not a CIDR", "10.40.0.0/16"}},
		{"cluster.vpcCIDRs", "10.40.0.1/16", []string{"has host bits; write 10.40.0.0/16"}},
		{"cluster.serviceCIDRs", "0.0.0.0/0", []string{"every address"}},
		{"cluster.serviceCIDRs", "10.0.0.0/8\nx", []string{"not a CIDR"}},
		{"node.os", "bsd", []string{`node.os "bsd" is not known`, "al2, al2023, ubuntu"}},
		{"node.runtime", "crio", []string{"containerd, docker"}},
		{"noProxy.ipv6CIDRs", "maybe", []string{"auto, always, never"}},
		{"node.credentialsInEtcEnvironment", "yes", []string{"true or false"}},
		{"node.imdsTimeout", "-1s", []string{"duration above zero", "60s"}},
		{"node.imdsTimeout", "", []string{"duration above zero"}},
		{"node.imdsEndpoint", "https://i", []string{"http://HOST or http://HOST:PORT"}},
		{"node.imdsEndpoint", "http://u:" + secret + "@i", []string{"http://HOST or http://HOST:PORT"}},
		{"node.imdsEndpoint", "http://i/latest", []string{"http://HOST or http://HOST:PORT"}},
		{"node.imdsEndpoint", "http://i\r\nHost: x", []string{"http://HOST or http://HOST:PORT"}},
	}
	for _, tt := range tests {
		_, err := flags(map[string]string{tt.path: tt.text}).ResolvePlace("node")
		wantError(t, err, append(tt.words, "--"+tt.path+": ")...)
	}
}

// TestEveryFault: one run reports them all, with their origins.
func TestEveryFault(t *testing.T) {
	_, err := flags(map[string]string{"httpProxy": "x", "cluster.region": "x", "node.os": "x", "trustedCA": "none"}).Resolve("node", nil)
	wantError(t, err, "--httpProxy: ", "--cluster.region: ", "--node.os: ", "--trustedCA: ")
}

// TestDefaultEndpoint: what every SDK reads is not meant for eksproxy alone.
func TestDefaultEndpoint(t *testing.T) {
	_, defaults := mustEnv(t, "AWS_EC2_METADATA_SERVICE_ENDPOINT=http://i")
	c, err := defaults.ResolvePlace("node")
	if err != nil || c.Node.IMDSEndpoint != "http://i" || c.Node.IMDSGiven {
		t.Errorf("endpoint %q, given %v, %v", c.Node.IMDSEndpoint, c.Node.IMDSGiven, err)
	}
}

// TestOverlay: what is given replaces what was found out, and fills its gap.
func TestOverlay(t *testing.T) {
	n := facts.NewNode()
	n.Region, n.EndpointHost = "eu-west-1", "found.example"
	n.ServiceAddress = netip.MustParseAddr("172.20.0.1")
	n.SetSource(facts.FieldEndpointHost, "user data")
	n.SetSource(facts.FieldServiceAddress, "user data")
	n.Gaps = []facts.Gap{{Field: facts.FieldServiceCIDRs}, {Field: facts.FieldVPCCIDRs}}
	c, err := flags(map[string]string{"cluster.serviceCIDRs": "10.100.0.0/16", "cluster.name": "c", "cluster.domain": "d", "cluster.endpoint": "given.example"}).ResolvePlace("node")
	if err != nil {
		t.Fatal(err)
	}
	c.Cluster.Overlay(&n)
	want := facts.NewNode()
	want.Region, want.EndpointHost, want.ClusterDomain, want.ClusterName = "eu-west-1", "given.example", "d", "c"
	want.ServiceCIDRs = []netip.Prefix{netip.MustParsePrefix("10.100.0.0/16")}
	want.Gaps = []facts.Gap{{Field: facts.FieldVPCCIDRs}}
	want.Sources = map[string]string{"endpointHost": "--cluster.endpoint", "serviceCIDRs": "--cluster.serviceCIDRs", "clusterDomain": "--cluster.domain"}
	if diff := cmp.Diff(want, n, cmpopts.EquateComparable(netip.Prefix{}, netip.Addr{})); diff != "" {
		t.Error(diff)
	}
}

// TestInspection: what the proxy does to TLS, and which hosts it leaves.
func TestInspection(t *testing.T) {
	for text, want := range map[string]string{
		"tlsInspection: true": "{Resigns:true Exempt:[]}",
		"tlsInspection: true\n  inspectionExempt: [a.example]":   "{Resigns:true Exempt:[a.example]}",
		"inspectionExempt: [.b.example]":                         "{Resigns:false Exempt:[b.example .b.example *.b.example]}",
		"tlsInspection: perhaps":                                 "tlsInspection",
		"tlsInspection: true\n  inspectionExempt: [10.0.0.0/8]":  "is a range",
		"tlsInspection: true\n  inspectionExempt: ['http://a/']": "an entry is not a URL",
	} {
		l, err := proxyconfig.ParseFile("p.yaml", []byte(head+"spec:\n  "+text+"\n"))
		var cfg proxyconfig.Config
		if err == nil {
			cfg, err = l.ResolvePlace("node")
		}
		if got := fmt.Sprintf("%+v %v", cfg.Inspection, err); !strings.Contains(got, want) {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}
