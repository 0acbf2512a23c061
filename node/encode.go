package node

import (
	"fmt"
	"strings"

	"github.com/eksproxy/eksproxy/proxyconfig"
)

// One encoder for each reader of the files. What a reader cannot carry is
// refused, never changed: a value that is read differently than it was meant
// is worse than none.

// commonBytes are the bytes, besides letters and digits, that systemd's
// EnvironmentFile=, bash, dash and pam_env all read as themselves in an
// unquoted value. '~' is not among them: a shell expands it at the start of a
// word and after a colon.
const commonBytes = ":/@%.,-_*[]!"

// envLine is NAME=value with a line end, as all readers of an environment file
// understand it: no quotes, no escapes.
func envLine(name, value string) (string, error) {
	for _, b := range []byte(value) {
		if !alphanumeric(b) && strings.IndexByte(commonBytes, b) < 0 {
			return "", fmt.Errorf("%s holds the byte %q, which systemd, shells and pam_env read differently; allowed are letters, digits and %s", name, b, commonBytes)
		}
	}
	return name + "=" + value + "\n", nil
}

func alphanumeric(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9'
}

// shellLine exports a variable to login shells, in single quotes: inside them
// a shell takes every byte but the quote as it is.
func shellLine(name, value string) (string, error) {
	if strings.ContainsAny(value, "'\n\r\x00") {
		return "", fmt.Errorf("%s holds a quote or a line break, which a shell's single quotes cannot carry", name)
	}
	return "export " + name + "='" + value + "'\n", nil
}

// aptLine sets one of apt's options. In double quotes apt.conf(5) knows no
// escape that its parser reads back, so quotes and backslashes are refused.
func aptLine(option, value string) (string, error) {
	for _, b := range []byte(value) {
		if b < 0x20 || b > 0x7e || b == '"' || b == '\\' {
			return "", fmt.Errorf("%s holds the byte %q, which apt's configuration cannot carry", option, b)
		}
	}
	return option + ` "` + value + "\";\n", nil
}

// dnfKeys are the proxy options of yum and dnf. They take user and password
// decoded, in options of their own; what their parser would change goes into
// the URL instead, percent-encoded, which libcurl decodes.
func dnfKeys(u proxyconfig.URL) []key {
	user, password := u.Credentials().Reveal()
	switch {
	case !u.HasCredentials():
		return []key{{"proxy", u.Bare(), true}, {"proxy_username", "", false}, {"proxy_password", "", false}}
	case dnfCarries(user) && dnfCarries(password):
		return []key{{"proxy", u.Bare(), true}, {"proxy_username", user, true}, {"proxy_password", password, true}}
	}
	return []key{{"proxy", u.Reveal(), true}, {"proxy_username", "", false}, {"proxy_password", "", false}}
}

// dnfCarries says whether yum and dnf send a value to the proxy as it was
// written. libdnf's parser trims blanks, takes off a pair of quotes, and its
// source replaces $name and drops backslashes; dnf takes None for no value and
// sends %40 as an at sign. yum's parser takes " ;" for a comment and _none_ for
// no value, and yum leaves a slash as it is in the URL that it makes for
// libcurl. An empty value would mean that there is none.
func dnfCarries(value string) bool {
	switch {
	case value == "" || value == "None" || value == "_none_":
		return false
	case value != strings.TrimSpace(value) || strings.ContainsAny(value, `$\%/`) || strings.Contains(value, " ;"):
		return false
	}
	first, last := value[0], value[len(value)-1]
	return first != last || first != '"' && first != '\''
}
