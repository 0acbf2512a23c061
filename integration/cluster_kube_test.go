package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/eksproxy/eksproxy/integration/awsfake"
	"github.com/eksproxy/eksproxy/integration/controlplane"
	"github.com/eksproxy/eksproxy/integration/program"
)

// kubeFacts runs facts cluster on Kubernetes alone.
func kubeFacts(t *testing.T, kubeconfig string, more ...string) program.Result {
	t.Helper()
	return full(t, closedPort(t), nil, append([]string{"facts", "cluster", "--kubeconfig", kubeconfig, "-o", "json"}, more...)...)
}

// A real API server with EKS's objects tells all that Kubernetes knows, without
// AWS; the rest is a gap. AWS beside it adds what it lacks.
func TestClusterFactsFromKubernetes(t *testing.T) {
	cp := controlplane.Start(t, controlplane.Options{NoControllers: true})
	controlplane.InstallEKS(t, cp, controlplane.EKS{NodeLocalDNS: true})
	f := readCluster(t, kubeFacts(t, cp.Kubeconfig()))
	same(t, "service CIDRs", f.ServiceCIDRs, []string{"10.100.0.0/16"})
	same(t, "node-local-dns", f.NodeLocalDNS, []string{"10.100.0.10", "169.254.20.10"})
	if f.ServiceAddress != "10.100.0.1" || f.ClusterDomain != "cluster.local" || f.Region != "eu-west-1" || f.DNSSuffix != "amazonaws.com" || f.AutoMode {
		t.Errorf("facts %+v", f)
	}
	if want := "0123456789ABCDEF0123456789ABCDEF.gr7.eu-west-1.eks.amazonaws.com"; f.EndpointHost != want || f.Sources["endpointHost"] != "Kubernetes (ConfigMap kube-system/kube-proxy)" {
		t.Errorf("endpoint %q from %q", f.EndpointHost, f.Sources["endpointHost"])
	}
	var names []string
	for _, d := range f.DaemonSets {
		names = append(names, d.Name)
	}
	if !slices.Contains(names, "aws-node") || !slices.Contains(names, "kube-proxy") || !slices.IsSorted(names) {
		t.Errorf("DaemonSets %q", names)
	}
	for _, field := range []string{"vpcCIDRs", "vpcEndpoints", "fargateProfiles", "addons", "remoteNetworks", "dhcpDomains"} {
		if !strings.Contains(f.gap(field), "give --cluster NAME") {
			t.Errorf("%s: gap %q", field, f.gap(field))
		}
	}
	if f.gap("vpcCIDRs") == "" || readCluster(t, kubeFacts(t, cp.Kubeconfig(), "--vpc-cidr", "10.40.0.0/16")).gap("vpcCIDRs") != "" {
		t.Error("--vpc-cidr does not close the gap")
	}

	t.Run("with AWS", func(t *testing.T) { checkBoth(t, cp) })
	t.Run("rights", func(t *testing.T) { checkKubernetesRights(t, cp) })
	t.Run("faults", func(t *testing.T) { checkKubernetesFaults(t, cp) })
	t.Run("pages", func(t *testing.T) { checkKubernetesPages(t, cp) })
}

// checkBoth: the kubeconfig's server is not the endpoint that EKS tells.
func checkBoth(t *testing.T, cp *controlplane.ControlPlane) {
	t.Helper()
	cloud := awsfake.New(awsfake.Site{Name: "blue", Partition: "aws", Region: "eu-west-1", Endpoint: clusterEndpoint})
	server := awsfake.Start(t, cloud)
	r := full(t, server.URL, nil, factsOf("blue", "--kubeconfig", cp.Kubeconfig())...)
	if r.Code != 2 || !strings.Contains(r.Stderr, "the endpoint of the cluster blue is 0123456789ABCDEF.gr7") || !strings.Contains(r.Stderr, "--allow-other-endpoint") {
		t.Errorf("exit %d\n%s", r.Code, r.Stderr)
	}
	r = full(t, server.URL, []string{"KUBECONFIG=" + cp.Kubeconfig()}, factsOf("blue")...)
	if f := readCluster(t, r); f.DaemonSets != nil || !strings.Contains(r.Stderr, "is for another cluster and is not used") {
		t.Errorf("a context that nobody named was used\n%s", r.Stderr)
	}
	both := readCluster(t, full(t, server.URL, nil, factsOf("blue", "--kubeconfig", cp.Kubeconfig(), "--allow-other-endpoint")...))
	if len(both.Gaps) != 0 || len(both.DaemonSets) == 0 || len(both.VPCCIDRs) != 3 || both.EndpointHost != "0123456789ABCDEF.gr7.eu-west-1.eks.amazonaws.com" {
		t.Errorf("with both: %+v", both)
	}

	cloud.Cluster["endpoint"] = cp.URL() // the same server
	server = awsfake.Start(t, cloud)
	same := readCluster(t, full(t, server.URL, []string{"KUBECONFIG=" + cp.Kubeconfig()}, factsOf("blue")...))
	if len(same.DaemonSets) == 0 || same.gap("dnsSuffix") == "" { // 127.0.0.1 is in no domain of AWS
		t.Errorf("the cluster's own context is not used, or the suffix is guessed: %+v", same)
	}
	r = full(t, server.URL, []string{"AWS_ACCESS_KEY_ID=", "AWS_SECRET_ACCESS_KEY="}, factsOf("blue", "--kubeconfig", cp.Kubeconfig())...)
	if f := readCluster(t, r); len(f.DaemonSets) == 0 || !strings.Contains(f.gap("vpcCIDRs"), "AWS was not asked: ") {
		t.Errorf("without credentials Kubernetes alone does not do: %q", f.gap("vpcCIDRs"))
	}
}

