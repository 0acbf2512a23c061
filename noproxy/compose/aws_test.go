package compose_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/eksproxy/eksproxy/facts"
	"github.com/eksproxy/eksproxy/noproxy"
	"github.com/eksproxy/eksproxy/noproxy/compose"
)

// The composed names are those of facts.NamesOf, in the forms that all clients
// read; the suffix is the partition's (BL-017).
func TestClusterAWSNames(t *testing.T) {
	ireland := network()
	china := facts.Network{Region: "cn-north-1", DNSSuffix: "amazonaws.com.cn"}
	europe := facts.Network{Region: "eusc-de-east-1"} // the suffix follows from the region
	gov := facts.Network{Region: "us-gov-west-1", DNSSuffix: "amazonaws.com"}
	pending, off := serving("vpce-1", "sts"), serving("vpce-1", "sts")
	pending.State, off.PrivateDNS = "pending", false
	const s3 = "s3.eu-west-1.amazonaws.com,.s3.eu-west-1.amazonaws.com,*.s3.eu-west-1.amazonaws.com"

	tests := []struct {
		name     string
		network  facts.Network
		endpoint facts.VPCEndpoint
		want     string
	}{
		{"one host", ireland, serving("vpce-1", "sts"), "sts.eu-west-1.amazonaws.com"},
		{"the service behind its kind", ireland, serving("vpce-1", "ecr.api"), "api.ecr.eu-west-1.amazonaws.com"},
		{"registries", ireland, serving("vpce-1", "ecr.dkr"), ".dkr.ecr.eu-west-1.amazonaws.com,*.dkr.ecr.eu-west-1.amazonaws.com"},
		{"EKS Auth", ireland, serving("vpce-1", "eks-auth"), "eks-auth.eu-west-1.api.aws"},
		{"S3 as an interface", ireland, serving("vpce-1", "s3"), s3},
		{"S3 as a gateway", ireland, gateway("vpce-1", "s3"),
			"s3.dualstack.eu-west-1.amazonaws.com,.s3.dualstack.eu-west-1.amazonaws.com,*.s3.dualstack.eu-west-1.amazonaws.com," + s3},
		{"DynamoDB", ireland, gateway("vpce-1", "dynamodb"), "dynamodb.eu-west-1.amazonaws.com"},
		{"names of EC2 replace the usual ones", ireland, serving("vpce-1", "sts", "STS-FIPS.eu-west-1.amazonaws.com."), "sts-fips.eu-west-1.amazonaws.com"},
		{"dual-stack registries", ireland, serving("vpce-1", "ecr.dkr", "*.dkr-ecr.eu-west-1.on.aws"), ".dkr-ecr.eu-west-1.on.aws,*.dkr-ecr.eu-west-1.on.aws"},
		{"another company's service", ireland, serving("vpce-1", "com.amazonaws.vpce.eu-west-1.vpce-svc-0a", "*.api.vendor.example"), ".api.vendor.example,*.api.vendor.example"},
		{"names unknown", ireland, serving("vpce-1", "kinesis-streams"), ""},
		{"pending", ireland, pending, ""},
		{"private DNS is off", ireland, off, ""},
		{"a load balancer's endpoint", ireland, facts.VPCEndpoint{ID: "vpce-1", Service: "sts", Type: "GatewayLoadBalancer", State: "available", PrivateDNS: true}, ""},
		{"region unknown", facts.Network{}, serving("vpce-1", "sts"), ""},
		{"region unknown, names known", facts.Network{}, serving("vpce-1", "sts", "sts.eu-west-1.amazonaws.com"), "sts.eu-west-1.amazonaws.com"},
		{"China", china, serving("vpce-1", "ecr.api"), "api.ecr.cn-north-1.amazonaws.com.cn"},
		{"China, EKS Auth", china, serving("vpce-1", "eks-auth"), "eks-auth.cn-north-1.api.amazonwebservices.com.cn"},
		{"GovCloud", gov, serving("vpce-1", "ecr.dkr"), ".dkr.ecr.us-gov-west-1.amazonaws.com,*.dkr.ecr.us-gov-west-1.amazonaws.com"},
		{"the European cloud", europe, serving("vpce-1", "ec2"), "ec2.eusc-de-east-1.amazonaws.eu"},
		{"the European cloud, EKS Auth", europe, serving("vpce-1", "eks-auth"), "eks-auth.eusc-de-east-1.amazonaws.eu"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := cluster(tt.endpoint)
			c.Network = tt.network
			c.SetSource(facts.FieldVPCEndpoints, "EC2")
			r := mustCluster(t, c, compose.Options{})
			if diff := cmp.Diff(strings.Split(tt.want, ","), strings.Split(awsValue(r), ",")); diff != "" {
				t.Errorf("value (-want +got):\n%s", diff)
			}
			for _, e := range r.Entries {
				if e.Group == noproxy.AWS && (e.Source != "vpce-1" || !strings.HasPrefix(e.Reason, tt.endpoint.Service+": ")) {
					t.Errorf("%+v does not name its endpoint and service", e)
				}
			}
		})
	}
}

