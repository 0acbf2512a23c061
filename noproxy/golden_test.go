package noproxy_test

import (
	_ "embed"
	"net/netip"
	"strings"
	"testing"

	"github.com/eksproxy/eksproxy/noproxy"
)

// vectors are table A3 of facts/no-proxy.md: id, NO_PROXY, URL, and one column
// a client. What its rows 6a to 6f say of fd00:ec2::23 was measured on the
// common path of each client and not on an SDK's own for credentials, so two
// clients are asked about the next address.
//
//go:embed testdata/vectors.txt
var vectors string

// published is table B4: what AWS publishes, client by client.
//
//go:embed testdata/published.txt
var published string

const proxyURL = "http://proxy.test:3128"

// sixVariables has a proxy for both schemes in both cases.
func sixVariables(value string) noproxy.Environment {
	env := noproxy.Environment{
		"HTTP_PROXY": proxyURL, "HTTPS_PROXY": proxyURL, "http_proxy": proxyURL, "https_proxy": proxyURL,
	}
	if value != "" {
		env["NO_PROXY"], env["no_proxy"] = value, value
	}
	return env
}

func find(t *testing.T, name string) noproxy.Client {
	t.Helper()
	c, ok := noproxy.FindClient(name)
	if !ok {
		t.Fatalf("%s is not modelled", name)
	}
	return c
}

func parse(t *testing.T, rawURL string) noproxy.Target {
	t.Helper()
	target, err := noproxy.ParseTarget(rawURL)
	if err != nil {
		t.Fatal(err)
	}
	if target.Host() == "host.test" {
		target = target.ResolvesTo(netip.MustParseAddr("10.1.2.3"))
	}
	return target
}

func letter(d noproxy.Decision) string {
	return map[noproxy.Decision]string{noproxy.Direct: "D", noproxy.Proxied: "P", noproxy.Failed: "E", noproxy.Ignored: "I"}[d]
}

func rows(table string) [][]string {
	var rows [][]string
	for line := range strings.Lines(table) {
		rows = append(rows, strings.Split(strings.TrimSuffix(line, "\n"), "|"))
	}
	return rows
}

func TestVectorsOfTheFacts(t *testing.T) {
	table := rows(vectors)
	cells := 0
	for _, row := range table[1:] {
		value := strings.ReplaceAll(row[1], `\t`, "\t")
		target := parse(t, row[2])
		for i, want := range row[3:] {
			cells++
			got := find(t, table[0][3+i]).Prepare(sixVariables(value)).Decide(target)
			if got.Rule == noproxy.RuleCredentials {
				next := strings.NewReplacer(":23]", ":24]", "::23", "::24", "0:23", "0:24")
				got = find(t, table[0][3+i]).Prepare(sixVariables(next.Replace(value))).Decide(parse(t, next.Replace(row[2])))
			}
			if letter(got.Decision) != want {
				t.Errorf("%s %s: %q, %s: %s (%s, %s), want %s",
					row[0], table[0][3+i], value, row[2], got.Decision, got.Entry, got.Rule, want)
			}
		}
	}
	t.Logf("%d vectors, %d decisions", len(table)-1, cells)
}

// The second column of the table holds an exception of botocore's, which its
// own row has.
func TestPublishedValue(t *testing.T) {
	const value = "172.20.0.0/16,localhost,127.0.0.1,10.0.0.0/16,169.254.169.254,.internal,s3.amazonaws.com," +
		".s3.us-east-1.amazonaws.com,api.ecr.us-east-1.amazonaws.com,dkr.ecr.us-east-1.amazonaws.com,ec2.us-east-1.amazonaws.com"
	table := rows(published)
	for _, row := range table[1:] {
		for i, want := range row[1:] {
			for name := range strings.SplitSeq(table[0][1+i], ";") {
				for _, c := range noproxy.FindClients(name) {
					got := c.Prepare(sixVariables(value)).Decide(parse(t, row[0]))
					if letter(got.Decision) != want {
						t.Errorf("%s, %s: %s (%s, %s), want %s", row[0], c.Name(), got.Decision, got.Entry, got.Rule, want)
					}
				}
			}
		}
	}
}

