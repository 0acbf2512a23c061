package proxyconfig

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"time"
)

// CA is one certificate of the company's own authority.
type CA struct {
	// PEM is the certificate alone, in canonical form.
	PEM     []byte
	Subject string
	// NotAfter is when it expires.
	NotAfter time.Time
}

// pemStart begins every PEM block.
const pemStart = "-----BEGIN "

// ParseCAs parses a bundle of PEM certificates. Each must be a certificate
// authority; text around the blocks is dropped, and anything but certificates
// is refused.
func ParseCAs(data []byte) ([]CA, error) {
	var cas []CA
	for {
		block, rest := pem.Decode(data)
		// Decode skips what it cannot read, also before a block that it can.
		if bytes.Count(data[:len(data)-len(rest)], []byte(pemStart)) > 1 || block == nil && bytes.Contains(data, []byte(pemStart)) {
			return nil, fmt.Errorf("certificate %d: the PEM block is damaged; export the bundle again", len(cas)+1)
		}
		if block == nil {
			break
		}
		data = rest
		ca, err := parseCA(block)
		if err != nil {
			return nil, fmt.Errorf("certificate %d: %w", len(cas)+1, err)
		}
		if !slices.ContainsFunc(cas, func(other CA) bool { return bytes.Equal(other.PEM, ca.PEM) }) {
			cas = append(cas, ca)
		}
	}
	if len(cas) == 0 {
		return nil, errors.New("no PEM certificate found; give the file that begins with -----BEGIN CERTIFICATE-----")
	}
	return cas, nil
}

func parseCA(block *pem.Block) (CA, error) {
	if block.Type != "CERTIFICATE" {
		return CA{}, fmt.Errorf("the PEM block is a %s, not a CERTIFICATE; give the certificates alone, never a key", block.Type)
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return CA{}, fmt.Errorf("parsing: %w", err)
	}
	if !cert.BasicConstraintsValid || !cert.IsCA {
		return CA{}, fmt.Errorf("%q is not a certificate authority (basicConstraints CA:TRUE); give the proxy's issuing or root certificate, not its server certificate", cert.Subject)
	}
	return CA{
		PEM:      pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: block.Bytes}),
		Subject:  cert.Subject.String(),
		NotAfter: cert.NotAfter,
	}, nil
}
