package userdata

import (
	"encoding/base64"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
	"go.yaml.in/yaml/v3"

	"github.com/eksproxy/eksproxy/bootdata"
)

// TestForms: BL-016. What is wrapped is the document, whatever the form.
func TestForms(t *testing.T) {
	for _, p := range supported() {
		if p.For == Eksctl || p.For == AutoMode {
			continue
		}
		doc := string(render(t, input(t, p.OS, p.For)).Text)
		for _, form := range forms(p.For)[1:] {
			in := input(t, p.OS, p.For)
			in.As = form
			got := string(render(t, in).Text)
			if text := unwrap(t, form, got); text != doc {
				t.Errorf("%s for %s as %s is another document:\n%s", p.OS, p.For, form, text)
			}
		}
	}
}

// unwrap takes the document out of a form as its readers do.
func unwrap(t *testing.T, form Form, text string) string {
	t.Helper()
	switch form {
	case Base64:
		data, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	case Terraform:
		_, rest, _ := strings.Cut(text, "<<"+heredocTF+"\n")
		rest, end, _ := strings.Cut(rest, "\n"+heredocTF+"\n")
		if end != "}\n" {
			t.Fatalf("after the text: %q", end)
		}
		if left := strings.NewReplacer("$${", "", "%%{", "").Replace(rest); strings.Contains(left, "${") || strings.Contains(left, "%{") {
			t.Fatalf("an expression is not escaped:\n%s", left)
		}
		return strings.NewReplacer("$${", "${", "%%{", "%{").Replace(rest) + "\n"
	case CloudFormation:
		var doc struct {
			UserData struct {
				Base64 struct {
					Sub string `yaml:"Fn::Sub"`
				} `yaml:"Fn::Base64"`
			} `yaml:"UserData"`
		}
		if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
			t.Fatal(err)
		}
		sub := doc.UserData.Base64.Sub
		if strings.Contains(strings.ReplaceAll(sub, "${!", ""), "${") {
			t.Fatalf("a name is not escaped:\n%s", sub)
		}
		return strings.ReplaceAll(sub, "${!", "${")
	default:
	}
	var class struct {
		APIVersion string `yaml:"apiVersion"`
		Kind       string `yaml:"kind"`
		Spec       struct {
			AMIFamily string `yaml:"amiFamily"`
			UserData  string `yaml:"userData"`
		} `yaml:"spec"`
	}
	if err := yaml.Unmarshal([]byte(text), &class); err != nil || class.APIVersion != "karpenter.k8s.aws/v1" || class.Kind != "EC2NodeClass" || class.Spec.AMIFamily == "" {
		t.Fatalf("%v\n%s", err, text)
	}
	return class.Spec.UserData
}

// TestPlaceholders: what does not exist yet has a name, or an expression.
func TestPlaceholders(t *testing.T) {
	for _, os := range []OS{AL2, AL2023, Ubuntu, Bottlerocket} {
		for form, want := range map[Form][]string{
			Document:       {"@CLUSTER_NAME@", "@CLUSTER_ENDPOINT@", "@CLUSTER_CA@"},
			Terraform:      {"${var.cluster_name}", "${var.cluster_endpoint}", "${var.cluster_ca}"},
			CloudFormation: {"${ClusterName}", "${ClusterEndpoint}", "${ClusterCA}"},
		} {
			in := input(t, os, SelfManaged)
			in.As, in.ClusterCA, in.Facts.ClusterName, in.Facts.EndpointHost, in.Facts.ServiceCIDRs = form, "", "", "", nil
			if form == Document {
				in.Placeholders = Placeholders{"cluster": "", "cluster-endpoint": "", "cluster-ca": "", "service-cidr": ""}
			}
			text := string(render(t, in).Text)
			for _, w := range want {
				if !strings.Contains(text, w) {
					t.Errorf("%s as %s lacks %s", os, form, w)
				}
			}
			if m := regexp.MustCompile(`192\.0\.2\.|eksproxy-placeholder|ZWtzcHJveHk`).FindString(text); m != "" {
				t.Errorf("%s as %s: a mark is left: %s", os, form, m)
			}
			if form == CloudFormation {
				checkSub(t, text)
			}
		}
	}
}

