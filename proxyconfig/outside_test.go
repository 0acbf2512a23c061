package proxyconfig_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/eksproxy/eksproxy/proxyconfig"
)

// TestFetch: a reference that is none to a file is fetched, once, and only
// where a proxy needs it and nothing else is wrong.
func TestFetch(t *testing.T) {
	cause := errors.New("the cause")
	for name, tt := range map[string]struct {
		given map[string]string
		err   error
		calls int
		words []string
	}{
		"fetched":          {given: map[string]string{"httpProxy": "http://a:1"}, calls: 1},
		"not there":        {given: map[string]string{"httpProxy": "http://a:1"}, err: cause, calls: 1, words: []string{"--credentials.from: the cause"}},
		"taken back":       {given: map[string]string{"httpProxy": "", "httpsProxy": ""}},
		"another fault":    {given: map[string]string{"httpProxy": "http://a:1", "node.os": "bsd"}, words: []string{"node.os"}},
		"in the URL too":   {given: map[string]string{"httpProxy": "https://b:1", "httpsProxy": "x"}, words: []string{"no scheme"}},
		"and a file":       {given: map[string]string{"httpProxy": "http://a:1", "credentials.file": "x"}, words: []string{"given twice"}},
		"no proxy at all":  {words: []string{"no proxy is given"}},
		"a file is no ref": {given: map[string]string{"httpProxy": "http://a:1", "credentials.from": "file:none"}, words: []string{"no such file"}},
	} {
		t.Run(name, func(t *testing.T) {
			l := proxyconfig.Merge(flags(map[string]string{"credentials.from": "x:y"}), flags(tt.given))
			calls := 0
			c, err := l.Resolve("node", func(ref string) (proxyconfig.Credentials, error) {
				calls++
				if ref != "x:y" {
					t.Errorf("asked for %q", ref)
				}
				return mustCredentials(t, "svc:"+secret), tt.err
			})
			if calls != tt.calls {
				t.Errorf("fetched %d times, want %d", calls, tt.calls)
			}
			good := tt.calls == 1 && tt.err == nil
			if c.KeepCredentials != good || c.HTTPProxy.HasCredentials() != good || c.Settings(nil).KeepCredentials != good {
				t.Errorf("keep %v, credentials %v", c.KeepCredentials, c.HTTPProxy.HasCredentials())
			}
			switch {
			case tt.words != nil:
				wantError(t, err, tt.words...)
			case err != nil:
				t.Error(err)
			}
			if tt.err != nil && !errors.Is(err, tt.err) {
				t.Errorf("%v has lost its cause", err)
			}
		})
	}
}

// TestKeepIsNotHashed: where credentials come from does not change the hash.
func TestKeepIsNotHashed(t *testing.T) {
	s := someSettings(t)
	want := s.Hash()
	if s.KeepCredentials = true; s.Hash() != want {
		t.Error("the hash covers where credentials come from")
	}
}

// TestParseSecret: user:password, JSON, and a field of JSON.
func TestParseSecret(t *testing.T) {
	for _, tt := range []struct{ text, key, user, password string }{
		{"u:p:q\n", "", "u", "p:q"},
		{` {"username":"u","password":"p:q","engine":1}` + "\n", "", "u", "p:q"},
		{`{"username":"u","proxy":"p:q"}`, "proxy", "u", "p:q"},
		{`{"proxy":"u:p:q"}`, "proxy", "u", "p:q"},
	} {
		c, err := proxyconfig.ParseSecret([]byte(tt.text), tt.key)
		if user, password := c.Reveal(); err != nil || user != tt.user || password != tt.password {
			t.Errorf("%s gave %q %q, %v", tt.text, user, password, err)
		}
	}
	for text, words := range map[string][]string{
		secret:                            {"no colon"},
		`{"password":"` + secret:          {"not a JSON object"},
		`{"` + secret + `":"x"`:           {"not a JSON object"},
		`{"username":"u"}`:                {`no field "password", only ["username"]`},
		`{"username":["` + secret + `"]}`: {`"username"`, "not a text"},
	} {
		_, err := proxyconfig.ParseSecret([]byte(text), "")
		wantError(t, err, words...)
	}
}

// TestFileReference: a reference to a file takes JSON, the plain name of a file
// takes one line and nothing else.
func TestFileReference(t *testing.T) {
	login := filepath.Join(t.TempDir(), "login")
	write(t, login, `{"username":"u","password":"p"}`)
	c := mustResolve(t, flags(map[string]string{"httpProxy": "http://a:1", "credentials.from": "file:" + login}), "node")
	if c.HTTPProxy.Reveal() != "http://u:p@a:1" || c.KeepCredentials {
		t.Errorf("got %s, keep %v", c.HTTPProxy, c.KeepCredentials)
	}
	c = mustResolve(t, flags(map[string]string{"httpProxy": "http://a:1", "credentials.file": login}), "node")
	if user, _ := c.HTTPProxy.Credentials().Reveal(); user != `{"username"` {
		t.Errorf("the user is %q", user)
	}
}

// TestRemoteConfiguration: what comes from SSM has no folder.
func TestRemoteConfiguration(t *testing.T) {
	for field, text := range map[string]string{"credentials": "{file: login}", "trustedCA": "ca.pem"} {
		l := mustParse(t, "ssm:/corp/config", head+"spec: {httpProxy: 'http://a:1', "+field+": "+text+"}")
		_, err := l.Resolve("node", nil)
		wantError(t, err, "ssm:/corp/config:3: ", "is in no folder", "the whole path")
		if flat := l.Flatten("node"); strings.Contains(strings.Join(append(flat["trustedCA"], flat["credentials.file"]...), ""), "/") {
			t.Errorf("flattened to %v", flat)
		}
	}
	login := filepath.Join(t.TempDir(), "login")
	write(t, login, "u:p")
	mustResolve(t, mustParse(t, "ssm:x", head+"spec: {httpProxy: 'http://a:1', credentials: {file: "+login+"}}"), "node")
}

// TestOthersCanWrite: configuration, credentials and certificates that others
// can write are refused with the command that helps; reading is free to all.
func TestOthersCanWrite(t *testing.T) {
	if runtime.GOOS == "windows" || os.Getuid() != 0 {
		t.Skip("needs files of other owners")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	ca, _ := newCert(t, "writable", nil)
	for _, c := range []struct {
		mode     os.FileMode
		uid, gid int
		who      string
	}{
		{0o600, 0, 0, ""}, {0o644, 0, 0, ""}, {0o664, 0, 0, ""}, {0o664, 1234, 0, ""}, {0o664, 1234, 1234, ""},
		{0o664, 0, 1234, "the group 1234"}, {0o664, 1234, 100, "the group 100"},
		{0o606, 0, 0, "every user of the machine"}, {0o666, 1234, 1234, "every user of the machine"},
	} {
		for kind, content := range map[string]string{"config": head + "spec: {httpProxy: 'http://a:1'}", "credentials.file": "svc:" + secret, "trustedCA": ca} {
			write(t, path, content)
			if err := errors.Join(os.Chown(path, c.uid, c.gid), os.Chmod(path, c.mode)); err != nil {
				t.Fatal(err)
			}
			_, err := proxyconfig.ReadFile(path)
			if kind != "config" {
				_, err = flags(map[string]string{"httpProxy": "http://a:1", kind: path}).Resolve("node", nil)
			}
			switch {
			case c.who != "":
				wantError(t, err, path+" can be written by "+c.who, "chmod go-w "+path)
			case err != nil:
				t.Errorf("%s %o %d:%d: %v", kind, c.mode, c.uid, c.gid, err)
			}
		}
	}
}
