package userdata

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/mail"
	"slices"
	"strings"

	"github.com/eksproxy/eksproxy/bootdata"
)

// piece is one part of the document: theirs as it was read, or ours.
type piece struct {
	own         *bootdata.Part
	raw         []byte // as it stands, with its boundary
	fields      bootdata.Fields
	body        []byte // not decoded, with line feeds only
	contentType string
	decoded     []bootdata.Part
	ours        bool
}

// maxNesting bounds documents in documents.
const maxNesting = 8

// read takes the document apart.
func (m *merger) read(body []byte) error {
	if len(bytes.TrimSpace(body)) == 0 {
		m.clean = false
		return nil
	}
	if !bootdata.IsMIME(body) {
		return m.bare(body)
	}
	m.text = bootdata.ReadText(body)
	m.clean = m.clean && m.text.Boundary != "" && sound(m.text)
	return m.parts(m.text, 0)
}

// bare takes a document without MIME as its one part.
func (m *merger) bare(body []byte) error {
	m.clean = false
	body = bootdata.LF(bytes.TrimPrefix(body, []byte("\ufeff")))
	kind := bootdata.TypeOf(body)
	if kind == bootdata.TypePlain {
		return unknownText(body, m.OS)
	}
	p := piece{contentType: kind, body: body, decoded: []bootdata.Part{{ContentType: kind, Body: body}}, ours: isOurs(body)}
	m.pieces = []piece{p}
	return nil
}

// unknownText says why a document without MIME cannot be taken in.
func unknownText(body []byte, system OS) error {
	switch {
	case looksTOML(body):
		return fmt.Errorf("the document is TOML, which is Bottlerocket's, and --os is %s; give --os bottlerocket, or a document for %s", system, system)
	case bytes.HasPrefix(bytes.ToLower(bytes.TrimSpace(body)), []byte("<powershell")):
		return errors.New("the document is PowerShell, and Windows nodes are not supported; allowed: MIME multipart, a script, cloud-config, a NodeConfig, each also in gzip or base64")
	}
	return errors.New("the document is of no known type, so that no reader would take it; allowed: MIME multipart, a script that begins with #!, #cloud-boothook, #cloud-config, a NodeConfig, each also in gzip or base64")
}

// parts takes up the parts of a MIME document, those of nested ones among them.
func (m *merger) parts(t bootdata.Text, depth int) error {
	if depth > maxNesting {
		return fmt.Errorf("the document is nested more than %d levels deep; put the parts side by side", maxNesting)
	}
	if err := m.repairs(t.Faults, depth); err != nil {
		return err
	}
	for i, p := range t.Parts {
		inner, nested, err := inside(p)
		if err != nil {
			return fmt.Errorf("line %d: part %d: %w", p.Line, i+1, err)
		}
		if nested {
			if err := m.parts(inner, depth+1); err != nil {
				return fmt.Errorf("line %d: the document in part %d: %w", p.Line, i+1, err)
			}
			continue
		}
		q, err := newPiece(p)
		if err != nil {
			return fmt.Errorf("line %d: part %d: %w; repair or remove the part", p.Line, i+1, err)
		}
		m.pieces = append(m.pieces, q)
	}
	return nil
}

func newPiece(p bootdata.TextPart) (piece, error) {
	decoded, err := p.Parts()
	if err != nil {
		return piece{}, err
	}
	q := piece{raw: p.Raw, fields: p.Fields, body: bootdata.LF(p.Body), decoded: decoded}
	q.contentType, _ = p.Fields.ContentType()
	for i := range decoded {
		decoded[i].Body = bootdata.LF(decoded[i].Body)
	}
	q.ours = len(decoded) == 1 && isOurs(decoded[0].Body)
	return q, nil
}

// inside is the document that a part is, if it is one.
func inside(p bootdata.TextPart) (bootdata.Text, bool, error) {
	mediaType, _ := p.Fields.ContentType()
	body, err := bootdata.DecodeTransfer(p.Fields.Get("Content-Transfer-Encoding"), p.Body)
	if err != nil {
		return bootdata.Text{}, false, err
	}
	switch {
	case strings.HasPrefix(mediaType, "multipart/"):
		head := "MIME-Version: 1.0\nContent-Type: " + p.Fields.Get("Content-Type") + "\n\n"
		return bootdata.ReadText(append([]byte(head), body...)), true, nil
	case bootdata.IsMIME(body):
		return bootdata.ReadText(body), true, nil
	}
	return bootdata.Text{}, false, nil
}

// repairs says what is repaired, and refuses what would be a guess.
func (m *merger) repairs(faults []bootdata.Fault, depth int) error {
	for _, f := range faults {
		r := rules()[codeOf(f.Kind)]
		switch f.Kind {
		case bootdata.FaultNoBoundary, bootdata.FaultNoParts, bootdata.FaultAfterClosing:
			return fmt.Errorf("line %d: %s; %s", f.Line, r.Title, r.Remedy)
		case bootdata.FaultOtherBoundary, bootdata.FaultPartType:
			m.note("line %d is left as it is: %s", f.Line, r.Title)
		default:
			if depth == 0 {
				m.note("line %d is repaired: %s", f.Line, r.Title)
			}
		}
	}
	return nil
}

// encode writes a part of theirs under a new boundary, with line feeds only.
func (p piece) encode(boundary string) []byte {
	switch {
	case p.own != nil:
		return p.own.Encode(boundary)
	case p.raw == nil:
		return bootdata.Part{ContentType: p.contentType, Body: p.body}.Encode(boundary)
	}
	var out bytes.Buffer
	_, _ = fmt.Fprintf(&out, "--%s\n", boundary)
	for _, f := range p.fields {
		_, _ = fmt.Fprintf(&out, "%s: %s\n", f.Name, f.Value)
	}
	_, _ = fmt.Fprintf(&out, "\n%s\n", p.body)
	return out.Bytes()
}

// sound says whether each part can stay as it stands.
func sound(t bootdata.Text) bool {
	return !slices.ContainsFunc(t.Faults, func(f bootdata.Fault) bool {
		return f.Kind != bootdata.FaultOtherBoundary && f.Kind != bootdata.FaultPartType
	})
}

// agree says whether Go's reader, which nodeadm and Karpenter have, finds these
// pieces in the document.
func agree(document []byte, pieces []piece) bool {
	t := bootdata.ReadText(document)
	if !sound(t) || len(t.Parts) != len(pieces) {
		return false
	}
	message, err := mail.ReadMessage(bytes.NewReader(document))
	if err != nil {
		return false
	}
	parts := multipart.NewReader(message.Body, t.Boundary)
	for i, want := range pieces {
		p, err := parts.NextRawPart()
		if err != nil {
			return false
		}
		got, err := io.ReadAll(p)
		if err != nil || !bytes.Equal(got, want.wire()) || !bytes.Equal(t.Parts[i].Body, want.wire()) {
			return false
		}
	}
	_, err = parts.NextRawPart()
	return errors.Is(err, io.EOF)
}

// wire is the body as it stands between the boundaries.
func (p piece) wire() []byte {
	switch {
	case p.own != nil:
		return p.own.Wire()
	case p.raw != nil:
		return p.body
	}
	return bootdata.Part{Body: p.body}.Wire()
}

func (p piece) isNodeConfig() bool {
	if p.own != nil {
		return p.own.ContentType == bootdata.TypeNodeConfig
	}
	return p.contentType == bootdata.TypeNodeConfig
}