// checkSub holds every name in Fn::Sub against its map or a parameter's form.
func checkSub(t *testing.T, text string) {
	t.Helper()
	var doc struct {
		UserData map[string]struct {
			Sub []any `yaml:"Fn::Sub"`
		} `yaml:"UserData"`
	}
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	sub := doc.UserData["Fn::Base64"].Sub
	if len(sub) != 2 {
		t.Fatalf("Fn::Sub has %d elements:\n%s", len(sub), text)
	}
	names := sub[1].(map[string]any)
	for _, m := range regexp.MustCompile(`\$\{([^!}]+)\}`).FindAllStringSubmatch(sub[0].(string), -1) {
		if _, ok := names[m[1]]; !ok && !strings.HasPrefix(m[1], "Cluster") && m[1] != "ServiceCIDR" {
			t.Errorf("${%s} is no name", m[1])
		}
	}
}

// TestPlaceholderExpressions: BL-014. An expression is given, or refused.
func TestPlaceholderExpressions(t *testing.T) {
	in := input(t, AL2, ManagedCustomAMI)
	in.As = Terraform
	in.Placeholders = Placeholders{"cluster-endpoint": "aws_eks_cluster.demo.endpoint", "service-cidr": "module.eks.cluster_service_cidr"}
	text := string(render(t, in).Text)
	for _, want := range []string{
		"'${aws_eks_cluster.demo.endpoint}'", `,${replace(aws_eks_cluster.demo.endpoint, "https://", "")},`,
		"${cidrhost(module.eks.cluster_service_cidr, 1)}", "'${cidrhost(module.eks.cluster_service_cidr, 10)}'",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("lacks %s", want)
		}
	}
	for want, change := range map[string]func(*Input){
		"allowed: cluster,":      func(in *Input) { in.Placeholders = Placeholders{"x": ""} },
		"in base64":              func(in *Input) { in.As = Base64 },
		"is for --as terraform":  func(in *Input) { in.As = Document },
		"want a name":            func(in *Input) { in.Placeholders["cluster"] = "a}${b" },
		"ask metadata":           func(in *Input) { in.Placeholders = Placeholders{"vpc-cidr": ""} },
		"stands for placeholder": func(in *Input) { in.Config.NoProxy.Add[0].Text = "192.0.2.0/24" },
	} {
		bad := input(t, AL2, ManagedCustomAMI)
		bad.As, bad.Placeholders = Terraform, Placeholders{"service-cidr": "a.b"}
		change(&bad)
		if _, err := Render(bad); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

// TestWhole: what a document that is not whole lacks is said, and what joins the
// node is there where all is known.
func TestWhole(t *testing.T) {
	in := input(t, AL2, SelfManaged)
	in.Bootstrap = Bootstrap{Args: "--use-max-pods false", KubeletFlags: []string{"--node-labels=a=b,c=d", "--max-pods=17"}, CFNSignal: "my-stack/Nodes"}
	text := string(render(t, in).Text)
	for _, want := range []string{
		". /etc/eksproxy/proxy.env\n", "/etc/eks/bootstrap.sh 'demo' \\\n", "--apiserver-endpoint 'https://" + testHost + "'", "--dns-cluster-ip '10.100.0.10'",
		"--kubelet-extra-args '--node-labels=a=b,c=d --max-pods=17'", "  --use-max-pods false\njoined=$?\n",
		"cfn-signal --exit-code \"$joined\" --stack 'my-stack' --resource 'Nodes' --region eu-west-1 \\\n  --http-proxy \"$HTTP_PROXY\" --https-proxy \"$HTTPS_PROXY\"\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("lacks %q", want)
		}
	}
	if doc, err := bootdata.Parse([]byte(text)); err != nil {
		t.Error(err)
	} else if c, err := doc.Cluster(); err != nil || c.Name != "demo" || c.EndpointHost != testHost {
		t.Errorf("the cluster is %+v %v", c, err)
	}
	in = input(t, AL2023, ManagedCustomAMI)
	in.ClusterCA, in.Facts.ServiceCIDRs = "", nil
	out := render(t, in)
	if !strings.Contains(strings.Join(out.Notes, "\n"), "Give --cluster-ca, --service-cidr for the whole document") || strings.Contains(string(out.Text), "apiServerEndpoint") {
		t.Errorf("notes %v", out.Notes)
	}
	in.Bootstrap.KubeletFlags = []string{"--max-pods=1"}
	if _, err := Render(in); err == nil || !strings.Contains(err.Error(), "need the whole document") {
		t.Errorf("not whole: %v", err)
	}
}

