package proxyconfig_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/eksproxy/eksproxy/proxyconfig"
)

// newCert makes a self-signed certificate and its key, both as PEM.
func newCert(t *testing.T, name string, change func(*x509.Certificate)) (cert, key string) {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC), NotAfter: time.Date(2120, 1, 1, 0, 0, 0, 0, time.UTC),
		BasicConstraintsValid: true, IsCA: true,
	}
	if change != nil {
		change(template)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, k.Public(), k)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	return pemText("CERTIFICATE", der), pemText("PRIVATE KEY", keyDER)
}

func pemText(kind string, der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

// leaf and expired change the template of a certificate.
func leaf(c *x509.Certificate)    { c.IsCA = false }
func expired(c *x509.Certificate) { c.NotAfter = time.Date(2021, 2, 3, 0, 0, 0, 0, time.UTC) }

// TestParseCAs: the certificates alone, in their order, in canonical form.
func TestParseCAs(t *testing.T) {
	one, _ := newCert(t, "one", nil)
	two, _ := newCert(t, "two", expired)
	tests := map[string]struct {
		in       string
		subjects []string
	}{
		"one":                  {one, []string{"CN=one"}},
		"two in their order":   {two + one, []string{"CN=two", "CN=one"}},
		"text around":          {"# corporate root\n" + one + "\nsubject=two\n" + two + "bye", []string{"CN=one", "CN=two"}},
		"CRLF":                 {strings.ReplaceAll(one, "\n", "\r\n"), []string{"CN=one"}},
		"no final newline":     {strings.TrimSpace(one), []string{"CN=one"}},
		"headers in the block": {strings.Replace(one, "-----\n", "-----\nfriendlyName: x\n\n", 1), []string{"CN=one"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			cas, err := proxyconfig.ParseCAs([]byte(tt.in))
			if err != nil {
				t.Fatal(err)
			}
			var subjects []string
			for _, ca := range cas {
				subjects = append(subjects, ca.Subject)
				if pem := string(ca.PEM); pem != one && pem != two {
					t.Errorf("the PEM is not canonical: %q", pem)
				}
			}
			if diff := cmp.Diff(tt.subjects, subjects); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestParseCAsRefuses: each block parses and is a CA, else nothing is taken.
func TestParseCAsRefuses(t *testing.T) {
	good, key := newCert(t, "good", nil)
	server, _ := newCert(t, "server", leaf)
	noConstraints, _ := newCert(t, "v1", func(c *x509.Certificate) { c.BasicConstraintsValid, c.IsCA = false, false })
	damaged := strings.Replace(good, "\n", "\n!"+secret, 1)
	tests := map[string]struct {
		in    string
		words []string
	}{
		"empty":              {"", []string{"no PEM certificate", "-----BEGIN CERTIFICATE-----"}},
		"text":               {secret, []string{"no PEM certificate"}},
		"leaf":               {server, []string{"certificate 1", "CN=server", "not a certificate authority", "issuing or root"}},
		"no constraints":     {noConstraints, []string{"not a certificate authority"}},
		"leaf behind a CA":   {good + server, []string{"certificate 2", "CN=server"}},
		"key":                {key, []string{"PRIVATE KEY", "never a key"}},
		"key behind a CA":    {good + key, []string{"certificate 2", "never a key"}},
		"no certificate":     {pemText("CERTIFICATE", []byte(secret)), []string{"certificate 1", "parsing"}},
		"damaged":            {damaged, []string{"certificate 1", "damaged", "export the bundle again"}},
		"damaged at the end": {good + damaged, []string{"certificate 2", "damaged"}},
		"damaged at first":   {damaged + good, []string{"certificate 1", "damaged"}},
		"damaged between":    {good + damaged + good, []string{"certificate 2", "damaged"}},
		"cut off":            {good + good[:len(good)/2], []string{"certificate 2", "damaged"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			cas, err := proxyconfig.ParseCAs([]byte(tt.in))
			wantError(t, err, tt.words...)
			if cas != nil {
				t.Errorf("an error comes with %d certificates", len(cas))
			}
		})
	}
}
