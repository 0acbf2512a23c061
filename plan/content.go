package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
)

// masked stands where a secret was. A secret that a change replaces reads
// maskedNew, so that a change of nothing but a password can be seen.
const (
	masked    = "[secret]"
	maskedNew = "[secret, changed]"
)

// Content is bytes that know what in them is secret. Whatever prints a Content
// prints it masked; only an Applier asks for Bytes.
type Content struct {
	raw     []byte
	secrets []string
}

// NewContent returns the content with these bytes. The given secrets are
// masked wherever they stand; user information in URLs and proxy passwords are
// masked without being named.
func NewContent(raw []byte, secrets ...string) Content {
	return Content{raw: raw, secrets: secrets}
}

// Bytes are the real bytes, secrets included: for the one who writes them.
func (c Content) Bytes() []byte { return c.raw }

// Equal says whether both have the same real bytes.
func (c Content) Equal(other Content) bool { return bytes.Equal(c.raw, other.raw) }

// String is the content with every secret masked.
func (c Content) String() string { return Mask(string(c.raw), c.secrets...) }

// GoString is String: %#v shows no secret either.
func (c Content) GoString() string { return c.String() }

// Format prints the masked text whatever the verb.
func (c Content) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(c.String())) }

// LogValue is the masked text.
func (c Content) LogValue() slog.Value { return slog.StringValue(c.String()) }

// MarshalJSON writes the masked text.
func (c Content) MarshalJSON() ([]byte, error) { return json.Marshal(c.String()) }

// UnmarshalJSON reads a masked text: such a content can be compared and shown,
// and has no secrets to write.
func (c *Content) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	*c = Content{raw: []byte(text)}
	return nil
}

// after is the masked text of c where it replaces before: a secret in a line
// that before does not have is shown as changed.
func (c Content) after(before Content) string {
	old := strings.Split(string(before.raw), "\n")
	lines := strings.Split(string(c.raw), "\n")
	for i, line := range lines {
		lines[i] = Mask(line, c.secrets...)
		if !slices.Contains(old, line) {
			lines[i] = strings.ReplaceAll(lines[i], masked, maskedNew)
		}
	}
	return strings.Join(lines, "\n")
}

// Mask returns the text without the given secrets, without user information in
// what looks like a URL or a proxy setting, and without passwords of yum, dnf
// and HTTP. It hides rather too much than too little: other people's lines are
// written in every way.
func Mask(text string, secrets ...string) string {
	for _, s := range secrets {
		if s != "" {
			text = strings.ReplaceAll(text, s, masked)
		}
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = maskLine(line)
	}
	return strings.Join(lines, "\n")
}

func maskLine(line string) string {
	if at := strings.LastIndexByte(line, '@'); at >= 0 {
		line = maskUserinfo(line, at)
	}
	low := strings.ToLower(line)
	for _, key := range []string{"proxy_password", "proxy-authorization", "proxy_pass"} {
		if i := strings.Index(low, key); i >= 0 {
			return maskValue(line, i+len(key))
		}
	}
	if i := secretAssigned(line); i > 0 {
		return maskValue(line, i)
	}
	return line
}

// secretAssigned is where a value begins whose name says that it is a secret, as in
// DB_PASSWORD=x: other people's lines stand beside ours in the same file. It is 0
// where there is none.
func secretAssigned(line string) int {
	for i, c := range line {
		if c != '=' {
			continue
		}
		name := strings.ToLower(strings.TrimRight(line[:i], " \t"))
		name = name[strings.LastIndexAny(name, " \t\"'=,;")+1:]
		for _, word := range []string{"passwd", "password", "secret", "token", "access_key", "accesskey", "api_key", "apikey", "credential"} {
			if strings.Contains(name, word) {
				return i + 1
			}
		}
	}
	return 0
}

// maskUserinfo hides what stands between "://", or the "=" of a proxy
// variable that has no scheme, and the last "@" of the line: a raw password
// may itself hold "@", "/" and blanks.
func maskUserinfo(line string, at int) string {
	if i := strings.Index(line[:at], "://"); i >= 0 {
		return line[:i+3] + masked + line[at:]
	}
	low := strings.ToLower(line[:at])
	if i := strings.Index(low, "proxy"); i >= 0 {
		if eq := strings.IndexAny(line[i:at], "=: \t"); eq >= 0 {
			return line[:i+eq+1] + masked + line[at:]
		}
	}
	return line
}

// maskValue hides what follows the separator after position i.
func maskValue(line string, i int) string {
	rest := strings.TrimLeft(line[i:], " \t=:\"'")
	if rest == "" || strings.HasPrefix(rest, masked) {
		return line
	}
	return line[:len(line)-len(rest)] + masked
}