// TestBootstrapRefuses: what a script or NodeConfig cannot carry.
func TestBootstrapRefuses(t *testing.T) {
	for _, tt := range []struct {
		os   OS
		l    Launcher
		b    Bootstrap
		want string
	}{
		{AL2, ManagedNodeGroup, Bootstrap{Args: "x"}, "the launcher does"},
		{AL2023, SelfManaged, Bootstrap{Args: "x"}, "on al2023 give --kubelet-flag"},
		{Bottlerocket, SelfManaged, Bootstrap{KubeletFlags: []string{"--a"}}, "are for al2, al2023 and ubuntu"},
		{AL2, SelfManaged, Bootstrap{Args: "a\nb"}, "control character"},
		{AL2, SelfManaged, Bootstrap{KubeletFlags: []string{"--a='b"}}, "is not --NAME=VALUE"},
		{AL2, SelfManaged, Bootstrap{CFNSignal: "a"}, "is not STACK/RESOURCE"},
		{AL2, SelfManaged, Bootstrap{CFNSignal: "${AWS::StackName}/a"}, "with --as cloudformation"},
	} {
		in := input(t, tt.os, tt.l)
		in.Bootstrap = tt.b
		if _, err := Render(in); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: %v, want %q", tt.b, err, tt.want)
		}
	}
}

// TestCredentials: BL-035, BL-036. No password in user data, unless it was asked
// for; and then not in a NodeConfig.
func TestCredentials(t *testing.T) {
	for _, p := range supported() {
		in := inputFrom(t, p.OS, p.For, secretSpec)
		in.Boot.VPCEndpoints = []string{"ec2"}
		if scripted(p.OS) {
			in.Mode = Static
		}
		if out, err := Render(in); err == nil || !strings.Contains(err.Error(), "--credentials-in-user-data") || strings.Contains(err.Error()+string(out.Text), testPassword) {
			t.Errorf("%s for %s: %v", p.OS, p.For, err)
		}
		in.CredentialsInUserData = true
		out := render(t, in)
		if !strings.Contains(string(out.Text), testPassword) || strings.Contains(strings.Join(out.Notes, ""), testPassword) {
			t.Errorf("%s for %s: the password was asked for", p.OS, p.For)
		}
		if doc, err := bootdata.Parse(out.Text); err == nil {
			for _, part := range doc.Parts {
				if part.ContentType == bootdata.TypeNodeConfig && p.For != Eksctl && strings.Contains(string(part.Body), testPassword) {
					t.Errorf("%s for %s: the password stands in NodeConfig", p.OS, p.For)
				}
			}
		}
		if scripted(p.OS) {
			in.CredentialsInUserData, in.Mode, in.Agent.InImage = false, "", true
			if text := string(render(t, in).Text); strings.Contains(text, testPassword) || !strings.Contains(text, "from: ssm:/corp/proxy") || strings.Contains(text, "HTTPS_PROXY") {
				t.Errorf("%s for %s: the agent fetches the credentials:\n%s", p.OS, p.For, text)
			}
		}
	}
}

