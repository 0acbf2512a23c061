package addons

import (
	"strings"
	"testing"

	"github.com/eksproxy/eksproxy/facts"
	"github.com/eksproxy/eksproxy/noproxy"
	"github.com/eksproxy/eksproxy/proxyconfig"
)

const apiServer = "0123.gr7.eu-west-1.eks.amazonaws.com"

// settings are those of a proxy with this NO_PROXY.
func settings(t *testing.T, url string, entries ...string) proxyconfig.Settings {
	t.Helper()
	u, err := proxyconfig.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	s := proxyconfig.Settings{HTTPProxy: u, HTTPSProxy: u}
	for _, e := range entries {
		s.NoProxy = append(s.NoProxy, noproxy.Entry{Text: e})
	}
	return s
}

func inCluster() facts.Cluster {
	c := facts.NewCluster()
	c.EndpointHost, c.Region, c.DNSSuffix = apiServer, "eu-west-1", "amazonaws.com"
	return c
}

func targets(d Desired) string {
	var all []string
	for _, t := range d.Targets {
		all = append(all, t.String())
	}
	return strings.Join(all, " ")
}

// TestWantKubeProxy: kube-proxy is patched only where NO_PROXY covers the host of
// the API server, and an explicit wish that would break it is an error.
func TestWantKubeProxy(t *testing.T) {
	for name, tt := range map[string]struct {
		entry, host string
		patched     bool
	}{
		"exact":      {apiServer, apiServer, true},
		"upper case": {strings.ToUpper(apiServer), apiServer, true},
		"zone":       {".eks.amazonaws.com", apiServer, true},
		"other":      {"other.gr7.eu-west-1.eks.amazonaws.com", apiServer, false},
		"unknown":    {apiServer, "", false},
		"IPv6":       {"fd00::1", "fd00::1", true},
	} {
		t.Run(name, func(t *testing.T) {
			c := inCluster()
			c.EndpointHost = tt.host
			d, err := Want(settings(t, "http://proxy.example:3128", tt.entry), c, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Contains(targets(d), "kube-proxy"); got != tt.patched {
				t.Errorf("patched is %t: %s, notes %q", got, targets(d), d.Notes)
			}
			if !tt.patched && len(d.Notes) == 0 {
				t.Error("it is not said that kube-proxy is left alone")
			}
			_, err = Want(settings(t, "http://proxy.example:3128", tt.entry), c, Options{Components: []string{"kube-proxy"}})
			if (err == nil) != tt.patched {
				t.Errorf("by name: %v", err)
			}
		})
	}
}

func TestWantTargets(t *testing.T) {
	s := settings(t, "http://proxy.example:3128", apiServer)
	for _, tt := range []struct {
		options Options
		want    string
	}{
		{Options{}, "aws-node kube-proxy"},
		{Options{Skip: []string{"kube-proxy"}}, "aws-node"},
		{Options{Components: []string{"karpenter", "aws-node"}}, "aws-node kube-proxy karpenter"},
		{Options{Workloads: []string{"shop/deploy/web"}}, "no kind of workload"},
		{Options{Workloads: []string{"shop/deployments/web", "kube-system/DaemonSet/aws-node"}}, "aws-node kube-proxy Deployment shop/web"},
		{Options{Workloads: []string{"web"}}, "write NAMESPACE/KIND/NAME"},
		{Options{Components: []string{"awsnode"}}, "known are aws-node"},
		{Options{Skip: []string{"nothing"}}, "known are aws-node"},
		{Options{CreateSecret: true}, "needs the credentials"},
		{Options{CreateSecret: true, CredentialsSecret: "x"}, "give one of them"},
	} {
		d, err := Want(s, inCluster(), tt.options)
		got := targets(d)
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, tt.want) || err == nil && got != tt.want {
			t.Errorf("%+v: %s, want %s", tt.options, got, tt.want)
		}
	}
	if _, err := Want(settings(t, "http://u:secret@proxy.example:3128"), inCluster(), Options{}); err == nil || strings.Contains(err.Error(), "secret@") {
		t.Errorf("credentials without a Secret: %v", err)
	}
}

// TestDecide: a component needs the proxy where an endpoint is missing.
func TestDecide(t *testing.T) {
	c := inCluster()
	decide := func(name string) Decision {
		known, err := FindComponent(name)
		if err != nil {
			t.Fatal(err)
		}
		return known.Decide(c)
	}
	if d := decide("aws-node"); d.Need != Needs || strings.Join(d.Proxied, " ") != "ec2 sts" {
		t.Errorf("without endpoints: %+v", d)
	}
	for _, service := range []string{"ec2", "sts"} {
		c.VPCEndpoints = append(c.VPCEndpoints, facts.VPCEndpoint{ID: "vpce-" + service, Service: service, Type: "Interface", State: "available", PrivateDNS: true})
	}
	if d := decide("aws-node"); d.Need != Irrelevant || !strings.Contains(d.Why, "vpce-ec2") {
		t.Errorf("with endpoints: %+v", d)
	}
	if d := decide("external-dns"); d.Need != Needs || strings.Join(d.Proxied, " ") != "Route 53" {
		t.Errorf("what has no endpoint: %+v", d)
	}
	c.VPCEndpoints[0].State = "pending"
	if d := decide("aws-node"); d.Need != Needs {
		t.Errorf("with an endpoint that is not ready: %+v", d)
	}
	if d := decide("coredns"); d.Need != Irrelevant {
		t.Errorf("CoreDNS: %+v", d)
	}
	if d := decide("kube-proxy"); d.Need != Risky {
		t.Errorf("kube-proxy: %+v", d)
	}
}
