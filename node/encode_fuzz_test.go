package node

import (
	"net/url"
	"strings"
	"testing"

	"github.com/eksproxy/eksproxy/proxyconfig"
)

func FuzzEnvLine(f *testing.F) {
	for _, seed := range []string{"", "localhost,*.svc,fd00::/8", "http://u:p%40@[::1]:3128", "a b", "a#b", "a\nb", "~", "$x", "ä"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		line, err := envLine("NAME", value)
		foreign := strings.Trim(value, alphabet) != ""
		if err != nil {
			if !foreign || line != "" {
				t.Errorf("%q is refused, with %q: %v", value, line, err)
			}
			return
		}
		checkOneLine(t, line)
		name, got, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		if foreign || name != "NAME" || got != value {
			t.Errorf("%q is read as %q=%q", value, name, got)
		}
	})
}

func FuzzAPTLine(f *testing.F) {
	for _, seed := range []string{"", "http://u:p%40@h:3128", `a"b`, `a\`, "a;b", "// x", "a\nb", "\x7f", "ä"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		line, err := aptLine("Option", value)
		if err != nil {
			if line != "" {
				t.Errorf("%q is refused, with %q", value, line)
			}
			return
		}
		checkOneLine(t, line)
		// Between the first quote and the last one stands the value.
		fields := strings.Split(line, `"`)
		if len(fields) != 3 || fields[0] != "Option " || fields[1] != value || fields[2] != ";\n" {
			t.Errorf("%q is read as %q", value, fields)
		}
	})
}

func FuzzDNFKeys(f *testing.F) {
	for _, seed := range []string{"user:p@ss", "user:p%40ss", `"u":"p"`, "u: p ", "None:None", "u:_none_", `u:$x\`, "u:a ;b", "u:", "u:a\nb"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := proxyconfig.ParseCredentials([]byte(text))
		if err != nil {
			return
		}
		proxy, err := proxyconfig.ParseURL("http://proxy.example:3128")
		if err != nil {
			t.Fatal(err)
		}
		keys := dnfKeys(proxy.With(c))
		for _, k := range keys {
			checkOneLine(t, k.line())
		}
		user, password := c.Reveal()
		gotUser, gotPassword := readDNF(t, string(setKeys([]byte("[main]\n"), "main", keys)))
		if gotUser != user || gotPassword != password {
			t.Errorf("%q is read as user %q and password %q", text, gotUser, gotPassword)
		}
	})
}

// readDNF is what yum and dnf have in common, so small that it can be checked
// by eye: it gives the user and the password that a proxy would see.
func readDNF(t *testing.T, text string) (user, password string) {
	t.Helper()
	options := map[string]string{}
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(line, "=")
		options[name] = readDNFValue(strings.TrimSuffix(value, "\n"))
	}
	if options["proxy_username"] != "" {
		return options["proxy_username"], options["proxy_password"]
	}
	u, err := url.Parse(options["proxy"])
	if err != nil {
		t.Fatal(err)
	}
	password, _ = u.User.Password()
	return u.User.Username(), password
}

func readDNFValue(value string) string {
	value = strings.Trim(value, " \t")
	if n := len(value) - 1; n > 0 && value[0] == value[n] && (value[0] == '"' || value[0] == '\'') {
		value = value[1:n]
	}
	value, _, _ = strings.Cut(value, " ;")
	if value == "None" || value == "_none_" {
		return ""
	}
	return strings.NewReplacer("$x", "", `\`, "").Replace(value)
}

// checkOneLine fails where a text is not one line with its end.
func checkOneLine(t *testing.T, text string) {
	t.Helper()
	if strings.IndexAny(text, "\n\r\x00") != len(text)-1 {
		t.Errorf("%q is not one line", text)
	}
}
