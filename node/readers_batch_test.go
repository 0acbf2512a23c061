//go:build integration

package node

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/eksproxy/eksproxy/noproxy"
	"github.com/eksproxy/eksproxy/proxyconfig"
)

// cases is how many credentials, and how many lists, each reader is given.
const cases = 2000

// seeded prints its seed and takes another one from the environment.
func seeded(t *testing.T) *rand.Rand {
	t.Helper()
	seed := rand.Uint64()
	if text := os.Getenv("EKSPROXY_TEST_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("parsing EKSPROXY_TEST_SEED: %v", err)
		}
	}
	t.Logf("EKSPROXY_TEST_SEED=%d repeats this run", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// someCredentials are those of known bugs, then every printable byte in every
// place, then random ones.
func someCredentials(t *testing.T, rnd *rand.Rand) []proxyconfig.Credentials {
	t.Helper()
	texts := uglyCredentials()
	for b := byte(0x20); b <= 0x7e; b++ {
		for _, text := range places(b) {
			texts = append(texts, "user:"+text)
			if b != ':' {
				texts = append(texts, text+":secret")
			}
		}
	}
	for len(texts) < cases {
		user := strings.ReplaceAll(randomText(rnd, 1+rnd.IntN(12)), ":", ";")
		texts = append(texts, user+":"+randomText(rnd, rnd.IntN(32)))
	}
	out := make([]proxyconfig.Credentials, len(texts))
	for i, text := range texts {
		out[i] = parseCredentials(t, text)
	}
	return out
}

// uglyCredentials are known to have gone wrong in some reader (BL-026, BL-031,
// BL-032), as user:password.
func uglyCredentials() []string {
	return []string{
		`user:p@ss%w`, `svc-eks:a%40b#c`, `svc:p@ss`, `user:B$R&x(1)`, `user:@:/#% `,
		`user:%h%n%40%%"\ `, `user:"quoted"`, `user:'quoted'`, `user:ends in a pair""`, `user:"`,
		`user: lead`, `user:trail `, `user:in side`, `user:a ;b`, `user:#hash`, `user:$HOME${X}`,
		`user:None`, `None:secret`, `user:_none_`, `user:`, `us\er:\back\\`, `"q":[x]*!~`, `user:%(proxy)s`,
		`50%:100%`, `%41:%7e`, `user:a/b`, `user:r@w;x`,
	}
}

// places puts a byte alone, at the start, in the middle, at the end, twice.
func places(b byte) []string {
	s := string(b)
	return []string{s, s + "x", "x" + s + "x", "x" + s, s + s}
}

func randomText(rnd *rand.Rand, size int) string {
	b := make([]byte, size)
	for i := range b {
		b[i] = byte(0x20 + rnd.IntN(0x5f))
	}
	return string(b)
}

// someLists are texts for NO_PROXY: every printable byte in every place, every
// two that envLine takes, then random ones, half of them of what it takes.
func someLists(rnd *rand.Rand) []string {
	var out []string
	for b := byte(0x20); b <= 0x7e; b++ {
		out = append(out, places(b)...)
	}
	for _, a := range commonBytes {
		for _, b := range commonBytes {
			out = append(out, string(a)+string(b)+"x", "x"+string(a)+"b"+string(b))
		}
	}
	const taken = "abcxyzABCXYZ0189" + commonBytes
	for len(out) < cases {
		text := randomText(rnd, rnd.IntN(40))
		if rnd.IntN(2) == 0 {
			text = strings.Map(func(r rune) rune { return rune(taken[int(r)%len(taken)]) }, text)
		}
		out = append(out, text)
	}
	return out
}

func parseCredentials(t *testing.T, text string) proxyconfig.Credentials {
	t.Helper()
	c, err := proxyconfig.ParseCredentials([]byte(text))
	if err != nil {
		t.Fatalf("parsing %q: %v", text, err)
	}
	return c
}

func parseProxy(t *testing.T, text string) proxyconfig.URL {
	t.Helper()
	u, err := proxyconfig.ParseURL(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// batch is a file for a reader, and what the reader must find in it by name.
type batch struct {
	text strings.Builder
	want map[string]string
}

// control is a line that the reader is known to read as something else than
// its writer meant: it shows that the comparison can fail.
type control struct{ name, line, meant string }

// urls adds a line for a URL with each of the credentials. None may be
// refused: what would be is percent-encoded.
func (b *batch) urls(t *testing.T, prefix string, all []proxyconfig.Credentials, encode func(name, value string) (string, error)) {
	t.Helper()
	proxy := parseProxy(t, "http://proxy.example:3128")
	for i, c := range all {
		name, value := fmt.Sprintf("%s%04d", prefix, i), proxy.With(c).Reveal()
		line, err := encode(name, value)
		if err != nil {
			t.Fatalf("a URL is refused: %v", err)
		}
		checkUserinfo(t, value, c)
		b.text.WriteString(line)
		b.want[name] = value
	}
}

// checkUserinfo fails where the URL does not carry the credentials.
func checkUserinfo(t *testing.T, text string, c proxyconfig.Credentials) {
	t.Helper()
	user, password := c.Reveal()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	got, _ := u.User.Password()
	if u.User.Username() != user || got != password {
		t.Errorf("%s: user %q and password %q, want %q and %q", text, u.User.Username(), got, user, password)
	}
}

// lists adds a line for each text that the encoder does not refuse.
func (b *batch) lists(t *testing.T, prefix string, all []string, encode func(name, value string) (string, error)) {
	t.Helper()
	refused := 0
	for i, text := range all {
		name := fmt.Sprintf("%s%04d", prefix, i)
		line, err := encode(name, text)
		if err != nil {
			refused++
			continue
		}
		b.text.WriteString(line)
		b.want[name] = text
	}
	t.Logf("%s: %d of %d texts refused", prefix, refused, len(all))
	if refused == 0 || refused == len(all) {
		t.Errorf("%s: %d of %d texts are refused", prefix, refused, len(all))
	}
}

// variables adds what one of our files says, whole, with a comment above
// (BL-027) and each variable in both cases (BL-013).
func (b *batch) variables(t *testing.T, comment string, encode func(name, value string) (string, error)) {
	t.Helper()
	proxy := parseProxy(t, "http://proxy.example:3128").With(parseCredentials(t, "user:B$R&x(1)"))
	list := noproxy.List{{Text: "localhost"}, {Text: "*.svc"}, {Text: "fd00:ec2::254"}, {Text: "10.40.0.0/16"}}
	w := wanter{settings: proxyconfig.Settings{HTTPProxy: proxy, HTTPSProxy: proxy, NoProxy: list}}
	text, err := w.assignments(true, list, encode)
	if err != nil {
		t.Fatal(err)
	}
	b.text.WriteString(comment + text)
	for _, name := range variables() {
		b.want[name] = proxy.Reveal()
	}
	b.want["NO_PROXY"], b.want["no_proxy"] = list.String(), list.String()
}

// check fails where the reader found something else than was written, or where
// it read a control as it was meant.
func (b *batch) check(t *testing.T, got map[string]string, controls ...control) {
	t.Helper()
	read := map[string]string{}
	for name := range b.want {
		if value, ok := got[name]; ok {
			read[name] = value
		}
	}
	if diff := cmp.Diff(b.want, read); diff != "" {
		t.Errorf("read differently (-written +read):\n%s", diff)
	}
	for _, c := range controls {
		if value, ok := got[c.name]; ok && value == c.meant {
			t.Errorf("the control %q is read as %q: this test would not see a fault", c.line, value)
		}
	}
}

// runReader runs a reader in a clean environment, at home in dir, within a
// limit.
func runReader(t *testing.T, dir, stdin, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=" + dir, "LANG=C.UTF-8"}
	cmd.Dir, cmd.Stdin, cmd.WaitDelay = dir, strings.NewReader(stdin), 5*time.Second
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("running %s: %v\n%s", name, err, stderr.String())
	}
	return stdout.String()
}
