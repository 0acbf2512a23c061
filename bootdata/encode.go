package bootdata

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"mime"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Boundary is one that stands in none of the parts. It follows from them alone.
func Boundary(parts []Part) string {
	sum := sha256.New()
	for _, p := range parts {
		_, _ = fmt.Fprintf(sum, "%s %d ", p.ContentType, len(p.Body))
		_, _ = sum.Write(p.Body)
	}
	base := "eksproxy-" + hex.EncodeToString(sum.Sum(nil)[:8])
	inside := func(b string) bool {
		return slices.ContainsFunc(parts, func(p Part) bool { return bytes.Contains(p.Body, []byte(b)) })
	}
	boundary := base
	for n := 2; inside(boundary); n++ {
		boundary = base + "-" + strconv.Itoa(n)
	}
	return boundary
}

// Encode writes the parts as MIME multipart: MIME-Version first, line feeds
// only, and 7bit wherever the part is ASCII. Parse gives the parts back.
func Encode(parts []Part) []byte {
	boundary := Boundary(parts)
	out := TopOf(boundary)
	for _, p := range parts {
		out = append(out, p.Encode(boundary)...)
	}
	return append(out, "--"+boundary+"--\n"...)
}

// TopOf is the header of a MIME multipart document, with the empty line.
func TopOf(boundary string) []byte {
	return fmt.Appendf(nil, "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"%s\"\n\n", boundary)
}

// Encode writes one part, with the boundary before it.
func (p Part) Encode(boundary string) []byte {
	var out bytes.Buffer
	charset, transfer, body := p.transfer()
	contentType := p.Header.Get("Content-Type")
	if contentType == "" {
		contentType = p.ContentType
		if strings.HasPrefix(contentType, "text/") {
			contentType += `; charset="` + charset + `"`
		}
	}
	_, _ = fmt.Fprintf(&out, "--%s\nContent-Type: %s\nMIME-Version: 1.0\nContent-Transfer-Encoding: %s\n", boundary, contentType, transfer)
	if d := p.Header.Get("Content-Disposition"); d != "" {
		_, _ = fmt.Fprintf(&out, "Content-Disposition: %s\n", d)
	}
	_, _ = fmt.Fprintf(&out, "\n%s\n", body)
	return out.Bytes()
}

// transfer is how the body travels: as it is where it is text.
func (p Part) transfer() (charset, encoding string, body []byte) {
	switch {
	case isASCII(p.Body):
		return "us-ascii", "7bit", p.Body
	case utf8.Valid(p.Body) && !bytes.ContainsAny(p.Body, "\x00\r"):
		return "utf-8", "8bit", p.Body
	}
	text := base64.StdEncoding.EncodeToString(p.Body)
	var lines bytes.Buffer
	for chunk := range slices.Chunk([]byte(text), 76) {
		lines.Write(chunk)
		lines.WriteByte('\n')
	}
	return "utf-8", "base64", bytes.TrimSuffix(lines.Bytes(), []byte("\n"))
}

// Wire is the body as Encode writes it.
func (p Part) Wire() []byte {
	_, _, body := p.transfer()
	return body
}

// isASCII says whether the body may travel as 7bit.
func isASCII(body []byte) bool {
	for _, b := range body {
		if b >= 0x80 || b == 0 || b == '\r' {
			return false
		}
	}
	return true
}

// IsASCII says whether Encode writes the part as 7bit.
func (p Part) IsASCII() bool { return isASCII(p.Body) }

// NewPart is a part with a file name, as the readers of logs see it.
func NewPart(contentType, fileName string, body []byte) Part {
	p := Part{ContentType: contentType, Body: body}
	if fileName != "" {
		p.Header = map[string][]string{
			"Content-Disposition": {mime.FormatMediaType("attachment", map[string]string{"filename": fileName})},
		}
	}
	return p
}

// FileName is the name that the part gives itself.
func (p Part) FileName() string {
	return Fields{{"Content-Disposition", p.Header.Get("Content-Disposition")}}.FileName()
}

// LF is the body with Windows line ends made those of Unix. What is no text
// stays as it is.
func LF(body []byte) []byte {
	if isGzip(body) || bytes.IndexByte(body, 0) >= 0 {
		return body
	}
	for bytes.Contains(body, []byte("\r\n")) { // some editors write \r\r\n
		body = bytes.ReplaceAll(body, []byte("\r\n"), []byte("\n"))
	}
	return body
}