// The value that B5 composed, whole. What is left of disagreement is reported
// there and shows here: IP addresses without an element of their own in clients
// that read no ranges, and the clients that were not run.
func TestComposedValueAgrees(t *testing.T) {
	zoneOf := func(name string) string { return name + ",." + name + ",*." + name }
	value := strings.Join([]string{
		"localhost,127.0.0.1,169.254.169.254,169.254.170.2,169.254.170.23,172.20.0.1,10.0.0.0/16,172.20.0.0/16",
		"svc,.svc,*.svc,cluster.local,.cluster.local,*.cluster.local,.ec2.internal,*.ec2.internal,ec2.internal",
		"0123abcd.gr7.us-east-1.eks.amazonaws.com",
		zoneOf("dkr.ecr.us-east-1.amazonaws.com"), zoneOf("s3.us-east-1.amazonaws.com"), zoneOf("s3.dualstack.us-east-1.amazonaws.com"),
		"api.ecr.us-east-1.amazonaws.com,ec2.us-east-1.amazonaws.com,sts.us-east-1.amazonaws.com,eks-auth.us-east-1.api.aws",
	}, ",")
	want := map[string]noproxy.Decision{
		"http://localhost/":                                      noproxy.Direct,
		"http://169.254.169.254/":                                noproxy.Direct,
		"http://169.254.170.23/":                                 noproxy.Direct,
		"https://172.20.0.1/":                                    noproxy.Direct,
		"https://111122223333.dkr.ecr.us-east-1.amazonaws.com/":  noproxy.Direct,
		"https://b.s3.us-east-1.amazonaws.com/":                  noproxy.Direct,
		"https://s3.us-east-1.amazonaws.com/b":                   noproxy.Direct,
		"https://b.s3.dualstack.us-east-1.amazonaws.com/":        noproxy.Direct,
		"https://0123ABCD.gr7.us-east-1.eks.amazonaws.com/":      noproxy.Direct,
		"https://sts.us-east-1.amazonaws.com/":                   noproxy.Direct,
		"https://eks-auth.us-east-1.api.aws/":                    noproxy.Direct,
		"https://kubernetes.default.svc/":                        noproxy.Direct,
		"https://web.default.svc.cluster.local/":                 noproxy.Direct,
		"http://ip-10-0-1-5.ec2.internal:10250/":                 noproxy.Direct,
		"https://eks.us-east-1.amazonaws.com/":                   noproxy.Proxied,
		"https://oidc.eks.us-east-1.amazonaws.com/":              noproxy.Proxied,
		"https://github.com/":                                    noproxy.Proxied,
		"https://b.s3.amazonaws.com/":                            noproxy.Proxied,
		"https://sts.cn-north-1.amazonaws.com.cn/":               noproxy.Proxied,
		"https://hybrid-assets.eks.amazonaws.com/":               noproxy.Proxied,
		"https://prod-us-west-2-starport.s3.us-west-2.amazonaws": noproxy.Proxied,
	}
	for _, c := range noproxy.Clients() {
		m := c.Prepare(sixVariables(value))
		for rawURL, want := range want {
			got := m.Decide(parse(t, rawURL))
			if got.Decision != want && got.Decision != noproxy.Ignored {
				t.Errorf("%s, %s: %s (%s, %s), want %s", rawURL, c.Name(), got.Decision, got.Entry, got.Rule, want)
			}
		}
	}
}

