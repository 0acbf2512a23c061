package noproxy_test

import (
	"slices"
	"testing"

	"github.com/eksproxy/eksproxy/noproxy"
)

// TestCompare: entries that come and go, and the decisions that change for it.
func TestCompare(t *testing.T) {
	before, after := noproxy.SideOf("localhost,10.0.0.0/8,old.example"), noproxy.SideOf("localhost,10.0.0.0/8, 10.1.2.3,new.example")
	d := noproxy.Compare(before, after, noproxy.Clients(), parseAll(t, "http://10.1.2.3/", "http://old.example/", "http://localhost/", "http://localhost/"))
	if got := d.Added.String() + " " + d.Removed.String(); got != "10.1.2.3,new.example old.example" {
		t.Errorf("added and removed: %s", got)
	}
	want := noproxy.DecisionChange{URL: "http://10.1.2.3/", Client: "wget", Before: noproxy.Proxied, After: noproxy.Direct}
	if !slices.Contains(d.Decisions, want) {
		t.Errorf("no %+v in %+v", want, d.Decisions)
	}
	want = noproxy.DecisionChange{URL: "http://old.example/", Client: "Go std <= 1.26", Before: noproxy.Direct, After: noproxy.Proxied}
	if !slices.Contains(d.Decisions, want) {
		t.Errorf("no %+v in %+v", want, d.Decisions)
	}
	for _, c := range d.Decisions {
		if c.URL == "http://localhost/" || c.Client == "Go std <= 1.26" && c.URL == "http://10.1.2.3/" {
			t.Errorf("%+v is no change", c)
		}
	}
	if same := noproxy.Compare(before, before, noproxy.Clients(), parseAll(t, "http://10.1.2.3/")); len(same.Added)+len(same.Removed)+len(same.Decisions) > 0 {
		t.Errorf("the same value: %+v", same)
	}
}

// TestDescribe: what the text of an entry tells.
func TestDescribe(t *testing.T) {
	for text, want := range map[string]string{
		"localhost":                           "the own host",
		"169.254.169.254":                     "instance metadata",
		"fd00:ec2::23":                        "credentials of EKS Pod Identity",
		".svc":                                "names of services in the cluster",
		"*.eu-west-1.compute.internal":        "private names that EC2 gives",
		"ID.gr7.eu-west-1.eks.amazonaws.com":  "the API server of a cluster",
		"ID.yl4.cn-north-1.eks.amazonaws.com": "a host of AWS",
		".s3.eu-west-1.amazonaws.com":         "hosts of AWS below s3.eu-west-1.amazonaws.com",
		".corp.example":                       "the hosts below corp.example",
		"10.1.0.0/16":                         "the addresses of 10.1.0.0/16",
		"10.1.2.3":                            "one address",
		"git.corp.example":                    "one host, in many clients also those below it",
		"10.*":                                "an address pattern is no entry: almost no client reads it (NP027)",
	} {
		if got := noproxy.Describe(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func FuzzDiff(f *testing.F) {
	f.Add(awsPublished, "[fd00::1], .a;b|*,10.*,")
	f.Fuzz(func(_ *testing.T, before, after string) {
		t, err := noproxy.ParseTarget("http://[fd00::1]:8080/")
		if err == nil {
			noproxy.Compare(noproxy.SideOf(before), noproxy.SideOf(after), noproxy.Clients(), []noproxy.Target{t})
		}
	})
}
