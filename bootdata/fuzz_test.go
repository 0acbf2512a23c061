package bootdata

import (
	"net/netip"
	"strings"
	"testing"
)

func FuzzParse(f *testing.F) {
	full := nodeConfigOf("name: blue, apiServerEndpoint: 'https://a.example:443', cidr: 10.100.0.0/16")
	boot := "#!/bin/bash\nU=https://a.example\nif true; then sudo bash /etc/eks/bootstrap.sh \"b\"'l'u\\e --apiserver-endpoint ${U} --dns-cluster-ip=10.100.0.10; fi\n"
	for _, seed := range []string{
		"", full, boot, "#cloud-boothook\n" + boot, zip(full), b64(zip(boot)),
		multi("b", part(TypeNodeConfig, full), part(TypeShell, boot)),
		multi("b", "Content-Transfer-Encoding: base64\n"+part("application/gzip", b64(zip(boot)))),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		doc, err := Parse(raw)
		if err != nil {
			return
		}
		c, err := doc.Cluster()
		if err != nil {
			return
		}
		checkFuzzed(t, c)
	})
}

func checkFuzzed(t *testing.T, c Cluster) {
	t.Helper()
	if c.EndpointHost != "" {
		if strings.Trim(c.EndpointHost, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._:") != "" {
			t.Errorf("host %q has other characters", c.EndpointHost)
		}
		if _, err := netip.ParseAddr(c.EndpointHost); err != nil && strings.Contains(c.EndpointHost, ":") {
			t.Errorf("host %q has a colon and is no address", c.EndpointHost)
		}
	}
	if p := c.ServiceCIDR; p != (netip.Prefix{}) && (!p.IsValid() || p != p.Masked() || p.Bits() < 8) {
		t.Errorf("service CIDR %v is not a proper range", p)
	}
	if a := c.ServiceAddress; a.IsValid() && (!a.Is4() || a.As4()[3] != 1) {
		t.Errorf("service address %v is not the first of a range", a)
	}
	if strings.Trim(c.Name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") != "" {
		t.Errorf("name %q has other characters", c.Name)
	}
	switch c.From {
	case "":
		if c != (Cluster{}) {
			t.Errorf("%+v comes from nowhere", c)
		}
	case FromNodeConfig, FromBootstrap:
	default:
		t.Errorf("unknown source %q", c.From)
	}
}
