package userdata

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/eksproxy/eksproxy/bootdata"
)

// FuzzMerge: any bytes give an error or a document in which each part that was
// there is still there, in its order; a second merge changes nothing, and
// --remove leaves the same parts.
func FuzzMerge(f *testing.F) {
	doc := theirDocument()
	for _, seed := range []string{
		"", doc, crlf(doc), zip(doc), b64(zip(doc)), theirRun, theirConf, publishedHook, "#cloud-config\na: b\n",
		multi("out", strings.TrimPrefix(doc, "MIME-Version: 1.0\n")), strings.Replace(doc, "\n\n#!", "\n#!", 1),
		multi("b", "Content-Type: text/x-shellscript\nContent-Transfer-Encoding: base64\n\n"+b64(theirRun)),
		multi("a:b", "\n", "X: y\n"), multi("b", part("text/plain", "--b x\n--b-\n--bb\n")),
	} {
		f.Add([]byte(seed), false)
		f.Add([]byte(seed), true)
	}
	f.Fuzz(func(t *testing.T, raw []byte, adopt bool) {
		o := MergeOptions{OS: AL2023, For: ManagedNodeGroup, Ours: ours(), Adopt: adopt}
		m, err := Merge(raw, o)
		if err != nil {
			return
		}
		if !adopt {
			checkParts(t, raw, m.Document)
		}
		again, err := Merge(m.Document, o)
		if err != nil || !bytes.Equal(again.Document, m.Document) {
			t.Fatalf("merged again: %v\n%q\n%q", err, m.Document, again.Document)
		}
		removed, err := Merge(m.Document, MergeOptions{OS: AL2023, For: ManagedNodeGroup, Remove: true})
		if err != nil {
			t.Fatalf("--remove: %v", err)
		}
		if !adopt {
			checkParts(t, raw, removed.Document)
		}
		_ = Lint(raw, LintOptions{})
		_ = Lint(raw, LintOptions{OS: Bottlerocket, For: ManagedNodeGroup})
	})
}

// checkParts holds that the parts of one document are those of the other, ours
// left out.
func checkParts(t *testing.T, before, after []byte) {
	t.Helper()
	want, ok := foreign(before)
	if !ok {
		return // it was repaired
	}
	if got, _ := foreign(after); !slices.Equal(got, want) {
		t.Fatalf("parts %q became %q\nin  %q\nout %q", want, got, before, after)
	}
}

// foreign are the parts that are not ours, with line feeds only. A document
// that readers take apart in several ways has none that can be compared.
func foreign(raw []byte) ([]string, bool) {
	body, _, err := bootdata.Unwrap(raw)
	if err != nil {
		return nil, false
	}
	if bootdata.IsMIME(body) && !sound(bootdata.ReadText(body)) {
		return nil, false
	}
	doc, err := bootdata.Parse(raw)
	if err != nil {
		return nil, false
	}
	var out []string
	for _, p := range doc.Parts {
		if b := bootdata.LF(p.Body); !isOurs(b) {
			out = append(out, p.ContentType+" "+string(b))
		}
	}
	return out, true
}

// FuzzMergeSettings: the same for Bottlerocket's TOML.
func FuzzMergeSettings(f *testing.F) {
	for _, seed := range []string{
		"", ourSettings, "[settings.network]\nhostname = \"n1\"\n", "settings.network.a = 1\n", "[settings]\nnetwork = {}\n",
		"[[settings.network]]\n", "[settings.network]\nhttps-proxy = \"\"\"\nx\n\"\"\" # y\n", "[settings.pki.eksproxy]\ndata=1\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		o := MergeOptions{OS: Bottlerocket, For: SelfManaged, Ours: []bootdata.Part{{ContentType: bootdata.TypeTOML, Body: []byte(ourSettings)}}}
		m, err := Merge(raw, o)
		if err != nil {
			return
		}
		network := table(t, string(m.Document))["settings"].(map[string]any)["network"].(map[string]any)
		if network["https-proxy"] != "http://proxy.example:3128" {
			t.Fatalf("the proxy is not set in %q", m.Document)
		}
		again, err := Merge(m.Document, o)
		if err != nil || !bytes.Equal(again.Document, m.Document) {
			t.Fatalf("merged again: %v\n%q\n%q", err, m.Document, again.Document)
		}
		if _, err := Merge(m.Document, MergeOptions{OS: Bottlerocket, For: SelfManaged, Remove: true}); err != nil {
			t.Fatalf("--remove: %v", err)
		}
	})
}
