package userdata

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/eksproxy/eksproxy/bootdata"
)

const (
	oursConfig = "ours " + bootdata.TypeNodeConfig
	oursHook   = "ours " + bootdata.TypeBoothook
	theirs1    = bootdata.TypeNodeConfig + ": " + theirConf
	theirs2    = bootdata.TypeShell + ": " + theirRun
)

// TestMergeInto: every kind of document; afterwards there are no faults, a
// second merge changes nothing, and --remove leaves what was there (BL-039,
// BL-040, BL-041, BL-042, BL-044).
func TestMergeInto(t *testing.T) {
	doc := theirDocument()
	both := []string{oursConfig, theirs1, oursHook, theirs2}
	hook := "#cloud-boothook\n#!/bin/sh\necho x\n"
	config := "#cloud-config\npackages: [x]\n"
	tests := []struct {
		name, in string
		want     []string
	}{
		{"nothing", "", []string{oursConfig, oursHook}},
		{"multipart", doc, both},
		{"BL-044 CRLF throughout", crlf(doc), both},
		{"BL-044 CRLF headers, LF body", strings.Replace(crlf(doc), crlf(theirRun), theirRun, 1), both},
		{"BL-044 CRLF body alone", strings.Replace(doc, theirRun, crlf(theirRun), 1), both},
		{"BL-039 no empty line behind the header", strings.Replace(doc, "\"\n\n--==B==\n", "\"\n--==B==\n", 1), both},
		{"BL-041 header and body run together", strings.Replace(doc, "\n\n#!", "\n#!", 1), both},
		{"byte order mark", "\ufeff" + doc, both},
		{"leading empty line", "\n" + doc, both},
		{"Content-Type first", strings.TrimPrefix(doc, "MIME-Version: 1.0\n"), both},
		{"not closed", strings.TrimSuffix(doc, "--==B==--\n"), []string{oursConfig, theirs1, oursHook, theirs2 + "\n"}},
		{"gzip", zip(doc), both},
		{"base64", b64(doc), both},
		{"BL-042 nested", multi("out", strings.TrimPrefix(doc, "MIME-Version: 1.0\n"), part("text/x-last", "z")), append(append([]string{}, both...), "text/x-last: z")},
		{"BL-042 a document in a script", multi("out", part(bootdata.TypeShell, doc)), both},
		{"nested in base64", multi("out", "Content-Transfer-Encoding: base64\nContent-Type: multipart/mixed; boundary=\"==B==\"\n\n"+b64(strings.SplitN(doc, "\n\n", 2)[1])), both},
		{"BL-040 script", theirRun, []string{oursConfig, oursHook, theirs2}},
		{"boothook", hook, []string{oursConfig, oursHook, bootdata.TypeBoothook + ": " + hook}},
		{"BL-040 cloud-config", config, []string{oursConfig, oursHook, bootdata.TypeCloudConfig + ": " + config}},
		{"BL-040 NodeConfig", theirConf, []string{oursConfig, theirs1, oursHook}},
		{"script in Latin-9", "#!/bin/sh\necho \xa4\n", []string{oursConfig, oursHook, bootdata.TypeShell + ": #!/bin/sh\necho \xa4\n"}},
		{"base64 part", multi("b", "Content-Type: text/x-shellscript\nContent-Transfer-Encoding: base64\n\n"+b64(theirRun)), []string{oursConfig, oursHook, theirs2}},
		{"part without header", multi("b", "\n"+theirRun), []string{oursConfig, oursHook, theirs2}},
		{"its boundary in our part", multi("b", part(bootdata.TypeShell, theirRun), part("text/x-b", "--eksproxy")), []string{oursConfig, oursHook, theirs2, "text/x-b: --eksproxy"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := merge(t, tt.in, MergeOptions{Ours: ours()})
			wantBodies(t, m.Document, tt.want...)
			for _, f := range Lint(m.Document, LintOptions{}) {
				if f.Severity == Error {
					t.Errorf("the result has a fault: %+v", f)
				}
			}
			again := merge(t, string(m.Document), MergeOptions{Ours: ours()})
			if diff := cmp.Diff(string(m.Document), string(again.Document)); diff != "" {
				t.Errorf("a second merge changes something:\n%s", diff)
			}
			var left []string
			for _, b := range tt.want {
				if !strings.HasPrefix(b, "ours ") {
					left = append(left, b)
				}
			}
			removed := merge(t, string(m.Document), MergeOptions{Remove: true})
			wantBodies(t, removed.Document, left...)
		})
	}
}

