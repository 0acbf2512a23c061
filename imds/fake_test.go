package imds

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	mac1 = "0a:00:00:00:00:01"
	mac2 = "0a:00:00:00:00:02"
)

// fake is instance metadata that insists on IMDSv2. A path goes through its
// faults, one a request, before it answers.
type fake struct {
	*httptest.Server
	mu       sync.Mutex
	answers  map[string]string
	faults   map[string][]http.HandlerFunc
	token    int // the number in the token that is valid now
	seen     map[string]int
	inFlight int
	most     int // requests side by side
	conns    int
}

// newFake serves a VPC with two blocks that two interfaces report alike.
func newFake(t *testing.T) *fake {
	t.Helper()
	f := &fake{
		answers: map[string]string{
			metadataRoot + interfacesPath:     mac1 + "/\n" + mac2 + "/",
			blocksPath(mac1, ipv4):            "10.40.0.0/16\n100.64.0.0/16",
			blocksPath(mac2, ipv4):            "10.40.0.0/16\n100.64.0.0/16",
			blocksPath(mac1, ipv6):            "2a05:d018::/56",
			metadataRoot + "placement/region": "eu-west-1",
			metadataRoot + "services/domain":  "amazonaws.com",
		},
		faults: map[string][]http.HandlerFunc{},
		seen:   map[string]int{},
	}
	f.Server = httptest.NewUnstartedServer(f)
	f.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			f.mu.Lock()
			f.conns++
			f.mu.Unlock()
		}
	}
	f.Start()
	t.Cleanup(f.Close)
	return f
}

func blocksPath(mac string, fam family) string {
	return metadataRoot + interfacesPath + mac + "/" + string(fam)
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	fault, answer, found, token := f.enter(r.URL.Path)
	defer f.leave()
	switch {
	case fault != nil:
		fault(w, r)
	case r.Method == http.MethodPut && r.URL.Path == tokenPath:
		w.Header().Set("X-Aws-Ec2-Metadata-Token-Ttl-Seconds", r.Header.Get("X-Aws-Ec2-Metadata-Token-Ttl-Seconds"))
		fmt.Fprint(w, token)
	case r.Method != http.MethodGet || r.Header.Get("X-Aws-Ec2-Metadata-Token") != token:
		unauthorized(w, r)
	case !found:
		http.Error(w, "<html>404</html>", http.StatusNotFound)
	default:
		fmt.Fprint(w, answer)
	}
}

func (f *fake) enter(path string) (fault http.HandlerFunc, answer string, found bool, token string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seen[path]++
	f.inFlight++
	f.most = max(f.most, f.inFlight)
	if left := f.faults[path]; len(left) > 0 {
		fault, f.faults[path] = left[0], left[1:]
	}
	answer, found = f.answers[path]
	return fault, answer, found, fmt.Sprint("token-", f.token)
}

func (f *fake) leave() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.inFlight--
}

func (f *fake) count(path string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.seen[path]
}

// The faults.

func unauthorized(w http.ResponseWriter, _ *http.Request) {
	http.Error(w, "<html>401</html>", http.StatusUnauthorized)
}

// expire makes all tokens so far invalid.
func (f *fake) expire(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	f.token++
	f.mu.Unlock()
	unauthorized(w, r)
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

func text(s string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, s) }
}

func hang(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

func reset(w http.ResponseWriter, _ *http.Request) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err == nil {
		_ = conn.(*net.TCPConn).SetLinger(0)
		_ = conn.Close()
	}
}

// cut promises more than it sends.
func cut(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Length", "100")
	fmt.Fprint(w, "10.0.0.0/8")
}

// drip never stops and never sends much.
func drip(w http.ResponseWriter, r *http.Request) {
	for r.Context().Err() == nil {
		fmt.Fprint(w, "1")
		w.(http.Flusher).Flush()
		time.Sleep(10 * time.Millisecond)
	}
}

func redirect(w http.ResponseWriter, r *http.Request) {
	http.Redirect(w, r, metadataRoot+"placement/region", http.StatusFound)
}

func forever(h http.HandlerFunc) []http.HandlerFunc {
	out := make([]http.HandlerFunc, 1000)
	for i := range out {
		out[i] = h
	}
	return out
}

// client returns one that is as impatient as a test must be.
func (f *fake) client() *client { return newClient([]string{f.URL}, quick()) }

// patient returns one that asks again only where it is answered: for tests that
// count requests, on a busy machine too.
func (f *fake) patient() *client {
	l := quick()
	l.total, l.request, l.dial, l.header = time.Minute, 20*time.Second, 20*time.Second, 20*time.Second
	return newClient([]string{f.URL}, l)
}

func quick() limits {
	return limits{
		total:      5 * time.Second,
		request:    500 * time.Millisecond,
		dial:       300 * time.Millisecond,
		header:     400 * time.Millisecond,
		firstPause: time.Millisecond,
		maxPause:   20 * time.Millisecond,
	}
}

// address is the fake's host and port.
func (f *fake) address() string { return strings.TrimPrefix(f.URL, "http://") }
