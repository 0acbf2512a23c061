//go:build integration

package noproxy_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/eksproxy/eksproxy/noproxy"
)

// vector is one question: an environment and a URL.
type vector struct {
	Env map[string]string `json:"env"`
	URL string            `json:"url"`
	// variables marks vectors about the variables themselves, which clients
	// that read the environment at their start are asked about in new processes.
	variables bool
}

func (v vector) String() string {
	return fmt.Sprintf("%s with %v", v.URL, strings.TrimPrefix(fmt.Sprintf("%q", v.Env), "map"))
}

const (
	proxyAddress = "127.0.0.1:3128"
	generated    = 420
	seed         = 20261130
)

// number is a constant of the suite, or what a variable says instead: with
// other seeds and more vectors the suite searches.
func number(variable string, usual uint64) uint64 {
	if n, err := strconv.ParseUint(os.Getenv(variable), 10, 32); err == nil {
		return n
	}
	return usual
}

// addressOf is what the suite's hosts file says of a name.
func addressOf(name string) netip.Addr {
	switch strings.ToLower(name) {
	case "localhost", "proxy.test":
		return netip.MustParseAddr("127.0.0.1")
	case "host.test":
		return netip.MustParseAddr("10.1.2.3")
	}
	return netip.MustParseAddr("198.51.100.7")
}

// conformanceVectors are those of the facts, those about variables and proxy
// URLs, and generated ones.
func conformanceVectors() []vector {
	var all []vector
	for _, row := range rows(vectors)[1:] {
		all = append(all, valueVector(strings.ReplaceAll(row[1], `\t`, "\t"), strings.Replace(row[2], ":9/", ":8009/", 1)))
	}
	for _, row := range rows(published)[1:] {
		all = append(all, valueVector("", row[0]))
	}
	all = append(all, variableVectors()...)
	random := rand.New(rand.NewPCG(number("EKSPROXY_TEST_SEED", seed), seed))
	for range number("EKSPROXY_TEST_VECTORS", generated) {
		all = append(all, randomVector(random))
	}
	return all
}

func valueVector(value, rawURL string) vector {
	env := maps.Clone(sixVariables(value))
	for name := range env {
		env[name] = strings.ReplaceAll(env[name], proxyURL, "http://"+proxyAddress)
	}
	return vector{Env: env, URL: rawURL}
}

// variableVectors vary one thing about the variables: which are set, what is
// empty, how the proxy is written, CGI.
func variableVectors() []vector {
	const proxy, list = "http://" + proxyAddress, "example.com"
	environments := []map[string]string{
		{}, {"http_proxy": proxy}, {"HTTP_PROXY": proxy}, {"https_proxy": proxy}, {"HTTPS_PROXY": proxy},
		{"all_proxy": proxy}, {"ALL_PROXY": proxy},
		{"http_proxy": proxy, "no_proxy": list}, {"HTTP_PROXY": proxy, "NO_PROXY": list},
		{"HTTP_PROXY": proxy, "no_proxy": list}, {"https_proxy": proxy, "NO_PROXY": list},
		{"HTTPS_PROXY": proxy, "NO_PROXY": list}, {"all_proxy": proxy, "no_proxy": list},
		{"http_proxy": "", "HTTP_PROXY": proxy}, {"http_proxy": proxy, "HTTP_PROXY": ""},
		{"https_proxy": "", "HTTPS_PROXY": proxy}, {"https_proxy": "", "http_proxy": proxy},
		{"https_proxy": "", "HTTPS_PROXY": proxy, "http_proxy": proxy}, {"http_proxy": "", "all_proxy": proxy},
		{"http_proxy": proxy, "https_proxy": proxy, "no_proxy": "", "NO_PROXY": list},
		{"http_proxy": proxy, "https_proxy": proxy, "no_proxy": list, "NO_PROXY": ""},
		{"http_proxy": proxy, "https_proxy": proxy, "no_proxy": list, "NO_PROXY": "other.test"},
		{"http_proxy": proxy, "https_proxy": proxy, "no_proxy": "other.test", "NO_PROXY": list},
		{"HTTP_PROXY": proxy, "HTTPS_PROXY": proxy, "no_proxy": list, "NO_PROXY": "other.test"},
		{"HTTP_PROXY": proxy, "HTTPS_PROXY": proxy, "no_proxy": "other.test", "NO_PROXY": list},
		{"http_proxy": proxyAddress, "https_proxy": proxyAddress},
		{"http_proxy": proxyAddress, "https_proxy": proxyAddress, "no_proxy": list},
		{"http_proxy": "https://" + proxyAddress, "https_proxy": "https://" + proxyAddress},
		{"http_proxy": "https://" + proxyAddress, "https_proxy": "https://" + proxyAddress, "no_proxy": list},
		{"http_proxy": proxy, "REQUEST_METHOD": "GET"}, {"HTTP_PROXY": proxy, "REQUEST_METHOD": "GET"},
		{"http_proxy": proxy, "HTTP_PROXY": proxy, "REQUEST_METHOD": "GET"},
		{"http_proxy": proxy, "no_proxy": list, "REQUEST_METHOD": "GET"},
		{"HTTPS_PROXY": proxy, "HTTP_PROXY": proxy, "REQUEST_METHOD": "GET"},
		{"http_proxy": proxy, "HTTP_PROXY": proxy, "HTTPS_PROXY": proxy, "NO_PROXY": "Example.com"},
	}
	var all []vector
	for _, env := range environments {
		for _, rawURL := range []string{"http://example.com/", "https://www.example.com/"} {
			all = append(all, vector{Env: env, URL: rawURL, variables: true})
		}
	}
	for _, host := range []string{"169.254.169.254", "169.254.170.2", "169.254.170.23"} {
		all = append(all, valueVector("", "http://"+host+"/"), valueVector("169.254.0.0/16", "http://"+host+"/"))
	}
	return all
}

