package secretref

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/eksproxy/eksproxy/proxyconfig"
)

// The request is what the service expects, signed for it with the role's
// credentials.
func TestRequest(t *testing.T) {
	for name, c := range map[string]struct{ ref, answer, target, body, scope string }{
		"a secret by ARN":  {"secretsmanager:" + secretARN, `{"SecretString":"v"}`, "secretsmanager.GetSecretValue", `{"SecretId":"` + secretARN + `"}`, "/eu-west-1/secretsmanager/aws4_request"},
		"a secret by name": {"secretsmanager:corp/proxy", `{"SecretString":"v"}`, "secretsmanager.GetSecretValue", `{"SecretId":"corp/proxy"}`, "/eu-west-1/secretsmanager/aws4_request"},
		"a binary secret":  {"secretsmanager:proxy", `{"SecretBinary":"dg=="}`, "secretsmanager.GetSecretValue", `{"SecretId":"proxy"}`, "/eu-west-1/secretsmanager/aws4_request"},
		"a parameter":      {"ssm:/corp/proxy", `{"Parameter":{"Type":"SecureString","Value":"v"}}`, "AmazonSSM.GetParameter", `{"Name":"/corp/proxy","WithDecryption":true}`, "/eu-west-1/ssm/aws4_request"},
		"one of a version": {"ssm:proxy:3", `{"Parameter":{"Value":"v"}}`, "AmazonSSM.GetParameter", `{"Name":"proxy:3","WithDecryption":true}`, "/eu-west-1/ssm/aws4_request"},
		"another region":   {"ssm:arn:aws:ssm:eu-north-1:1:parameter/x", `{"Parameter":{"Value":"v"}}`, "AmazonSSM.GetParameter", `{"Name":"arn:aws:ssm:eu-north-1:1:parameter/x","WithDecryption":true}`, "/eu-north-1/ssm/aws4_request"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t, reply(http.StatusOK, c.answer))
			got, err := get(t, c.ref, f.options())
			if err != nil || got != "v" {
				t.Fatalf("got %q, %v", got, err)
			}
			sent := f.sent()[0]
			if sent.target != c.target || sent.body != c.body || sent.token != session {
				t.Errorf("sent %+v", sent)
			}
			if want := "AWS4-HMAC-SHA256 Credential=" + accessKey + "/"; !strings.HasPrefix(sent.authorization, want) || !strings.Contains(sent.authorization, c.scope) {
				t.Errorf("signed %s, want %s...%s", sent.authorization, want, c.scope)
			}
		})
	}
}

// What may pass is tried again, three times in all; a new try of expired
// credentials asks metadata for others.
func TestRetries(t *testing.T) {
	good := secret("u:p")
	for name, c := range map[string]struct {
		answers []http.HandlerFunc
		roles   int
	}{
		"server error": {[]http.HandlerFunc{reply(500, "{}"), reply(503, "<html>"), good}, 1},
		"throttled":    {[]http.HandlerFunc{refuse("ThrottlingException", "Rate exceeded"), reply(429, ""), good}, 1},
		"reset":        {[]http.HandlerFunc{reset, good}, 1},
		"hang":         {[]http.HandlerFunc{hang, good}, 1},
		"cut": {[]http.HandlerFunc{func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "99")
			fmt.Fprint(w, "{")
		}, good}, 1},
		"expired token":     {[]http.HandlerFunc{refuse("ExpiredTokenException", "expired"), good}, 2},
		"unknown token":     {[]http.HandlerFunc{refuse("com.amazonaws#UnrecognizedClientException", "no"), good}, 2},
		"our clock is late": {[]http.HandlerFunc{late, good}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t, c.answers...)
			got, err := get(t, "secretsmanager:"+secretARN, f.options())
			if err != nil || got != "u:p" || len(f.sent()) != len(c.answers) {
				t.Fatalf("got %q, %v after %d calls, want %d", got, err, len(f.sent()), len(c.answers))
			}
			if n := strings.Count(strings.Join(f.asked(), "\n"), rolePath+"node-role"); n != c.roles {
				t.Errorf("read the role's credentials %d times, want %d", n, c.roles)
			}
		})
	}
}

// late says that the signature is of long ago, and what the time is.
func late(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Date", time.Now().Add(30*time.Minute).UTC().Format(http.TimeFormat))
	refuse("InvalidSignatureException", "Signature expired")(w, r)
}

// The second try is signed with the time of the service.
func TestClock(t *testing.T) {
	f := newFake(t, late, secret("u:p"))
	x, err := newFetcher(reference{service: secretsManager, name: secretARN, region: "eu-west-1"}, f.options(), quick())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := x.run(t.Context()); err != nil || x.skew < 29*time.Minute || x.skew > 31*time.Minute {
		t.Errorf("skew %s, %v", x.skew, err)
	}
}

// Everything is bounded: a try, the tries, and an answer.
func TestBounds(t *testing.T) {
	for name, answer := range map[string]http.HandlerFunc{
		"hang": hang,
		"drip": func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				fmt.Fprint(w, " ")
				_ = http.NewResponseController(w).Flush()
				time.Sleep(10 * time.Millisecond)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t, answer)
			start := time.Now()
			_, err := get(t, "ssm:x", f.options())
			checkError(t, err, Unreachable, "3 tries in ", "com.amazonaws.eu-west-1.ssm", "no complete answer in time")
			if took := time.Since(start); took > 30*time.Second || len(f.sent()) != 3 {
				t.Errorf("%d calls in %s", len(f.sent()), took)
			}
		})
	}
	f := newFake(t, reply(http.StatusOK, `{"SecretString":"`+strings.Repeat("x", maxBody)+`"}`))
	_, err := get(t, "secretsmanager:x", f.options())
	checkError(t, err, Unreachable, "larger than any secret")
	l := defaultLimits()
	if longest := time.Duration(l.tries)*l.try + l.firstPause*3; l.tries != 3 || l.total != 10*time.Second || longest > l.total {
		t.Errorf("%d tries take %s of %s", l.tries, longest, l.total)
	}
}

