package compose_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/eksproxy/eksproxy/facts"
	"github.com/eksproxy/eksproxy/noproxy/compose"
)

// What the user adds by hand is in the value, and nobody says that it is not.
func TestClusterAddedByHand(t *testing.T) {
	c := cluster(serving("vpce-1", "eks"), serving("vpce-2", "ec2"))
	r := mustCluster(t, c, compose.Options{Add: add("eks.eu-west-1.amazonaws.com", "sts.eu-west-1.amazonaws.com", ".dkr.ecr.eu-west-1.amazonaws.com")})
	if got := leftOut(r); got != "" {
		t.Errorf("left out %s", got)
	}
	for _, service := range []string{"eks", "ec2", "sts", "ecr.dkr"} {
		if got := why(r, service); got != "" {
			t.Errorf("%s is proxied because %q", service, got)
		}
	}
	if why(r, "ecr.api") == "" {
		t.Error("nothing is said of ecr.api")
	}
	wantWarning(t, r, "sts.eu-west-1.amazonaws.com (proxy.yaml:12) sends sts direct, and the VPC has no usable endpoint")
}

// BL-016: a wide entry of the user's stays, with a warning that names what has no
// endpoint, and not what has one.
func TestClusterWideAddition(t *testing.T) {
	r := mustCluster(t, cluster(serving("vpce-1", "sts")), compose.Options{Add: add(".amazonaws.com")})
	for _, w := range r.Warnings {
		if strings.Contains(w, "sts,") {
			t.Errorf("sts has an endpoint: %s", w)
		}
	}
	wantWarning(t, r, "amazonaws.com (proxy.yaml:12) sends aps-workspaces, autoscaling, ec2, ")
	if len(r.Proxied) != 1 || r.Proxied[0].Service != "eks-auth" {
		t.Errorf("proxied %v, want EKS Auth alone, which is in api.aws", r.Proxied)
	}
	r = mustCluster(t, cluster(), compose.Options{Add: add(".amazonaws.com"), Omit: []string{"user"}})
	if why(r, "sts") == "" || slices.ContainsFunc(r.Warnings, func(w string) bool { return strings.Contains(w, "direct") }) {
		t.Errorf("omitted: proxied %v, warnings %q", r.Proxied, r.Warnings)
	}
}

func TestClusterProxied(t *testing.T) {
	pending, off, odd := serving("vpce-1", "logs"), serving("vpce-2", "ssm"), facts.VPCEndpoint{ID: "vpce-3", Service: "kms", Type: "Resource", State: "available"}
	pending.State, off.PrivateDNS = "pending", false
	second := pending
	second.ID, second.State = "vpce-0", "failed"
	third := serving("vpce-4", "com.amazonaws.vpce.eu-west-1.vpce-svc-0a")
	third.PrivateDNS = false
	r := mustCluster(t, cluster(pending, second, off, odd, third, gateway("vpce-5", "s3"), serving("vpce-6", "kinesis-streams"), serving("vpce-7", "sts")), compose.Options{})
	for service, want := range map[string]string{
		"logs":            `vpce-0 is not available but "failed"; vpce-1 is not available but "pending"`,
		"ssm":             "private DNS of vpce-2 is off, so the usual names are public addresses",
		"kms":             `vpce-3 is of type "Resource", which has no names`,
		"s3":              "in other regions: vpce-5 serves eu-west-1 alone",
		"kinesis-streams": "the names that vpce-6 answers to are unknown; add them (noProxy.add)",
		"sts":             "",
		"sqs":             "the VPC has no endpoint for it",
		third.Service:     "",
	} {
		if got := why(r, service); got != want {
			t.Errorf("%s is proxied because %q, want %q", service, got, want)
		}
	}
}

func TestClusterOmitsAWS(t *testing.T) {
	c := cluster(serving("vpce-1", "sts"), serving("vpce-2", "ecr.dkr"))
	r := mustCluster(t, c, compose.Options{Add: add(".corp.example"), Omit: []string{"AWS"}})
	if got := leftOut(r); got != ".dkr.ecr.eu-west-1.amazonaws.com,*.dkr.ecr.eu-west-1.amazonaws.com,sts.eu-west-1.amazonaws.com" || awsValue(r) != "" {
		t.Errorf("left out %s, value %s", got, r.Entries)
	}
	// A file for nodes and clusters is no fault on nodes, where the group is empty.
	if r := mustCompose(t, network(), compose.Options{Add: add(".corp.example"), Omit: []string{"aws"}}); len(r.Warnings) != 0 {
		t.Errorf("on a node: %q", r.Warnings)
	}
}
