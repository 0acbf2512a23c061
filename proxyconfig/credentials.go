package proxyconfig

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
)

// Credentials are a user and a password for a proxy, as a person knows them:
// not percent-encoded. Whatever prints them hides them.
type Credentials struct {
	// reveal is a function because fmt does not ask an unexported field of
	// someone else's struct how it wants to be printed: it walks into strings
	// and pointers, but of a function it has only the address.
	reveal func() (user, password string)
}

// ParseCredentials parses user:password. The first colon splits; one line end
// at the end is cut. Both are printable ASCII (0x20 to 0x7e): proxies and
// readers disagree on every other byte.
func ParseCredentials(data []byte) (Credentials, error) {
	text := strings.TrimSuffix(strings.TrimSuffix(string(data), "\n"), "\r")
	user, password, ok := strings.Cut(text, ":")
	if !ok {
		return Credentials{}, errors.New("the credentials have no colon; write user:password on one line, not encoded")
	}
	return newCredentials(user, password)
}

// ParseSecret parses what a reference leads to. Without a key that is
// user:password, or, where it begins with a brace, a JSON object with username
// and password. A key names the field of the object that has the password; if
// there is no username beside it, it has user:password.
func ParseSecret(data []byte, key string) (Credentials, error) {
	if trimmed := bytes.TrimSpace(data); key == "" && !bytes.HasPrefix(trimmed, []byte("{")) {
		return ParseCredentials(data)
	}
	user, err := SecretField(data, "username")
	switch {
	case key == "" && err != nil:
		return Credentials{}, err
	case key == "":
		key = "password"
	case err != nil: // an object that does not parse is said below
		pair, err := SecretField(data, key)
		if err != nil {
			return Credentials{}, err
		}
		return ParseCredentials([]byte(pair))
	}
	password, err := SecretField(data, key)
	if err != nil {
		return Credentials{}, err
	}
	return newCredentials(user, password)
}

// SecretField is the text of one field of a JSON object. The errors name the fields,
// never what is in them.
func SecretField(data []byte, key string) (string, error) {
	var object map[string]json.RawMessage
	if json.Unmarshal(data, &object) != nil || object == nil { // its error can quote the text
		return "", errors.New("the secret is not a JSON object; write user:password, or an object with username and password")
	}
	raw, ok := object[key]
	if !ok {
		return "", fmt.Errorf("the secret's JSON has no field %q, only %q", clip(key), slices.Sorted(maps.Keys(object)))
	}
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return "", fmt.Errorf("the field %q of the secret's JSON is not a text; put it in quotes", clip(key))
	}
	return text, nil
}

func newCredentials(user, password string) (Credentials, error) {
	if user == "" {
		return Credentials{}, errors.New("the credentials have no user; write user:password on one line, not encoded")
	}
	if strings.Contains(user, ":") {
		return Credentials{}, errors.New("the user of the credentials holds a colon, which HTTP's basic authentication cannot carry (RFC 7617)")
	}
	for _, b := range []byte(user + password) {
		if b == '\n' || b == '\r' {
			return Credentials{}, errors.New("the credentials have more than one line; write user:password on one line")
		}
		if b < 0x20 || b > 0x7e {
			return Credentials{}, errors.New("the credentials hold a byte that is not printable ASCII (0x20 to 0x7e), which not every program can send; choose another password")
		}
	}
	return Credentials{func() (string, string) { return user, password }}, nil
}

// IsZero says whether there are none.
func (c Credentials) IsZero() bool { return c.reveal == nil }

// Equal says whether both are the same user and password.
func (c Credentials) Equal(other Credentials) bool {
	user, password := c.Reveal()
	otherUser, otherPassword := other.Reveal()
	return user == otherUser && password == otherPassword
}

// Reveal is the real user and password: for encoders of files only.
func (c Credentials) Reveal() (user, password string) {
	if c.IsZero() {
		return "", ""
	}
	return c.reveal()
}

// Secrets are the texts that must not be shown: the password raw and
// percent-encoded, and user and password together.
func (c Credentials) Secrets() []string {
	if c.IsZero() {
		return nil
	}
	user, password := c.Reveal()
	secrets := []string{c.encoded(), user + ":" + password}
	if password != "" {
		secrets = append(secrets, password, encode(password))
	}
	return secrets
}

// encoded is user:password as it stands in a URL.
func (c Credentials) encoded() string {
	user, password := c.Reveal()
	return encode(user) + ":" + encode(password)
}

// encode percent-encodes all but letters, digits, '-', '.' and '_'. RFC 3986
// leaves '~' alone as well, but a shell expands it at the start of a word.
func encode(s string) string {
	const hex = "0123456789ABCDEF"
	b := make([]byte, 0, 3*len(s))
	for _, c := range []byte(s) {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '.' || c == '_' {
			b = append(b, c)
		} else {
			b = append(b, '%', hex[c>>4], hex[c&15])
		}
	}
	return string(b)
}

// String hides both.
func (c Credentials) String() string {
	if c.IsZero() {
		return ""
	}
	return hidden
}

// Format prints String whatever the verb.
func (c Credentials) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(c.String())) }

// MarshalText is String.
func (c Credentials) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// MarshalYAML is String.
func (c Credentials) MarshalYAML() (any, error) { return c.String(), nil }

// LogValue is String.
func (c Credentials) LogValue() slog.Value { return slog.StringValue(c.String()) }
