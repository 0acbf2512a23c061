package imds

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
)

func TestParseMACsBoundsTheNumber(t *testing.T) {
	var list strings.Builder
	for i := range maxInterfaces + 1 {
		fmt.Fprintf(&list, "0a:00:00:00:%02x:%02x/\n", i/256, i%256)
	}
	if _, err := parseMACs(list.String()); err == nil {
		t.Error("no error for too many interfaces")
	}
	if macs, err := parseMACs(list.String()[:maxInterfaces*19]); err != nil || len(macs) != maxInterfaces {
		t.Errorf("%d interfaces, error %v", len(macs), err)
	}
}

func TestDefaultsAreBounded(t *testing.T) {
	l := defaultLimits()
	if l.total != DefaultTimeout || l.request <= 0 || l.request > l.total || l.firstPause <= 0 || l.maxPause < l.firstPause || l.dial <= 0 || l.header <= 0 {
		t.Errorf("limits are %+v", l)
	}
}

// FuzzParse shows that no answer puts anything but MACs and blocks further.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"", "10.40.0.0/16\n100.64.0.0/16", "2a05:d018::/56\r\n", mac1 + "/\n" + mac2, "<html>\n", "10.0.0.0/16\nX=Y",
		"::ffff:10.0.0.0/104", "fe80::1%eth0/64", "0.0.0.0/0", "../../user-data/",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		for _, fam := range []family{ipv4, ipv6} {
			prefixes, err := parseCIDRs(body, fam)
			for _, p := range prefixes {
				if !p.IsValid() || p != p.Masked() || p.Addr().Is4() != (fam == ipv4) || netip.MustParsePrefix(p.String()) != p {
					t.Errorf("%s: %v is no proper block", fam, p)
				}
			}
			if err != nil && strings.ContainsAny(err.Error(), "\n\r\x00\x1b") {
				t.Errorf("the error is not one clean line: %q", err)
			}
		}
		macs, _ := parseMACs(body)
		for _, m := range macs {
			if len(m) != 17 || strings.Trim(m, "0123456789abcdefABCDEF:") != "" {
				t.Errorf("%q is no MAC address", m)
			}
		}
	})
}
