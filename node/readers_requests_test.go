//go:build integration

package node

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// dnfRequests makes dnf ask for a repository that does not exist, once with
// each file; the host name is the file's number.
const dnfRequests = `
import json, os, sys
import dnf, dnf.conf

def request(name, text):
    os.mkdir(name)
    path = os.path.join(name, "dnf.conf")
    with open(path, "w") as f:
        f.write(text)
    base = dnf.Base(dnf.conf.Conf())
    base.conf.read(path)
    base.conf.cachedir = base.conf.persistdir = base.conf.logdir = base.conf.reposdir = os.path.abspath(name)
    base.conf.substitutions["releasever"] = "1"
    base.conf.retries, base.conf.timeout = 1, 10
    repo = base.repos.add_new_repo(name, base.conf, baseurl=["http://" + name + ".invalid/"])
    try:
        repo.load()
    except dnf.exceptions.RepoError:
        return
    sys.exit(name + ": dnf has found a repository that does not exist")

for i, text in enumerate(json.load(sys.stdin)):
    request("case%d" % i, text)
`

// proxyLog is a proxy that asks for credentials and finds nothing.
type proxyLog struct {
	mu sync.Mutex
	// seen has user:password by the host that was asked for.
	seen map[string]string
}

func (p *proxyLog) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := r.Header.Get("Proxy-Authorization")
	if header == "" {
		w.Header().Set("Proxy-Authenticate", `Basic realm="test"`)
		w.WriteHeader(http.StatusProxyAuthRequired)
		return
	}
	// BasicAuth decodes the header of the same form.
	user, password, ok := (&http.Request{Header: http.Header{"Authorization": {header}}}).BasicAuth()
	if !ok {
		user, password = "no basic authentication", header
	}
	p.mu.Lock()
	p.seen[r.URL.Host] = user + ":" + password
	p.mu.Unlock()
	w.WriteHeader(http.StatusNotFound)
}

// BL-031: what dnf sends to the proxy are user and password, exactly, in
// whichever form they stand in its file.
func TestReaderDNFRequests(t *testing.T) {
	needs(t, "/usr/lib/python3/dist-packages/dnf/__init__.py", "python3-dnf")
	proxy := &proxyLog{seen: map[string]string{}}
	server := httptest.NewServer(proxy)
	defer server.Close()
	u := parseProxy(t, server.URL)

	want := map[string]string{}
	var files []string
	texts := uglyCredentials()
	for b := byte(0x20); b <= 0x7e; b++ {
		user := strings.ReplaceAll("x"+string(b)+"y", ":", ";")
		texts = append(texts, user+":y"+string(b)+"x")
	}
	for i, text := range texts {
		keys := dnfKeys(u.With(parseCredentials(t, text)))
		files = append(files, string(setKeys([]byte(repeatedProxy), "main", keys)))
		want[fmt.Sprintf("case%d.invalid", i)] = text
	}
	// The control: quotes that dnf takes off.
	control := fmt.Sprintf("case%d.invalid", len(files))
	files = append(files, "[main]\nproxy="+u.Bare()+"\nproxy_username=svc\nproxy_password='secret'\n")

	input, err := json.Marshal(files)
	if err != nil {
		t.Fatal(err)
	}
	runReader(t, t.TempDir(), string(input), "/usr/bin/python3", "-c", dnfRequests)
	server.Close()
	if got := proxy.seen[control]; !strings.HasPrefix(got, "svc:") || got == "svc:'secret'" {
		t.Errorf("the control arrived as %q: this test would not see a fault", got)
	}
	delete(proxy.seen, control)
	if diff := cmp.Diff(want, proxy.seen); diff != "" {
		t.Errorf("credentials at the proxy (-written +arrived):\n%s", diff)
	}
}