// randomVector takes a value apart into what clients differ about. Elements
// that end every request of some client are rare.
func randomVector(random *rand.Rand) vector {
	pick := func(texts []string) string { return texts[random.IntN(len(texts))] }
	separators := []string{",", ",", ",", ",", ", ", " ,", ",,", " ", ",\t"}
	hosts := []string{
		"example.com", "www.example.com", "a.b.example.com", "notexample.com", "WWW.Example.COM", "example.com.", "com.test",
		"web.default.svc", "web.default.svc.cluster.local", "b.s3.us-east-1.amazonaws.com", "host.test", "localhost",
		"10.1.2.3", "10.1.3.4", "172.20.0.1", "127.0.0.1", "127.1.2.3",
		"[fd00:ec2::24]", "[fd00:0EC2:0:0::24]", "[::1]", "[fd64:1:2::1]",
	}
	elements := []string{
		"example.com", ".example.com", "*.example.com", "www.example.com", ".www.example.com", "Example.COM", ".EXAMPLE.com",
		"example.com.", ".example.com.", "com", ".com", "ple.com", "*example.com", "..example.com", "*.com", "*", "*", ".",
		"svc", ".svc", "*.svc", ".cluster.local", "*.cluster.local", "s3.us-east-1.amazonaws.com", ".amazonaws.com", "host.test", ".test",
		"localhost", ".localhost", "LOCALHOST", "127.0.0.1", "127.0.0.0/8", "127.*",
		"10.1.2.3", "10.0.0.0/8", "10.1.2.3/32", "10.1.2.3/8", "10.1.0.0/16", "10.1.2.0/23", "10.0.0.0/33", "10.0.0.0/0", "10/8", "10.0.0.0/x",
		"10.*", "10.", "10.1", ".2.3", "2.3", "10.1.2.0-10.1.2.9", "10.1.2.0 - 10.1.3.9", "172.16.0.0/12", "0.0.0.0/0", "010.1.2.3",
		"fd00:ec2::24", "FD00:EC2::24", "fd00:0ec2:0:0::24", "::1", "0:0:0:0:0:0:0:1", "::ffff:10.1.2.3",
		"example.com:80", "example.com:8080", ".example.com:8080", "*.example.com:443", "www.example.com:443", "10.1.2.3:80", "10.1.2.3:8080",
		"10.0.0.0/8:80", "example.com:0", "*:80", "example.com:080", "a|example.com", "a;example.com", "\"example.com\"", "user@example.com",
	}
	rare := []string{
		"fd00::/8", "fd00:ec2::/47", "fd00:ec2::24/128", "::/0", "[fd00:ec2::24]", "[fd00::]/8", "[fd00:ec2::24]:80", "[::1]",
		"http://example.com", "https://www.example.com/", "example.com:http", "example.com/", "/24", ":80", "example.com:",
	}
	var value strings.Builder
	for i := range 1 + random.IntN(4) {
		if i > 0 {
			value.WriteString(pick(separators))
		}
		if random.IntN(12) == 0 {
			value.WriteString(pick(rare))
			continue
		}
		value.WriteString(pick(elements))
	}
	text := value.String()
	switch random.IntN(12) {
	case 0:
		text = " " + text
	case 1:
		text += " "
	}
	ports := []string{"", "", "", "", ":80", ":443", ":8080"}
	return valueVector(text, pick([]string{"http", "http", "https"})+"://"+pick(hosts)+pick(ports)+"/")
}

// expected is the model's decision.
func expected(t *testing.T, c noproxy.Client, v vector) noproxy.Decision {
	t.Helper()
	target, err := noproxy.ParseTarget(v.URL)
	if err != nil {
		t.Fatal(err)
	}
	if !target.Addr().IsValid() {
		target = target.ResolvesTo(addressOf(target.Host()))
	}
	return c.Prepare(v.Env).Decide(target).Decision
}

// hostsFile names every host of the vectors, as written and without the root's
// dot.
func hostsFile(all []vector) string {
	names := map[string]bool{"proxy.test": true}
	for _, v := range all {
		u, err := url.Parse(v.URL)
		if err != nil {
			continue
		}
		if _, err := netip.ParseAddr(u.Hostname()); err != nil {
			names[u.Hostname()], names[strings.ToLower(u.Hostname())] = true, true
		}
	}
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(names)) {
		fmt.Fprintf(&text, "%s %s\n", addressOf(name), name)
	}
	return text.String()
}

func portsOf(all []vector) []string {
	ports := map[string]bool{"80": true, "443": true}
	for _, v := range all {
		if u, err := url.Parse(v.URL); err == nil && u.Port() != "" {
			ports[u.Port()] = true
		}
	}
	return slices.Sorted(maps.Keys(ports))
}
