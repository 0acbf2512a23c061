// Package bootdata owns the user-data document of an instance: which parts it
// has and what they say about the cluster. It must not fetch anything, must
// not look at any other setting, and its errors never hold content of the user
// data, which may be secret.
package bootdata

import (
	"bytes"
	"net/textproto"
	"strings"
)

// The content types that this package gives to text without one.
const (
	TypeNodeConfig  = "application/node.eks.aws"
	TypeShell       = "text/x-shellscript"
	TypeBoothook    = "text/cloud-boothook"
	TypeCloudConfig = "text/cloud-config"
	// TypePlain is that of text which nothing tells.
	TypePlain = "text/plain"
	// TypeTOML is that of Bottlerocket's settings, which stand in no MIME document.
	TypeTOML = "application/toml"
)

// Document is user data, taken apart.
type Document struct {
	// Parts stand in the order of the document; nested ones are flattened.
	Parts []Part
}

// Part is one script or configuration in a user-data document.
type Part struct {
	// ContentType is lower case, without parameters.
	ContentType string
	// Header is the MIME header of the part, nil where it has none.
	Header textproto.MIMEHeader
	// Body is the content, decoded and decompressed.
	Body []byte
}

// Parse takes user data apart: a NodeConfig, a script, cloud-config or MIME
// multipart, each perhaps in gzip, base64 or both. Text that it does not know
// is a part of type text/plain; no text at all is a document without parts.
func Parse(raw []byte) (Document, error) {
	if len(raw) > maxSize {
		return Document{}, errTooLarge
	}
	r := reader{left: maxSize}
	if err := r.document(raw, nil, 0); err != nil {
		return Document{}, err
	}
	return Document{Parts: r.parts}, nil
}

// reader collects the parts of one document.
type reader struct {
	left  int // bytes that may still come out of gzip
	parts []Part
}

// document reads what has no content type of its own. The header is that of
// the part it stands in, if any.
func (r *reader) document(body []byte, header textproto.MIMEHeader, depth int) error {
	body, err := r.unwrap(body)
	if err != nil {
		return err
	}
	if isMIME(body) {
		return r.message(body, depth)
	}
	if len(bytes.TrimSpace(body)) > 0 {
		r.add(sniff(body), header, body)
	}
	return nil
}

func (r *reader) add(contentType string, header textproto.MIMEHeader, body []byte) {
	r.parts = append(r.parts, Part{ContentType: contentType, Header: header, Body: body})
}

// sniff tells the type by the first bytes, as cloud-init does. A NodeConfig is
// told by its words alone: a broken one shall be reported, not overlooked.
func sniff(body []byte) string {
	begins := func(word string) bool { return bytes.HasPrefix(body, []byte(word)) }
	has := func(word string) bool { return bytes.Contains(body, []byte(word)) }
	switch {
	case isScript(body):
		return TypeShell
	case begins("#cloud-boothook"):
		return TypeBoothook
	case begins("#cloud-config-archive"):
		return "text/cloud-config-archive"
	case begins("#cloud-config"):
		return TypeCloudConfig
	case begins("#include-once"):
		return "text/x-include-once-url"
	case begins("#include"):
		return "text/x-include-url"
	case begins("#part-handler"):
		return "text/part-handler"
	case begins("## template: jinja"):
		return "text/jinja2"
	case has("apiVersion") && has(nodeConfigGroup) && has(nodeConfigKind):
		return TypeNodeConfig
	default:
		return TypePlain
	}
}

// TypeOf is the type that the first bytes tell, as cloud-init reads them.
func TypeOf(body []byte) string { return sniff(body) }

func isScript(body []byte) bool { return bytes.HasPrefix(body, []byte("#!")) }

// IsShell says whether cloud-init would run the part.
func (p Part) IsShell() bool {
	return strings.HasPrefix(p.ContentType, TypeShell) || p.ContentType == TypeBoothook || isScript(p.Body)
}
