package bootdata

import (
	"net/netip"
	"testing"
)

func TestClusterFromBootstrap(t *testing.T) {
	named := Cluster{Name: "blue", From: FromBootstrap}
	withHost := Cluster{Name: "blue", EndpointHost: "api.example", From: FromBootstrap}
	tests := []struct {
		name, in string // without the first line
		want     Cluster
	}{
		{"bare", "/etc/eks/bootstrap.sh blue", named},
		{"as EKS writes it", `set -ex
B64_CLUSTER_CA=LS0t
API_SERVER_URL=https://api.example
K8S_CLUSTER_DNS_IP=10.100.0.10
/etc/eks/bootstrap.sh blue --kubelet-extra-args '--node-labels=a=b --max-pods=17' --b64-cluster-ca $B64_CLUSTER_CA \
  --apiserver-endpoint $API_SERVER_URL --dns-cluster-ip $K8S_CLUSTER_DNS_IP --use-max-pods false`,
			Cluster{Name: "blue", EndpointHost: "api.example", From: FromBootstrap,
				ServiceCIDR: netip.MustParsePrefix("10.100.0.0/16"), ServiceAddress: netip.MustParseAddr("10.100.0.1")}},
		{"equals signs and quotes", `bootstrap.sh --apiserver-endpoint="https://api.example" 'bl'u"e"`, withHost},
		{"flag before the name", "bootstrap.sh --use-max-pods false blue", named},
		{"other default range", "bootstrap.sh blue --dns-cluster-ip 172.20.0.10",
			Cluster{Name: "blue", From: FromBootstrap, ServiceCIDR: netip.MustParsePrefix("172.20.0.0/16"), ServiceAddress: netip.MustParseAddr("172.20.0.1")}},
		{"own range", "bootstrap.sh blue --dns-cluster-ip 10.9.8.10",
			Cluster{Name: "blue", From: FromBootstrap, ServiceAddress: netip.MustParseAddr("10.9.8.1")}},
		{"own DNS server", "bootstrap.sh blue --dns-cluster-ip 169.254.20.11", named},
		{"DNS server of no shape", "bootstrap.sh blue --dns-cluster-ip x", named},
		{"IPv6 range", "bootstrap.sh blue --ip-family ipv6 --service-ipv6-cidr fd30::/108 --dns-cluster-ip fd30::a",
			Cluster{Name: "blue", From: FromBootstrap, ServiceCIDR: netip.MustParsePrefix("fd30::/108")}},
		{"runners", "A=1 sudo -u root -E X=y bash -x /etc/eks/bootstrap.sh blue", named},
		{"exec", "exec /etc/eks/bootstrap.sh blue", named},
		{"if and &&", "if true; then cd / && /etc/eks/bootstrap.sh blue; fi", named},
		{"function", "f() { /etc/eks/bootstrap.sh blue || exit 1; }\nf", named},
		{"exported variable", "export U=https://api.example\nbootstrap.sh blue --apiserver-endpoint \"${U}\"", withHost},
		{"variable of a variable", "H=api\nU=https://$H.example\nbootstrap.sh blue --apiserver-endpoint $U", withHost},
		{"variable as the program", "B=/etc/eks/bootstrap.sh\n$B blue", named},
		{"backslash", `bootstrap.sh b\lue`, named},
		{"same value twice", "U=api.example\nU=api.example\nbootstrap.sh blue --apiserver-endpoint $U", withHost},
		{"two calls: later wins field by field", "bootstrap.sh red --apiserver-endpoint api.example\nbootstrap.sh blue", withHost},
		// Nothing of the rest is known before the script runs.
		{"substitution", "bootstrap.sh blue --apiserver-endpoint $(aws eks x)", named},
		{"unset variable", "bootstrap.sh blue --apiserver-endpoint $U", named},
		{"set later", "bootstrap.sh blue --apiserver-endpoint $U\nU=api.example", named},
		{"set for one command only", "U=api.example true\nbootstrap.sh blue --apiserver-endpoint $U", named},
		{"set for the same command", "U=api.example bootstrap.sh blue --apiserver-endpoint $U", named},
		{"two values", "if x; then U=a; else U=b; fi\nbootstrap.sh blue --apiserver-endpoint $U", named},
		{"set to something dynamic", "U=a\nU=$(x)\nbootstrap.sh blue --apiserver-endpoint $U", named},
		{"appended to", "U=a\nU+=b\nbootstrap.sh blue --apiserver-endpoint $U", named},
		{"loop variable", "for U in a b; do bootstrap.sh blue --apiserver-endpoint $U; done", named},
		{"default value", "bootstrap.sh blue --apiserver-endpoint ${U:-api.example}", named},
		{"split by the shell", "U='a b'\nbootstrap.sh blue --apiserver-endpoint $U", named},
		{"dynamic name", "bootstrap.sh $NAME other", Cluster{From: FromBootstrap}},
		{"flag without a value", "bootstrap.sh blue --apiserver-endpoint", named},
		// None of these is a call.
		{"in a comment", "# /etc/eks/bootstrap.sh blue", Cluster{}},
		{"as an argument", "sudo sed -i s/a/b/ /etc/eks/bootstrap.sh blue", Cluster{}},
		{"in a text", "cat <<EOF\n/etc/eks/bootstrap.sh blue\nEOF", Cluster{}},
		{"no shell", "def f(x): '''/etc/eks/bootstrap.sh'''", Cluster{}},
		{"another script", "/opt/my-bootstrap.sh blue", Cluster{}},
		{"runner alone", "bash -x # bootstrap.sh", Cluster{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { checkCluster(t, "#!/bin/bash\n"+tt.in+"\n", tt.want) })
	}
}

func TestBootstrapInAnyShellPart(t *testing.T) {
	const call = "/etc/eks/bootstrap.sh blue"
	want := Cluster{Name: "blue", From: FromBootstrap}
	tests := []struct {
		name, in string
		want     Cluster
	}{
		{"MIME part without #!", multi("b", part(TypeShell, call)), want},
		{"per-boot part", multi("b", part("text/x-shellscript-per-boot", call)), want},
		{"boothook", "#cloud-boothook\n" + call, want},
		{"CRLF", "#!/bin/sh\r\n" + call + "\r\n", want},
		{"other type with #!", multi("b", part("text/x-other", "#!/bin/sh\n"+call)), want},
		{"cloud-config", "#cloud-config\n" + call, Cluster{}},
		{"plain text", call, Cluster{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { checkCluster(t, tt.in, tt.want) })
	}
}
