package integration

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/eksproxy/eksproxy/integration/metadata"
	"github.com/eksproxy/eksproxy/integration/program"
)

// secret is the password that eksproxy is given, and older one that someone
// else left in the tree. Neither may ever be shown.
var (
	secret = program.Secret{User: "svc-proxy", Password: `p@s:s/w%41#$'"\& Zk7coreQ9`, Core: "Zk7coreQ9"}
	// atBoot is what squid asks for in the tests of boots.
	atBoot = program.Secret{User: bootUser, Password: bootPassword, Core: "Wq5bootT2"}
	older  = program.Secret{User: "bob", Password: "Old-coreX4", Core: "Old-coreX4"}
	// What a request to AWS is signed with is none of anyone's business either.
	roleKey   = program.Secret{User: metadata.RoleKeyID, Password: metadata.RoleSecret, Core: "K7MDENG"}
	roleToken = program.Secret{User: metadata.RoleKeyID, Password: metadata.RoleToken, Core: "b3JpZ2luX2Vj"}
)

// The parts of a cluster that all tests agree on.
const (
	httpProxy    = "http://proxy.example:3128"
	endpointHost = "0123456789abcdef.gr7.eu-west-1.eks.amazonaws.com"
	serviceCIDR  = "10.100.0.0/16"
)

func TestMain(m *testing.M) { os.Exit(program.Main(m, secret, older, atBoot, roleKey, roleToken)) }

// serve serves the metadata of an instance and returns the server and its URL.
func serve(t *testing.T, i metadata.Instance) (*metadata.Server, string) {
	t.Helper()
	server := metadata.NewServer(i)
	ts := httptest.NewServer(server)
	t.Cleanup(ts.Close)
	return server, ts.URL
}

// twoBlocks is an instance with two interfaces in a VPC with two blocks, and
// a NodeConfig as user data.
func twoBlocks() metadata.Instance {
	blocks := []string{"10.40.0.0/16", "100.64.0.0/16"}
	i := metadata.NewInstance(blocks...)
	i.Interfaces = append(i.Interfaces, metadata.Interface{MAC: "0a:00:00:00:00:02", VPCIPv4: blocks})
	i.UserData = nodeConfig("https://"+endpointHost, serviceCIDR)
	return i
}

// nodeConfig is user data as EKS makes it for Amazon Linux 2023.
func nodeConfig(endpoint, cidr string) []byte {
	return fmt.Appendf(nil, `MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="//"

--//
Content-Type: application/node.eks.aws

---
apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  cluster:
    name: demo
    apiServerEndpoint: %s
    certificateAuthority: Y2VydGlmaWNhdGU=
    cidr: %s

--//--
`, endpoint, cidr)
}

// bootstrap is user data as EKS makes it for Amazon Linux 2 and for Ubuntu.
func bootstrap(endpoint string) []byte {
	return fmt.Appendf(nil, `#!/bin/bash
set -ex
/etc/eks/bootstrap.sh demo --b64-cluster-ca Y2VydGlmaWNhdGU= \
  --apiserver-endpoint %s --dns-cluster-ip 10.100.0.10 \
  --kubelet-extra-args '--node-labels=team=a'
`, endpoint)
}

// node is the arguments of a node command on a tree.
func node(verb, root string, more ...string) []string {
	return slices.Concat([]string{"node", verb, "--root", root}, more)
}

// write writes a file of the tree, keeping the mode of an old one.
func write(t *testing.T, root, path, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(root, path), []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// read reads a file of the tree.
func read(t *testing.T, root, path string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// variable is the value of a variable in the tree's proxy.env.
func variable(t *testing.T, root, name string) string {
	t.Helper()
	for line := range strings.Lines(read(t, root, "etc/eksproxy/proxy.env")) {
		if value, found := strings.CutPrefix(line, name+"="); found {
			return strings.TrimSuffix(value, "\n")
		}
	}
	t.Fatalf("proxy.env has no %s", name)
	return ""
}

// untouched returns a check that nothing was written to the tree since now.
func untouched(t *testing.T, root string) func() {
	t.Helper()
	content, stamps := program.Snapshot(t, root), program.Stamps(t, root)
	return func() {
		t.Helper()
		if diff := program.Diff(content, program.Snapshot(t, root)); diff != "" {
			t.Errorf("the tree has changed:\n%s", diff)
		} else if diff := program.Diff(stamps, program.Stamps(t, root)); diff != "" {
			t.Errorf("the tree was written to, with the same content:\n%s", diff)
		}
	}
}

// nodeFacts is the part of the document of facts node that tests look at.
type nodeFacts struct {
	APIVersion, Kind, Region, DNSSuffix, EndpointHost string
	VPCCIDRs, ServiceCIDRs                            []string
	Sources                                           map[string]string
	Gaps                                              []struct{ Field, Why, Remedy string }
}

// parseFacts reads what facts node -o json printed.
func parseFacts(t *testing.T, r program.Result) nodeFacts {
	t.Helper()
	var facts nodeFacts
	if r.Code != 0 {
		t.Fatalf("facts node: exit %d\n%s", r.Code, r.Stderr)
	}
	if err := json.Unmarshal([]byte(r.Stdout), &facts); err != nil {
		t.Fatalf("parsing facts: %v\n%s", err, r.Stdout)
	}
	if facts.APIVersion != "eksproxy.dev/v1alpha1" || facts.Kind != "NodeFacts" {
		t.Errorf("got kind %q of %q", facts.Kind, facts.APIVersion)
	}
	return facts
}

// await waits for a condition, no longer than ten seconds.
func await(t *testing.T, what string, done func() bool) {
	t.Helper()
	for range 200 {
		if done() {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("waited in vain for %s", what)
}
