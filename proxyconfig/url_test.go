package proxyconfig_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/eksproxy/eksproxy/proxyconfig"
)

// secret stands in whatever must not be shown.
const secret = "s3cret-W0rd"

// wantError checks that an error holds all these words and no secret.
func wantError(t *testing.T, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one with %q", words)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("error %q\nlacks %q", err, w)
		}
	}
	if strings.Contains(err.Error(), secret) {
		t.Errorf("error %q shows the secret", err)
	}
	if strings.Contains(strings.ToLower(err.Error()), "failed to") {
		t.Errorf("error %q says failed to", err)
	}
}

// mustURL parses a URL that is right.
func mustURL(t *testing.T, text string) proxyconfig.URL {
	t.Helper()
	u, err := proxyconfig.ParseURL(text)
	if err != nil {
		t.Fatalf("ParseURL(%q): %v", text, err)
	}
	return u
}

// TestParseURL covers every form that is accepted: the bare and the real URL.
func TestParseURL(t *testing.T) {
	tests := []struct{ in, bare, real string }{
		{"http://proxy.example:3128", "http://proxy.example:3128", "http://proxy.example:3128"},
		{"https://proxy.example:443", "https://proxy.example:443", "https://proxy.example:443"},
		{"HTTP://Proxy.Example:3128", "http://Proxy.Example:3128", "http://Proxy.Example:3128"},
		{"http://proxy.example:3128/", "http://proxy.example:3128", "http://proxy.example:3128"},
		{"http://proxy.example.:3128", "http://proxy.example.:3128", "http://proxy.example.:3128"},
		{"http://proxy:1", "http://proxy:1", "http://proxy:1"},
		{"http://pro_xy-1:65535", "http://pro_xy-1:65535", "http://pro_xy-1:65535"},
		{"http://10.0.5.67:8080", "http://10.0.5.67:8080", "http://10.0.5.67:8080"},
		{"http://[2001:DB8:0::7]:3128/", "http://[2001:db8::7]:3128", "http://[2001:db8::7]:3128"},
		{"http://svc:pw@proxy.example:3128", "http://proxy.example:3128", "http://svc:pw@proxy.example:3128"},
		{"http://svc@proxy.example:3128", "http://proxy.example:3128", "http://svc:@proxy.example:3128"},
		{"http://svc:@proxy.example:3128", "http://proxy.example:3128", "http://svc:@proxy.example:3128"},
		{"http://svc:a:b@proxy.example:3128", "http://proxy.example:3128", "http://svc:a%3Ab@proxy.example:3128"},
		{"http://svc:a+b$&~!*'()@[::1]:3128", "http://[::1]:3128", "http://svc:a%2Bb%24%26%7E%21%2A%27%28%29@[::1]:3128"},
		// BL-031: the characters that a URL must encode.
		{"http://s%76c:%40%3a%2f%23%25%20@proxy.example:3128/", "http://proxy.example:3128", "http://svc:%40%3A%2F%23%25%20@proxy.example:3128"},
	}
	for _, tt := range tests {
		t.Run(tt.in, func(t *testing.T) {
			u := mustURL(t, tt.in)
			if diff := cmp.Diff([]string{tt.bare, tt.real}, []string{u.Bare(), u.Reveal()}); diff != "" {
				t.Error(diff)
			}
			if again := mustURL(t, u.Reveal()); !again.Equal(u) {
				t.Errorf("what Reveal gives parses to %q", again.Reveal())
			}
		})
	}
}

