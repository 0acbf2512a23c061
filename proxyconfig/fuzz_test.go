package proxyconfig_test

import (
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/eksproxy/eksproxy/proxyconfig"
)

// FuzzParseURL: what is accepted has no byte that could end a line or a word,
// means the same to net/url, comes back from Reveal, and hides its password.
func FuzzParseURL(f *testing.F) {
	for _, seed := range []string{
		"http://proxy.example:3128", "https://svc:p%40ss@[::1]:443/", "http://a:1\n", "socks5://a:1", "http://a/proxy.pac",
		"http://u:p@q@a:1", "http://%3A:x@a:1", "http://u:%7F@a:1", "http://a:065535", "HTTP://u@A_b-c.:1/",
	} {
		f.Add(seed)
	}
	bare := regexp.MustCompile(`^https?://([A-Za-z0-9._-]+|\[[0-9a-f:.]+\]):[1-9][0-9]{0,4}$`)
	full := regexp.MustCompile(`^https?://([A-Za-z0-9._%-]+:[A-Za-z0-9._%-]*@)?[^@]+$`)
	f.Fuzz(func(t *testing.T, text string) {
		u, err := proxyconfig.ParseURL(text)
		if err != nil {
			if !u.IsZero() || u.HasCredentials() {
				t.Errorf("%q: an error comes with a URL", text)
			}
			return
		}
		if !bare.MatchString(u.Bare()) || !full.MatchString(u.Reveal()) {
			t.Errorf("%q gave %q", text, u.Reveal())
		}
		again, err := proxyconfig.ParseURL(u.Reveal())
		if err != nil || !again.Equal(u) {
			t.Errorf("%q came back from %q as %q, %v", text, u.Reveal(), again.Reveal(), err)
		}
		checkNetURL(t, u)
	})
}

// checkNetURL compares with the second opinion.
func checkNetURL(t *testing.T, u proxyconfig.URL) {
	t.Helper()
	std, err := url.Parse(u.Reveal())
	if err != nil {
		t.Errorf("net/url refuses %q: %v", u.Reveal(), err)
		return
	}
	user, password := u.Credentials().Reveal()
	theirs, _ := std.User.Password()
	if std.User.Username() != user || theirs != password || std.Host != u.HostPort() {
		t.Errorf("net/url reads %q as %q, %q at %q", u.Reveal(), std.User.Username(), theirs, std.Host)
	}
	if password != "" && strings.Contains(u.String(), "@") && !strings.Contains(u.String(), "://[secret]@") {
		t.Errorf("%q prints as %q", u.Reveal(), u)
	}
}

// FuzzParseCredentials: the text comes back, and from a URL too.
func FuzzParseCredentials(f *testing.F) {
	for _, seed := range []string{"svc:pw\n", "svc:a:b", "svc:\r\n", ":", "\n", "a:b\nc", "a:\xff", "a: ~%$\"'`\\"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := proxyconfig.ParseCredentials(data)
		if err != nil {
			if !c.IsZero() {
				t.Errorf("%q: an error comes with credentials", data)
			}
			return
		}
		user, password := c.Reveal()
		if end := strings.TrimPrefix(string(data), user+":"+password); end != "" && end != "\n" && end != "\r\n" && end != "\r" {
			t.Errorf("%q became %q and %q", data, user, password)
		}
		if strings.Trim(user+password, printable()) != "" || user == "" {
			t.Errorf("%q gave other bytes: %q, %q", data, user, password)
		}
		checkNetURL(t, mustURL(t, "http://a:1").With(c))
	})
}

// FuzzParseFile: whatever parses can be shown, and what is shown parses to the
// same.
func FuzzParseFile(f *testing.F) {
	for _, seed := range []string{
		"spec: {httpProxy: 'http://a:1', noProxy: {add: [a, '*.b', '#', 'no']}}", "spec: {scopes: {node: {trustedCA: \"a\\nb\\n\"}}}",
		"spec: {httpProxy: &a x, httpsProxy: *a}", "spec: &a {scopes: *a}", "spec:\n\t- x", "spec: {node: {os: al2, targets: {soci: false}}}",
		"spec: {cluster: {name: '12:30', region: \"\\u0085\"}}", "---\n", "spec: {? [a] : b}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := proxyconfig.ParseFile("f.yaml", append([]byte(head), data...))
		if err != nil {
			return
		}
		checkView(t, l)
		_, _ = l.In("node").View(), l.Flatten("node")
	})
}

// checkView parses what is shown, where nothing is hidden.
func checkView(t *testing.T, l proxyconfig.Layer) {
	t.Helper()
	text, err := l.View().YAML(true)
	if err != nil {
		t.Fatalf("showing: %v", err)
	}
	if strings.Contains(text, "[secret]") {
		return
	}
	again, err := proxyconfig.ParseFile("f.yaml", []byte(head+text))
	if err != nil {
		t.Fatalf("parsing what is shown: %v\n%s", err, text)
	}
	one, two := texts(l), texts(again)
	for path := range one {
		if one[path] != two[path] {
			t.Errorf("%s: %q is shown as %q", path, one[path], two[path])
		}
	}
}
