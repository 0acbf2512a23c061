package userdata

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/eksproxy/eksproxy/bootdata"
)

func simulate(t *testing.T, in string, system OS, launcher Launcher) Simulation {
	t.Helper()
	s, err := Simulate([]byte(in), SimulateOptions{OS: system, For: launcher, Cluster: bootdata.NodeCluster{Name: "red"}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// simulateCase is one rule of a launcher: the parts as "TYPE FATE", and a text
// that the reason, the notes or the document must hold.
type simulateCase struct {
	name, in string
	os       OS
	launcher Launcher
	parts    string
	whole    bool
	says     []string
}

func (tt simulateCase) check(t *testing.T) {
	t.Helper()
	s := simulate(t, tt.in, tt.os, tt.launcher)
	var got []string
	for _, p := range s.Parts {
		got = append(got, fmt.Sprintf("%s %s", kindOf(bootdata.Part{ContentType: p.Type}), p.Fate))
	}
	if diff := cmp.Diff(tt.parts, strings.Join(got, ", ")); diff != "" {
		t.Errorf("parts (-want +got):\n%s", diff)
	}
	if s.Whole() != tt.whole {
		t.Errorf("whole is %t: %+v", s.Whole(), s)
	}
	text := s.Refused + s.NodeConfigFault + fmt.Sprint(s.Parts, s.Notes) + string(s.Document)
	for _, want := range tt.says {
		if !strings.Contains(text, want) {
			t.Errorf("nothing says %q in\n%s", want, text)
		}
	}
}

// TestSimulateRules: each rule of each launcher (facts/nodes.md 2; BL-025,
// BL-039 to BL-042, BL-046).
func TestSimulateRules(t *testing.T) {
	const named = "name: red"
	doc, hook, config := theirDocument(), "#cloud-boothook\n#!/bin/sh\n", "#cloud-config\npackages: [x]\n"
	full := multi("b", part(bootdata.TypeNodeConfig, theirConf), part(bootdata.TypeBoothook, "#!/bin/sh\n"), part(bootdata.TypeShell, theirRun), part(bootdata.TypeCloudConfig, config))
	encoded := multi("b", "Content-Type: text/x-shellscript\nContent-Transfer-Encoding: base64\n\n"+b64(theirRun))
	encodedNode := multi("b", "Content-Type: application/node.eks.aws\nContent-Transfer-Encoding: base64\n\n"+b64(theirConf))
	filed := multi("b", "Content-Disposition: attachment; filename=\"a.sh\"\n"+part(bootdata.TypeShell, theirRun))
	nested := multi("out", strings.TrimPrefix(doc, "MIME-Version: 1.0\n"))
	tests := []simulateCase{
		{"managed: parts first, EKS last", doc, AL2023, ManagedNodeGroup, "NodeConfig kept, script kept, NodeConfig added", true, []string{named, "comes last, and so wins"}},
		{"managed: al2 gets bootstrap.sh", encoded, AL2, ManagedNodeGroup, "script kept, script added", true, []string{"/etc/eks/bootstrap.sh red", "Content-Transfer-Encoding: base64", "does not reach it"}},
		{"managed: BL-040 not MIME", theirRun, AL2, ManagedNodeGroup, "", false, []string{"EKS takes MIME multipart alone"}},
		{"managed: BL-039", strings.Replace(doc, "\"\n\n--==B==\n", "\"\n--==B==\n", 1), AL2023, ManagedNodeGroup, "", false, []string{"line 3: no empty line"}},
		{"managed: gzip", zip(doc), AL2023, ManagedNodeGroup, "", false, []string{"gzip"}},
		{"managed: no Ubuntu", doc, Ubuntu, ManagedNodeGroup, "", false, []string{"no Ubuntu image"}},
		{"managed: TOML, theirs wins", "[settings.kubernetes]\ncluster-name = \"mine\"\n[settings.network]\nhttps-proxy = \"http://p:1\"\n", Bottlerocket, ManagedNodeGroup, "TOML kept, TOML added", true, []string{"cluster-name = 'mine'", "https-proxy"}},
		{"managed: quoted table", "[settings.\"x.y\"]\n", Bottlerocket, ManagedNodeGroup, "", false, []string{"line 1: a managed node group's merger"}},
		{"custom AMI: as it is", doc, AL2023, ManagedCustomAMI, "NodeConfig kept, script kept", true, []string{doc}},
		{"custom AMI: nothing joins", filed, AL2023, ManagedCustomAMI, "script kept", false, []string{"nothing in the document joins", "finds no NodeConfig"}},
		{"self-managed: gzip", zip(doc), AL2023, SelfManaged, "NodeConfig kept, script kept", true, nil},
		{"self-managed: BL-042 nested", nested, AL2023, SelfManaged, "multipart/mixed changed", false, []string{"nodeadm does not", "finds no NodeConfig"}},
		{"self-managed: BL-042 in a script", multi("b", part(bootdata.TypeShell, doc)), AL2, SelfManaged, "script lost", false, []string{"nothing takes apart"}},
		{"self-managed: BL-041", strings.Replace(doc, "\n\n#!", "\n#!", 1), AL2023, SelfManaged, "NodeConfig kept, script kept", false, []string{"the header of part 2 cannot be read"}},
		{"self-managed: of no type", "hello\n", AL2, SelfManaged, "text/plain lost", false, []string{"tells no type"}},
		{"self-managed: bare NodeConfig", theirConf, AL2023, SelfManaged, "NodeConfig kept", true, nil},
		{"self-managed: TOML", ourSettings, Bottlerocket, SelfManaged, "TOML kept", true, []string{ourSettings}},
		{"BL-046 MIME for Bottlerocket", doc, Bottlerocket, SelfManaged, "", false, []string{"Bottlerocket reads TOML alone"}},
		{"Karpenter: parts first, its NodeConfig last", full, AL2023, Karpenter, "NodeConfig kept, boothook kept, script kept, cloud-config kept, NodeConfig added", true, []string{named}},
		{"Karpenter: base64 stays so", encoded, AL2023, Karpenter, "script lost, NodeConfig added", false, []string{"copies Content-Type alone", b64(theirRun)}},
		{"Karpenter: nodeadm undoes base64", encodedNode, AL2023, Karpenter, "NodeConfig kept, NodeConfig added", true, nil},
		{"Karpenter: al2 keeps headers", encoded, AL2, Karpenter, "script kept, script added", true, []string{"Content-Transfer-Encoding: base64"}},
		{"Karpenter: file names go", filed, AL2023, Karpenter, "script kept, NodeConfig added", true, []string{"its file name is dropped"}},
		{"Karpenter: raw boothook", hook, AL2023, Karpenter, "boothook lost, NodeConfig added", false, []string{"takes it for a"}},
		{"Karpenter: raw boothook on al2", hook, AL2, Karpenter, "boothook lost, script added", false, []string{"takes it for a script"}},
		{"Karpenter: raw script", theirRun, AL2023, Karpenter, "script kept, NodeConfig added", true, nil},
		{"Karpenter: raw NodeConfig", theirConf, AL2023, Karpenter, "NodeConfig kept, NodeConfig added", true, nil},
		{"Karpenter: raw cloud-config", config, AL2023, Karpenter, "cloud-config lost, NodeConfig added", false, []string{"takes it for a NodeConfig", "nodeadm stops"}},
		{"Karpenter: gzip", zip(doc), AL2023, Karpenter, "application/gzip lost, NodeConfig added", false, []string{"takes no gzip"}},
		{"Karpenter: BL-039", strings.Replace(doc, "\"\n\n--==B==\n", "\"\n--==B==\n", 1), AL2023, Karpenter, "", false, []string{"cannot read the MIME header"}},
		{"Karpenter: BL-041", strings.Replace(doc, "\n\n#!", "\n#!", 1), AL2023, Karpenter, "NodeConfig kept", false, []string{"cannot read part 2"}},
		{"Karpenter: nested", nested, AL2023, Karpenter, "multipart/mixed changed, NodeConfig added", true, []string{"nodeadm does not"}},
		{"Karpenter: no multipart", "Content-Type: text/x-shellscript\n\n" + theirRun, AL2023, Karpenter, "", false, []string{"only as multipart"}},
		{"Karpenter: nothing given", "", AL2023, Karpenter, "NodeConfig added", true, nil},
		{"Karpenter: carriage returns go", crlf(doc), AL2023, Karpenter, "NodeConfig kept, script kept, NodeConfig added", true, nil},
		{"Karpenter: TOML, its keys win", "[settings.kubernetes]\ncluster-name = \"mine\"\n[settings.network]\nhttps-proxy = \"http://p:1\"\n[other]\n", Bottlerocket, Karpenter, "TOML changed, application/toml other lost, TOML added", false, []string{"cluster-name = 'red'", "https-proxy = 'http://p:1'"}},
		{"Karpenter: Ubuntu is Custom", doc, Ubuntu, Karpenter, "NodeConfig kept, script kept", true, []string{"amiFamily Custom"}},
		{"eksctl: al2023", full, AL2023, Eksctl, "NodeConfig changed, boothook lost, script changed, cloud-config lost, NodeConfig added", false, []string{"eksctl has no field for a boothook", "#!/bin/bash\n#!/bin/bash"}},
		{"eksctl: al2", full, AL2, Eksctl, "NodeConfig lost, boothook lost, script changed, cloud-config lost, script added", false, nil},
		{"eksctl: Bottlerocket", ourSettings, Bottlerocket, Eksctl, "TOML kept, TOML added", true, []string{"comments are dropped"}},
		{"eksctl: keys of the cluster", "[settings.kubernetes]\ncluster-name = \"mine\"\n", Bottlerocket, Eksctl, "", false, []string{"eksctl refuses settings.kubernetes"}},
		{"Terraform: al2023", filed, AL2023, viaTerraform, "script kept, NodeConfig added", true, []string{"Content-Disposition: attachment; filename=\"a.sh\"\nContent-Transfer-Encoding: 7bit\nContent-Type: text/x-shellscript\nMime-Version: 1.0", "scripts run after nodeadm-config"}},
		{"Terraform: al2 is one script", full, AL2, viaTerraform, "NodeConfig lost, boothook lost, script kept, cloud-config lost, script added", false, []string{"pre_bootstrap_user_data is one script"}},
		{"Terraform: al2 joins scripts", multi("b", part(bootdata.TypeShell, theirRun), part(bootdata.TypeShell, theirRun)), AL2, viaTerraform, "script kept, script changed, script added", true, []string{"joined to the script before it"}},
		{"Terraform: Ubuntu", doc, Ubuntu, viaTerraform, "NodeConfig kept, script kept", true, []string{"no template for Ubuntu"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { tt.check(t) })
	}
}

// TestSimulateNodeConfig: BL-025, our environment reaches nodeadm through every
// launcher, and the launcher's cluster wins over theirs.
func TestSimulateNodeConfig(t *testing.T) {
	m := merge(t, theirDocument(), MergeOptions{Ours: ours()})
	for launcher, cluster := range map[Launcher]string{
		ManagedNodeGroup: "red", ManagedCustomAMI: "blue", Karpenter: "red", Eksctl: "red", viaTerraform: "red", SelfManaged: "blue",
	} {
		s := simulate(t, string(m.Document), AL2023, launcher)
		if s.NodeConfig == nil {
			t.Errorf("%s: %s%s", launcher, s.Refused, s.NodeConfigFault)
			continue
		}
		spec := s.NodeConfig.Spec
		if spec.Instance.Environment["default"]["HTTPS_PROXY"] != "http://proxy.example:3128" || spec.Cluster.Name != cluster {
			t.Errorf("%s: %+v", launcher, spec)
		}
	}
}

// TestSimulateMasks: BL-035, no secret is in what is printed.
func TestSimulateMasks(t *testing.T) {
	secret := strings.ReplaceAll(ourConfig, "http://", "http://svc:hunter2@")
	in := multi("b", part(bootdata.TypeNodeConfig, secret), "Content-Type: text/x-shellscript\nContent-Transfer-Encoding: base64\n\n"+b64("#!/bin/sh\nexport https_proxy=http://svc:hunter2@p:1\n"))
	s := simulate(t, in, AL2023, SelfManaged)
	shown := s.MaskedDocument() + string(s.MaskedNodeConfig().Encode())
	if strings.Contains(shown, "hunter2") || strings.Contains(shown, b64("#!/bin/sh\nexport")[:12]) || !strings.Contains(shown, "[secret]") {
		t.Errorf("a secret is shown:\n%s", shown)
	}
	if s.NodeConfig.Spec.Instance.Environment["default"]["HTTPS_PROXY"] != "http://svc:hunter2@proxy.example:3128" {
		t.Error("masking changed the NodeConfig itself")
	}
}

// TestSimulateUsage: what is not known is named with what is.
func TestSimulateUsage(t *testing.T) {
	for _, o := range []SimulateOptions{{AL2023, AutoMode, bootdata.NodeCluster{}}, {Windows, Karpenter, bootdata.NodeCluster{}}} {
		if _, err := Simulate(nil, o); err == nil || !strings.Contains(err.Error(), "allowed: ") {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

// FuzzSimulate: any bytes, for any launcher, give an answer.
func FuzzSimulate(f *testing.F) {
	f.Add([]byte(theirDocument()), 0, 0)
	f.Add([]byte(ourSettings), 2, 2)
	f.Fuzz(func(t *testing.T, raw []byte, system, launcher int) {
		systems, launchers := OSes(), SimulateLaunchers()
		o := SimulateOptions{OS: systems[uint(system)%uint(len(systems))], For: launchers[uint(launcher)%uint(len(launchers))]}
		s, err := Simulate(raw, o)
		if err == nil && s.Refused == "" && o.OS == AL2023 && (s.NodeConfig == nil) != (s.NodeConfigFault != "") {
			t.Fatalf("neither a NodeConfig nor a reason: %+v", s)
		}
		_ = s.MaskedDocument()
		_ = s.MaskedNodeConfig()
	})
}