// TestParseURLRefuses covers every form that is refused, and what the error
// says to write instead.
func TestParseURLRefuses(t *testing.T) {
	const want = "write http://HOST:PORT"
	tests := []struct {
		in    string
		words []string
	}{
		{"", []string{"no scheme", want}},
		{"proxy.example:3128", []string{"no scheme", want}},
		{"//proxy.example:3128", []string{"no scheme", want}},
		{"svc:" + secret + "@proxy.example:3128", []string{"no scheme", want}},
		{"://proxy.example:3128", []string{"scheme is not http or https", want}},
		{"ftp://proxy.example:3128", []string{"scheme is not http or https", want}},
		{secret + "://proxy.example:3128", []string{"scheme is not http or https", want}},
		{"socks5://svc:" + secret + "@proxy.example:1080", []string{"SOCKS", "http://HOST:PORT"}},
		{"SOCKS5H://proxy.example:1080", []string{"SOCKS", "http://HOST:PORT"}},
		{"pac+http://wpad.example/", []string{"PAC", "http://HOST:PORT"}},
		{"http://wpad.example/proxy.PAC", []string{"PAC", "http://HOST:PORT"}},
		{"http://wpad.example:80/wpad.dat", []string{"PAC", "http://HOST:PORT"}},
		{"http://proxy.example", []string{"no port", want}},
		{"http://proxy.example/", []string{"no port", want}},
		{"http://[2001:db8::7]", []string{"no port", want}},
		{"http://", []string{"no port", want}},
		{"http://proxy.example:", []string{"from 1 to 65535", want}},
		{"http://proxy.example:0", []string{"from 1 to 65535", want}},
		{"http://proxy.example:65536", []string{"from 1 to 65535", want}},
		{"http://proxy.example:-1", []string{"from 1 to 65535", want}},
		{"http://proxy.example:3128 ", []string{"from 1 to 65535", want}},
		{"http://svc:" + secret, []string{"from 1 to 65535", want}},
		{"http://proxy.example:3128/path", []string{"path", want}},
		{"http://proxy.example:3128//", []string{"path", want}},
		{"http://proxy.example:3128?a=b", []string{"path", want}},
		{"http://proxy.example:3128#a", []string{"path", want}},
		{"http://:3128", []string{"letters, digits", want}},
		{"http://pro xy:3128", []string{"letters, digits", want}},
		{"http://pröxy.example:3128", []string{"letters, digits", want}},
		{"http://a..b:3128", []string{"letters, digits", want}},
		{"http://.b:3128", []string{"letters, digits", want}},
		{"http://" + secret + "!:3128", []string{"letters, digits", want}},
		{"http://" + strings.Repeat("a", 254) + ":3128", []string{"letters, digits", want}},
		{"http://2001:db8::7:3128", []string{"http://[ADDRESS]:PORT"}},
		{"http://svc:" + secret + ":3128", []string{"more than one colon", "http://[ADDRESS]:PORT"}},
		{"http://[10.0.0.1]:3128", []string{"brackets", "http://[ADDRESS]:PORT"}},
		{"http://[fe80::1%25eth0]:3128", []string{"brackets", "http://[ADDRESS]:PORT"}},
		{"http://[::1:3128", []string{"brackets", "http://[ADDRESS]:PORT"}},
		{"http://[" + secret + "]:3128", []string{"brackets", "http://[ADDRESS]:PORT"}},
		// BL-015: a block scalar's or an echo's line end. The report says
		// trim; the order says refuse.
		{"http://proxy.example:3128\n", []string{"line break", "one line, in quotes"}},
		{"http://svc:" + secret + "@proxy.example:3128\r\n", []string{"line break"}},
		{"http://proxy.\x00example:3128", []string{"control character"}},
		{"http://proxy.example:\t3128", []string{"control character"}},
		{"http://proxy.example:3128\x7f", []string{"control character"}},
		{"http://svc:" + secret + "@x@proxy.example:3128", []string{"not percent-encoded", "--credentials-file"}},
		{"http://svc:" + secret + "/x@proxy.example:3128", []string{"not percent-encoded", "--credentials-file"}},
		{"http://svc:" + secret + " x@proxy.example:3128", []string{"not percent-encoded", "--credentials-file"}},
		{"http://svc:" + secret + "%@proxy.example:3128", []string{"not percent-encoded", "--credentials-file"}},
		{"http://%zz:" + secret + "@proxy.example:3128", []string{"not percent-encoded", "--credentials-file"}},
		{"http://:" + secret + "@proxy.example:3128", []string{"no user", "user:password"}},
		{"http://a%3Ab:" + secret + "@proxy.example:3128", []string{"RFC 7617"}},
		{"http://svc:" + secret + "%0a@proxy.example:3128", []string{"one line"}},
		{"http://svc:" + secret + "%00@proxy.example:3128", []string{"printable ASCII", "another password"}},
		{"http://svc:" + secret + "é@proxy.example:3128", []string{"printable ASCII", "another password"}},
	}
	for _, tt := range tests {
		t.Run(tt.in, func(t *testing.T) {
			u, err := proxyconfig.ParseURL(tt.in)
			wantError(t, err, tt.words...)
			if !u.IsZero() || u.HasCredentials() {
				t.Errorf("an error comes with the URL %q", u.Reveal())
			}
		})
	}
}

// TestZeroURL: no proxy is printed as nothing.
func TestZeroURL(t *testing.T) {
	var u proxyconfig.URL
	if text := u.String() + u.Bare() + u.Reveal(); text != "" || !u.IsZero() || u.HasCredentials() {
		t.Errorf("the zero URL prints %q", text)
	}
}

// TestHostPort: an address stands in brackets.
func TestHostPort(t *testing.T) {
	for in, want := range map[string]string{
		"http://svc:pw@proxy.example:3128": "proxy.example:3128",
		"http://[::1]:80":                  "[::1]:80",
	} {
		if got := mustURL(t, in).HostPort(); got != want {
			t.Errorf("HostPort of %s is %q, want %q", in, got, want)
		}
	}
}

// TestURLEqual: the port, the scheme and the credentials count.
func TestURLEqual(t *testing.T) {
	texts := []string{"http://a:1", "http://a:2", "https://a:1", "http://u:p@a:1", "http://u:q@a:1", "http://v:p@a:1"}
	for i, a := range texts {
		for j, b := range texts {
			if got := mustURL(t, a).Equal(mustURL(t, b)); got != (i == j) {
				t.Errorf("%s equal to %s: %v", a, b, got)
			}
		}
	}
}