// TestMergeRemoveExactly: out of a well-formed document, ours comes out to the
// byte, whatever stands around the parts.
func TestMergeRemoveExactly(t *testing.T) {
	doc := theirDocument()
	for name, in := range map[string]string{
		"plain":          doc,
		"one part":       multi("b", part(bootdata.TypeShell, theirRun)),
		"preamble":       strings.Replace(doc, "\n\n--", "\n\nThis is MIME.\n--", 1),
		"epilogue":       doc + "\n\n",
		"other headers":  strings.Replace(doc, "\n\n--", "\nNumber-Attachments: 2\n\n--", 1),
		"folded header":  strings.Replace(doc, "mixed; ", "mixed;\n ", 1),
		"blanks behind":  strings.ReplaceAll(doc, "--==B==\n", "--==B== \t\n"),
		"no last end":    strings.TrimSuffix(doc, "\n"),
		"no quotes":      strings.ReplaceAll(strings.ReplaceAll(doc, `"==B=="`, "BB"), "==B==", "BB"),
		"a base64 part":  multi("b", "Content-Type: text/x-shellscript\nContent-Transfer-Encoding: base64\n\n"+b64(theirRun)),
		"our NodeConfig": theirDocument(),
	} {
		t.Run(name, func(t *testing.T) {
			m := merge(t, in, MergeOptions{Ours: ours()})
			if len(m.Notes) > 0 {
				t.Errorf("notes %q", m.Notes)
			}
			wantBodies(t, m.Document, append([]string{oursConfig}, insertHook(bodies(t, []byte(in)))...)...)
			got := merge(t, string(m.Document), MergeOptions{Remove: true})
			if diff := cmp.Diff(in, string(got.Document)); diff != "" {
				t.Errorf("--remove (-before +after):\n%s", diff)
			}
		})
	}
}

// insertHook puts our boothook behind the NodeConfigs that come first.
func insertHook(parts []string) []string {
	i := 0
	for i < len(parts) && strings.HasPrefix(parts[i], bootdata.TypeNodeConfig) {
		i++
	}
	return append(append(append([]string{}, parts[:i]...), oursHook), parts[i:]...)
}

// TestMergeOlder: older parts of ours are replaced where they stand, also after
// a launcher dropped their names, and what the user moved stays moved.
func TestMergeOlder(t *testing.T) {
	old := strings.ReplaceAll(ourHook, "proxy\n", "an older one\n")
	in := multi("b", part(bootdata.TypeShell, theirRun), part(bootdata.TypeBoothook, old), part(bootdata.TypeNodeConfig, theirConf))
	m := merge(t, in, MergeOptions{Ours: ours()})
	wantBodies(t, m.Document, oursConfig, theirs2, oursHook, theirs1)
	if strings.Contains(string(m.Document), "an older one") {
		t.Error("the older part is still there")
	}
	m = merge(t, string(m.Document), MergeOptions{Ours: ours()[:1]})
	wantBodies(t, m.Document, oursConfig, theirs2, theirs1)
}

// TestMergeErrors: what cannot be repaired without a guess is refused, with the
// line and what to do, and without content (BL-046).
func TestMergeErrors(t *testing.T) {
	const secret = "hunter2"
	doc := theirDocument()
	tests := []struct{ name, in, want string }{
		{"TOML", "[settings.network]\nhostname = \"" + secret + "\"\n", "--os is al2023; give --os bottlerocket"},
		{"PowerShell", "<powershell>\n" + secret + "\n</powershell>", "Windows nodes are not supported"},
		{"no type", secret, "of no known type"},
		{"no boundary", strings.Replace(doc, "; boundary=\"==B==\"", "", 1), "line 1: the multipart names no boundary"},
		{"other boundary throughout", strings.ReplaceAll(doc, "--==B==", "--BB"), "the boundary of the header comes nowhere"},
		{"text behind the end", doc + "--==B==\n" + part(bootdata.TypeShell, secret), "behind the closing boundary, which nothing reads; move it above"},
		{"broken gzip", "\x1f\x8b" + secret, "decompressing"},
		{"broken base64 part", multi("b", "Content-Type: text/x-shellscript\nContent-Transfer-Encoding: base64\n\n%%"+secret), "decoding base64"},
		{"a bomb", zip(strings.Repeat("x", 2<<20)), "larger than 1 MiB"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Merge([]byte(tt.in), MergeOptions{OS: AL2023, For: ManagedNodeGroup, Ours: ours()})
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), secret) {
				t.Errorf("error %v, want one with %q", err, tt.want)
			}
		})
	}
	if _, err := Merge(nil, MergeOptions{Ours: []bootdata.Part{{Body: []byte("\xff")}}}); err == nil {
		t.Error("a part of ours that is not 7bit goes in")
	}
}
