package noproxy_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/eksproxy/eksproxy/noproxy"
)

func parseAll(t *testing.T, urls ...string) []noproxy.Target {
	t.Helper()
	var ts []noproxy.Target
	for _, u := range urls {
		parsed, err := noproxy.ParseTarget(u)
		if err != nil {
			t.Fatal(err)
		}
		ts = append(ts, parsed)
	}
	return ts
}

func findAll(t *testing.T, names ...string) []noproxy.Client {
	t.Helper()
	var cs []noproxy.Client
	for _, name := range names {
		c, ok := noproxy.FindClient(name)
		if !ok {
			t.Fatalf("%s is not modelled", name)
		}
		cs = append(cs, c)
	}
	return cs
}

// awsPublished is the value that AWS publishes for worker nodes.
const awsPublished = "172.20.0.0/16,localhost,127.0.0.1,10.0.0.0/16,169.254.169.254,.internal,s3.amazonaws.com," +
	".s3.us-east-1.amazonaws.com,api.ecr.us-east-1.amazonaws.com,dkr.ecr.us-east-1.amazonaws.com,ec2.us-east-1.amazonaws.com"

// TestExplainPublishedValue: what each client makes of the awsPublished value, as it was
// seen in the clients themselves. The cells stand in the order of columns; curl
// is 7.88 and 8.14.
func TestExplainPublishedValue(t *testing.T) {
	columns := []string{
		"curl 7.86-8.8, curl 8.9-8.17", "Go std <= 1.26, x/net >= 0.59", "Python urllib, aiohttp", "botocore", "requests", "wget, apt", "Ruby Net::HTTP",
		"Node core http", "undici 7", "undici 6", "axios", "proxy-from-env",
	}
	tests := []struct{ what, url, cells string }{
		{"an ECR registry", "https://123456789012.dkr.ecr.us-east-1.amazonaws.com/v2/", "DDDDDDDPDPPP"},
		{"layers of ECR", "https://prod-us-east-1-starport-layer-bucket.s3.us-east-1.amazonaws.com/x", "DDDDDDDDDDDD"},
		{"S3 by path", "https://s3.us-east-1.amazonaws.com/b/k", "DPDDDPPDDPPP"},
		{"S3, dual-stack", "https://b.s3.dualstack.us-east-1.amazonaws.com/", "PPPPPPPPPPPP"},
		{"S3's global name", "https://b.s3.amazonaws.com/", "DDDDDDDPDPPP"},
		{"the API server's name", "https://ABC.gr7.us-east-1.eks.amazonaws.com/", "PPPPPPPPPPPP"},
		{"STS", "https://sts.us-east-1.amazonaws.com/", "PPPPPPPPPPPP"},
		{"EKS", "https://eks.us-east-1.amazonaws.com/", "PPPPPPPPPPPP"},
		{"EKS Auth", "https://eks-auth.us-east-1.api.aws/", "PPPPPPPPPPPP"},
		// botocore's own fetcher of container credentials goes direct.
		{"Pod Identity", "http://169.254.170.23/v1/credentials", "PPPDPPPPPPPP"},
		{"the API server's address", "https://172.20.0.1/", "DDPPDPDPPPDP"},
		{"an address of the VPC", "http://10.0.1.5/", "DDPPDPDPPPDP"},
		{"a service by its short name", "https://kubernetes.default.svc/", "PPPPPPPPPPPP"},
		{"a service by its full name", "http://web.default.svc.cluster.local/", "PPPPPPPPPPPP"},
	}
	words := map[byte]noproxy.Decision{'D': noproxy.Direct, 'P': noproxy.Proxied}
	for _, tt := range tests {
		for i, column := range columns {
			for name := range strings.SplitSeq(column, ", ") {
				got := noproxy.Explain(noproxy.ValueEnvironment(awsPublished), findAll(t, name), parseAll(t, tt.url))
				if got[0].Decision != words[tt.cells[i]] {
					t.Errorf("%s (%s) in %s: %s, want %s", tt.what, tt.url, name, got[0].Decision, words[tt.cells[i]])
				}
			}
		}
	}
}

