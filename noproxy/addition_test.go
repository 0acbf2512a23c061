package noproxy_test

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/eksproxy/eksproxy/noproxy"
)

func TestParseAddition(t *testing.T) {
	zone := []string{"zone.example", ".zone.example", "*.zone.example"}
	longest := strings.Repeat(strings.Repeat("a", 62)+".", 4) + "b" // 253 bytes
	tests := map[string][]string{
		"host.example":          {"host.example"},
		"host.example.":         {"host.example"},
		"Host.Example":          {"Host.Example"},
		"registry":              {"registry"},
		"_srv.my_host-1.x":      {"_srv.my_host-1.x"},
		longest:                 {longest},
		".zone.example":         zone,
		"*.zone.example":        zone,
		".zone.example.":        zone,
		".internal":             {"internal", ".internal", "*.internal"},
		"10.0.0.1":              {"10.0.0.1"},
		"FD00:EC2:0::254":       {"fd00:ec2::254"},
		"[fd00:ec2::23]":        {"fd00:ec2::23"},
		"::ffff:10.0.0.1":       {"10.0.0.1"},
		"10.0.0.0/8":            {"10.0.0.0/8"},
		"10.0.0.1/32":           {"10.0.0.1/32"},
		"fd64:1:2:0::/108":      {"fd64:1:2::/108"},
		"::ffff:10.0.0.0/104":   {"10.0.0.0/8"},
		" .zone.example\t\r\n":  zone, // BL-014
		"10.40.0.0/16 ":         {"10.40.0.0/16"},
		"1password.corp2.3com":  {"1password.corp2.3com"},
		"xn--bcher-kva.example": {"xn--bcher-kva.example"},
	}
	for text, want := range tests {
		got, err := noproxy.ParseAddition(text)
		if err != nil {
			t.Errorf("ParseAddition(%q): %v", text, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("ParseAddition(%q) (-want +got):\n%s", text, diff)
		}
	}
}

// The second column is what the error must tell the user to write.
func TestParseAdditionRefuses(t *testing.T) {
	tests := []struct{ text, remedy string }{
		{"", "write a host"},
		{" \n", "write a host"},
		{"a.example b.example", "one entry each"},
		{"a.example,b.example", "one entry each"},
		{"a.example;b.example", "one entry each"},
		{"a.example|b.example", "one entry each"},
		{"a.example\nb.example", "one entry each"},
		{"a\x00b", "no control characters"},
		{"a\x7fb", "no control characters"},
		{"bücher.example", "punycode (xn--...)"},
		{"a\xff.example", "punycode (xn--...)"},
		{"*", "leave both proxies empty instead"},
		{".", "as in .zone.example"},
		{"..", "no empty label"},
		{"*.", "no empty label"},
		{"a..example", "no empty label"},
		{"..zone.example", "no empty label"},
		{"https://host.example:8443/path", "write the host: host.example"},
		{"https://[fd00::1]:443/", "write the host: fd00::1"},
		{"https://", "write the host alone"},
		{"http://%zz", "write the host alone"},
		{"host.example:443", "without port: host.example"},
		{"[fd00::1]:443", "without port: fd00::1"},
		{"10.0.0.1:80", "without port: 10.0.0.1"},
		{".zone.example:443", "without port: .zone.example"},
		{"fd00:zz", "write it bare, as in fd00:ec2::254"},
		{"[host]", "write it bare, as in fd00:ec2::254"},
		{"fe80::1%eth0", "without it: fe80::1"},
		{"host.example/path", "write the host: host.example"},
		{"host.example:80/path", "write the host alone"},
		{"10.0.0.0/33", "as in 10.0.0.0/8"},
		{"10.0.0.0/255.0.0.0", "as in 10.0.0.0/8"},
		{"172.17/16", "as in 10.0.0.0/8"},
		{"10.40.1.2/16", "write the range 10.40.0.0/16 or the single address 10.40.1.2"},
		{"fd00::1/64", "write the range fd00::/64 or the single address fd00::1"},
		{"0.0.0.0/0", "leave both proxies empty instead"},
		{"::/0", "leave both proxies empty instead"},
		{"::ffff:0.0.0.0/96", "leave both proxies empty instead"},
		{"*zone.example", "*.zone.example"},
		{"a.*.example", "*.zone.example"},
		{"*.*.example", "*.zone.example"},
		{"host!.example", "letters, digits, - and _"},
		{"10.0.0", "write the CIDR 10.0.0.0/24"},
		{"10.0.0.256", "write a whole address"},
		{"010.0.0.1", "write a whole address"},
		{"10.0.0.1-10.0.0.9", "write a whole address"},
		{"*.0.0.1", "write a whole address"},
		{strings.Repeat("a", 64) + ".example", "at most 63"},
		{strings.Repeat("abc.", 63) + "de", "at most 253"},
	}
	for _, tt := range tests {
		got, err := noproxy.ParseAddition(tt.text)
		if err == nil {
			t.Errorf("ParseAddition(%q) = %q, want an error", tt.text, got)
		} else if !strings.Contains(err.Error(), tt.remedy) {
			t.Errorf("ParseAddition(%q): %v; want it to say %q", tt.text, err, tt.remedy)
		}
	}
}

// BL-011: address patterns match nothing in Go; the error names the CIDR.
func TestParseAdditionRefusesAddressPatterns(t *testing.T) {
	tests := map[string]string{
		"10.*":      "10.0.0.0/8",
		"10.*.*.*":  "10.0.0.0/8",
		"10.0.*":    "10.0.0.0/16",
		"172.17.*":  "172.17.0.0/16",
		"172.17.0.": "172.17.0.0/24",
		"192.168.":  "192.168.0.0/16",
		"192.168":   "192.168.0.0/16",
	}
	for text, cidr := range tests {
		_, err := noproxy.ParseAddition(text)
		if err == nil || !strings.HasSuffix(err.Error(), "write the CIDR "+cidr) {
			t.Errorf("ParseAddition(%q): %v; want it to name %s", text, err, cidr)
		}
	}
}

func TestParseAdditionShowsNoPassword(t *testing.T) {
	for _, text := range []string{"http://user:s3cret@proxy.example:3128", "user:s3cret@proxy.example", "http://user:s3/cret@h"} {
		_, err := noproxy.ParseAddition(text)
		if err == nil || strings.Contains(err.Error(), "cret") || strings.Contains(err.Error(), "user:") {
			t.Errorf("ParseAddition(%q) must refuse it and hide the password: %v", text, err)
		}
	}
}

func TestQuote(t *testing.T) {
	tests := map[string]string{
		"a\nb":                  `"a\nb"`,
		"user:pw@host":          `"***@host"`,
		strings.Repeat("a", 61): `"` + strings.Repeat("a", 60) + `"...`,
	}
	for text, want := range tests {
		if got := noproxy.Quote(text); got != want {
			t.Errorf("Quote(%q) = %s, want %s", text, got, want)
		}
	}
}

func FuzzParseAddition(f *testing.F) {
	for _, seed := range []string{
		"host.example", ".zone.example", "*.zone.example.", "10.0.0.0/8", "[fd00::1]:443", "::ffff:1.2.3.0/120",
		"10.*", "192.168.", "https://u:p@h/", "a b", "*", ".", "fe80::1%eth0", "bücher", "\x00",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		entries, err := noproxy.ParseAddition(text)
		if err != nil {
			checkMessage(t, err.Error())
			return
		}
		if len(entries) != 1 && len(entries) != 3 {
			t.Fatalf("%q gives %q: neither one entry nor a zone's three", text, entries)
		}
		for _, entry := range entries {
			if strings.Trim(entry, ".") == "" || strings.ContainsAny(entry, " \t\r\n,;|[]@%") {
				t.Errorf("%q gives %q, which splits or ends a value", text, entry)
			}
			if p, err := netip.ParsePrefix(entry); err == nil && p.String() != entry {
				t.Errorf("%q gives %q, want the canonical %s", text, entry, p)
			}
			again, err := noproxy.ParseAddition(entry)
			if err != nil || !slices.Contains(again, entry) {
				t.Errorf("%q gives %q, which reads back as %q, %v", text, entry, again, err)
			}
		}
	})
}

// checkMessage wants one printable line that a hostile input cannot blow up.
func checkMessage(t *testing.T, message string) {
	t.Helper()
	if strings.ContainsFunc(message, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		t.Errorf("message has control characters: %q", message)
	}
	if len(message) > 800 { // a quoted byte takes at most four, a proposed host 253
		t.Errorf("message has %d bytes", len(message))
	}
}
