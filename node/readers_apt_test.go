//go:build integration

package node

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/eksproxy/eksproxy/proxyconfig"
	"github.com/eksproxy/eksproxy/templates"
)

func TestReaderAPT(t *testing.T) {
	needs(t, "/usr/bin/apt-config", "apt")
	const root = "Acquire::http::Proxy"
	rnd := seeded(t)
	b := &batch{want: map[string]string{}}
	b.text.WriteString(templates.NodeAPT)
	b.urls(t, root+"::U", someCredentials(t, rnd), aptLine)
	b.lists(t, root+"::L", someLists(rnd), aptLine)
	ours(t, b)
	// Outside of quotes apt decodes the percent sign.
	bare := control{root + "::C0000", root + "::C0000 u:p%40s;\n", "u:p%40s"}
	file := filepath.Join(t.TempDir(), "95eksproxy")
	putFile(t, file, b.text.String()+bare.line)

	out := runReader(t, "/", "", "/usr/bin/apt-config", "-c", file, "dump", "--format", "%f=%v%n")
	got := map[string]string{}
	for line := range strings.Lines(out) {
		if name, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "="); ok {
			got[name] = value
		}
	}
	b.check(t, got, bare)
}

// ours adds the whole file that a node of Ubuntu gets.
func ours(t *testing.T, b *batch) {
	t.Helper()
	plain, tls := parseProxy(t, "http://proxy.example:3128"), parseProxy(t, "http://[fd00::1]:8080")
	plain, tls = plain.With(parseCredentials(t, "svc-eks:a%40b#c")), tls.With(parseCredentials(t, "user:B$R&x(1)"))
	w := wanter{settings: proxyconfig.Settings{HTTPProxy: plain, HTTPSProxy: tls}}
	if err := w.apt(); err != nil {
		t.Fatal(err)
	}
	if len(w.items) != 1 {
		t.Fatalf("%d files for apt, want 1", len(w.items))
	}
	b.text.Write(w.items[0].Body)
	b.want["Acquire::http::Proxy"], b.want["Acquire::https::Proxy"] = plain.Reveal(), tls.Reveal()
}
