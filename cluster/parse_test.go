package cluster

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestZoneOf(t *testing.T) {
	for corefile, want := range map[string]string{
		".:53 {\n errors\n kubernetes cluster.local in-addr.arpa ip6.arpa {\n  pods insecure\n }\n}\n":                       "cluster.local",
		".:53 {\n kubernetes in-addr.arpa k8s.corp.example.\n}":                                                              "k8s.corp.example",
		"k8s.example:53 {\n  kubernetes {\n  }\n}":                                                                           "k8s.example",
		"dns://k8s.example.:53, . {\n  kubernetes\n}":                                                                        "k8s.example",
		"# kubernetes wrong.example\ncorp.example {\n forward . 10.0.0.2\n}\n.:53 {\n\tkubernetes right.example # a note\n}": "right.example",
		".:53 {\n forward kubernetes wrong.example\n}":                                                                       "",
		".:53 {\n kubernetes {\n  }\n}":                                                                                      "",
		"kubernetes cluster.local {":                                                                                         "",
		"":                                                                                                                   "",
		"}}}{{{\nkubernetes":                                                                                                 "",
	} {
		if got := zoneOf(corefile); got != want {
			t.Errorf("%q: zone %q, want %q", corefile, got, want)
		}
	}
}

func TestLocalIPs(t *testing.T) {
	for args, want := range map[string]string{
		"-localip 169.254.20.10,10.100.0.10 -conf /etc/Corefile": "[169.254.20.10 10.100.0.10]",
		"-conf x --localip=169.254.20.10, fd00::10":              "[169.254.20.10]",
		"-localip __PILLAR__LOCAL__DNS__,169.254.20.10":          "[169.254.20.10]",
		"-localip": "[]",
		"":         "[]",
	} {
		got := fmt.Sprint(localIPs([]corev1.Container{{Args: strings.Fields(args)}}))
		if got != want {
			t.Errorf("%q: %s, want %s", args, got, want)
		}
	}
}

func TestHostOf(t *testing.T) {
	for text, want := range map[string]string{
		"https://ID.gr7.eu-west-1.eks.amazonaws.com": "ID.gr7.eu-west-1.eks.amazonaws.com",
		"https://127.0.0.1:6443/":                    "127.0.0.1",
		"https://[fd00::1]:443":                      "fd00::1",
		"https://user:word@api.example":              "api.example",
		"api.example":                                "",
		"https://a b":                                "",
		"https://a,b":                                "",
		"https://a\nb":                               "",
		"https://":                                   "",
		"":                                           "",
	} {
		if got, err := hostOf(text); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v; want %q", text, got, err, want)
		}
	}
}

func TestServerIn(t *testing.T) {
	text := "clusters:\n- name: other\n  cluster: {server: 'https://no.example'}\n- name: c\n  cluster: {server: 'https://API.example:443'}\n" +
		"contexts:\n- name: x\n  context: {cluster: c, user: u}\ncurrent-context: x\n"
	for text, want := range map[string]string{text: "API.example", "current-context: x\n": "", "a: [": "", "": ""} {
		if got := serverIn(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestParsePrefixes(t *testing.T) {
	got, err := parsePrefixes([]string{"100.64.0.0/16", "", "10.40.1.0/16", "fd00::/56", "100.64.0.0/16"})
	if err != nil || fmt.Sprint(got) != "[10.40.0.0/16 100.64.0.0/16 fd00::/56]" {
		t.Errorf("%v, %v", got, err)
	}
	for _, text := range []string{"10.0.0.0", "10.0.0.0/33", "10.0.0.0/8\nX", "x"} {
		if got, err := parsePrefixes([]string{text}); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// FuzzTexts shows that no text of a cluster gets further but as one clean name.
func FuzzTexts(f *testing.F) {
	for _, seed := range []string{"", ".:53 {\n kubernetes cluster.local {\n}\n}", "https://a.b:1/", "com.amazonaws.eu-west-1.s3"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		host, _ := hostOf(text)
		for what, got := range map[string]string{"zone": zoneOf(text), "host": host, "server": serverIn(text), "region": regionOf(text), "error": oneLine(text)} {
			if strings.ContainsAny(got, "\n\r\x00\x1b") || what != "error" && strings.ContainsAny(got, ", \"'") {
				t.Errorf("%s of %q is %q", what, text, got)
			}
		}
	})
}
