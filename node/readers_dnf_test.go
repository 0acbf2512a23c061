//go:build integration

package node

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/eksproxy/eksproxy/proxyconfig"
)

// repeatedProxy is a file with an old proxy and no last line end (BL-029).
const repeatedProxy = "[main]\ngpgcheck=1\nproxy=http://old.example:3128\n# ours\nproxy=http://older.example:3128\n[extras]\nenabled=0"

// dnfReader gives the proxy options of each file in a list, as dnf has them.
const dnfReader = `
import json, os, sys
import dnf.conf

def options(text):
    with open("dnf.conf", "w") as f:
        f.write(text)
    conf = dnf.conf.Conf()
    conf.read("dnf.conf")
    return {"Proxy": conf.proxy, "User": conf.proxy_username, "Password": conf.proxy_password}

json.dump([options(text) for text in json.load(sys.stdin)], sys.stdout)
`

// yumReader does the same for yum of Amazon Linux 2, which is not to be had
// here. Its parser is: iniparse. What yum does after that is written out from
// its config.py and doProxyDict: it makes one URL for libcurl, in which quote
// leaves the slash.
const yumReader = `
import io, json, sys
from urllib.parse import quote
from iniparse.compat import RawConfigParser

def options(text):
    parser = RawConfigParser()
    parser.readfp(io.StringIO(text))
    get = lambda name: parser.get("main", name) if parser.has_option("main", name) else None
    proxy, user, password = get("proxy"), get("proxy_username"), get("proxy_password")
    empty = (None, "_none_", "")
    if user not in empty:
        auth = quote(user)
        if password not in empty:
            auth += ":" + quote(password)
        scheme, rest = proxy.split("://", 1)
        proxy = scheme + "://" + auth + "@" + rest
    return {"Proxy": proxy}

json.dump([options(text) for text in json.load(sys.stdin)], sys.stdout)
`

// options are what a reader has found, raw where it has user and password
// apart from the URL.
type options struct{ Proxy, User, Password string }

// meant are the URL without credentials, the user and the password that a
// proxy would see.
func (o options) meant() options {
	if o.User != "" {
		return o
	}
	u, err := proxyconfig.ParseURL(o.Proxy)
	if err != nil {
		return options{Proxy: "no URL for libcurl: " + err.Error()}
	}
	user, password := u.Credentials().Reveal()
	return options{u.Bare(), user, password}
}

func TestReaderDNF(t *testing.T) {
	needs(t, "/usr/lib/python3/dist-packages/dnf/conf/__init__.py", "python3-dnf")
	testINIReader(t, dnfReader, []string{"None", " lead", "trail ", `"pair"`, `'pair'`, `""`})
}

func TestReaderYum(t *testing.T) {
	needs(t, "/usr/lib/python3/dist-packages/iniparse/__init__.py", "python3-iniparse")
	testINIReader(t, yumReader, []string{"a ;b", "a/b", "_none_", " lead", "trail "})
}

// testINIReader writes each of the credentials into a file as we do. The
// passwords that the reader is known to mangle are the controls: they go into
// proxy_password as they are.
func testINIReader(t *testing.T, script string, mangled []string) {
	t.Helper()
	proxy := parseProxy(t, "http://proxy.example:3128")
	all := someCredentials(t, seeded(t))
	files, want := make([]string, len(all)), make([]options, len(all))
	inURL := 0
	for i, c := range all {
		keys := dnfKeys(proxy.With(c))
		if !keys[1].present {
			inURL++
		}
		user, password := c.Reveal()
		files[i] = string(setKeys([]byte(repeatedProxy), "main", keys))
		want[i] = options{proxy.Bare(), user, password}
	}
	t.Logf("%d of %d have the credentials in the URL", inURL, len(all))
	if inURL == 0 || inURL == len(all) {
		t.Errorf("%d of %d credentials are in the URL", inURL, len(all))
	}
	for _, password := range mangled {
		raw := []key{{"proxy", proxy.Bare(), true}, {"proxy_username", "user", true}, {"proxy_password", password, true}}
		files = append(files, string(setKeys([]byte(repeatedProxy), "main", raw)))
	}
	// Without credentials there are none (BL-030: no _none_ for either).
	files = append(files, string(setKeys([]byte(repeatedProxy), "main", dnfKeys(proxy))))

	got := readINI(t, script, files)
	if diff := cmp.Diff(want, got[:len(all)]); diff != "" {
		t.Errorf("read differently (-written +read):\n%s", diff)
	}
	for i, password := range mangled {
		if o := got[len(all)+i]; o == (options{proxy.Bare(), "user", password}) {
			t.Errorf("the control %q is read as it is: this test would not see a fault", password)
		}
	}
	if o := got[len(got)-1]; o != (options{Proxy: proxy.Bare()}) {
		t.Errorf("without credentials: got %q", o)
	}
}

// readINI gives all files to one process.
func readINI(t *testing.T, script string, files []string) []options {
	t.Helper()
	input, err := json.Marshal(files)
	if err != nil {
		t.Fatal(err)
	}
	out := runReader(t, t.TempDir(), string(input), "/usr/bin/python3", "-c", script)
	var read []options
	if err := json.Unmarshal([]byte(out), &read); err != nil {
		t.Fatalf("parsing what the reader printed: %v\n%s", err, out)
	}
	if len(read) != len(files) {
		t.Fatalf("%d files read, want %d", len(read), len(files))
	}
	for i := range read {
		read[i] = read[i].meant()
	}
	return read
}
