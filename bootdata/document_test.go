package bootdata

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func zip(text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(text))
	_ = z.Close()
	return b.String()
}

func b64(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

// multi builds a multipart message of parts that are "headers\n\nbody".
func multi(boundary string, parts ...string) string {
	var b strings.Builder
	b.WriteString("MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"" + boundary + "\"\n\n")
	for _, p := range parts {
		b.WriteString("--" + boundary + "\n" + p + "\n")
	}
	b.WriteString("--" + boundary + "--\n")
	return b.String()
}

func part(contentType, body string) string {
	return "Content-Type: " + contentType + "\n\n" + body
}

const (
	script = "#!/bin/bash\necho hi"
	config = "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  cluster:\n    name: blue\n"
)

func TestParse(t *testing.T) {
	twoParts := multi("//", part("application/node.eks.aws", config), part("text/x-shellscript; charset=us-ascii", script))
	two := [][2]string{{TypeNodeConfig, config}, {TypeShell, script}}
	tests := []struct {
		name, in string
		want     [][2]string // type and body of each part
	}{
		{"nothing", "", nil},
		{"white space", " \n", nil},
		{"script", script, [][2]string{{TypeShell, script}}},
		{"boothook", "#cloud-boothook\n" + script, [][2]string{{TypeBoothook, "#cloud-boothook\n" + script}}},
		{"cloud-config", "#cloud-config\na: b", [][2]string{{TypeCloudConfig, "#cloud-config\na: b"}}},
		{"NodeConfig", config, [][2]string{{TypeNodeConfig, config}}},
		{"unknown", "[settings]\na = 1", [][2]string{{TypePlain, "[settings]\na = 1"}}},
		{"word that is valid base64", "abcd", [][2]string{{TypePlain, "abcd"}}},
		{"multipart", twoParts, two},
		{"other boundary", strings.ReplaceAll(twoParts, "//", "==MYBOUNDARY=="), two},
		{"CRLF", strings.ReplaceAll(twoParts, "\n", "\r\n"), [][2]string{
			{TypeNodeConfig, strings.ReplaceAll(config, "\n", "\r\n")}, {TypeShell, strings.ReplaceAll(script, "\n", "\r\n")}}},
		{"content type first", strings.TrimPrefix(twoParts, "MIME-Version: 1.0\n"), two},
		{"no closing boundary", strings.TrimSuffix(twoParts, "--//--\n"), [][2]string{two[0], {TypeShell, script}}},
		{"gzip", zip(twoParts), two},
		{"base64", b64(twoParts), two},
		{"base64 of gzip", b64(zip(twoParts)), two},
		{"gzip of base64", zip(b64(twoParts)), two},
		{"base64 part", multi("b", "Content-Transfer-Encoding: base64\n"+part(TypeShell, b64(script))), [][2]string{{TypeShell, script}}},
		{"quoted-printable part", multi("b", "Content-Transfer-Encoding: quoted-printable\n"+part(TypeShell, "a=3Db")), [][2]string{{TypeShell, "a=b"}}},
		{"gzip part", multi("b", part("application/gzip", zip(script))), [][2]string{{TypeShell, script}}},
		{"gzip in base64 part", multi("b", "Content-Transfer-Encoding: base64\n"+part(TypeNodeConfig, b64(zip(config)))), [][2]string{{TypeNodeConfig, config}}},
		{"typed gzip part", multi("b", part("text/x-other", zip("x"))), [][2]string{{"text/x-other", "x"}}},
		{"node config in base64 without a header", multi("b", part(TypeNodeConfig, b64(config))), [][2]string{{TypeNodeConfig, config}}},
		{"nested", multi("out", strings.TrimPrefix(twoParts, "MIME-Version: 1.0\n"), part("text/x-last", "z")), append(two, [2]string{"text/x-last", "z"})},
		{"part without type", multi("b", "\n"+script), [][2]string{{TypeShell, script}}},
		{"single MIME part", "Content-Type: text/x-shellscript\n\n" + script, [][2]string{{TypeShell, script}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			doc, err := Parse([]byte(tt.in))
			if err != nil {
				t.Fatal(err)
			}
			var got [][2]string
			for _, p := range doc.Parts {
				got = append(got, [2]string{p.ContentType, string(p.Body)})
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("parts (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseKeepsTheHeader(t *testing.T) {
	doc, err := Parse([]byte(multi("b", "Content-Disposition: attachment; filename=\"a.sh\"\n"+part(TypeShell, script))))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := doc.Parts[0].Header.Get("Content-Disposition"), `attachment; filename="a.sh"`; got != want {
		t.Errorf("header is %q, want %q", got, want)
	}
}

// Nothing of the user data may show in an error.
const secret = "hunter2"

func TestParseErrors(t *testing.T) {
	deep := part(TypePlain, "x")
	for n := range maxDepth + 2 {
		deep = multi(strings.Repeat("b", n+1), strings.TrimPrefix(deep, "MIME-Version: 1.0\n"))
	}
	many := secret
	for range maxDepth + 1 {
		many = zip(many)
	}
	tests := []struct {
		name, in, want string
		is             error
	}{
		{"too large", strings.Repeat("x", maxSize+1), "larger than 1 MiB", errTooLarge},
		{"bomb", zip(strings.Repeat("x", maxSize+1)), "larger than 1 MiB", errTooLarge},
		{"bomb in two parts", multi("b", part("a/gzip", zip(strings.Repeat("x", maxSize*2/3))), part("a/gzip", zip(strings.Repeat("x", maxSize*2/3)))),
			"reading MIME part 2: the user data is larger", errTooLarge},
		{"layers", many, "nested more than", errTooDeep},
		{"nesting", deep, "nested more than", errTooDeep},
		{"cut gzip", zip(secret)[:20], "decompressing the user data", nil},
		{"bad header", "MIME-Version: 1.0\n" + secret + "\n\nx", "reading the MIME header", nil},
		{"no boundary", "Content-Type: multipart/mixed; x=" + secret + "\n\nx", "no boundary", nil},
		{"bad part header", multi("b", secret+"\n\nx"), "reading MIME part 1: malformed", nil},
		{"bad base64", multi("b", "Content-Transfer-Encoding: base64\n"+part(TypeShell, "*"+secret)), "reading MIME part 1: decoding base64", nil},
		{"bad quoted-printable", multi("b", "Content-Transfer-Encoding: quoted-printable\n"+part(TypeShell, "\x01"+secret)), "decoding quoted-printable", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Parse([]byte(tt.in))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("error is %v, want %q", err, tt.want)
			}
			if tt.is != nil && !errors.Is(err, tt.is) {
				t.Errorf("error %v is not %v", err, tt.is)
			}
			if strings.Contains(err.Error(), secret) {
				t.Errorf("error shows content: %v", err)
			}
		})
	}
}
