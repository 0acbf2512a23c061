package noproxy_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/eksproxy/eksproxy/noproxy"
)

// The names are part of the interface: users write them.
func TestClientNames(t *testing.T) {
	want := []string{
		"Go std <= 1.26", "x/net >= 0.59", "curl < 7.86", "curl 7.86-8.8", "curl 8.9-8.17", "curl >= 8.18", "wget", "apt", "dnf",
		"Python urllib", "requests, pip", "botocore, AWS CLI", "httpx", "aiohttp", "urllib3",
		"Node core http", "Node fetch, undici 7", "undici 6", "axios", "proxy-from-env", "got", "AWS SDK JS v3",
		"Ruby Net::HTTP", "AWS SDK Ruby", "hyper-util, reqwest", ".NET <= 10", "JDK", "AWS SDK Java v2", "AWS CRT", "Guzzle", "Envoy",
	}
	var got []string
	for _, c := range noproxy.Clients() {
		got = append(got, c.Name())
		info := c.Info()
		if info.Source == "" || info.Versions == "" {
			t.Errorf("%s names no source or no version", c.Name())
		}
		if reads := len(info.HTTP) > 0; !reads && info.Configure == "" {
			t.Errorf("%s reads no variables and does not say how to configure it", c.Name())
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("clients are %q, want %q", got, want)
	}
}

func TestFindClient(t *testing.T) {
	tests := map[string]string{
		"git": "curl >= 8.18", "PIP": "requests, pip", "aws cli": "botocore, AWS CLI", "PHP ext-curl": "curl >= 8.18",
		"containerd": "Go std <= 1.26", "kubelet": "Go std <= 1.26", "UNDICI 6": "undici 6", "undici": "Node fetch, undici 7",
		"curl < 7.86": "curl < 7.86", "reqwest": "hyper-util, reqwest", "boto3": "botocore, AWS CLI",
	}
	for name, want := range tests {
		if c, ok := noproxy.FindClient(name); !ok || c.Name() != want {
			t.Errorf("%s is %v, want %s", name, c, want)
		}
	}
	if _, ok := noproxy.FindClient("lynx"); ok {
		t.Error("lynx is found, but was never modelled")
	}
	if n := len(noproxy.FindClients("curl")); n != 4 {
		t.Errorf("curl is %d clients, want its 4 versions", n)
	}
}

// A name or alias stands for one client, or for the versions of one.
func TestAliasesAreUnique(t *testing.T) {
	owners := map[string]string{}
	for _, c := range noproxy.Clients() {
		family, _, _ := strings.Cut(c.Name(), " ")
		for _, name := range append(c.Info().Aliases, c.Name()) {
			name = strings.ToLower(name)
			if other, taken := owners[name]; taken && other != family {
				t.Errorf("%s is both %s and %s", name, other, family)
			}
			owners[name] = family
		}
	}
}

// Which variable counts, what an empty one does, and how a proxy is written.
func TestVariables(t *testing.T) {
	const proxy = "http://proxy.test:3128"
	tests := []struct {
		client   string
		env      noproxy.Environment
		url      string
		decision noproxy.Decision
		variable string
	}{
		{"Go", noproxy.Environment{"HTTP_PROXY": proxy, "NO_PROXY": "a.test", "no_proxy": "b.test"}, "http://a.test/", noproxy.Direct, "HTTP_PROXY"},
		{"x/net", noproxy.Environment{"HTTP_PROXY": proxy, "NO_PROXY": "a.test", "no_proxy": "b.test"}, "http://a.test/", noproxy.Proxied, "HTTP_PROXY"},
		{"Go", noproxy.Environment{"http_proxy": proxy, "REQUEST_METHOD": "GET", "NO_PROXY": "a.test"}, "http://a.test/", noproxy.Failed, "http_proxy"},
		{"Go", noproxy.Environment{"https_proxy": proxy, "REQUEST_METHOD": "GET"}, "https://a.test/", noproxy.Proxied, "https_proxy"},
		{"curl", noproxy.Environment{"HTTP_PROXY": proxy}, "http://a.test/", noproxy.Direct, ""},
		{"curl", noproxy.Environment{"ALL_PROXY": proxy}, "http://a.test/", noproxy.Proxied, "ALL_PROXY"},
		{"curl", noproxy.Environment{"https_proxy": "", "HTTPS_PROXY": proxy}, "https://a.test/", noproxy.Proxied, "HTTPS_PROXY"},
		{"wget", noproxy.Environment{"HTTPS_PROXY": proxy}, "https://a.test/", noproxy.Direct, ""},
		{"apt", noproxy.Environment{"http_proxy": proxy}, "https://a.test/", noproxy.Proxied, "http_proxy"},
		{"apt", noproxy.Environment{"http_proxy": proxy, "https_proxy": ""}, "https://a.test/", noproxy.Direct, ""},
		{"apt", noproxy.Environment{"http_proxy": "proxy.test:3128"}, "http://a.test/", noproxy.Failed, "http_proxy"},
		{"urllib", noproxy.Environment{"http_proxy": "", "HTTP_PROXY": proxy}, "http://a.test/", noproxy.Direct, ""},
		{"urllib", noproxy.Environment{"HTTP_PROXY": proxy, "REQUEST_METHOD": "GET"}, "http://a.test/", noproxy.Direct, ""},
		{"requests", noproxy.Environment{"HTTP_PROXY": proxy, "NO_PROXY": "a.test", "no_proxy": ""}, "http://a.test/", noproxy.Direct, "HTTP_PROXY"},
		{"urllib", noproxy.Environment{"HTTP_PROXY": proxy, "NO_PROXY": "a.test", "no_proxy": ""}, "http://a.test/", noproxy.Proxied, "HTTP_PROXY"},
		{"aiohttp", noproxy.Environment{"http_proxy": "https://proxy.test:3128"}, "http://a.test/", noproxy.Direct, "http_proxy"},
		{"aiohttp", noproxy.Environment{"http_proxy": "proxy.test:3128"}, "http://a.test/", noproxy.Failed, "http_proxy"},
		{"Node core http", noproxy.Environment{"http_proxy": "proxy.test:3128"}, "https://a.test/", noproxy.Failed, "http_proxy"},
		{"Node fetch", noproxy.Environment{"HTTP_PROXY": proxy}, "https://a.test/", noproxy.Proxied, "HTTP_PROXY"},
		{"Node fetch", noproxy.Environment{"HTTP_PROXY": proxy, "http_proxy": ""}, "http://a.test/", noproxy.Direct, ""},
		{"Ruby", noproxy.Environment{"HTTPS_PROXY": proxy}, "https://a.test/", noproxy.Direct, ""},
		{"Ruby", noproxy.Environment{"HTTP_PROXY": proxy}, "https://a.test/", noproxy.Proxied, "HTTP_PROXY"},
		{"reqwest", noproxy.Environment{"HTTP_PROXY": "", "http_proxy": proxy}, "http://a.test/", noproxy.Direct, ""},
		{"reqwest", noproxy.Environment{"http_proxy": proxy, "REQUEST_METHOD": "GET"}, "http://a.test/", noproxy.Direct, ""},
		{".NET", noproxy.Environment{"HTTP_PROXY": proxy, "GATEWAY_INTERFACE": "CGI/1.1"}, "http://a.test/", noproxy.Direct, ""},
		{"Guzzle", noproxy.Environment{"HTTP_PROXY": proxy, "NO_PROXY": "a.test"}, "http://a.test/", noproxy.Direct, ""},
		{"got", noproxy.Environment{"HTTP_PROXY": proxy}, "http://a.test/", noproxy.Ignored, ""},
		{"AWS CLI", noproxy.Environment{"HTTP_PROXY": proxy, "NO_PROXY": "169.254.0.0/16"}, "http://169.254.169.254/", noproxy.Proxied, "HTTP_PROXY"},
		{"AWS CLI", noproxy.Environment{"HTTP_PROXY": proxy}, "http://169.254.170.23/v1", noproxy.Direct, "HTTP_PROXY"},
		{"AWS SDK Java v2", noproxy.Environment{"HTTP_PROXY": proxy}, "http://169.254.169.254/", noproxy.Direct, "HTTP_PROXY"},
		{"AWS SDK Go v2", noproxy.Environment{"HTTP_PROXY": proxy}, "http://169.254.169.254/", noproxy.Proxied, "HTTP_PROXY"},
	}
	for _, tt := range tests {
		got := find(t, tt.client).Prepare(tt.env).Decide(parse(t, tt.url))
		if got.Decision != tt.decision || got.Proxy != tt.variable {
			t.Errorf("%s with %v, %s: %s by %q (%s), want %s by %q", tt.client, tt.env, tt.url, got.Decision, got.Proxy, got.Rule, tt.decision, tt.variable)
		}
	}
}

func TestParseTarget(t *testing.T) {
	target, err := noproxy.ParseTarget("https://User:secret@[FD00:0EC2::23]:8443/x")
	if err != nil {
		t.Fatal(err)
	}
	if target.Host() != "FD00:0EC2::23" || target.Port() != 8443 || target.Scheme() != "https" || target.Addr().String() != "fd00:ec2::23" {
		t.Errorf("read %+v", target)
	}
	for _, text := range []string{"", "example.com", "ftp://example.com/", "http://", "http://exämple.com/", "http://a b/", "http://a:0/", "http://a:99999/", "http://u:secret@a:x/"} {
		if _, err := noproxy.ParseTarget(text); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v, want an error without the password", text, err)
		}
	}
	if got := find(t, "Go").Prepare(nil).Decide(noproxy.Target{}); got.Decision != noproxy.Failed {
		t.Errorf("the zero target is %s, want error", got.Decision)
	}
}
