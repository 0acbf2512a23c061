package secretref

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// What must not stand in any error.
const (
	accessKey = "AKIDEXAMPLEKEY"
	secretKey = "wJalrXUtnFEMIcoreKEY"
	session   = "IQoJsessiontokencore"
	imdsToken = "imds-token-core"
	password  = "p@ss:w/coreZk7"
)

const secretARN = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:proxy-AbCdEf"

// fake is instance metadata and both services on one port. The service goes
// through its answers, one a request, and repeats the last.
type fake struct {
	*httptest.Server
	mu       sync.Mutex
	metadata map[string]string
	faults   map[string]http.HandlerFunc // by path of metadata
	answers  []http.HandlerFunc
	calls    []call
	paths    []string
}

// call is one request to a service.
type call struct{ target, authorization, token, body string }

func newFake(t *testing.T, answers ...http.HandlerFunc) *fake {
	t.Helper()
	f := &fake{answers: answers, faults: map[string]http.HandlerFunc{}, metadata: map[string]string{
		rolePath:               "node-role",
		rolePath + "node-role": `{"Code":"Success","AccessKeyId":"` + accessKey + `","SecretAccessKey":"` + secretKey + `","Token":"` + session + `","Expiration":"2099-01-01T00:00:00Z"}`,
		"/placement/region":    "eu-west-1",
		"/services/domain":     "amazonaws.com",
	}}
	f.Server = httptest.NewServer(f)
	t.Cleanup(f.Close)
	return f
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	path, isMetadata := strings.CutPrefix(r.URL.Path, metadataRoot)
	isMetadata = isMetadata || r.URL.Path == "/latest/api/token"
	text, found := f.metadata[path]
	answer := f.faults[path]
	f.paths = append(f.paths, r.URL.Path)
	if !isMetadata && len(f.answers) > 0 {
		body, _ := io.ReadAll(r.Body)
		f.calls = append(f.calls, call{r.Header.Get("X-Amz-Target"), r.Header.Get("Authorization"), r.Header.Get("X-Amz-Security-Token"), string(body)})
		answer = f.answers[0]
		f.answers = f.answers[min(1, len(f.answers)-1):]
	}
	f.mu.Unlock()
	switch {
	case answer != nil:
		answer(w, r)
	case r.URL.Path == "/latest/api/token":
		w.Header().Set("X-Aws-Ec2-Metadata-Token-Ttl-Seconds", "300")
		fmt.Fprint(w, imdsToken)
	case r.Header.Get("X-Aws-Ec2-Metadata-Token") != imdsToken:
		w.WriteHeader(http.StatusUnauthorized)
	case found:
		fmt.Fprint(w, text)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

// sent are the requests to a service so far.
func (f *fake) sent() []call {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.calls)
}

// asked are the paths of all requests so far.
func (f *fake) asked() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.paths)
}

// options ask the fake for everything.
func (f *fake) options() Options {
	return Options{IMDSEndpoint: f.URL, Getenv: getenv(map[string]string{"AWS_ENDPOINT_URL": f.URL})}
}

func getenv(env map[string]string) func(string) string {
	return func(name string) string { return env[name] }
}

// quick are limits that a test can wait for, and that a busy machine keeps.
func quick() limits {
	return limits{tries: 3, total: 8 * time.Second, try: 2 * time.Second, dial: 1500 * time.Millisecond, header: time.Second, firstPause: 5 * time.Millisecond}
}

// get resolves a reference with these options in quick limits.
func get(t *testing.T, ref string, o Options) (string, error) {
	t.Helper()
	r, err := parse(ref)
	if err != nil {
		t.Fatal(err)
	}
	v, err := r.fetch(t.Context(), o, quick())
	if err != nil {
		return "", err
	}
	return string(v.reveal()), nil
}

// The answers.

func reply(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/x-amz-json-1.1")
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}
}

func secret(text string) http.HandlerFunc {
	return reply(http.StatusOK, fmt.Sprintf(`{"ARN":%s,"SecretString":%s}`, quote(secretARN), quote(text)))
}

func refuse(code, message string) http.HandlerFunc {
	return reply(http.StatusBadRequest, fmt.Sprintf(`{"__type":%s,"Message":%s}`, quote(code), quote(message)))
}

func quote(text string) string {
	data, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(data)
}

func hang(_ http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body) // so that the server sees the client go
	<-r.Context().Done()
}

func reset(w http.ResponseWriter, _ *http.Request) {
	if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
		_ = conn.Close()
	}
}

// checkError wants an *Error of this kind with these words, and nothing that
// must be hidden.
func checkError(t *testing.T, err error, kind Kind, words ...string) {
	t.Helper()
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Kind != kind {
		t.Fatalf("got %v, want an error of the kind %q", err, kind)
	}
	checkWords(t, err, words...)
}

func checkWords(t *testing.T, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
	for _, shown := range []string{err.Error(), fmt.Sprintf("%+v", err), fmt.Sprintf("%#v", err)} {
		for _, hidden := range []string{accessKey, secretKey, session, imdsToken, password, "coreZk7"} {
			if strings.Contains(shown, hidden) {
				t.Errorf("the error shows %q: %s", hidden, shown)
			}
		}
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("the error does not say %q: %v", w, err)
		}
	}
	if strings.Contains(err.Error(), "failed to") || strings.ContainsAny(err.Error(), "\n\x1b") {
		t.Errorf("the error is not of our form: %q", err)
	}
}

// dialTo sends every connection to the fake, whatever its host.
func (f *fake) dialTo(transport *http.Transport) {
	transport.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, strings.TrimPrefix(f.URL, "http://"))
	}
}
