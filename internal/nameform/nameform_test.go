package nameform_test

import (
	"strings"
	"testing"

	"github.com/eksproxy/eksproxy/internal/nameform"
)

func TestIsRegion(t *testing.T) {
	for text, want := range map[string]bool{
		"eu-west-1": true, "us-gov-west-1": true, "us-isob-east-1": true, "eusc-de-east-1": true, "mx-central-12": true,
		"": false, "eu": false, "eu-west": false, "eu-west-1a": false, "EU-west-1": false, "e-west-1": false, "1u-west-1": false,
		"eu--west-1": false, "eu-west-1\n": false, "eu-west-1.evil.example": false, "eu-west-1/": false,
		"cn-north-1": true, "mx-central-1": true, "e-": false, "eu-": false, "eu--1": false, "-eu-1": false, "eu_west-1": false, "eu-west-1" + " ": false,
		"aa-" + strings.Repeat("a", 27) + "-1": true, "aa-" + strings.Repeat("a", 28) + "-1": false,
	} {
		if got := nameform.IsRegion(text); got != want {
			t.Errorf("IsRegion(%q) = %v", text, got)
		}
	}
}

func TestIsDNS(t *testing.T) {
	for text, want := range map[string]struct{ dns, name bool }{
		"a":                               {true, true},
		"ABC.gr7.eu-west-1.amazonaws.com": {true, true},
		"my_host.example":                 {false, true},
		"10.0.0.1":                        {true, true}, // it has the form of a name too
		"fd00:ec2::254":                   {false, false},
		"fe80::1%eth0":                    {false, false},
		"[::1]":                           {false, false},
		"":                                {false, false},
		".":                               {false, false},
		"a.":                              {false, false},
		".a":                              {false, false},
		"a..b":                            {false, false},
		"-a.b":                            {false, false},
		"a-.b":                            {false, false},
		"a b":                             {false, false},
		"a\nb":                            {false, false},
		"a/b":                             {false, false},
		"ä.example":                       {false, false},
		strings.Repeat("a", 64):           {false, false},
		strings.Repeat("a.", 126) + "aa":  {false, false},
	} {
		if got := nameform.IsDNS(text); got != want.dns {
			t.Errorf("IsDNS(%q) = %v", text, got)
		}
		if got := nameform.IsName(text); got != want.name {
			t.Errorf("IsName(%q) = %v", text, got)
		}
	}
}

func TestIsHost(t *testing.T) {
	for text, want := range map[string]bool{
		"my_host.example": true, "10.0.0.1": true, "fd00:ec2::254": true,
		"fe80::1%eth0": false, "[::1]": false, "": false, "a.": false, "a b": false,
	} {
		if got := nameform.IsHost(text); got != want {
			t.Errorf("IsHost(%q) = %v", text, got)
		}
	}
}

func TestIsDomain(t *testing.T) {
	for text, want := range map[string]bool{
		"amazonaws.com": true, "amazonaws.com.cn": true, "sc2s.sgov.gov": true, "cloud.adc-e.uk": true, "a_b.c": false, "*.com": false, "a.b,c": false,
		"": false, "com": false, "AmazonAWS.com": false, "10.0.0.1": false, "amazonaws.com.": false, "a.b\n": false,
		"c2s.ic.gov": true, ".com": false, "a..b": false, "a.b.": false, "-a.b": false, "a-.b": false,
		strings.Repeat("a", 64) + ".b": false, strings.Repeat("a.", 49) + "bb": true, strings.Repeat("a.", 50) + "b": false,
	} {
		if got := nameform.IsDomain(text); got != want {
			t.Errorf("IsDomain(%q) = %v", text, got)
		}
	}
}
