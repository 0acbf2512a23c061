package integration

import (
	"context"
	"encoding/json"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/eksproxy/eksproxy/integration/awsfake"
	"github.com/eksproxy/eksproxy/integration/moto"
	"github.com/eksproxy/eksproxy/integration/program"
	"github.com/eksproxy/eksproxy/integration/proxy"
)

const clusterEndpoint = "https://0123456789ABCDEF.gr7.eu-west-1.eks.amazonaws.com"

// full runs the whole program with credentials for this AWS.
func full(t *testing.T, awsURL string, env []string, args ...string) program.Result {
	t.Helper()
	path, err := program.Full()
	if err != nil {
		t.Fatal(err)
	}
	env = append([]string{"AWS_ACCESS_KEY_ID=AKIAEXAMPLE", "AWS_SECRET_ACCESS_KEY=example", "AWS_ENDPOINT_URL=" + awsURL, "AWS_EC2_METADATA_DISABLED=true"}, env...)
	return program.Exec(t, env, append([]string{path}, args...)...)
}

// clusterFacts is the part of the document of facts cluster that tests look at.
type clusterFacts struct {
	nodeFacts
	ServiceAddress, ClusterDomain, Account, VPC, KubernetesVersion string
	RemoteNetworks, DHCPDomains, NodeLocalDNS                      []string
	AutoMode                                                       bool
	EndpointAccess                                                 *struct{ Public, Private bool }
	VPCEndpoints                                                   []struct {
		ID, Service, Type, State string
		PrivateDNS               bool
		Names                    []string
	}
	FargateProfiles []struct {
		Name      string
		Selectors []struct{ Namespace string }
	}
	Addons []struct {
		Name, Version, Status, Configuration string
		Issues                               []string
	}
	DaemonSets []struct{ Name string }
}

func readCluster(t *testing.T, r program.Result) clusterFacts {
	t.Helper()
	var f clusterFacts
	if r.Code != 0 {
		t.Fatalf("exit %d\n%s", r.Code, r.Stderr)
	}
	if err := json.Unmarshal([]byte(r.Stdout), &f); err != nil || f.Kind != "ClusterFacts" {
		t.Fatalf("%v, kind %q\n%s", err, f.Kind, r.Stdout)
	}
	return f
}

func factsOf(name string, more ...string) []string {
	return append([]string{"facts", "cluster", "--cluster", name, "--region", "eu-west-1", "-o", "json"}, more...)
}

func (f clusterFacts) gap(field string) string {
	for _, g := range f.Gaps {
		if g.Field == field {
			return g.Why + "; " + g.Remedy
		}
	}
	return ""
}

func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: got %q, want %q", what, got, want)
	}
}

// What moto implements is read from it: a VPC with two blocks and IPv6, an
// endpoint of each sort, DHCP, Fargate. It has no add-ons.
func TestClusterFactsFromMoto(t *testing.T) {
	server := moto.Start(t, "127.0.0.1")
	vpc, subnet := server.VPC(t, true, "10.40.0.0/16", "100.64.0.0/16")
	server.DHCPDomain(t, vpc, "corp.example")
	interfaceID := server.VPCEndpoint(t, vpc, "Interface", "ecr.api")
	gatewayID := server.VPCEndpoint(t, vpc, "Gateway", "s3")
	endpoint := server.Cluster(t, "blue", vpc, subnet, "10.100.0.0/16")
	server.FargateProfile(t, "blue", "jobs", "jobs-*")

	r := full(t, server.URL, nil, factsOf("blue")...)
	f := readCluster(t, r)
	if len(f.VPCCIDRs) != 3 || !strings.Contains(strings.Join(f.VPCCIDRs, " "), "10.40.0.0/16 100.64.0.0/16 ") || !strings.Contains(f.VPCCIDRs[2], "::/56") {
		t.Errorf("VPC CIDRs %q", f.VPCCIDRs)
	}
	same(t, "service CIDRs", f.ServiceCIDRs, []string{"10.100.0.0/16"})
	same(t, "DHCP", f.DHCPDomains, []string{"corp.example"})
	if host := strings.Trim(strings.TrimPrefix(endpoint, "https://"), "/"); f.EndpointHost != host {
		t.Errorf("endpoint %q, want %q", f.EndpointHost, host)
	}
	if f.Region != "eu-west-1" || f.DNSSuffix != "amazonaws.com" || f.KubernetesVersion != "1.35" || f.Account != "123456789012" || f.VPC != vpc {
		t.Errorf("place: %q %q %q %q %q", f.Region, f.DNSSuffix, f.KubernetesVersion, f.Account, f.VPC)
	}
	for _, e := range f.VPCEndpoints {
		switch e.ID {
		case interfaceID:
			if e.Service != "ecr.api" || e.State != "available" || !e.PrivateDNS {
				t.Errorf("endpoint %+v", e)
			}
		case gatewayID:
			if e.Service != "s3" || e.Type != "Gateway" {
				t.Errorf("endpoint %+v", e)
			}
		default:
			t.Errorf("endpoint %+v", e)
		}
	}
	if len(f.VPCEndpoints) != 2 || len(f.FargateProfiles) != 1 || f.FargateProfiles[0].Selectors[0].Namespace != "jobs-*" {
		t.Errorf("endpoints %v, profiles %v", f.VPCEndpoints, f.FargateProfiles)
	}
	if why := f.gap("addons"); !strings.Contains(why, "eks:ListAddons") {
		t.Errorf("moto has no add-ons, and the gap is %q", why)
	}
}

