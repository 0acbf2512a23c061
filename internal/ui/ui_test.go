package ui_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/eksproxy/eksproxy/internal/ui"
)

// terminal is a terminal, where the system has pseudo-terminals.
func terminal(t *testing.T) *os.File {
	t.Helper()
	f, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("no pseudo-terminal: %v", err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// environment answers for these variables.
func environment(vars ...string) func(string) string {
	return func(name string) string {
		for _, v := range vars {
			if value, ok := strings.CutPrefix(v, name+"="); ok {
				return value
			}
		}
		return ""
	}
}

// TestColor: --color decides, else NO_COLOR and TERM, else the terminal.
func TestColor(t *testing.T) {
	tty := terminal(t)
	plain, err := os.Create(t.TempDir() + "/file")
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close() //nolint:errcheck // nothing was written
	tests := []struct {
		mode, env       string
		tty, file, pipe bool
	}{
		{"always", "", true, true, true},
		{"always", "NO_COLOR=1", true, true, true},
		{"always", "TERM=dumb", true, true, true},
		{"never", "", false, false, false},
		{"auto", "", true, false, false},
		{"auto", "NO_COLOR=", true, false, false},
		{"auto", "NO_COLOR=0", false, false, false},
		{"auto", "TERM=dumb", false, false, false},
		{"auto", "TERM=xterm", true, false, false},
	}
	for _, tt := range tests {
		t.Run(tt.mode+" "+tt.env, func(t *testing.T) {
			getenv := environment(tt.env)
			got := []bool{ui.Color(tt.mode, tty, getenv), ui.Color(tt.mode, plain, getenv), ui.Color(tt.mode, new(bytes.Buffer), getenv)}
			if diff := cmp.Diff([]bool{tt.tty, tt.file, tt.pipe}, got); diff != "" {
				t.Errorf("on a terminal, a file, something else: %s", diff)
			}
		})
	}
}

// TestPrinter: each line has its label, which alone is coloured.
func TestPrinter(t *testing.T) {
	say := func(p ui.Printer) {
		p.Warn("%d%%", 5)
		p.Note("a %s", "b")
		p.Error(errors.Join(errors.New("one 100%"), errors.New("two:\n  more")))
	}
	var plain, colored bytes.Buffer
	say(ui.Printer{W: &plain})
	say(ui.Printer{W: &colored, Color: true})
	if diff := cmp.Diff("warning: 5%\nnote: a b\nerror: one 100%\nerror: two:\n  more\n", plain.String()); diff != "" {
		t.Error(diff)
	}
	want := "\x1b[33mwarning: \x1b[0m5%\n\x1b[36mnote: \x1b[0ma b\n\x1b[31merror: \x1b[0mone 100%\n\x1b[31merror: \x1b[0mtwo:\n  more\n"
	if diff := cmp.Diff(want, colored.String()); diff != "" {
		t.Error(diff)
	}
}

// document has what JSON and YAML write in different ways.
type document struct {
	Kind  string            `json:"kind"`
	Texts []string          `json:"texts"`
	Map   map[string]string `json:"map,omitempty"`
	Count int               `json:"count"`
	Ratio float64           `json:"ratio"`
	Yes   bool              `json:"yes"`
	None  *string           `json:"none"`
	Empty []string          `json:"empty"`
}

// TestWriteJSON: indented, and no character escaped for HTML.
func TestWriteJSON(t *testing.T) {
	var b bytes.Buffer
	if err := ui.WriteJSON(&b, document{Kind: "A <b> & c", Texts: []string{"x"}}); err != nil {
		t.Fatal(err)
	}
	want := `{
  "kind": "A <b> & c",
  "texts": [
    "x"
  ],
  "count": 0,
  "ratio": 0,
  "yes": false,
  "none": null,
  "empty": null
}
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
}

// TestWriteYAML: the names and the order of the JSON, quotes only where a text
// would read as something else, in YAML 1.1 too.
func TestWriteYAML(t *testing.T) {
	var b bytes.Buffer
	doc := document{
		Kind:  "A <b> & c",
		Texts: []string{"plain", "", "no", "Yes", "on", "null", "~", "true", "12", "1e3", "0x1f", "12:30:45", "2026-01-02", "*.svc", ".svc", "a: b", "# c", "[secret]", "two\nlines\n"},
		Map:   map[string]string{"y": "n", "b": "é"}, Count: 1, Ratio: 0.5, Yes: true, Empty: []string{},
	}
	if err := ui.WriteYAML(&b, doc); err != nil {
		t.Fatal(err)
	}
	want := `kind: A <b> & c
texts:
  - plain
  - ""
  - "no"
  - "Yes"
  - "on"
  - "null"
  - "~"
  - "true"
  - "12"
  - "1e3"
  - "0x1f"
  - "12:30:45"
  - "2026-01-02"
  - '*.svc'
  - .svc
  - 'a: b'
  - '# c'
  - '[secret]'
  - |
    two
    lines
map:
  b: é
  "y": "n"
count: 1
ratio: 0.5
"yes": true
none: null
empty: []
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
}

// TestYAMLIsJSON: whatever a text holds, both formats say the same.
func TestYAMLIsJSON(t *testing.T) {
	for _, text := range []string{
		"\t", " lead", "trail ", "a\n\n", "\n a", "\r\n", "  a\n b", "\u2028", "\u0085", "\x00", "\x1b[31m", "\x7f", "\u009f", "\ufeff", "\U0001f600", "\\", `"`, "'", "a\tb\nc ", "- a", "? a", "\xff", "%", "@a", "`", "...", "---",
	} {
		doc := document{Texts: []string{text, text + "x"}, Map: map[string]string{text: text}}
		var b bytes.Buffer
		if err := ui.WriteYAML(&b, doc); err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		var fromYAML, fromJSON any
		if err := yaml.Unmarshal(b.Bytes(), &fromYAML); err != nil {
			t.Errorf("%q: %v\n%s", text, err, &b)
			continue
		}
		data, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		again, err := json.Marshal(fromYAML)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(json.Unmarshal(again, &fromYAML), json.Unmarshal(data, &fromJSON)); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(fromJSON, fromYAML); diff != "" {
			t.Errorf("%q: %s\n%s", text, diff, &b)
		}
	}
}

// failing is a document that cannot be written.
type failing struct{}

// MarshalJSON fails.
func (failing) MarshalJSON() ([]byte, error) { return nil, errors.New("no") }

// TestWriteErrors: an error comes back, and nothing is printed before it.
func TestWriteErrors(t *testing.T) {
	var b bytes.Buffer
	if ui.WriteJSON(&b, failing{}) == nil || ui.WriteYAML(&b, failing{}) == nil || b.Len() > 0 {
		t.Errorf("no error, or %q printed", &b)
	}
}