// Ctrl-C ends it at once, and is no error of the service.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	f := newFake(t, func(w http.ResponseWriter, r *http.Request) {
		cancel()
		hang(w, r)
	})
	_, err := Fetch(ctx, "ssm:x", f.options())
	if _, ok := errors.AsType[*Error](err); ok || !errors.Is(err, context.Canceled) || len(f.sent()) != 1 {
		t.Errorf("got %v after %d calls", err, len(f.sent()))
	}
}

// No redirect is followed: it would take the signed request elsewhere.
func TestRedirect(t *testing.T) {
	var asked atomic.Int32
	other := newFake(t, func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		secret("u:p")(w, r)
	})
	for _, status := range []int{301, 302, 303, 307, 308} {
		f := newFake(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other.URL+"/", status) })
		_, err := get(t, "secretsmanager:x", f.options())
		checkError(t, err, Unreachable, strconv.Itoa(status), "com.amazonaws.eu-west-1.secretsmanager")
		f = newFake(t, secret("u:p"))
		f.faults[rolePath] = func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other.URL+r.URL.Path, status) }
		_, err = get(t, "secretsmanager:x", f.options())
		checkError(t, err, Unreachable, strconv.Itoa(status))
	}
	if asked.Load() != 0 || len(other.asked()) != 0 {
		t.Errorf("followed to %v", other.asked())
	}
}

// The environment names a proxy for everything; Go itself would not use one for
// 127.0.0.1, so that real names are asked here.
func TestNoProxy(t *testing.T) {
	proxy := newFake(t, secret("of:proxy"))
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"} {
		t.Setenv(name, proxy.URL)
	}
	t.Setenv("NO_PROXY", "")
	t.Setenv("no_proxy", "")
	f := newFake(t, secret("u:p"))
	r, err := parse("secretsmanager:" + secretARN)
	if err != nil {
		t.Fatal(err)
	}
	x, err := newFetcher(r, Options{Getenv: getenv(map[string]string{"AWS_ENDPOINT_URL": "http://secretsmanager.example"})}, quick())
	if err != nil {
		t.Fatal(err)
	}
	if x.transport.Proxy != nil || x.metadata.transport.Proxy != nil {
		t.Error("a transport has a proxy function")
	}
	f.dialTo(x.transport)
	f.dialTo(x.metadata.transport)
	v, err := x.run(t.Context())
	if err != nil || string(v.reveal()) != "u:p" || len(proxy.asked()) != 0 {
		t.Errorf("got %v, and the proxy saw %v", err, proxy.asked())
	}
}

// A value never shows itself.
func TestValueHides(t *testing.T) {
	v := newValue([]byte(password))
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		for _, holder := range []any{v, &v, []value{v}, struct{ inner value }{v}} {
			if text := fmt.Sprintf(verb, holder); strings.Contains(text, "core") || strings.Contains(text, fmt.Sprintf("%x", password)) {
				t.Errorf("%s shows %s", verb, text)
			}
		}
	}
}

// A file is read as proxyconfig reads it: not where others can write it.
func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "login")
	if err := os.WriteFile(path, []byte(`{"username":"u","password":"`+password+`"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := Credentials(t.Context(), "file:"+path, Options{})
	if user, pw := c.Reveal(); err != nil || user != "u" || pw != password {
		t.Errorf("got %q, %v", user, err)
	}
	if err := os.Chmod(path, 0o602); err != nil {
		t.Fatal(err)
	}
	_, err = Fetch(t.Context(), "file:"+path, Options{})
	checkWords(t, err, "can be written by every user", "chmod go-w "+path)
	_, err = Fetch(t.Context(), "file:"+path+"x", Options{})
	checkWords(t, err, "no such file")
}

// Fetch gives the text of the field that a key names, Credentials what the
// field means.
func TestKey(t *testing.T) {
	f := newFake(t, secret(`{"proxy":"u:`+password+`","n":1}`))
	got, err := Fetch(t.Context(), "secretsmanager:x#proxy", f.options())
	if err != nil || string(got) != "u:"+password {
		t.Errorf("got %v", err)
	}
	c, err := Credentials(t.Context(), "secretsmanager:x#proxy", f.options())
	want, _ := proxyconfig.ParseCredentials([]byte("u:" + password))
	if err != nil || !c.Equal(want) {
		t.Errorf("got %v", err)
	}
	for key, words := range map[string][]string{"none": {`no field "none"`, `"n" "proxy"`}, "n": {"not a text"}} {
		for _, call := range []func() error{
			func() error { _, err := Fetch(t.Context(), "secretsmanager:x#"+key, f.options()); return err },
			func() error { _, err := Credentials(t.Context(), "secretsmanager:x#"+key, f.options()); return err },
		} {
			checkError(t, call(), Malformed, slices.Concat(words, []string{"Secrets Manager"})...)
		}
	}
}
