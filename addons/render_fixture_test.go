package addons

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/eksproxy/eksproxy/facts"
	"github.com/eksproxy/eksproxy/noproxy/compose"
	"github.com/eksproxy/eksproxy/proxyconfig"
)

// renderCluster is a cluster of which everything is known that NO_PROXY needs.
func renderCluster() facts.Cluster {
	c := facts.NewCluster()
	c.Region, c.DNSSuffix, c.EndpointHost = "eu-west-1", "amazonaws.com", "0123456789ABCDEF.gr7.eu-west-1.eks.amazonaws.com"
	c.VPCCIDRs = []netip.Prefix{netip.MustParsePrefix("10.40.0.0/16")}
	c.ServiceCIDRs = []netip.Prefix{netip.MustParsePrefix("10.100.0.0/16")}
	return c
}

// renderSettings are settings with these fields, and NO_PROXY for the cluster.
func renderSettings(t *testing.T, c facts.Cluster, fields map[string]string) proxyconfig.Settings {
	t.Helper()
	l := proxyconfig.Layer{}
	l.Set("httpProxy", proxyconfig.Origin{}, "http://proxy.example:3128")
	for path, value := range fields {
		l.Set(path, proxyconfig.Origin{}, value)
	}
	cfg, err := l.Resolve("addons", func(string) (proxyconfig.Credentials, error) {
		return proxyconfig.ParseCredentials([]byte("svc-proxy:Hq8renderL3"))
	})
	if err != nil {
		t.Fatal(err)
	}
	list, err := compose.Cluster(c, compose.Options{Add: []compose.Addition{{Text: ".corp.example", Source: "test"}}})
	if err != nil {
		t.Fatal(err)
	}
	return cfg.Settings(list.Entries)
}

// renderCase is one call of Render.
type renderCase struct {
	format  Format
	cluster facts.Cluster
	fields  map[string]string
	options Options
	render  RenderOptions
}

func (rc renderCase) run(t *testing.T) (Rendered, error) {
	t.Helper()
	cluster, places := HoldPlaces(rc.cluster)
	d, err := Want(renderSettings(t, cluster, rc.fields), cluster, rc.options)
	if err != nil {
		t.Fatal(err)
	}
	rc.render.Cluster, rc.render.Placeholders = cluster, places
	return Render(d, rc.format, rc.render)
}

// text is all of it in one text.
func (r Rendered) text() string {
	var b strings.Builder
	for _, n := range r.Notes {
		b.WriteString("note: " + n + "\n")
	}
	for _, f := range r.Files {
		b.WriteString("---\n# " + f.Name + "\n" + string(f.Data))
	}
	return b.String()
}

// renderCA is an authority that is the same in every run.
func renderCA(t *testing.T) string {
	t.Helper()
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Example Root CA"},
		NotBefore: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), NotAfter: time.Date(2125, 1, 1, 0, 0, 0, 0, time.UTC),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}