// Lists come in pages of two, and every state and sort is told apart.
func TestClusterFactsInPages(t *testing.T) {
	server := awsfake.Start(t, awsfake.New(awsfake.Site{Name: "blue", Partition: "aws", Region: "eu-west-1", Endpoint: clusterEndpoint}))
	f := readCluster(t, full(t, server.URL, nil, factsOf("blue")...))
	same(t, "VPC CIDRs", f.VPCCIDRs, []string{"10.40.0.0/16", "100.64.0.0/16", "2a05:d018:1::/56"})
	same(t, "remote networks", f.RemoteNetworks, []string{"10.200.0.0/16", "10.201.0.0/16"})
	same(t, "DHCP", f.DHCPDomains, []string{"corp.example", "eu-west-1.compute.internal"})
	var ids, profiles, addons []string
	for _, e := range f.VPCEndpoints {
		ids = append(ids, e.ID+" "+e.Service+" "+e.State+" "+strings.Join(e.Names, " "))
	}
	same(t, "endpoints", ids, []string{
		"vpce-01 s3 available ", "vpce-02 kinesis-streams available *.control-kinesis.eu-west-1.amazonaws.com *.data-kinesis.eu-west-1.amazonaws.com kinesis.eu-west-1.amazonaws.com",
		"vpce-03 sts pending sts.eu-west-1.amazonaws.com", "vpce-04 ec2 available ", "vpce-05 ecr.dkr available *.dkr.ecr.eu-west-1.amazonaws.com dkr.ecr.eu-west-1.amazonaws.com",
	})
	for _, p := range f.FargateProfiles {
		profiles = append(profiles, p.Name+" "+p.Selectors[0].Namespace)
	}
	same(t, "profiles", profiles, []string{"batch batch-*", "default default-*", "web web-*"})
	for _, a := range f.Addons {
		addons = append(addons, a.Name+" "+a.Status+" "+strings.Join(a.Issues, ""))
	}
	same(t, "add-ons", addons, []string{"coredns DEGRADED InsufficientNumberOfReplicas: not enough replicas", "kube-proxy ACTIVE ", "vpc-cni ACTIVE "})
	if f.EndpointAccess == nil || !f.EndpointAccess.Public || !f.EndpointAccess.Private || f.AutoMode {
		t.Errorf("access %v, Auto Mode %v", f.EndpointAccess, f.AutoMode)
	}

	auto := awsfake.New(awsfake.Site{Name: "green", Partition: "aws-cn", Region: "cn-north-1", Endpoint: "https://ID.yl4.cn-north-1.eks.amazonaws.com.cn"})
	auto.Cluster["computeConfig"] = map[string]any{"enabled": true}
	server = awsfake.Start(t, auto)
	f = readCluster(t, full(t, server.URL, []string{"AWS_REGION=cn-north-1"}, "facts", "cluster", "--cluster", "green", "-o", "json"))
	if !f.AutoMode || f.DNSSuffix != "amazonaws.com.cn" || f.Region != "cn-north-1" {
		t.Errorf("Auto Mode %v, %q in %q", f.AutoMode, f.DNSSuffix, f.Region)
	}
}

// The program's own calls go through the proxy of its environment, all of them.
func TestClusterFactsThroughTheProxy(t *testing.T) {
	server := awsfake.Start(t, awsfake.New(awsfake.Site{Name: "blue", Partition: "aws", Region: "eu-west-1", Endpoint: clusterEndpoint}))
	p := &proxy.Proxy{Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, strings.TrimPrefix(server.URL, "http://"))
	}}
	ts := httptest.NewServer(p)
	t.Cleanup(ts.Close)
	readCluster(t, full(t, "http://aws.example", []string{"HTTP_PROXY=" + ts.URL}, factsOf("blue")...))
	if asked, served := len(p.Requests()), len(server.Calls()); asked != served || asked < 10 {
		t.Errorf("%d requests through the proxy, %d calls", asked, served)
	}
}

// config init --from-cluster fills in what AWS tells, and what only the company
// knows stays to be filled in; the file can be used as it is.
func TestConfigInitFromCluster(t *testing.T) {
	server := awsfake.Start(t, awsfake.New(awsfake.Site{Name: "blue", Partition: "aws", Region: "eu-west-1", Endpoint: clusterEndpoint}))
	dir := t.TempDir()
	file := filepath.Join(dir, "proxy.yaml")
	r := full(t, server.URL, nil, "config", "init", "--from-cluster", "blue", "--region", "eu-west-1", "--out", file)
	if r.Code != 0 {
		t.Fatalf("exit %d\n%s", r.Code, r.Stderr)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"\n  httpProxy:\n", "\n    add:\n", "\n  # trustedCA: ", "\n  cluster:\n    name: blue\n    region: eu-west-1 # --region\n",
		"    endpoint: 0123456789ABCDEF.gr7.eu-west-1.eks.amazonaws.com # EKS\n",
		"    vpcCIDRs: [10.40.0.0/16, 100.64.0.0/16, '2a05:d018:1::/56'] # EC2\n", "    serviceCIDRs: [10.100.0.0/16] # EKS\n", "    # domain: # unknown, see the notes\n",
	} {
		if !strings.Contains(string(data), want) {
			t.Errorf("the file has no %q:\n%s", want, data)
		}
	}
	again := full(t, closedPort(t), nil, "noproxy", "compute", "--config", file, "--vpc-cidr", "10.40.0.0/16")
	if again.Code != 0 || !strings.Contains(again.Stdout, "0123456789ABCDEF.gr7.eu-west-1.eks.amazonaws.com") {
		t.Errorf("exit %d\n%s%s", again.Code, again.Stdout, again.Stderr)
	}
}
