package userdata

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

// TestStaticSize: an AL2023 document with much in it leaves room.
func TestStaticSize(t *testing.T) {
	spec := withCA(t, "  httpProxy: http://proxy.example:3128\n  noProxy: {add: ["+entries(20)+"]}\n", 560)
	for _, launcher := range []Launcher{ManagedNodeGroup, Karpenter} {
		in := inputFrom(t, AL2023, launcher, spec)
		if n := len(in.Config.CAs[0].PEM); n < 2000 || n > 2100 {
			t.Fatalf("the certificate has %d bytes, want 2 KB", n)
		}
		for i := range 3 {
			in.Facts.VPCCIDRs = append(in.Facts.VPCCIDRs, netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(100 + i)}), 16))
		}
		out := render(t, in)
		t.Logf("%s: %d bytes", launcher, out.Size)
		if out.Size >= 12*1024 {
			t.Errorf("%s: %d bytes, want less than 12 KB", launcher, out.Size)
		}
	}
}

// supported are the pairs that give something.
func supported() []Pair {
	return slices.DeleteFunc(Pairs(), func(p Pair) bool { return p.Refused != "" })
}

// golden compares with a file, or writes it.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", "render", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; go test ./userdata -run TestGolden -update writes it", err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(string(got), "\n")); diff != "" {
		t.Errorf("%s (-want +got): the bytes of a format must not change:\n%s", name, diff)
	}
}

// TestGolden: BL-040, BL-041, BL-042, BL-043, BL-046. Each pair that is
// supported has a document, which lints clean, in both modes.
func TestGolden(t *testing.T) {
	for _, p := range supported() {
		for _, mode := range []Mode{Static, AgentMode} {
			if mode == AgentMode && !scripted(p.OS) {
				continue
			}
			name := fmt.Sprintf("%s-%s-%s", cmpOr(string(p.OS), "none"), p.For, mode)
			t.Run(name, func(t *testing.T) {
				in := inputFrom(t, p.OS, p.For, withCA(t, plainSpec, 10))
				if scripted(p.OS) {
					in.Mode = mode
				}
				if mode == AgentMode {
					in.Agent = Agent{URL: "s3://bucket/eksproxy", SHA256: strings.Repeat("0123456789abcdef", 4)}
				}
				out := render(t, in)
				golden(t, name, out.Text)
				if again := render(t, in); !bytes.Equal(again.Text, out.Text) {
					t.Error("the same input gives other bytes")
				}
				if p.For == Eksctl || p.For == AutoMode {
					var doc map[string]any
					if err := yaml.Unmarshal(out.Text, &doc); err != nil || doc["kind"] == nil {
						t.Errorf("not a document: %v", err)
					}
					return
				}
				for _, f := range Lint(out.Text, LintOptions{OS: p.OS, For: p.For}) {
					t.Errorf("lint: %+v", f)
				}
			})
		}
	}
}

func cmpOr(a, b string) string {
	if a == "" {
		return b
	}
	return a
}

// TestRefusedPairs: each says why, and names what was asked for.
func TestRefusedPairs(t *testing.T) {
	n := 0
	for _, p := range Pairs() {
		if p.Refused == "" {
			continue
		}
		n++
		_, err := Render(Input{OS: p.OS, For: p.For})
		if r, ok := errors.AsType[*RefusedError](err); !ok || !strings.Contains(r.Error(), p.Refused) {
			t.Errorf("%s for %s: %v", p.OS, p.For, err)
		}
	}
	if n != 11 {
		t.Errorf("%d pairs are refused, want 11", n)
	}
	for _, in := range []Input{{OS: "plan9", For: SelfManaged}, {OS: AL2, For: "x"}, {For: SelfManaged}} {
		if _, err := Render(in); err == nil || !strings.Contains(err.Error(), "allowed: ") {
			t.Errorf("%s for %s: %v", in.OS, in.For, err)
		}
	}
}