// checkKubernetesRights: no right at all leaves gaps with the right that lacks;
// the least rights are enough.
func checkKubernetesRights(t *testing.T, cp *controlplane.ControlPlane) {
	t.Helper()
	f := readCluster(t, kubeFacts(t, cp.UserKubeconfig(t, "user0")))
	for field, want := range map[string]string{
		"clusterDomain": "grant get on the ConfigMap kube-system/coredns or --cluster-domain", "serviceCIDRs": "grant list on servicecidrs.networking.k8s.io",
		"daemonSets": "grant list on daemonsets.apps in kube-system", "region": "grant list on nodes", "serviceAddress": "default/kubernetes",
		"endpointHost": "127.0.0.1, a loopback address",
	} {
		if !strings.Contains(f.gap(field), want) {
			t.Errorf("%s: gap %q, want %q", field, f.gap(field), want)
		}
	}
	if f.EndpointHost != "127.0.0.1" || f.KubernetesVersion == "" {
		t.Errorf("endpoint %q, version %q", f.EndpointHost, f.KubernetesVersion)
	}
	cp.Create(t, leastRights)
	f = readCluster(t, kubeFacts(t, cp.UserKubeconfig(t, "user1"), "--vpc-cidr", "10.40.0.0/16"))
	for _, g := range f.Gaps {
		if g.Remedy != "give --cluster NAME" {
			t.Errorf("gap with the least rights: %+v", g)
		}
	}
}

const leastRights = `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: facts}
rules:
- {apiGroups: [networking.k8s.io], resources: [servicecidrs], verbs: [list]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: facts}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: facts}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: user1}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: facts, namespace: kube-system}
rules:
- {apiGroups: [""], resources: [configmaps], resourceNames: [coredns, kube-proxy], verbs: [get]}
- {apiGroups: [apps], resources: [daemonsets], verbs: [list]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: facts, namespace: kube-system}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: facts}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: user1}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: facts, namespace: default}
rules:
- {apiGroups: [""], resources: [services], resourceNames: [kubernetes], verbs: [get]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: facts, namespace: default}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: facts}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: user1}]
`

// checkKubernetesFaults: what passes is asked again, what stays is exit 3.
func checkKubernetesFaults(t *testing.T, cp *controlplane.ControlPlane) {
	t.Helper()
	faults := controlplane.NewFaults(t, cp)
	daemonSets := controlplane.Match{Verb: "list", Resource: "daemonsets"}
	faults.Add(controlplane.Fault{Match: daemonSets, Times: 1, Answer: controlplane.Broken()},
		controlplane.Fault{Match: controlplane.Match{Verb: "get", Resource: "configmaps"}, Times: 1, Answer: controlplane.Close()})
	if f := readCluster(t, kubeFacts(t, faults.Kubeconfig(t))); len(f.DaemonSets) == 0 || f.ClusterDomain == "" {
		t.Errorf("an error that passes leaves gaps: %v", f.Gaps)
	}
	faults.Reset()
	faults.Add(controlplane.Fault{Match: daemonSets, Answer: controlplane.Broken()})
	if r := kubeFacts(t, faults.Kubeconfig(t)); r.Code != 3 || !strings.Contains(r.Stderr, "listing the DaemonSets of kube-system: ") {
		t.Errorf("exit %d\n%s", r.Code, r.Stderr)
	}
	text, err := os.ReadFile(cp.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "dead")
	dead := strings.ReplaceAll(string(text), cp.URL(), strings.Replace(closedPort(t), "http:", "https:", 1))
	if err := os.WriteFile(file, []byte(dead), 0o600); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	if r := kubeFacts(t, file); r.Code != 3 || !strings.Contains(r.Stderr, "getting the version of Kubernetes: ") || time.Since(start) > 20*time.Second {
		t.Errorf("exit %d after %s\n%s", r.Code, time.Since(start), r.Stderr)
	}
	if r := kubeFacts(t, cp.Kubeconfig(), "--context", "nobody"); r.Code != 2 || !strings.Contains(r.Stderr, "nobody") {
		t.Errorf("exit %d\n%s", r.Code, r.Stderr)
	}
}

// checkKubernetesPages: more objects than a page has.
func checkKubernetesPages(t *testing.T, cp *controlplane.ControlPlane) {
	t.Helper()
	const many = 502
	var text strings.Builder
	for i := range many {
		fmt.Fprintf(&text, `---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: many-%04d, namespace: kube-system}
spec:
  selector: {matchLabels: {app: many}}
  template:
    metadata: {labels: {app: many}}
    spec: {containers: [{name: main, image: images.test/none}]}
`, i)
	}
	cp.Apply(t, "test", false, text.String())
	faults := controlplane.NewFaults(t, cp)
	f := readCluster(t, kubeFacts(t, faults.Kubeconfig(t)))
	found := 0
	for _, d := range f.DaemonSets {
		if strings.HasPrefix(d.Name, "many-") {
			found++
		}
	}
	asked := faults.Requests(controlplane.Match{Verb: "list", Resource: "daemonsets"})
	if found != many || len(asked) != 2 || !strings.Contains(asked[0].Query, "limit=500") {
		t.Errorf("%d of %d found with the requests %v", found, many, asked)
	}
}
