package bootdata

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func manyParts() []Part {
	return []Part{
		NewPart(TypeNodeConfig, "eksproxy-nodeconfig.yaml", []byte(config)),
		NewPart(TypeBoothook, "eksproxy-boothook.sh", []byte("#!/bin/sh\n# eksproxy format 1\n")),
		{ContentType: TypeShell, Body: []byte(script)},
		{ContentType: TypeCloudConfig, Body: []byte("#cloud-config\nmotd: Grüße\n")},
		{ContentType: "text/x-empty"},
		{ContentType: "text/x-dashes", Body: []byte("--\n--x--\n\n-- \n")},
		{ContentType: "application/octet-stream", Body: []byte("\x1f\x8c\x00\xff\r\n")},
	}
}

// TestEncode: MIME-Version first, line feeds, 7bit for what is ASCII, the same
// bytes each time, no fault, and Parse gives the parts back.
func TestEncode(t *testing.T) {
	parts := manyParts()
	out := Encode(parts)
	if !bytes.HasPrefix(out, []byte("MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"eksproxy-")) || bytes.Contains(out, []byte("\r")) {
		t.Errorf("head and line ends:\n%s", out)
	}
	if n := strings.Count(string(out), "Content-Transfer-Encoding: 7bit\n"); n != 5 {
		t.Errorf("%d parts are 7bit, want 5", n)
	}
	if !bytes.Equal(out, Encode(parts)) {
		t.Error("the same parts give other bytes")
	}
	if faults := ReadText(out).Faults; len(faults) > 0 {
		t.Errorf("faults %v", faults)
	}
	doc, err := Parse(out)
	if err != nil {
		t.Fatal(err)
	}
	var want, got [][2]string
	for _, p := range parts {
		if len(bytes.TrimSpace(p.Body)) > 0 {
			want = append(want, [2]string{p.ContentType, string(p.Body)})
		}
	}
	want[len(want)-1][0] = TypePlain // told by its bytes
	for _, p := range doc.Parts {
		if len(p.Body) > 0 {
			got = append(got, [2]string{p.ContentType, string(p.Body)})
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if name := doc.Parts[1].FileName(); name != "eksproxy-boothook.sh" {
		t.Errorf("file name %q", name)
	}
}

// TestBoundary: it never stands in a part.
func TestBoundary(t *testing.T) {
	parts := []Part{{ContentType: TypeShell, Body: []byte(script)}}
	first := Boundary(parts)
	inside := []Part{{ContentType: TypeShell, Body: []byte("--" + first)}}
	if second := Boundary(inside); second == first || bytes.Contains(inside[0].Body, []byte(second)) {
		t.Errorf("boundaries %q and %q", first, second)
	}
}

// TestPythonAgrees: Python's parser, which is cloud-init's, finds the parts.
func TestPythonAgrees(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3")
	}
	const reader = `
import base64, email, json, sys
m = email.message_from_bytes(sys.stdin.buffer.read())
parts = [[p.get_content_type(), base64.b64encode(p.get_payload(decode=True)).decode(), p.get_filename() or ""] for p in m.walk() if not p.is_multipart()]
json.dump({"parts": parts, "defects": [str(d) for p in m.walk() for d in p.defects]}, sys.stdout)`
	cmd := exec.CommandContext(t.Context(), python, "-c", reader)
	cmd.Stdin = bytes.NewReader(Encode(manyParts()))
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Parts   [][3]string `json:"parts"`
		Defects []string    `json:"defects"`
	}
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	var want [][3]string
	for _, p := range manyParts() {
		want = append(want, [3]string{p.ContentType, b64(string(p.Body)), p.FileName()})
	}
	if diff := cmp.Diff(want, got.Parts); diff != "" || len(got.Defects) > 0 {
		t.Errorf("defects %v, parts (-want +got):\n%s", got.Defects, diff)
	}
}
