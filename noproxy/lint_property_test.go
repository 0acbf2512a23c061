package noproxy_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/eksproxy/eksproxy/noproxy"
)

// TestFixProperties: whatever stands in a value, the fixed one has no fault that
// has a safe fix, keeps what was direct in all clients, and is fixed to itself.
func TestFixProperties(t *testing.T) {
	pieces := []string{
		"localhost", "127.0.0.1", "example.com", "example.com.", "example.com:8080", "http://git.example/x", "*.corp.example", ".corp.example",
		"10.*", "192.168.", "10.1.2.3", "10.1.2.3/8", "10.100.0.0/16", "172.20.0.0/16", "169.254.0.0/16", "[fd00::1]", "[fd00::1]:443", "fd00::1", "fd00::/8",
		"*", ".", "com", ".svc", "*.svc", ".internal", "0.0.0.0/0", ".amazonaws.com", "eks.eu-west-1.amazonaws.com", "sts.us-east-1.amazonaws.com",
		"sts.cn-north-1.amazonaws.com", "exa$mple", "", "“localhost”", "EXAMPLE.com", "a.test", "169.254.169.254", "1.2.3.4.5", "fd64:1:2::/108", "fd64:1:2::1",
	}
	safe := map[string]bool{}
	for _, r := range noproxy.LintRules() {
		safe[r.Code] = r.Safe
	}
	for seed := range uint64(60) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		var b strings.Builder
		for range 1 + rnd.IntN(7) {
			b.WriteString(pieces[rnd.IntN(len(pieces))] + []string{",", ",", ",", ", ", ";", " ", "|", "\n", " # x,"}[rnd.IntN(9)])
		}
		value := b.String()
		fixed := noproxy.Fix(value)
		for _, f := range fixed.Left {
			// A range that is none has no fix, a range with host bits has.
			if safe[f.Code] && f.Code != "NP030" {
				t.Errorf("seed %d: %q is fixed to %q, which has %s %s", seed, value, fixed.NoProxy, f.Code, f.Entry)
			}
		}
		if again := noproxy.Fix(fixed.NoProxy); again.NoProxy != fixed.NoProxy {
			t.Errorf("seed %d: %q is fixed to %q, and that to %q", seed, value, fixed.NoProxy, again.NoProxy)
		}
		checkKept(t, value, fixed.NoProxy)
	}
}
