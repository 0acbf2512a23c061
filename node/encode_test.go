package node

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/eksproxy/eksproxy/noproxy"
	"github.com/eksproxy/eksproxy/proxyconfig"
	"github.com/eksproxy/eksproxy/templates"
)

// alphabet is what an environment file may hold, apart from the code.
const alphabet = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:/@%.,-_*[]!"

// proxyWith is a proxy with these credentials, as user:password.
func proxyWith(t *testing.T, text string) proxyconfig.URL {
	t.Helper()
	u, err := proxyconfig.ParseURL("http://proxy.example:3128")
	if err != nil {
		t.Fatal(err)
	}
	c, err := proxyconfig.ParseCredentials([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return u.With(c)
}

// Every byte stands for itself, wherever it is, or is refused.
func TestEnvLineBytes(t *testing.T) {
	for i := range 256 {
		b := string([]byte{byte(i)})
		for _, value := range []string{b, b + "x", "x" + b + "x", "x" + b} {
			line, err := envLine("NAME", value)
			switch {
			case !strings.Contains(alphabet, b):
				if err == nil || line != "" {
					t.Errorf("%q: got %q, want it refused", value, line)
				}
			case err != nil:
				t.Errorf("%q: %v", value, err)
			case line != "NAME="+value+"\n":
				t.Errorf("%q: got %q", value, line)
			}
		}
	}
}

func TestEnvLine(t *testing.T) {
	for _, test := range []struct{ name, value, wrong string }{
		{name: "empty"},
		{name: "list", value: "localhost,fd00:ec2::254,10.40.0.0/16,*.svc,.svc"},
		{name: "encoded credentials", value: "http://svc-eks:a%2540b%23c@proxy.example:3128"},
		{name: "BL-014 blank", value: "localhost, .svc", wrong: `' '`},
		{name: "BL-027 comment", value: "http://u:p#w@h:1", wrong: `'#'`},
		{name: "BL-032 shell variable", value: "http://u:B$R@h:1", wrong: `'$'`},
		{name: "home of a user", value: "~/x", wrong: `'~'`},
		{name: "line break", value: "a\nEVIL=1", wrong: `'\n'`},
		{name: "carriage return", value: "a\r", wrong: `'\r'`},
	} {
		t.Run(test.name, func(t *testing.T) {
			line, err := envLine("NAME", test.value)
			if test.wrong != "" {
				if err == nil || !strings.Contains(err.Error(), "NAME holds the byte "+test.wrong) {
					t.Errorf("got %q and %v, want an error that names %s", line, err, test.wrong)
				}
				return
			}
			if want := "NAME=" + test.value + "\n"; err != nil || line != want {
				t.Errorf("got %q and %v, want %q", line, err, want)
			}
		})
	}
}

// BL-026, BL-032: whatever the credentials are, percent-encoded they fit.
func TestEnvLineTakesEveryURL(t *testing.T) {
	for seed := range uint64(2000) {
		rnd := rand.New(rand.NewPCG(seed, 0))
		b := make([]byte, 1+rnd.IntN(40))
		for i := range b {
			b[i] = byte(0x20 + rnd.IntN(0x5f))
		}
		u := proxyWith(t, "u"+string(b)+":"+string(b))
		if _, err := envLine("HTTP_PROXY", u.Reveal()); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

func TestShellLine(t *testing.T) {
	for _, test := range []struct{ value, want string }{
		{"", "export NAME=''\n"},
		{"localhost, .svc", "export NAME='localhost, .svc'\n"},
		{`$HOME "x" \`, `export NAME='$HOME "x" \'` + "\n"},
		{"it's", ""},
		{"a\nb", ""},
		{"a\rb", ""},
		{"a\x00b", ""},
	} {
		got, err := shellLine("NAME", test.value)
		if got != test.want || (err != nil) != (test.want == "") {
			t.Errorf("%q: got %q and %v, want %q", test.value, got, err, test.want)
		}
	}
}

func TestAPTLine(t *testing.T) {
	for _, test := range []struct{ value, want string }{
		{"", "Option \"\";\n"},
		{"http://u:a%2540b@h:1", "Option \"http://u:a%2540b@h:1\";\n"},
		{"a b; # // {}", "Option \"a b; # // {}\";\n"},
		{`a"b`, ""},
		{`a\b`, ""},
		{"a\nb", ""},
		{"a\x7fb", ""},
		{"ä", ""},
	} {
		got, err := aptLine("Option", test.value)
		if got != test.want || (err != nil) != (test.want == "") {
			t.Errorf("%q: got %q and %v, want %q", test.value, got, err, test.want)
		}
	}
}

// BL-031: plain text in the options for it, percent-encoded text in the URL.
func TestDNFKeys(t *testing.T) {
	const bare = "http://proxy.example:3128"
	for _, test := range []struct {
		credentials string
		// url is the encoded userinfo where it stands in the URL.
		url string
	}{
		{credentials: "svc:p@ss"},
		{credentials: "svc:p#w"},
		{credentials: `svc:a"b`},
		{credentials: `"svc:x"`},
		{credentials: "svc:a=b;c[d]"},
		{"svc:", "svc:"},
		{"svc: lead", "svc:%20lead"},
		{"svc:trail ", "svc:trail%20"},
		{`svc:"pair"`, "svc:%22pair%22"},
		{`svc:'pair'`, "svc:%27pair%27"},
		{`'svc':x`, "%27svc%27:x"},
		{`svc:"`, "svc:%22"},
		{"svc:a$b", "svc:a%24b"},
		{`svc:a\b`, "svc:a%5Cb"},
		{"svc:p%40ss", "svc:p%2540ss"},
		{"100%:x", "100%25:x"},
		{"svc:a/b", "svc:a%2Fb"},
		{"svc:a ;b", "svc:a%20%3Bb"},
		{"svc:None", "svc:None"},
		{"None:x", "None:x"},
		{"svc:_none_", "svc:_none_"},
	} {
		want := []key{{"proxy", "http://" + test.url + "@proxy.example:3128", true}, {"proxy_username", "", false}, {"proxy_password", "", false}}
		if test.url == "" {
			user, password, _ := strings.Cut(test.credentials, ":")
			want = []key{{"proxy", bare, true}, {"proxy_username", user, true}, {"proxy_password", password, true}}
		}
		if diff := cmp.Diff(want, dnfKeys(proxyWith(t, test.credentials)), cmp.AllowUnexported(key{})); diff != "" {
			t.Errorf("%q (-want +got):\n%s", test.credentials, diff)
		}
	}
}

// BL-030: without credentials their options are taken out. None is left empty
// and none is _none_: yum and dnf read neither in the same way.
func TestDNFKeysWithoutCredentials(t *testing.T) {
	u := proxyWith(t, "svc:x").With(proxyconfig.Credentials{})
	want := []key{{"proxy", "http://proxy.example:3128", true}, {"proxy_username", "", false}, {"proxy_password", "", false}}
	if diff := cmp.Diff(want, dnfKeys(u), cmp.AllowUnexported(key{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// BL-013: both cases of each variable, with the same value; BL-027: a comment
// has a line of its own.
func TestProxyEnvVariables(t *testing.T) {
	u := proxyWith(t, "user:B$R&x(1)#")
	w := wanter{settings: proxyconfig.Settings{HTTPProxy: u, HTTPSProxy: u, NoProxy: noproxy.List{{Text: "localhost"}, {Text: "*.svc"}}}}
	if err := w.proxyEnv(); err != nil {
		t.Fatal(err)
	}
	const url = "http://user:B%24R%26x%281%29%23@proxy.example:3128"
	want := templates.NodeProxyEnv +
		"HTTP_PROXY=" + url + "\nHTTPS_PROXY=" + url + "\nNO_PROXY=localhost,*.svc\n" +
		"http_proxy=" + url + "\nhttps_proxy=" + url + "\nno_proxy=localhost,*.svc\n"
	if diff := cmp.Diff(want, string(w.items[0].Body)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for line := range strings.Lines(templates.NodeProxyEnv) {
		if !strings.HasPrefix(line, "#") {
			t.Errorf("%q is no comment", line)
		}
	}
}
