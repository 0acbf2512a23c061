package proxyconfig_test

import (
	"regexp"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/eksproxy/eksproxy/noproxy"
	"github.com/eksproxy/eksproxy/proxyconfig"
)

// someSettings are settings with a password.
func someSettings(t *testing.T) proxyconfig.Settings {
	t.Helper()
	return proxyconfig.Settings{
		HTTPProxy:  mustURL(t, "http://svc:"+secret+"@proxy.example:3128"),
		HTTPSProxy: mustURL(t, "http://svc:"+secret+"@proxy.example:3128"),
		NoProxy:    noproxy.List{{Text: "localhost"}, {Text: ".svc"}},
		CAs:        []proxyconfig.CA{{PEM: []byte("PEM"), Subject: "CN=a", NotAfter: time.Date(2040, 1, 2, 3, 4, 5, 0, time.UTC)}},
	}
}

// TestHashGolden: the hash of the same settings is the same in every version:
// a changed one rolls every pod and replaces every node.
func TestHashGolden(t *testing.T) {
	const want = "bb5e3205e545"
	got := someSettings(t).Hash()
	if got != want {
		t.Errorf("the hash is %s, want %s", got, want)
	}
	if !regexp.MustCompile(`^[0-9a-f]{12}$`).MatchString(got) {
		t.Errorf("the hash %q is not 12 hex digits", got)
	}
}

// TestHashCoversNoCredential: from a hash of a password it can be guessed.
func TestHashCoversNoCredential(t *testing.T) {
	s := someSettings(t)
	want := s.Hash()
	for _, text := range []string{"other:" + secret, "svc:other", "svc:"} {
		c := mustCredentials(t, text)
		s.HTTPProxy, s.HTTPSProxy = s.HTTPProxy.With(c), s.HTTPSProxy.With(c)
		if got := s.Hash(); got != want {
			t.Errorf("with %s the hash is %s, want %s", text, got, want)
		}
	}
}

// TestHashCoversTheRest: whatever else changes, the hash does.
func TestHashCoversTheRest(t *testing.T) {
	changes := map[string]func(*proxyconfig.Settings){
		"none":        func(*proxyconfig.Settings) {},
		"http host":   func(s *proxyconfig.Settings) { s.HTTPProxy = mustURL(t, "http://svc:pw@other.example:3128") },
		"http port":   func(s *proxyconfig.Settings) { s.HTTPProxy = mustURL(t, "http://svc:pw@proxy.example:3129") },
		"http scheme": func(s *proxyconfig.Settings) { s.HTTPProxy = mustURL(t, "https://svc:pw@proxy.example:3128") },
		"https host":  func(s *proxyconfig.Settings) { s.HTTPSProxy = mustURL(t, "http://svc:pw@other.example:3128") },
		"no credentials": func(s *proxyconfig.Settings) {
			s.HTTPProxy = mustURL(t, s.HTTPProxy.Bare())
			s.HTTPSProxy = s.HTTPProxy
		},
		"less NO_PROXY": func(s *proxyconfig.Settings) { s.NoProxy = s.NoProxy[:1] },
		"other order":   func(s *proxyconfig.Settings) { s.NoProxy = noproxy.List{s.NoProxy[1], s.NoProxy[0]} },
		"no CA":         func(s *proxyconfig.Settings) { s.CAs = nil },
		"another CA":    func(s *proxyconfig.Settings) { s.CAs[0].PEM = []byte("OTHER") },
	}
	seen := map[string]string{}
	for name, change := range changes {
		s := someSettings(t)
		change(&s)
		if other, ok := seen[s.Hash()]; ok {
			t.Errorf("%q and %q have the same hash", name, other)
		}
		seen[s.Hash()] = name
	}
}

// TestHashReasons: why an entry is there does not count.
func TestHashReasons(t *testing.T) {
	s := someSettings(t)
	want := s.Hash()
	s.NoProxy = noproxy.List{{Text: "localhost", Reason: "x", Source: "y"}, s.NoProxy[1]}
	if got := s.Hash(); got != want {
		t.Errorf("a reason makes the hash %s, not %s", got, want)
	}
}

// TestConfigSettings: what is configured, with a composed list.
func TestConfigSettings(t *testing.T) {
	s := someSettings(t)
	c := proxyconfig.Config{HTTPProxy: s.HTTPProxy, HTTPSProxy: s.HTTPSProxy, CAs: s.CAs}
	if diff := cmp.Diff(s, c.Settings(s.NoProxy)); diff != "" {
		t.Error(diff)
	}
	want := append(s.HTTPProxy.Credentials().Secrets(), s.HTTPProxy.Credentials().Secrets()...)
	if diff := cmp.Diff(want, s.Secrets()); diff != "" {
		t.Error(diff)
	}
}
