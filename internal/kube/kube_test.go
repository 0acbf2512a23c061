package kube_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/eksproxy/eksproxy/internal/kube"
)

// connect gives a client of a server, as a kubeconfig names it.
func connect(t *testing.T, url string, extra string) *kube.Client {
	t.Helper()
	name := filepath.Join(t.TempDir(), "config")
	text := fmt.Sprintf("apiVersion: v1\nkind: Config\ncurrent-context: prod\ncontexts: [{name: prod, context: {cluster: c, user: u}}]\nusers: [{name: u, user: {}}]\nclusters: [{name: c, cluster: {server: %q%s}}]\n", url, extra)
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := kube.Connect(kube.Options{Kubeconfig: name, Getenv: func(string) string { return "" }, Timeout: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

var node = kube.Ref{Kind: kube.DaemonSet(), Namespace: "kube-system", Name: "aws-node"}

func status(w http.ResponseWriter, code int, reason, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_, _ = fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","code":%d,"reason":%q,"message":%q}`, code, reason, message)
}

const object = `{"apiVersion":"apps/v1","kind":"DaemonSet","metadata":{"name":"aws-node","namespace":"kube-system","uid":"u1","resourceVersion":"7"}}`

// TestAgain: what a busy or failing server did not do is asked again, a no is not.
func TestAgain(t *testing.T) {
	for name, tt := range map[string]struct {
		answer    func(http.ResponseWriter)
		calls     int32
		undecided bool
	}{
		"500":    {func(w http.ResponseWriter) { status(w, 500, "InternalError", "x") }, 2, false},
		"503":    {func(w http.ResponseWriter) { status(w, 503, "ServiceUnavailable", "x") }, 2, false},
		"closed": {func(http.ResponseWriter) { panic(http.ErrAbortHandler) }, 2, false},
		"403":    {func(w http.ResponseWriter) { status(w, 403, "Forbidden", "x") }, 1, true},
		"401":    {func(w http.ResponseWriter) { status(w, 401, "Unauthorized", "x") }, 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			var calls atomic.Int32
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if calls.Add(1) == 1 {
					tt.answer(w)
					return
				}
				w.Header().Set("Content-Type", "application/json")
				_, _ = fmt.Fprint(w, object)
			}))
			defer server.Close()
			found, err := connect(t, server.URL, "").Get(t.Context(), node)
			if calls.Load() < tt.calls || tt.undecided == (err == nil) || tt.undecided != kube.Undecided(err) {
				t.Errorf("%d calls, %v, %v", calls.Load(), found, err)
			}
		})
	}
}

func TestAbsent(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { status(w, 404, "NotFound", "x") }))
	defer server.Close()
	c := connect(t, server.URL, "")
	if found, err := c.Get(t.Context(), node); found != nil || err != nil {
		t.Errorf("%v, %v", found, err)
	}
	_, err := c.Modify(t.Context(), node, "u1", "m", func(*unstructured.Unstructured) (map[string]any, error) { return nil, nil })
	if !errors.Is(err, kube.ErrGone) {
		t.Errorf("changing what is gone: %v", err)
	}
	if err := c.Delete(t.Context(), node, "u1", ""); err != nil {
		t.Errorf("deleting what is gone: %v", err)
	}
}

// TestUnreachable: it is undecided, and a proxy on the way is named without its
// login.
func TestUnreachable(t *testing.T) {
	c := connect(t, "https://api.example:443", `, proxy-url: "http://svc:pw@127.0.0.9:1"`)
	_, err := c.Get(t.Context(), node)
	request := &http.Request{URL: &url.URL{Scheme: "https", Host: "api.example:443"}}
	if proxy, _ := c.Config.Proxy(request); proxy.User.String() != "svc:pw" {
		t.Errorf("later requests have lost the proxy's login: %v", proxy)
	}
	if !kube.Undecided(err) || !strings.Contains(err.Error(), "through the proxy http://127.0.0.9:1") || strings.Contains(err.Error(), "pw") {
		t.Errorf("it says: %v", err)
	}
}

func TestModifyAgainstAnotherWriter(t *testing.T) {
	var patches atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPatch && patches.Add(1) < 4 {
			status(w, 409, "Conflict", "the object has been modified")
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprint(w, object)
	}))
	defer server.Close()
	_, err := connect(t, server.URL, "").Modify(t.Context(), node, "u1", "m", func(*unstructured.Unstructured) (map[string]any, error) {
		return map[string]any{"spec": map[string]any{"x": "y"}}, nil
	})
	if err != nil || patches.Load() != 4 {
		t.Errorf("%d patches, %v", patches.Load(), err)
	}
}

func TestIsRejected(t *testing.T) {
	for message, want := range map[string]bool{
		`admission webhook "validate.kyverno.svc-fail" denied the request: no`:                              true,
		`ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no`:                                 true,
		`pods "x" is forbidden: violates PodSecurity "restricted:latest": runAsNonRoot`:                     true,
		`daemonsets.apps "x" is forbidden: User "u" cannot patch resource "daemonsets" in API group "apps"`: false,
	} {
		err := &kube.Error{Doing: "creating", Err: apierrors.NewForbidden(kube.Pod().GroupResource(), "x", errors.New(message))}
		if kube.IsRejected(err) != want {
			t.Errorf("%s: rejected is %t", message, !want)
		}
	}
}

func TestNoKubeconfig(t *testing.T) {
	home := t.TempDir()
	_, err := kube.Connect(kube.Options{Getenv: func(name string) string { return map[string]string{"HOME": home}[name] }})
	if !errors.Is(err, kube.ErrNoKubeconfig) {
		t.Errorf("%v", err)
	}
}
