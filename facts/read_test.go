package facts

import (
	"encoding/json"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func sample() Node {
	n := NewNode()
	n.Region, n.DNSSuffix, n.EndpointHost, n.ClusterName = "eu-west-1", "amazonaws.com", "ID.gr7.eu-west-1.eks.amazonaws.com", "demo"
	n.VPCCIDRs = []netip.Prefix{netip.MustParsePrefix("10.40.0.0/16"), netip.MustParsePrefix("2001:db8::/56")}
	n.ServiceAddress = netip.MustParseAddr("10.100.0.1")
	n.SetSource(FieldRegion, "instance metadata")
	n.Gaps = []Gap{{Field: FieldServiceCIDRs, Why: "unknown", Remedy: "give --service-cidr"}}
	return n
}

func readText(t *testing.T, text string) (Node, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "facts")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return ReadNode(file)
}

// What is written reads back, from JSON, which is YAML too, and from YAML.
func TestReadNode(t *testing.T) {
	doc, err := json.Marshal(sample())
	if err != nil {
		t.Fatal(err)
	}
	yaml := "apiVersion: eksproxy.dev/v1alpha1\nkind: NodeFacts\nregion: eu-west-1\ndnsSuffix: amazonaws.com\n" +
		"vpcCIDRs: [10.40.0.0/16, \"2001:db8::/56\"]\nserviceAddress: 10.100.0.1\nendpointHost: ID.gr7.eu-west-1.eks.amazonaws.com\n" +
		"clusterName: demo\nsources: {region: instance metadata}\ngaps:\n- {field: serviceCIDRs, why: unknown, remedy: give --service-cidr}\n"
	for name, text := range map[string]string{"JSON": string(doc), "YAML": yaml} {
		got, err := readText(t, text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(sample(), got, cmpopts.EquateComparable(netip.Prefix{}, netip.Addr{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestUnusableFacts(t *testing.T) {
	for text, want := range map[string]string{
		"apiVersion: eksproxy.dev/v1alpha1\nkind: NodeFacts\nregoin: x\n":                     `unknown field "regoin"`,
		"apiVersion: eksproxy.dev/v1alpha1\nkind: Plan\n":                                     "eksproxy facts node -o json writes one",
		"apiVersion: eksproxy.dev/v1alpha1\nkind: NodeFacts\nvpcCIDRs: [\"10.0.0.0/16\\nX\"]": "ParsePrefix",
		"a: [":  "reading facts from",
		"":      `the document is "" "", not`,
		"a\tb:": "reading facts from",
	} {
		if _, err := readText(t, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
	if _, err := ReadNode(filepath.Join(t.TempDir(), "absent")); err == nil || !strings.Contains(err.Error(), "reading facts: open") {
		t.Errorf("no file: %v", err)
	}
}

func TestIsCluster(t *testing.T) {
	dir := t.TempDir()
	for text, want := range map[string]bool{
		"kind: ClusterFacts\nregoin: x\n": true, // a fault of it is for ReadCluster to name
		`{"kind": "ClusterFacts"}`:        true,
		"kind: NodeFacts\n":               false,
		"a: [":                            false,
	} {
		file := filepath.Join(dir, "facts.yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := IsCluster(file); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	if IsCluster(filepath.Join(dir, "absent")) {
		t.Error("a file that is not there is of a cluster")
	}
}

func TestFillClosesTheGap(t *testing.T) {
	n := sample()
	n.Fill(FieldServiceCIDRs, "--service-cidr")
	if len(n.Gaps) != 0 || n.Sources[FieldServiceCIDRs] != "--service-cidr" {
		t.Errorf("gaps %v, sources %v", n.Gaps, n.Sources)
	}
}