// The names of an endpoint that is made anew stand where they stood.
func TestClusterValueWithoutIDs(t *testing.T) {
	a := mustCluster(t, cluster(serving("vpce-1", "sts"), serving("vpce-2", "ec2"), gateway("vpce-3", "s3")), compose.Options{})
	b := mustCluster(t, cluster(serving("vpce-9", "sts"), serving("vpce-8", "ec2"), gateway("vpce-7", "s3")), compose.Options{})
	if diff := cmp.Diff(a.Entries.String(), b.Entries.String()); diff != "" {
		t.Errorf("other ids give another value:\n%s", diff)
	}
}

// A name that takes along hosts without an endpoint is left out, and the service
// is told as proxied. No form of EKS's classic name spares the issuer: see
// TestNoFormOfEKS.
func TestClusterTooWide(t *testing.T) {
	tests := []struct {
		name, left, why string // left has the texts that are left out
	}{
		{"eks.eu-west-1.amazonaws.com", "eks.eu-west-1.amazonaws.com", "it takes in oidc.eks.eu-west-1.amazonaws.com, which has no endpoint in a VPC; so read it Go std"},
		{"*.eks.eu-west-1.amazonaws.com", ".eks.eu-west-1.amazonaws.com,*.eks.eu-west-1.amazonaws.com", "oidc.eks.eu-west-1"},
		{"eks.amazonaws.com", "eks.amazonaws.com", "hybrid-assets"},
		{"amazonaws.com", "amazonaws.com", "services for which the VPC has no endpoint"},
		{"*.amazonaws.com", ".amazonaws.com,*.amazonaws.com", "services for which"},
		{"*.amazonaws.com.cn", ".amazonaws.com.cn,*.amazonaws.com.cn", "services for which"},
		{"*.eu-west-1.amazonaws.com", ".eu-west-1.amazonaws.com,*.eu-west-1.amazonaws.com", "services for which"},
		{"*.eu-west-1.api.aws", ".eu-west-1.api.aws,*.eu-west-1.api.aws", "services for which"},
		{"*.on.aws", ".on.aws,*.on.aws", "services for which"},
		{"*.aws", ".aws,*.aws", "a whole public domain"},
		{"com", "com", "a whole public domain"},
		{"*.co.uk", ".co.uk,*.co.uk", "a whole public domain"},
		{"*.elb.eu-west-1.amazonaws.com", "", ""},
		{"fips.eks.eu-west-1.amazonaws.com", "", ""},
		{"eks.eu-west-1.api.aws", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := mustCluster(t, cluster(serving("vpce-1", "eks", tt.name)), compose.Options{})
			if got := leftOut(r); got != tt.left {
				t.Fatalf("left out %q, want %q", got, tt.left)
			}
			if got := why(r, "eks"); !strings.Contains(got, tt.why) || (got == "") != (tt.left == "") {
				t.Errorf("eks is proxied because %q, want %q", got, tt.why)
			}
			for _, l := range r.LeftOut {
				if !strings.Contains(l.Why, tt.why) {
					t.Errorf("%s is left out because %q", l.Text, l.Why)
				}
			}
		})
	}
}

// TestNoFormOfEKS: whatever has eks.R in all clients has oidc.eks.R in some, so
// that no value can list the EKS API alone.
func TestNoFormOfEKS(t *testing.T) {
	const host = "eks.eu-west-1.amazonaws.com"
	api, _ := noproxy.ParseTarget("https://" + host + "/")
	issuer, _ := noproxy.ParseTarget("https://oidc." + host + "/id/EXAMPLE")
	for _, value := range []string{host, "." + host, "*." + host, host + ":443", host + ".", "." + host + ",*." + host, "https://" + host} {
		all, none := true, true
		for _, e := range noproxy.Explain(noproxy.ValueEnvironment(value), noproxy.Clients(), []noproxy.Target{api, issuer}) {
			direct := e.Decision == noproxy.Direct
			all = all && (direct || e.Decision == noproxy.Ignored || e.URL != api.URL())
			none = none && (!direct || e.URL != issuer.URL())
		}
		if all && none {
			t.Errorf("%s has the EKS API in all clients and its issuer in none: list it", value)
		}
	}
}

// Facts come from files: what is no name must not reach a value.
func TestClusterHostileFacts(t *testing.T) {
	for _, name := range []string{"a b", "a,b.example", "a\nb.example", "*.*.example", "x*.example", "10.0.0.0/8", "10.0.0.1", "*", "https://sts.example/", "a:443"} {
		r := mustCluster(t, cluster(serving("vpce-1\nX", "sts\nX", name)), compose.Options{})
		if got := awsValue(r); got != "" {
			t.Errorf("%q gives %s", name, got)
		}
		wantWarning(t, r, `a DNS name of endpoint "vpce-1\nX" ("sts\nX") is left out: `)
		for _, w := range r.Warnings {
			if strings.Contains(w, "\n") {
				t.Errorf("a warning of two lines: %q", w)
			}
		}
	}
	c := cluster(serving("", "sts"))
	if got := mustCluster(t, c, compose.Options{}).Entries; !slices.ContainsFunc(got, func(e noproxy.Entry) bool { return e.Source == "EC2 (DescribeVpcEndpoints)" }) {
		t.Errorf("an endpoint without an id has no source: %v", got)
	}
	c.DNSSuffix = "amazonaws.com\nX"
	wantWarning(t, mustCluster(t, c, compose.Options{}), "is left out")
}
