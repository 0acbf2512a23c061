package addons

import (
	"slices"
	"strings"
	"testing"

	"github.com/eksproxy/eksproxy/integration/moto"
	"github.com/eksproxy/eksproxy/integration/program"
)

// TestPatchFromAWS: BL-023. By the name of the cluster alone AWS gives what the
// flags gave: all CIDRs of the VPC, the service range, the endpoint; and services
// with an endpoint in the VPC are reached directly. The kubeconfig must lead to
// that cluster.
func TestPatchFromAWS(t *testing.T) {
	t.Parallel()
	cp := start(t, 2)
	aws := moto.Start(t, "127.0.0.1")
	vpc, subnet := aws.VPC(t, false, "10.40.0.0/16", "100.64.0.0/16")
	id := aws.VPCEndpoint(t, vpc, "Interface", "ec2")
	endpoint := aws.Cluster(t, "blue", vpc, subnet, "10.100.0.0/16")
	full, err := program.Full()
	if err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) program.Result {
		environment := []string{"AWS_ACCESS_KEY_ID=AKIAEXAMPLE", "AWS_SECRET_ACCESS_KEY=example", "AWS_ENDPOINT_URL=" + aws.URL, "AWS_EC2_METADATA_DISABLED=true"}
		args = slices.Concat([]string{"addons", "patch", "--cluster", "blue", "--region", moto.Region, "--kubeconfig", cp.Kubeconfig(), "--http-proxy", proxyURL}, args)
		r := program.Exec(t, environment, slices.Concat([]string{full}, args)...)
		program.Said(strings.Join(args, " "), r.Stdout, r.Stderr)
		return r
	}
	if r := run(); r.Code != 2 || !strings.Contains(r.Stderr, "--allow-other-endpoint") {
		t.Fatalf("exit %d: %s", r.Code, r.Stderr)
	}
	r := run("--allow-other-endpoint")
	if r.Code != 0 || !strings.Contains(r.Stdout, "3 changed") {
		t.Fatalf("exit %d: %s%s", r.Code, r.Stdout, r.Stderr)
	}
	for _, says := range []string{"account 123456789012", "region eu-west-1", "cluster blue", "context admin"} {
		if !strings.Contains(r.Stderr, says) {
			t.Errorf("before it writes it does not say %q: %s", says, r.Stderr)
		}
	}
	value, _ := object(t, cp, "configmap/proxy-environment-variables")["data"].(map[string]any)["NO_PROXY"].(string)
	entries := strings.Split(value, ",")
	host := strings.Trim(strings.TrimPrefix(endpoint, "https://"), "/")
	for _, want := range []string{"10.40.0.0/16", "100.64.0.0/16", "10.100.0.0/16", "10.100.0.1", host, "ec2.eu-west-1.amazonaws.com"} {
		if !slices.Contains(entries, want) {
			t.Errorf("NO_PROXY lacks %s (endpoint %s): %s", want, id, value)
		}
	}
	if slices.Contains(entries, "sts.eu-west-1.amazonaws.com") || !strings.Contains(r.Stderr, "sts") {
		t.Errorf("sts has no endpoint: %s", value)
	}
	if r := run("--allow-other-endpoint"); r.Code != 0 || !strings.Contains(r.Stdout, "unchanged: 3 objects") {
		t.Errorf("again: exit %d: %s%s", r.Code, r.Stdout, r.Stderr)
	}
}
