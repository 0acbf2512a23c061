package bootdata

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestReadText: the pieces are the bytes, and bodies are those of Parse.
func TestReadText(t *testing.T) {
	doc := multi("==B==", "Content-Disposition: attachment;\n filename=\"a.sh\"\n"+part(TypeShell, script), "\n"+script, part("text/x-last", ""))
	got := ReadText([]byte(strings.Replace(doc, "\n\n--", "\n\npreamble\n--", 1) + "\n\n"))
	if len(got.Faults) > 0 || len(got.Parts) != 3 || got.Boundary != "==B==" {
		t.Fatalf("%+v", got)
	}
	if name := got.Parts[0].Fields.FileName(); name != "a.sh" {
		t.Errorf("file name %q", name)
	}
	if line := got.Parts[0].BodyLine; line != 10 || got.Parts[0].Line != 5 {
		t.Errorf("part 1 begins in line %d, its body in line %d", got.Parts[0].Line, line)
	}
	var bodies []string
	for _, p := range got.Parts {
		bodies = append(bodies, string(p.Body))
	}
	if diff := cmp.Diff([]string{script, script, ""}, bodies); diff != "" {
		t.Error(diff)
	}
}

// TestReadTextFaults: what each reader takes otherwise (BL-039, BL-041, BL-042,
// BL-044).
func TestReadTextFaults(t *testing.T) {
	doc := multi("b", part(TypeShell, script))
	tests := []struct {
		name, in string
		want     []Fault
	}{
		{"none", doc, nil},
		{"one part", "MIME-Version: 1.0\nContent-Type: text/x-shellscript\n\n" + script, nil},
		{"BL-044", strings.ReplaceAll(doc, "\n", "\r\n"), []Fault{{FaultCRLF, 1, 0}}},
		{"leading", "\n" + doc, []Fault{{FaultLeading, 1, 0}}},
		{"order", strings.TrimPrefix(doc, "MIME-Version: 1.0\n"), []Fault{{FaultOrder, 1, 0}}},
		{"BL-039", strings.Replace(doc, "\n\n--b", "\n--b", 1), []Fault{{FaultTopEmpty, 3, 0}}},
		{"a blank in the empty line", strings.Replace(doc, "\n\n--b", "\n \n--b", 1), []Fault{{FaultTopEmpty, 3, 0}}},
		{"BL-041", strings.Replace(doc, "\n\n#!", "\n#!", 1), []Fault{{FaultPartEmpty, 6, 1}}},
		{"BL-042", multi("out", strings.TrimPrefix(doc, "MIME-Version: 1.0\n")), []Fault{{FaultNested, 4, 1}}},
		{"no boundary", "MIME-Version: 1.0\nContent-Type: multipart/mixed\n\n", []Fault{{FaultNoBoundary, 1, 0}}},
		{"no parts", strings.ReplaceAll(doc, "--b", "--x"), []Fault{{FaultNoParts, 4, 0}}},
		{"not closed", strings.TrimSuffix(doc, "--b--\n"), []Fault{{FaultNotClosed, 8, 1}}},
		{"behind the end", doc + "x\n", []Fault{{FaultAfterClosing, 10, 1}}},
		{"unquoted", strings.ReplaceAll(strings.Replace(doc, `"b"`, "==b", 1), "--b", "--==b"), []Fault{{FaultBoundaryForm, 1, 0}}},
		{"other boundary", strings.Replace(doc, "--b--", "--c\nContent-Type: x\n\n--b--", 1), []Fault{{FaultOtherBoundary, 9, 1}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, ReadText([]byte(tt.in)).Faults); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// FuzzReadText: the pieces are the bytes, whatever these are, and where there
// is no fault the bodies are those that Go's reader finds.
func FuzzReadText(f *testing.F) {
	for _, seed := range []string{"", multi("b", part(TypeShell, script)), multi("b", "\n", "A: b\n"), "Content-Type: x\n\n--", "\ufeffMIME-Version: 1\r\n\r\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		text := ReadText(body)
		out := bytes.Clone(text.Top)
		for _, p := range text.Parts {
			out = append(out, p.Raw...)
			_, _ = p.Parts()
		}
		if out = append(out, text.End...); !bytes.Equal(out, body) {
			t.Fatalf("pieces %q of %q", out, body)
		}
	})
}
