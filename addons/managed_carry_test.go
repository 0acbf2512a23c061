package addons

import (
	"strings"
	"testing"

	"github.com/eksproxy/eksproxy/proxyconfig"
)

func settingsOf(t *testing.T, http, https string) proxyconfig.Settings {
	t.Helper()
	var s proxyconfig.Settings
	var err1, err2 error
	s.HTTPProxy, err1 = proxyconfig.ParseURL(http)
	s.HTTPSProxy, err2 = proxyconfig.ParseURL(https)
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	return s
}

// Each place carries what it can, and is passed over with the reason where it
// cannot.
func TestChoose(t *testing.T) {
	const one, other = "http://proxy.example:3128", "http://other.example:3128"
	component, err := FindComponent("ebs-csi-controller")
	if err != nil {
		t.Fatal(err)
	}
	items := Place{Pointer: "/controller/env", Form: FormItems}
	references := Place{Pointer: "/controller/env", Form: FormItems, References: true}
	sources := Place{Pointer: "/controller/envFrom", Form: FormSources, References: true}
	marked := Place{Pointer: "/controller/envFrom", Form: FormSources, References: true, Annotations: "/controller/podAnnotations"}
	proxy := Place{Pointer: "/proxy", Form: FormProxy, Proxy: map[string]string{httpProxy: "http_proxy", noProxy: "no_proxy"}}
	node := Place{Pointer: "/node/env", Form: FormItems, References: true}
	for _, c := range []struct {
		https, secret string
		places        []Place
		want          string // the pointer, or a part of the reason
		additions     int
	}{
		{one, "", []Place{node, references, proxy}, "/controller/env", 7},
		{one, "s", []Place{items, references}, "/controller/env", 7},
		{other, "", []Place{proxy, references}, "/controller/env", 7},
		{other, "", []Place{proxy}, "those of HTTP and HTTPS differ", 0},
		{one, "s", []Place{items, proxy}, "credentials are in a Secret", 0},
		{one, "", []Place{node}, "no place for variables of ebs-csi-controller", 0},
		{one, "", []Place{sources}, "would roll no pods", 0},
		{one, "s", []Place{sources, marked}, "/controller/envFrom", 3},
		{one, "", nil, "no place for variables", 0},
	} {
		d := carrier{Desired: Desired{Settings: settingsOf(t, one, c.https), Options: Options{CredentialsSecret: c.secret}}}
		place, additions, why := d.choose(component, c.places, func(string) bool { return false })
		if got := place.Pointer + why; c.additions > 0 && got != c.want || !strings.Contains(got, c.want) || len(additions) != c.additions {
			t.Errorf("%v: %q with %d additions, want %q with %d", c.places, got, len(additions), c.want, c.additions)
		}
	}
}
