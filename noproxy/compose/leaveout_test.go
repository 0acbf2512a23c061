package compose_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/eksproxy/eksproxy/noproxy"
	"github.com/eksproxy/eksproxy/noproxy/compose"
)

// leftOut joins what was left out, so that a test can name it in one line.
func leftOut(r compose.Result) string {
	var l noproxy.List
	for _, left := range r.LeftOut {
		l = append(l, left.Entry)
	}
	return l.String()
}

func TestOmit(t *testing.T) {
	tests := []struct {
		omit, left, warning string
	}{
		{"10.100.0.1", "10.100.0.1", ""},
		{"id.gr7.EU-west-1.eks.amazonaws.com", "ID.gr7.eu-west-1.eks.amazonaws.com", "kubelet reaches the API server through the proxy"},
		{"*.svc", "*.svc", ""},
		{".svc", ".svc,*.svc", ""},
		{" SVC ", ".svc,*.svc", ""},
		{"corp.example", "corp.example,.corp.example,*.corp.example", ""},
		{"local", "", `noProxy.omit "local" matches nothing`},
		{"", "", `noProxy.omit "" matches nothing`},
		{".", "", `noProxy.omit "." matches nothing`},
		{"loopback", "localhost,127.0.0.1,::1", "programs ask the proxy for their own host"},
		{"Metadata", "169.254.169.254,fd00:ec2::254,169.254.170.2,169.254.170.23,fd00:ec2::23", "AWS SDKs ask the proxy for metadata"},
		{"169.254.169.254", "169.254.169.254", "noProxy.omit takes out 169.254.169.254: AWS SDKs"},
		{"vpc", "10.40.0.0/16,100.64.0.0/16", ""},
		{"service", "10.100.0.0/16,10.100.0.1", ""},
		{"endpoint", "ID.gr7.eu-west-1.eks.amazonaws.com", "kubelet reaches the API server through the proxy"},
		{"cluster", ".svc,*.svc,.cluster.local,*.cluster.local", ""},
		{"ec2", ".eu-west-1.compute.internal,*.eu-west-1.compute.internal", ""},
		{"user", "corp.example,.corp.example,*.corp.example", ""},
	}
	for _, tt := range tests {
		t.Run(tt.omit, func(t *testing.T) {
			r := mustCompose(t, network(), compose.Options{Add: add(".corp.example"), Omit: []string{tt.omit}})
			if diff := cmp.Diff(tt.left, leftOut(r)); diff != "" {
				t.Errorf("left out (-want +got):\n%s", diff)
			}
			for _, l := range r.LeftOut {
				if l.Why != "omitted by noProxy.omit" || r.Entries.Contains(l.Text) {
					t.Errorf("%s is left out as %q, value %s", l.Text, l.Why, r.Entries)
				}
			}
			if tt.warning != "" {
				wantWarning(t, r, tt.warning)
			} else if len(r.Warnings) != 0 {
				t.Errorf("warnings %q, want none", r.Warnings)
			}
		})
	}
}

// A group that is omitted does not take what the user added with the same text.
func TestOmitGroupAndAddAgain(t *testing.T) {
	r := mustCompose(t, network(), compose.Options{Add: add("10.40.0.0/16"), Omit: []string{"vpc"}})
	if got := leftOut(r); got != "100.64.0.0/16" {
		t.Errorf("left out %s, want 100.64.0.0/16", got)
	}
	if got := r.Entries[len(r.Entries)-1]; got.Text != "10.40.0.0/16" || got.Group != noproxy.User {
		t.Errorf("last entry is %+v, want the user's 10.40.0.0/16", got)
	}
}

func TestIPv6CIDRs(t *testing.T) {
	tests := []struct {
		name    string
		mode    compose.IPv6Mode
		service string
		in, out string // CIDRs of the VPC, the services and the user
	}{
		{"unset, IPv4 services", "", "10.100.0.0/16", "fd00:9::/32", "2001:db8:7::/56"},
		{"auto, IPv4 services", compose.IPv6Auto, "10.100.0.0/16", "fd00:9::/32", "2001:db8:7::/56"},
		{"auto, IPv6 services", compose.IPv6Auto, "fd64:1:2::/108", "2001:db8:7::/56,fd64:1:2::/108,fd00:9::/32", ""},
		{"always", compose.IPv6Always, "10.100.0.0/16", "2001:db8:7::/56,fd00:9::/32", ""},
		{"never", compose.IPv6Never, "fd64:1:2::/108", "", "2001:db8:7::/56,fd64:1:2::/108,fd00:9::/32"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := ipv6()
			n.ServiceCIDRs = prefixes(tt.service)
			r := mustCompose(t, n, compose.Options{Add: add("fd00:9::/32"), IPv6CIDRs: tt.mode})
			var in noproxy.List
			for _, e := range r.Entries {
				if strings.Contains(e.Text, ":") && strings.Contains(e.Text, "/") {
					in = append(in, e)
				}
			}
			if diff := cmp.Diff([]string{tt.in, tt.out}, []string{in.String(), leftOut(r)}); diff != "" {
				t.Errorf("IPv6 CIDRs in and out (-want +got):\n%s", diff)
			}
			for _, l := range r.LeftOut {
				if !strings.Contains(l.Why, "noProxy.ipv6CIDRs is") {
					t.Errorf("%s is left out as %q, want the setting named", l.Text, l.Why)
				}
			}
			if tt.mode != compose.IPv6Never {
				wantWarning(t, r, "fd00:9::/32 (proxy.yaml:12) makes Python's httpx 0.28 fail")
			} else if len(r.Warnings) != 0 {
				t.Errorf("warnings %q, want none", r.Warnings)
			}
		})
	}
}

// Auto leaves out a fact's range; that the user added the same range wins.
func TestIPv6CIDRAddedAgain(t *testing.T) {
	r := mustCompose(t, ipv6(), compose.Options{Add: add("2001:db8:7::/56")})
	wantValue(t, r, golden+",2001:db8:7::/56")
	if got := leftOut(r); got != "" {
		t.Errorf("left out %s, which is in the value", got)
	}
}
