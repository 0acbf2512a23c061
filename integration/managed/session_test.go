package managed

import (
	"testing"

	"github.com/eksproxy/eksproxy/integration/ekssim"
	"github.com/eksproxy/eksproxy/integration/transcript"
)

// The files that the sessions use.
const (
	sessionSettings = `apiVersion: eksproxy.dev/v1alpha1
kind: ProxyConfig
spec:
  httpProxy: http://proxy.example:3128
`
	sessionFacts = `apiVersion: eksproxy.dev/v1alpha1
kind: ClusterFacts
region: eu-west-1
dnsSuffix: amazonaws.com
vpcCIDRs: [10.40.0.0/16]
serviceCIDRs: [10.100.0.0/16]
endpointHost: 0123456789ABCDEF.gr7.eu-west-1.eks.amazonaws.com
`
)

// TestDocsSessions runs the blocks "eks-session" of the pages on a cluster with
// add-ons that EKS manages, which eksproxy has patched.
func TestDocsSessions(t *testing.T) {
	t.Parallel()
	w := start(t, 2, ekssim.VPCCNI(`{"env":{"ENABLE_PREFIX_DELEGATION":"true"}}`), ekssim.KubeProxy())
	w.expect(t, 0, addons("patch", "--canary=off")...)
	c := newCatalog(t, w.eks.URL)
	shell := transcript.NewShell(t, map[string]string{"proxy.yaml": sessionSettings, "cluster.yaml": sessionFacts})
	shell.Env = append(shell.Env, append(awsEnv(c.URL), "KUBECONFIG="+w.Kubeconfig())...)
	for _, page := range transcript.Pages(t, "eks-session") {
		shell.Check(t, page, "eks-session")
	}
}