// TestNearMisses: why an entry that a reader may take for a match is none.
func TestNearMisses(t *testing.T) {
	tests := []struct{ value, url, client, want string }{
		{".svc", "http://web.default.svc.cluster.local/", "Go", "`.svc` does not match: the host ends in cluster.local"},
		{".amazonaws.com", "https://sts.cn-north-1.amazonaws.com.cn/", "Go", "`.amazonaws.com` does not match: the host ends in amazonaws.com.cn"},
		{".s3.us-east-1.amazonaws.com", "https://b.s3.dualstack.us-east-1.amazonaws.com/", "curl", "the host ends in s3.dualstack.us-east-1.amazonaws.com"},
		{"example.com", "http://www.example.com/", "Node core http", "`example.com` does not match: it covers that host alone, in this client"},
		{".example.com", "http://example.com/", "Go", "it covers the hosts below example.com and not this one"},
		{"*.example.com", "http://www.example.com/", "wget", "this client reads no star"},
		{".example.com", "http://www.example.com/", "AWS SDK Java v2", "this client reads only *.example.com"},
		{"10.0.0.0/8", "http://10.1.2.3/", "wget", "`10.0.0.0/8` does not match: this client reads no CIDR"},
		{"fd00::/8", "http://[fd00::5]/", "wget", "this client reads no IPv6 CIDR"},
		{"10.*", "http://10.1.2.3/", "Go", "it is no address; the range is 10.0.0.0/8"},
		{"[fd00::5]", "http://[fd00::5]/", "Go", "this client does not read an address in brackets"},
		{"fd00::5", "http://[fd00::5]/", "undici", "this client does not read an IPv6 address without brackets"},
		{"fd00:0::5", "http://[fd00::5]/", "wget", "this client compares addresses as texts"},
		{"example.com:8080", "http://example.com/", "Go", "it is for port 8080 only"},
		{"example.com:80", "http://example.com/", "curl", "this client does not read the port"},
		{"https://example.com/x", "https://example.com/", "Go", "an entry is a host and not a URL"},
		{"example.com.", "http://example.com/", "Go", "the entry ends in a dot"},
		{"example.com", "http://example.com./", "Go", "the host ends in a dot"},
		{"a.test;example.com", "http://example.com/", "Go", "a blank, a semicolon or a pipe does not separate entries"},
		{"a.test b.test,example.com", "http://example.com/", "curl 8.9-8.17", "this client ends the list at the blank before it"},
		{"a.test, example.com", "http://example.com/", "apt", "this client keeps the blank in front of it"},
	}
	for _, tt := range tests {
		got := noproxy.Explain(noproxy.ValueEnvironment(tt.value), findAll(t, tt.client), parseAll(t, tt.url))[0]
		if got.Decision != noproxy.Proxied || !strings.Contains(strings.Join(got.NearMisses, "\n"), tt.want) {
			t.Errorf("%s with %s in %s: %s, %q, want %q", tt.url, tt.value, tt.client, got.Decision, got.NearMisses, tt.want)
		}
	}
	far := noproxy.Explain(noproxy.ValueEnvironment("a.test,10.0.0.0/8,fd00::1,.b.test"), findAll(t, "Go"), parseAll(t, "http://example.com/"))[0]
	if len(far.NearMisses) > 0 {
		t.Errorf("near misses %q, want none", far.NearMisses)
	}
}

// TestProxiesTaken: where no proxy is given both URLs are as set, and else what
// is given holds.
func TestProxiesTaken(t *testing.T) {
	ts := parseAll(t, "http://example.com/", "https://example.com/")
	for _, e := range noproxy.Explain(noproxy.Environment{}, findAll(t, "Go", "Ruby", "aiohttp", "Node"), ts) {
		if e.Decision != noproxy.Proxied {
			t.Errorf("%s in %s: %s", e.URL, e.Client, e.Decision)
		}
	}
	only := noproxy.Explain(noproxy.Environment{"HTTPS_PROXY": "http://p.example:1"}, findAll(t, "Go"), ts)
	if only[0].Decision != noproxy.Direct || only[1].Decision != noproxy.Proxied {
		t.Errorf("with HTTPS_PROXY alone: %+v", only)
	}
}

