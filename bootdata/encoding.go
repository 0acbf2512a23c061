package bootdata

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"mime/quotedprintable"
	"strings"
)

const (
	// maxSize bounds a document: EC2 allows 16 KiB, so that everything near
	// this is a decompression bomb.
	maxSize = 1 << 20
	// maxDepth bounds layers of encoding and of multipart.
	maxDepth = 8
)

var (
	errTooLarge = errors.New("the user data is larger than 1 MiB")
	errTooDeep  = fmt.Errorf("the user data is nested more than %d levels deep", maxDepth)
)

// unwrap takes off gzip and base64 in any order, as nodeadm does.
func (r *reader) unwrap(body []byte) ([]byte, error) {
	for range maxDepth {
		plain, layer, err := r.peel(body)
		if err != nil || layer == "" {
			return plain, err
		}
		body = plain
	}
	return nil, errTooDeep
}

// The layers that a document may be wrapped in.
const (
	LayerGzip   = "gzip"
	LayerBase64 = "base64"
)

// peel takes off one layer; there is none where its name is empty.
func (r *reader) peel(body []byte) (plain []byte, layer string, err error) {
	if isGzip(body) {
		plain, err = r.gunzip(body)
		return plain, LayerGzip, err
	}
	if plain, ok := fromBase64(body); ok {
		return plain, LayerBase64, nil
	}
	return body, "", nil
}

// Unwrap takes off gzip and base64, and names the layers, the outermost first.
func Unwrap(raw []byte) (body []byte, layers []string, err error) {
	if len(raw) > maxSize {
		return nil, nil, errTooLarge
	}
	r := reader{left: maxSize}
	body = raw
	for range maxDepth {
		plain, layer, err := r.peel(body)
		if err != nil || layer == "" {
			return plain, layers, err
		}
		body, layers = plain, append(layers, layer)
	}
	return nil, nil, errTooDeep
}

func isGzip(body []byte) bool { return bytes.HasPrefix(body, []byte{0x1f, 0x8b}) }

func (r *reader) gunzip(body []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("decompressing the user data: %w", err)
	}
	plain, err := io.ReadAll(io.LimitReader(z, int64(r.left)+1))
	if err != nil {
		return nil, fmt.Errorf("decompressing the user data: %w", err)
	}
	if len(plain) > r.left {
		return nil, errTooLarge
	}
	r.left -= len(plain)
	return plain, nil
}

// fromBase64 decodes only what then makes sense: a short word of plain text
// is valid base64 too.
func fromBase64(body []byte) ([]byte, bool) {
	plain, err := base64.StdEncoding.DecodeString(string(bytes.TrimSpace(body)))
	if err != nil {
		return nil, false
	}
	return plain, isGzip(plain) || isMIME(plain) || sniff(plain) != TypePlain
}

// DecodeTransfer undoes a Content-Transfer-Encoding.
func DecodeTransfer(encoding string, body []byte) ([]byte, error) {
	switch strings.ToLower(strings.TrimSpace(encoding)) {
	case "base64":
		plain, err := base64.StdEncoding.DecodeString(string(bytes.TrimSpace(body)))
		if err != nil {
			return nil, fmt.Errorf("decoding base64: %w", err)
		}
		return plain, nil
	case "quoted-printable":
		plain, err := io.ReadAll(quotedprintable.NewReader(bytes.NewReader(body)))
		if err != nil {
			return nil, errors.New("decoding quoted-printable: invalid text")
		}
		return plain, nil
	default:
		return body, nil
	}
}