// TestModes: the mode that can work is taken, and one that cannot is refused.
func TestModes(t *testing.T) {
	sha := strings.Repeat("a", 64)
	for _, tt := range []struct {
		os    OS
		spec  string
		mode  Mode
		agent Agent
		want  string // a mode, or a part of the error
	}{
		{AL2023, plainSpec, "", Agent{}, "static"},
		{AL2023, plainSpec, "", Agent{InImage: true}, "agent"},
		{AL2, secretSpec, "", Agent{URL: "https://h/p", SHA256: sha}, "agent"},
		{AL2, secretSpec, "", Agent{}, "needs the program on the node"},
		{AL2, plainSpec, AgentMode, Agent{}, "needs the program on the node"},
		{AL2, plainSpec, "", Agent{InImage: true, URL: "https://h/p"}, "exclude each other"},
		{AL2, plainSpec, "", Agent{URL: "http://h/p", SHA256: sha}, "is not https://"},
		{AL2, plainSpec, "", Agent{URL: "s3://b/k'x", SHA256: sha}, "is not https://"},
		{AL2, plainSpec, "", Agent{URL: "s3://b/k", SHA256: "ABC"}, "64 hex digits"},
		{Bottlerocket, plainSpec, Static, Agent{}, "run no script"},
	} {
		in := inputFrom(t, tt.os, SelfManaged, tt.spec)
		in.Mode, in.Agent = tt.mode, tt.agent
		err := in.check()
		if got := fmt.Sprint(in.Mode, " ", err); !strings.Contains(got, tt.want) {
			t.Errorf("%+v: %s", tt, got)
		}
	}
}

// TestSize: BL-045. What EC2 or the launcher would refuse is refused with the
// numbers and what to shrink.
func TestSize(t *testing.T) {
	in := inputFrom(t, AL2, SelfManaged, withCA(t, "  httpProxy: http://proxy.example:3128\n  noProxy: {add: ["+entries(99)+"]}\n", 1500))
	_, err := Render(in)
	r, ok := errors.AsType[*RefusedError](err)
	if !ok || !strings.Contains(r.Why, "and EC2 takes 16384 before base64") || len(r.Ways) != 3 {
		t.Fatalf("%v", err)
	}
	in.Format = 2
	if _, err := Render(in); err == nil || !strings.Contains(err.Error(), "format 2 is not known; allowed: 1") {
		t.Errorf("%v", err)
	}
	in.Format, in.As = 1, ClusterConfig
	if _, err := Render(in); err == nil || !strings.Contains(err.Error(), "--as clusterconfig is not for --for self-managed; allowed: document, base64") {
		t.Errorf("%v", err)
	}
}

// TestBottlerocket: BL-016, BL-046, BL-047. TOML with a URL that has a scheme, one
// host an element, and nothing that the system adds itself.
func TestBottlerocket(t *testing.T) {
	var doc struct {
		Settings struct {
			Network struct {
				HTTPS   string   `toml:"https-proxy"`
				NoProxy []string `toml:"no-proxy"`
			} `toml:"network"`
			PKI map[string]struct {
				Data    string `toml:"data"`
				Trusted bool   `toml:"trusted"`
			} `toml:"pki"`
			Kubernetes map[string]string `toml:"kubernetes"`
		} `toml:"settings"`
	}
	text := render(t, inputFrom(t, Bottlerocket, SelfManaged, withCA(t, plainSpec, 10))).Text
	if err := toml.NewDecoder(strings.NewReader(string(text))).DisallowUnknownFields().Decode(&doc); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if s := doc.Settings; s.Network.HTTPS != "http://proxy.example:3128" || len(s.Kubernetes) != 4 || len(s.PKI) != 1 {
		t.Errorf("settings %+v", s)
	}
	for _, e := range doc.Settings.Network.NoProxy {
		if strings.ContainsAny(e, ", ") || e == "localhost" || e == "127.0.0.1" || e == testHost || e == ".cluster.local" {
			t.Errorf("no-proxy has %q", e)
		}
	}
	for _, pki := range doc.Settings.PKI {
		if data, err := base64.StdEncoding.DecodeString(pki.Data); err != nil || string(data) != testCA(t, 10) || !pki.Trusted {
			t.Errorf("pki %+v %v", pki, err)
		}
	}
}

// TestOnce: eksctl's way runs once, and the output says so.
func TestOnce(t *testing.T) {
	out := render(t, input(t, AL2023, Eksctl))
	if !strings.Contains(string(out.Text), "run once, at the first boot") || !strings.Contains(strings.Join(out.Notes, ""), "preBootstrapCommands run once") {
		t.Errorf("%v", out.Notes)
	}
}