// TestIgnored: clients that never read the variables do not count, and say how
// they are given a proxy.
func TestIgnored(t *testing.T) {
	items := noproxy.Explain(noproxy.ValueEnvironment("example.com"), findAll(t, "Go", "urllib3", "got", "AWS SDK JS v3", "JDK", "Envoy"), parseAll(t, "http://example.com/"))
	items = append(items, noproxy.Unknown("lynx", parseAll(t, "http://example.com/")[0]))
	if d := noproxy.Differing(items); len(d) > 0 {
		t.Errorf("differing: %v", d)
	}
	for _, e := range items[1:6] {
		if e.Decision != noproxy.Ignored || e.Configure == "" {
			t.Errorf("%s: %s, configured by %q", e.Client, e.Decision, e.Configure)
		}
	}
}

// TestSmallestChange: each kind of edit, found by trying it on all models.
func TestSmallestChange(t *testing.T) {
	tests := []struct{ value, url, want, result string }{
		{"10.0.0.0/8", "http://10.1.2.3/", "add 10.1.2.3", "10.0.0.0/8,10.1.2.3"},
		{"", "http://localhost/", "add localhost", "localhost"},
		{"example.com", "http://www.example.com/", "add www.example.com", "example.com,www.example.com"},
		{"fd00:ec2::23", "http://[fd00:ec2::23]/", "none", ""},
		{"[fd00:ec2::23]", "http://example.com/", "replace \"[fd00:ec2::23]\" by fd00:ec2::23", "fd00:ec2::23"},
		{"fd00::/8", "http://example.com/", "drop fd00::/8", ""},
		{"a.test,*", "http://www.example.com/", "add www.example.com", "a.test,*,www.example.com"},
		{".example.com", "http://www.example.com/", "add www.example.com", ".example.com,www.example.com"},
	}
	for _, tt := range tests {
		ts := parseAll(t, tt.url)
		got := noproxy.SmallestChange(noproxy.ValueEnvironment(tt.value), ts[0], ts)
		if got.Edit != tt.want || got.NoProxy != tt.result {
			t.Errorf("%s with %s: %+v, want %q, %q", tt.url, tt.value, got, tt.want, tt.result)
		}
		if got.Edit == noproxy.NoChange {
			continue
		}
		if d := noproxy.Differing(noproxy.Explain(noproxy.ValueEnvironment(got.NoProxy), noproxy.Clients(), ts)); len(d) > 0 {
			t.Errorf("%s: after %q the clients still differ", tt.url, got.Edit)
		}
	}
}

// TestSmallestChangeKeeps: an edit does not change what clients do with another
// URL on which they agree.
func TestSmallestChangeKeeps(t *testing.T) {
	ts := parseAll(t, "http://www.example.com/", "http://other.www.example.com/")
	got := noproxy.SmallestChange(noproxy.ValueEnvironment("*.example.com"), ts[0], ts[:1])
	if got.Edit == noproxy.NoChange {
		t.Error("no change is found for one URL")
	}
	env := noproxy.ValueEnvironment("*.a.test,git.a.test")
	kept := parseAll(t, "http://git.a.test/", "http://www.a.test/")
	change := noproxy.SmallestChange(env, kept[1], kept)
	after := noproxy.Explain(noproxy.ValueEnvironment(change.NoProxy), noproxy.Clients(), kept[:1])
	if slices.ContainsFunc(after, func(e noproxy.Explanation) bool { return e.Decision == noproxy.Proxied }) {
		t.Errorf("%+v takes git.a.test away", change)
	}
}

func FuzzExplain(f *testing.F) {
	f.Add(awsPublished, "https://s3.us-east-1.amazonaws.com/")
	f.Add("[fd00::1]:80, .a;b|*,10.*", "http://[fd00::1%25eth0]:80/")
	f.Fuzz(func(_ *testing.T, value, url string) {
		t, err := noproxy.ParseTarget(url)
		if err != nil {
			return
		}
		env := noproxy.ValueEnvironment(value)
		if len(noproxy.Differing(noproxy.Explain(env, noproxy.Clients(), []noproxy.Target{t}))) > 0 && len(value) < 60 {
			noproxy.SmallestChange(env, t, []noproxy.Target{t})
		}
	})
}
