package proxyconfig

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// hidden stands where user information was.
const hidden = "[secret]"

// URL is the address of a proxy: http or https, a host, a port, and perhaps
// credentials. Whatever prints a URL hides the credentials; only the encoders
// of files call Reveal. The zero URL is no proxy.
type URL struct {
	scheme, host string
	port         uint16
	credentials  Credentials
}

const wantURL = "write http://HOST:PORT"

// ParseURL parses what a user writes for a proxy. Credentials in it must be
// percent-encoded. An error does not repeat the text, which may hold a
// password.
func ParseURL(text string) (URL, error) {
	for _, r := range text {
		if r < 0x20 || r == 0x7f {
			return URL{}, errors.New("the proxy URL holds a control character or a line break; write it on one line, in quotes")
		}
	}
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok {
		return URL{}, errors.New("the proxy URL has no scheme; " + wantURL)
	}
	scheme = strings.ToLower(scheme)
	if err := checkScheme(scheme); err != nil {
		return URL{}, err
	}
	u := URL{scheme: scheme}
	if at := strings.LastIndexByte(rest, '@'); at >= 0 {
		c, err := parseUserinfo(rest[:at])
		if err != nil {
			return URL{}, err
		}
		u.credentials, rest = c, rest[at+1:]
	}
	if err := u.parseHostPort(strings.TrimSuffix(rest, "/")); err != nil {
		return URL{}, err
	}
	return u, nil
}

func checkScheme(scheme string) error {
	switch {
	case scheme == "http", scheme == "https":
		return nil
	case strings.HasPrefix(scheme, "socks"):
		return errors.New("SOCKS proxies are not supported: yum, apt and most SDKs cannot use one; give the company's HTTP proxy as http://HOST:PORT")
	case strings.HasPrefix(scheme, "pac"):
		return errPAC
	}
	return errors.New("the proxy URL's scheme is not http or https; " + wantURL)
}

var errPAC = errors.New("a PAC file is a script for browsers that no node program reads; give the proxy that it names as http://HOST:PORT")

// parseUserinfo parses user:password as it stands in a URL.
func parseUserinfo(text string) (Credentials, error) {
	user, password, _ := strings.Cut(text, ":")
	u, err := url.PathUnescape(user)
	if err != nil {
		return Credentials{}, errUserinfo
	}
	p, err := url.PathUnescape(password)
	if err != nil || strings.ContainsAny(text, "/?#@ ") {
		return Credentials{}, errUserinfo
	}
	return newCredentials(u, p)
}

var errUserinfo = errors.New("the user information in the proxy URL is not percent-encoded; keep user:password in a file of one line, as it is, and give --credentials-file")

// parseHostPort sets host and port from what follows the user information.
func (u *URL) parseHostPort(text string) error {
	if i := strings.IndexAny(text, "/?#"); i >= 0 {
		if strings.Contains(strings.ToLower(text[i:]), ".pac") || strings.HasSuffix(text[i:], "wpad.dat") {
			return errPAC
		}
		return errors.New("the proxy URL has a path, which no proxy reads; " + wantURL)
	}
	host, port, ok := cutPort(text)
	if !ok {
		return errors.New("the proxy URL has no port, and clients disagree on the default; " + wantURL)
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 {
		return errors.New("the proxy URL's port is not a number from 1 to 65535; " + wantURL)
	}
	host, err = checkHost(host)
	if err != nil {
		return err
	}
	u.host, u.port = host, uint16(n)
	return nil
}

// cutPort splits host:port and [address]:port.
func cutPort(text string) (host, port string, ok bool) {
	i := strings.LastIndexByte(text, ':')
	if i < 0 || strings.HasSuffix(text, "]") {
		return text, "", false
	}
	return text[:i], text[i+1:], true
}

func checkHost(host string) (string, error) {
	inner, bracketed := strings.CutPrefix(host, "[")
	if bracketed {
		addr, err := netip.ParseAddr(strings.TrimSuffix(inner, "]"))
		if err != nil || !addr.Is6() || addr.Zone() != "" || !strings.HasSuffix(host, "]") {
			return "", errors.New("the proxy URL's host is not an IPv6 address in brackets; write http://[ADDRESS]:PORT")
		}
		return addr.String(), nil
	}
	if strings.Contains(host, ":") {
		return "", errors.New("the proxy URL has more than one colon after its scheme; write http://HOST:PORT, or http://[ADDRESS]:PORT for an IPv6 address")
	}
	if host == "" || len(host) > 253 || strings.Trim(host, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._") != "" || strings.Contains(host, "..") || strings.HasPrefix(host, ".") {
		return "", errors.New("the proxy URL's host is not a host name of letters, digits, '-' and '.'; " + wantURL)
	}
	return host, nil
}

// clip quotes no more of a wrong text than is needed to find it, and nothing of
// what stands before an @.
func clip(text string) string {
	if at := strings.LastIndexByte(text, '@'); at >= 0 {
		text = hidden + text[at:]
	}
	if len(text) > 40 {
		return text[:40] + "..."
	}
	return text
}

// IsZero says whether there is no proxy.
func (u URL) IsZero() bool { return u.host == "" }

// HasCredentials says whether the URL carries user information.
func (u URL) HasCredentials() bool { return !u.credentials.IsZero() }

// Credentials are the user and password of the URL, not encoded.
func (u URL) Credentials() Credentials { return u.credentials }

// With returns the URL with these credentials in place of its own.
func (u URL) With(c Credentials) URL {
	u.credentials = c
	return u
}

// Equal says whether both are the same proxy with the same credentials.
func (u URL) Equal(other URL) bool {
	return u.Bare() == other.Bare() && u.credentials.Equal(other.credentials)
}

// HostPort is host:port, an IPv6 address in brackets.
func (u URL) HostPort() string {
	return net.JoinHostPort(u.host, strconv.Itoa(int(u.port)))
}

// Bare is the URL without user information.
func (u URL) Bare() string {
	if u.IsZero() {
		return ""
	}
	return u.scheme + "://" + u.HostPort()
}

// Reveal is the real URL, with the credentials percent-encoded: for encoders
// of files only.
func (u URL) Reveal() string {
	if u.IsZero() || !u.HasCredentials() {
		return u.Bare()
	}
	return u.scheme + "://" + u.credentials.encoded() + "@" + u.HostPort()
}

// String is the URL with its user information hidden.
func (u URL) String() string {
	if u.IsZero() || !u.HasCredentials() {
		return u.Bare()
	}
	return u.scheme + "://" + hidden + "@" + u.HostPort()
}

// Format prints String whatever the verb: %#v and %+v would show the fields.
func (u URL) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(u.String())) }

// MarshalText is String: JSON and YAML show no credentials.
func (u URL) MarshalText() ([]byte, error) { return []byte(u.String()), nil }

// MarshalYAML is String.
func (u URL) MarshalYAML() (any, error) { return u.String(), nil }

// LogValue is String.
func (u URL) LogValue() slog.Value { return slog.StringValue(u.String()) }
