package bootdata

import (
	"mime"
	"net/textproto"
	"regexp"
	"strings"
)

// FaultKind is what is wrong with the text of a MIME document.
type FaultKind int

// The faults.
const (
	FaultCRLF          FaultKind = iota + 1 // Windows line ends
	FaultLeading                            // something stands before the first header line
	FaultOrder                              // the first line is not MIME-Version
	FaultTopEmpty                           // no empty line between the header and the first boundary
	FaultPartEmpty                          // no empty line between the header of a part and its body
	FaultNotClosed                          // the closing boundary is missing
	FaultNested                             // a part is itself a MIME document
	FaultNoBoundary                         // the header of a multipart names no boundary
	FaultNoParts                            // the boundary never comes
	FaultAfterClosing                       // text behind the closing boundary, which nothing reads
	FaultBoundaryForm                       // the header names the boundary in a form that Go cannot read
	FaultPartType                           // the type of a part is written in a form that Go cannot read
	FaultOtherBoundary                      // a part begins with another boundary than the header names
)

// Fault is one fault of a MIME document, with the line that shows it. Line and
// Part count from 1; part 0 is the document.
type Fault struct {
	Kind FaultKind
	Line int
	Part int
}

// Field is one line of a header, with the lines that continue it.
type Field struct {
	Name, Value string
}

func newField(line []byte) Field {
	name, value, _ := strings.Cut(string(line), ":")
	return Field{strings.TrimSpace(name), strings.TrimSpace(value)}
}

// add takes up a line that continues the field.
func (f *Field) add(line []byte) {
	f.Value = strings.TrimSpace(f.Value + " " + strings.TrimSpace(string(line)))
}

// Fields is a header, in its order.
type Fields []Field

// Get is the value of a field, whatever the case of its name.
func (f Fields) Get(name string) string {
	for _, field := range f {
		if strings.EqualFold(field.Name, name) {
			return field.Value
		}
	}
	return ""
}

// Header is the header without its order.
func (f Fields) Header() textproto.MIMEHeader {
	h := textproto.MIMEHeader{}
	for _, field := range f {
		h.Add(field.Name, field.Value)
	}
	return h
}

// strict says whether Go, and so nodeadm and Karpenter, reads the type.
func (f Fields) strict() bool {
	value := f.Get("Content-Type")
	_, _, err := mime.ParseMediaType(value)
	return value == "" || err == nil
}

// ContentType is the type in lower case, without parameters, and the boundary.
func (f Fields) ContentType() (mediaType, boundary string) {
	value := f.Get("Content-Type")
	mediaType, params, err := mime.ParseMediaType(value)
	if err == nil {
		return mediaType, strings.TrimRight(params["boundary"], " ")
	}
	if m := looseBoundary.FindStringSubmatch(value); m != nil {
		boundary = strings.TrimSpace(m[1])
	}
	mediaType, _, _ = strings.Cut(value, ";")
	return strings.ToLower(strings.TrimSpace(mediaType)), boundary
}

var (
	fieldLine     = regexp.MustCompile(`^[!-9;-~]+[ \t]*:`)
	looseBoundary = regexp.MustCompile(`(?i)boundary *= *"?([^";]+)"?`)
	partHeader    = regexp.MustCompile(`(?i)^(content-type|content-transfer-encoding|mime-version)[ \t]*:`)
)

// Parts decodes a part as Parse does, and flattens what is nested in it.
func (p TextPart) Parts() ([]Part, error) {
	r := reader{left: maxSize}
	if err := r.entity(p.Fields.Header(), p.Body, 1); err != nil {
		return nil, err
	}
	return r.parts, nil
}

// FileName is the name that the part gives itself.
func (f Fields) FileName() string {
	if _, params, err := mime.ParseMediaType(f.Get("Content-Disposition")); err == nil {
		return params["filename"]
	}
	return ""
}