func TestExtraVectors(t *testing.T) {
	tests := []struct{ client, value, url, want string }{
		{"curl 8.9-8.17", "localhost 127.0.0.1,10.0.0.0/8", "http://10.1.2.3/", "P"},
		{"curl 7.86-8.8", "localhost 127.0.0.1,10.0.0.0/8", "http://10.1.2.3/", "D"},
		{"pip", "10.0.0.0/8", "http://10.1.2.3/", "D"},
		{"pip", "*.example.com", "http://www.example.com/", "P"},
		{"pip", ".example.com", "http://example.com/", "D"},
		{"Node fetch", "[::1]", "http://[::1]/", "D"},
		{"Node fetch", "::1", "http://[::1]/", "P"},
		{"undici 6", "[::1]", "http://[::1]/", "D"},
		{"Go", "eks.us-east-1.amazonaws.com", "https://oidc.eks.us-east-1.amazonaws.com", "D"},
		{"Go", ".eks.amazonaws.com", "https://hybrid-assets.eks.amazonaws.com", "D"},
		{"Go", ".eks.us-east-1.amazonaws.com", "https://eks.us-east-1.amazonaws.com", "P"},
		{"Go", "10.0.0.0/8:443", "https://10.1.2.3/", "P"},
		{"Go", "[fd00::1]", "http://[fd00::1]/", "P"},
		{"Go", "[fd00::1]:80", "http://[fd00::1]/", "D"},
		{"Go", "fe80::/10", "http://[fe80::1%25eth0]/", "D"},
		{"Go", "10.0.0.0/8", "http://[::ffff:10.1.2.3]/", "D"},
		{"Go", "com", "http://example.com/", "D"},
		{"Node core http", "10.0.0.1-10.1.9.9", "http://10.1.2.3/", "D"},
		{"httpx", "fd00::/108", "http://example.com/", "E"},
		{"httpx", "fd00::/108,*", "http://example.com/", "D"},
		{"hyper-util", "*", "http://10.1.2.3/", "P"},
		{"axios", "127.0.0.1", "http://[::1]/", "D"},
		{"axios", "[fd00::]/8", "http://[fd00::1]/", "D"},
		{"Guzzle", "Example.com", "http://example.com/", "D"}, // by libcurl, which does not mind case
		{"AWS CRT", "10.0.0.0/8,fd00::/8", "http://[fd00::1]/", "D"},
		{"curl < 7.86", "10.0.0.0/8", "http://10.1.2.3/", "P"},
		{"curl < 7.86", ".2.3", "http://10.1.2.3/", "D"},
		{"curl >= 8.18", "fd00::/8", "http://[fd00::1]/", "D"},
		{"curl 8.9-8.17", "fd00::/8", "http://[fd00::1]/", "P"},
	}
	for _, tt := range tests {
		got := find(t, tt.client).Prepare(sixVariables(tt.value)).Decide(parse(t, tt.url))
		if letter(got.Decision) != tt.want {
			t.Errorf("%s: %q, %s: %s (%s, %s), want %s", tt.client, tt.value, tt.url, got.Decision, got.Entry, got.Rule, tt.want)
		}
	}
}

// The JDK reads properties, which stand in the environment under their names.
func TestJDKProperties(t *testing.T) {
	jdk := find(t, "JDK")
	if got := jdk.Prepare(sixVariables("*")).Decide(parse(t, "http://example.com/")); got.Decision != noproxy.Ignored {
		t.Errorf("with the environment alone: %s, want ignored", got.Decision)
	}
	tests := []struct{ value, url, want string }{
		{"*.example.com", "http://www.example.com/", "D"},
		{".example.com", "http://www.example.com/", "P"},
		{"example.com", "http://www.example.com/", "P"},
		{"10.0.0.0/8", "http://10.1.2.3/", "P"},
		{"10.*", "http://10.1.2.3/", "D"},
		{"a,b.com", "http://b.com/", "P"},
		{"a|b.com", "http://b.com/", "D"},
		{"[fd00:ec2::23]", "http://[fd00:ec2::23]/", "D"},
		{"fd00:ec2::23", "http://[fd00:ec2::23]/", "P"},
		{"a", "http://localhost/", "D"},
		{"", "http://localhost/", "P"},
	}
	for _, tt := range tests {
		env := noproxy.Environment{"http.proxyHost": "proxy.test", "http.nonProxyHosts": tt.value}
		if got := jdk.Prepare(env).Decide(parse(t, tt.url)); letter(got.Decision) != tt.want {
			t.Errorf("%q, %s: %s (%s), want %s", tt.value, tt.url, got.Decision, got.Rule, tt.want)
		}
	}
	unset := noproxy.Environment{"http.proxyHost": "proxy.test"}
	if got := jdk.Prepare(unset).Decide(parse(t, "http://127.0.0.9/")); got.Decision != noproxy.Direct {
		t.Errorf("loopback without nonProxyHosts: %s, want direct", got.Decision)
	}
}
