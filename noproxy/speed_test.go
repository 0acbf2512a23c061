//go:build integration

package noproxy_test

import (
	"net/http"
	"testing"
	"time"
)

// TestSpeed holds the models to a million decisions a second with 60 entries,
// and the Go model to twice the time of golang.org/x/net/http/httpproxy, which
// net/http carries with it. It is not part of the tests with race detector,
// and takes the best of several rounds, since other tests run beside it.
func TestSpeed(t *testing.T) {
	const rounds, decisions = 7, 50_000
	for name, value := range sixVariables(sixty()) {
		t.Setenv(name, value)
	}
	best := func(decide func()) time.Duration {
		shortest := time.Hour
		for range rounds {
			start := time.Now()
			for range decisions {
				decide()
			}
			shortest = min(shortest, time.Since(start)/decisions)
		}
		return shortest
	}
	for _, rawURL := range []string{"https://bedrock-runtime.us-west-2.amazonaws.com/model", "http://192.0.2.1/"} {
		request, err := http.NewRequest(http.MethodGet, rawURL, nil)
		if err != nil {
			t.Fatal(err)
		}
		if proxy, err := http.ProxyFromEnvironment(request); proxy == nil || err != nil {
			t.Fatalf("net/http goes direct: %v, %v", proxy, err)
		}
		theirs := best(func() { _, _ = http.ProxyFromEnvironment(request) })
		m, target := find(t, "Go std <= 1.26").Prepare(sixVariables(sixty())), parse(t, rawURL)
		ours := best(func() { m.Decide(target) })
		t.Logf("%s: the Go model %s, httpproxy %s", rawURL, ours, theirs)
		if ours > 2*theirs {
			t.Errorf("%s: the Go model takes %s a decision, httpproxy %s; at most twice that", rawURL, ours, theirs)
		}
		if ours > time.Microsecond {
			t.Errorf("%s: the Go model takes %s a decision, at most 1µs", rawURL, ours)
		}
	}
}
