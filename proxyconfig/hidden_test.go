package proxyconfig_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/eksproxy/eksproxy/proxyconfig"
)

// holder holds both types in every way that a struct can.
type holder struct {
	URL         proxyconfig.URL
	Pointer     *proxyconfig.URL
	Slice       []proxyconfig.URL
	Map         map[string]proxyconfig.URL
	Credentials proxyconfig.Credentials
	Pair        *proxyconfig.Credentials
	Settings    proxyconfig.Settings
	inner       proxyconfig.URL
	innerPair   []proxyconfig.Credentials
}

// holding is a value of each kind, all with the secret.
func holding(t *testing.T) map[string]any {
	t.Helper()
	c := mustCredentials(t, "svc:"+secret)
	u := mustURL(t, "http://proxy.example:3128").With(c)
	h := holder{
		u, &u, []proxyconfig.URL{u}, map[string]proxyconfig.URL{"a": u}, c, &c,
		proxyconfig.Settings{HTTPProxy: u, HTTPSProxy: u}, u, []proxyconfig.Credentials{c},
	}
	return map[string]any{
		"URL": u, "*URL": &u, "[]URL": []proxyconfig.URL{u}, "[]*URL": []*proxyconfig.URL{&u},
		"Credentials": c, "*Credentials": &c, "[]Credentials": []proxyconfig.Credentials{c},
		"Config": proxyconfig.Config{HTTPProxy: u, HTTPSProxy: u}, "struct": h, "*struct": &h,
	}
}

// checkHidden fails where a text holds the secret in any form.
func checkHidden(t *testing.T, how, text string) {
	t.Helper()
	for _, form := range []string{
		secret, hex.EncodeToString([]byte(secret)), base64.StdEncoding.EncodeToString([]byte("svc:" + secret)),
		fmt.Sprintf("% x", secret), fmt.Sprintf("%d", []byte(secret)), "svc",
	} {
		if strings.Contains(strings.ToLower(text), strings.ToLower(form)) {
			t.Errorf("%s shows %q: %s", how, form, text)
		}
	}
}

// TestHiddenByFmt is BL-035: no verb shows a password, of whatever holds it.
func TestHiddenByFmt(t *testing.T) {
	for name, v := range holding(t) {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "% x", "%d", "%c", "%U", "%5.1v", "%-40s|", "%t", "%!"} {
			checkHidden(t, name+" "+verb, fmt.Sprintf(verb, v))
		}
		checkHidden(t, name+" Sprint", fmt.Sprint(v)+fmt.Sprintln(v))
		checkHidden(t, name+" Errorf", fmt.Errorf("%v: %w", v, errors.New("x")).Error())
	}
}

// TestHiddenByEncoders is BL-035 for JSON and YAML.
func TestHiddenByEncoders(t *testing.T) {
	for name, v := range holding(t) {
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatal(name, err)
		}
		checkHidden(t, name+" JSON", string(data))
		if data, err = yaml.Marshal(v); err != nil {
			t.Fatal(name, err)
		}
		checkHidden(t, name+" YAML", string(data))
	}
}

// TestHiddenByLogs is BL-035 for both handlers of slog.
func TestHiddenByLogs(t *testing.T) {
	for name, v := range holding(t) {
		var b bytes.Buffer
		for _, h := range []slog.Handler{slog.NewTextHandler(&b, nil), slog.NewJSONHandler(&b, nil)} {
			slog.New(h).With("with", v).Info("m", "a", v, slog.Group("g", "b", v))
		}
		checkHidden(t, name+" slog", b.String())
	}
}

// TestShown: what is printed says that there is something hidden.
func TestShown(t *testing.T) {
	u := mustURL(t, "http://svc:"+secret+"@[::1]:3128")
	want := "http://[secret]@[::1]:3128"
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x"} {
		if got := fmt.Sprintf(verb, u); got != want {
			t.Errorf("%s prints %q, want %q", verb, got, want)
		}
	}
	data, err := json.Marshal([]any{u, u.Credentials(), u.With(proxyconfig.Credentials{})})
	if got := string(data); err != nil || got != `["`+want+`","[secret]","http://[::1]:3128"]` {
		t.Errorf("JSON prints %s, %v", got, err)
	}
	if got := (proxyconfig.Credentials{}).String(); got != "" {
		t.Errorf("no credentials print as %q", got)
	}
}
