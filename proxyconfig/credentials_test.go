package proxyconfig_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/eksproxy/eksproxy/proxyconfig"
)

// mustCredentials parses credentials that are right.
func mustCredentials(t *testing.T, text string) proxyconfig.Credentials {
	t.Helper()
	c, err := proxyconfig.ParseCredentials([]byte(text))
	if err != nil {
		t.Fatalf("ParseCredentials(%q): %v", text, err)
	}
	return c
}

// printable is every byte that credentials may hold.
func printable() string {
	var b strings.Builder
	for c := byte(0x20); c <= 0x7e; c++ {
		b.WriteByte(c)
	}
	return b.String()
}

// TestParseCredentials: the first colon splits, one line end is cut, and
// nothing else is.
func TestParseCredentials(t *testing.T) {
	tests := []struct{ in, user, password string }{
		{"svc:pw", "svc", "pw"},
		{"svc:pw\n", "svc", "pw"},
		{"svc:pw\r\n", "svc", "pw"},
		{"svc:pw\r", "svc", "pw"},
		{"svc:a:b:", "svc", "a:b:"},
		{"svc:", "svc", ""},
		{" svc : pw ", " svc ", " pw "},
		{`CORP\svc:p%40ss@host`, `CORP\svc`, "p%40ss@host"}, // BL-031
		{"svc:" + printable() + "\n", "svc", printable()},
		{strings.ReplaceAll(printable(), ":", "") + ":pw", strings.ReplaceAll(printable(), ":", ""), "pw"},
	}
	for _, tt := range tests {
		t.Run(tt.in, func(t *testing.T) {
			user, password := mustCredentials(t, tt.in).Reveal()
			if diff := cmp.Diff([]string{tt.user, tt.password}, []string{user, password}); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestParseCredentialsRefuses: the error says what to write, and shows nothing.
func TestParseCredentialsRefuses(t *testing.T) {
	tests := []struct {
		in    string
		words []string
	}{
		{"", []string{"no colon", "user:password on one line"}},
		{secret, []string{"no colon", "user:password on one line, not encoded"}},
		{":" + secret, []string{"no user", "user:password"}},
		{"svc:" + secret + "\n\n", []string{"more than one line"}},
		{"svc:" + secret + "\nuser2:x\n", []string{"more than one line"}},
		{"\nsvc:" + secret, []string{"more than one line"}},
		{"svc:" + secret + "\t", []string{"printable ASCII", "another password"}},
		{"svc:" + secret + "\x00", []string{"printable ASCII"}},
		{"svc:" + secret + "\x7f", []string{"printable ASCII"}},
		{"svc:" + secret + "é", []string{"printable ASCII"}},
		{"svc:" + secret + "\xff", []string{"printable ASCII"}},
		{"\ufeffsvc:" + secret, []string{"printable ASCII"}},
	}
	for _, tt := range tests {
		t.Run(tt.in, func(t *testing.T) {
			c, err := proxyconfig.ParseCredentials([]byte(tt.in))
			wantError(t, err, tt.words...)
			if !c.IsZero() {
				t.Error("an error comes with credentials")
			}
		})
	}
}

// TestEveryByteThroughURL: what the file says comes back from the URL.
func TestEveryByteThroughURL(t *testing.T) {
	c := mustCredentials(t, "svc:"+printable())
	u := mustURL(t, "http://proxy.example:3128").With(c)
	if got := mustURL(t, u.Reveal()).Credentials(); !got.Equal(c) {
		_, password := got.Reveal()
		t.Errorf("password came back as %q", password)
	}
}

// TestSecrets: each form in which the password can stand in a file.
func TestSecrets(t *testing.T) {
	want := []string{"svc:p%40ss%20w", "svc:p@ss w", "p@ss w", "p%40ss%20w"}
	if diff := cmp.Diff(want, mustCredentials(t, "svc:p@ss w").Secrets()); diff != "" {
		t.Error(diff)
	}
	if got := (proxyconfig.Credentials{}).Secrets(); got != nil {
		t.Errorf("no credentials have the secrets %q", got)
	}
	if got := mustCredentials(t, "svc:").Secrets(); cmp.Diff([]string{"svc:", "svc:"}, got) != "" {
		t.Errorf("an empty password has the secrets %q", got)
	}
}
