package bootdata

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/mail"
	"net/textproto"
	"strings"
)

// isMIME says whether the text starts as cloud-init and Karpenter demand it.
func isMIME(body []byte) bool {
	for _, name := range []string{"MIME-Version:", "Content-Type:"} {
		if len(body) >= len(name) && strings.EqualFold(string(body[:len(name)]), name) {
			return true
		}
	}
	return false
}

// message reads a whole MIME message.
func (r *reader) message(body []byte, depth int) error {
	m, err := mail.ReadMessage(bytes.NewReader(body))
	if err != nil {
		return errors.New("reading the MIME header: malformed") // the cause quotes the line
	}
	rest, err := io.ReadAll(m.Body)
	if err != nil {
		return fmt.Errorf("reading the MIME body: %w", err)
	}
	return r.entity(textproto.MIMEHeader(m.Header), rest, depth)
}

// entity reads a header with what it describes: one part or a multipart.
func (r *reader) entity(header textproto.MIMEHeader, body []byte, depth int) error {
	if depth > maxDepth {
		return errTooDeep
	}
	body, err := DecodeTransfer(header.Get("Content-Transfer-Encoding"), body)
	if err != nil {
		return err
	}
	// A malformed type comes back empty and is told by the first bytes.
	contentType, params, _ := mime.ParseMediaType(header.Get("Content-Type"))
	switch {
	case strings.HasPrefix(contentType, "multipart/"):
		return r.multipart(body, params["boundary"], depth)
	case isUntyped(contentType):
		return r.document(body, header, depth+1)
	case contentType == TypeNodeConfig:
		body, err = r.unwrap(body)
	case isGzip(body):
		body, err = r.gunzip(body)
	}
	if err != nil {
		return err
	}
	r.add(contentType, header, body)
	return nil
}

// isUntyped says whether cloud-init looks at the first bytes instead.
func isUntyped(contentType string) bool {
	switch contentType {
	case "", TypePlain, "text/x-not-multipart", "application/octet-stream",
		"application/gzip", "application/x-gzip", "application/gzip-compressed":
		return true
	}
	return false
}

// multipart reads the parts. One without the closing boundary counts: Python,
// and so cloud-init, takes it too.
func (r *reader) multipart(body []byte, boundary string, depth int) error {
	if boundary == "" {
		return errors.New("reading the MIME header: the multipart has no boundary")
	}
	parts := multipart.NewReader(bytes.NewReader(body), boundary)
	for n := 1; ; n++ {
		p, err := parts.NextRawPart()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading MIME part %d: malformed header", n) // the cause quotes the line
		}
		content, err := io.ReadAll(p)
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			return fmt.Errorf("reading MIME part %d: %w", n, err)
		}
		if err := r.entity(p.Header, content, depth+1); err != nil {
			return fmt.Errorf("reading MIME part %d: %w", n, err)
		}
	}
}
