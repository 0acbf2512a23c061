package userdata

import (
	"crypto/ed25519"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"flag"
	"fmt"
	"math/big"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/eksproxy/eksproxy/facts"
	"github.com/eksproxy/eksproxy/proxyconfig"
)

var update = flag.Bool("update", false, "write the golden files")

const (
	testHost     = "0123456789ABCDEF.gr7.eu-west-1.eks.amazonaws.com"
	testPassword = "s3cr3tProxyPass"
)

// testCA is an authority of about the given size, the same in every run.
func testCA(t *testing.T, size int) string {
	t.Helper()
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	tmpl := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Example Root CA", Organization: []string{strings.Repeat("x", size)}},
		NotBefore: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), NotAfter: time.Date(2126, 1, 1, 0, 0, 0, 0, time.UTC),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(nil, tmpl, tmpl, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

// layer is a ProxyConfig with this spec.
func layer(t *testing.T, spec string) proxyconfig.Layer {
	t.Helper()
	l, err := proxyconfig.ParseFile("proxy.yaml", []byte("apiVersion: eksproxy.dev/v1alpha1\nkind: ProxyConfig\nspec:\n"+spec))
	if err != nil {
		t.Fatal(err)
	}
	return proxyconfig.Merge(proxyconfig.Defaults(), l)
}

// inputFrom is what most tests render from, with a configuration.
func inputFrom(t *testing.T, os OS, launcher Launcher, spec string) Input {
	t.Helper()
	l := layer(t, spec)
	cfg, err := l.Resolve("node", func(string) (proxyconfig.Credentials, error) {
		return proxyconfig.ParseCredentials([]byte("svc:" + testPassword))
	})
	if err != nil {
		t.Fatal(err)
	}
	in := Input{OS: os, For: launcher, Config: cfg, Facts: facts.NewNode()}
	in.Portable = func(facts.Node) (proxyconfig.Portable, error) { return l.Portable("node") }
	in.Facts.Region, in.Facts.DNSSuffix = "eu-west-1", "amazonaws.com"
	in.Facts.ClusterName, in.Facts.EndpointHost = "demo", testHost
	in.Facts.VPCCIDRs = []netip.Prefix{netip.MustParsePrefix("10.40.0.0/16"), netip.MustParsePrefix("100.64.0.0/16")}
	in.Facts.ServiceCIDRs = []netip.Prefix{netip.MustParsePrefix("10.100.0.0/16")}
	in.ClusterCA = base64.StdEncoding.EncodeToString([]byte("-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"))
	return in
}

const plainSpec = "  httpProxy: http://proxy.example:3128\n  noProxy: {add: [.corp.example]}\n"

func input(t *testing.T, os OS, launcher Launcher) Input {
	t.Helper()
	return inputFrom(t, os, launcher, plainSpec)
}

// withCA adds a certificate to a configuration.
func withCA(t *testing.T, spec string, size int) string {
	t.Helper()
	var b strings.Builder
	b.WriteString(spec + "  trustedCA: |\n")
	for line := range strings.Lines(testCA(t, size)) {
		b.WriteString("    " + line)
	}
	return b.String()
}

// render renders, and fails the test where that is refused.
func render(t *testing.T, in Input) Output {
	t.Helper()
	out, err := Render(in)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// entries are n zones of a company.
func entries(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, ".team%02d.corp.example, ", i)
	}
	return strings.TrimSuffix(b.String(), ", ")
}
