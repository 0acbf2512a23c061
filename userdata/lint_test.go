package userdata

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/eksproxy/eksproxy/bootdata"
)

// lintCase is one document with the codes of its faults, each as CODE:LINE.
type lintCase struct {
	name, in string
	o        LintOptions
	want     string
}

func checkLint(t *testing.T, tests []lintCase) {
	t.Helper()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, f := range Lint([]byte(tt.in), tt.o) {
				got = append(got, fmt.Sprintf("%s:%d", f.Code, f.Line))
				if f.Title == "" || f.Remedy == "" || f.Severity == "" {
					t.Errorf("fault without words: %+v", f)
				}
				if strings.Contains(fmt.Sprint(f), "hunter2") {
					t.Errorf("a secret is shown: %+v", f)
				}
			}
			if diff := cmp.Diff(strings.Fields(tt.want), got); diff != "" && tt.want+strings.Join(got, "") != "" {
				t.Errorf("faults (-want +got):\n%s", diff)
			}
		})
	}
}

// TestLintText: faults of text and MIME (BL-039, BL-041, BL-042, BL-043,
// BL-044, BL-048).
func TestLintText(t *testing.T) {
	doc := theirDocument()
	checkLint(t, []lintCase{
		{"BL-048 a good document", doc, LintOptions{}, ""},
		{"good with everything given", doc, LintOptions{AL2023, Karpenter}, ""},
		{"good in gzip and base64", b64(zip(doc)), LintOptions{}, ""},
		{"empty", " \n", LintOptions{}, "UD001:0"},
		{"broken gzip", "\x1f\x8bx", LintOptions{}, "UD002:0"},
		{"broken base64 in a part", multi("b", "Content-Type: text/x-shellscript\nContent-Transfer-Encoding: base64\n\n%%"), LintOptions{}, "UD002:4"},
		{"BL-044 CRLF", crlf(doc), LintOptions{}, "UD003:1"},
		{"BL-044 CRLF in a body alone", strings.Replace(doc, theirRun, crlf(theirRun), 1), LintOptions{}, "UD003:17"},
		{"BL-044 CRLF in a bare script", crlf(theirRun), LintOptions{}, "UD003:1"},
		{"empty line first", "\n" + doc, LintOptions{}, "UD004:1"},
		{"byte order mark", "\ufeff" + doc, LintOptions{}, "UD004:1"},
		{"header order", strings.TrimPrefix(doc, "MIME-Version: 1.0\n"), LintOptions{}, "UD005:1"},
		{"BL-039", strings.Replace(doc, "\"\n\n--==B==\n", "\"\n--==B==\n", 1), LintOptions{}, "UD006:3"},
		{"no boundary", strings.Replace(doc, "; boundary=\"==B==\"", "", 1), LintOptions{}, "UD007:1"},
		{"boundary never comes", strings.ReplaceAll(doc, "--==B==", "--x"), LintOptions{}, "UD008:4"},
		{"not closed", strings.TrimSuffix(doc, "--==B==--\n"), LintOptions{}, "UD009:19"},
		{"a part behind the end", doc + "--==B==\n" + part("text/x-shellscript", theirRun), LintOptions{}, "UD010:21"},
		{"BL-043 boothook", multi("b", part(bootdata.TypeBoothook, "#Set the proxy\nPROXY=x:1\n")), LintOptions{}, "UD011:7"},
		{"BL-043 script", multi("b", part(bootdata.TypeShell, "echo x\n")), LintOptions{}, "UD011:7"},
		{"BL-043 indented", multi("b", part(bootdata.TypeShell, "  #!/bin/sh\n")), LintOptions{}, "UD011:7"},
		{"BL-043 a bare script", "\n  #!/bin/sh\necho x\n", LintOptions{}, "UD011:1"},
		{"boothook as script", multi("b", part(bootdata.TypeShell, "#cloud-boothook\n#!/bin/sh\n")), LintOptions{}, "UD012:7"},
		{"boothook with its own first line", multi("b", part(bootdata.TypeBoothook, "#cloud-boothook\n#!/bin/sh\n")), LintOptions{}, ""},
		{"BL-041", strings.Replace(doc, "\n\n#!", "\n#!", 1), LintOptions{}, "UD013:16"},
		{"a boundary that needs quotes", strings.Replace(doc, `"==B=="`, "==B==", 1), LintOptions{}, "UD026:1"},
		{"a type that cannot be read", strings.Replace(doc, `charset="us-ascii"`, "charset=", 1), LintOptions{}, "UD027:15"},
		{"BL-042 multipart in multipart", multi("out", strings.TrimPrefix(doc, "MIME-Version: 1.0\n")), LintOptions{}, "UD014:4"},
		{"BL-042 a document in a script", multi("out", part(bootdata.TypeShell, doc)), LintOptions{}, "UD014:4"},
		{"unknown type", multi("b", part("text/x-mine", "x\n")), LintOptions{}, "UD015:7"},
		{"BL-048 NodeConfig is known", multi("b", part(bootdata.TypeNodeConfig, theirConf)), LintOptions{}, ""},
		{"no type at all", "hello\n", LintOptions{}, "UD015:1"},
		{"one wrong boundary", strings.Replace(doc, "\n\n--==B==\nContent-Type: text", "\n\n--==B\nContent-Type: text", 1), LintOptions{}, "UD019:14 UD024:14"},
	})
}

// TestLintLauncher: faults that depend on who launches the node (BL-025,
// BL-040, BL-045, BL-046).
func TestLintLauncher(t *testing.T) {
	doc := theirDocument()
	encoded := multi("b", "Content-Type: text/x-shellscript\nContent-Transfer-Encoding: base64\n\n"+b64(theirRun))
	sized := func(n int) string { return theirRun + strings.Repeat("#", n-len(theirRun)-1) + "\n" }
	late := multi("b", part(bootdata.TypeShell, "#!/bin/sh\necho https_proxy=x >> /etc/environment\n"), part(bootdata.TypeNodeConfig, theirConf))
	checkLint(t, []lintCase{
		{"Karpenter and base64", encoded, LintOptions{AL2023, Karpenter}, "UD016:4"},
		{"base64, nobody named", encoded, LintOptions{}, "UD016:4"},
		{"AL2 keeps the header", encoded, LintOptions{AL2, Karpenter}, ""},
		{"others keep it", encoded, LintOptions{AL2023, ManagedNodeGroup}, ""},
		{"nodeadm undoes base64", multi("b", "Content-Type: application/node.eks.aws\nContent-Transfer-Encoding: base64\n\n"+b64(theirConf)), LintOptions{AL2023, Karpenter}, ""},
		{"BL-045 16384 bytes", sized(16384), LintOptions{}, ""},
		{"BL-045 16385 bytes", sized(16385), LintOptions{}, "UD017:0"},
		{"BL-045 16384 bytes in base64", b64(sized(16384)), LintOptions{}, ""},
		{"BL-045 no room for the launcher", multi("b", part(bootdata.TypeShell, sized(12288))), LintOptions{AL2023, ManagedNodeGroup}, "UD017:0"},
		{"BL-045 no launcher's part", sized(12289), LintOptions{AL2023, ManagedCustomAMI}, ""},
		{"gzip for a managed node group", zip(doc), LintOptions{AL2023, ManagedNodeGroup}, "UD018:0"},
		{"gzip for cloud-init", zip(doc), LintOptions{AL2023, SelfManaged}, ""},
		{"BL-040", theirRun, LintOptions{AL2, ManagedNodeGroup}, "UD020:1"},
		{"BL-040 with a custom AMI", theirRun, LintOptions{AL2, ManagedCustomAMI}, ""},
		{"BL-046 MIME", doc, LintOptions{Bottlerocket, Karpenter}, "UD021:1"},
		{"BL-046 script", theirRun, LintOptions{Bottlerocket, Karpenter}, "UD021:1"},
		{"BL-046 TOML for al2023", ourSettings, LintOptions{AL2023, Karpenter}, "UD022:1"},
		{"raw boothook", "#cloud-boothook\n#!/bin/sh\n", LintOptions{AL2023, Karpenter}, "UD012:1"},
		{"BL-025 only a script sets the proxy", late, LintOptions{}, "UD025:4"},
		{"BL-025 the NodeConfig has it", strings.Replace(late, "spec:\n", "spec:\n  instance: {environment: {default: {A: b}}}\n", 1), LintOptions{}, ""},
		{"a field that nodeadm does not know", multi("b", part(bootdata.TypeNodeConfig, theirConf+"  proxy: hunter2\n")), LintOptions{}, "UD024:13"},
		{"a NodeConfig of another kind", multi("b", part(bootdata.TypeNodeConfig, "kind: x\n")), LintOptions{}, "UD024:7"},
		{"no YAML", multi("b", part(bootdata.TypeNodeConfig, theirConf+"\t: hunter2\n")), LintOptions{}, "UD024:12"},
	})
}

// TestLintSecrets: BL-035, BL-032; what is found, and what is none.
func TestLintSecrets(t *testing.T) {
	in := func(line string) string { return "#!/bin/sh\n" + line + "\n" }
	checkLint(t, []lintCase{
		{"in a URL", in("export HTTPS_PROXY=http://svc:hunter2@proxy.example:3128"), LintOptions{}, "UD023:2"},
		{"without scheme", in("HTTPS_PROXY=svc:hunter2@proxy.example:3128"), LintOptions{}, "UD023:2"},
		{"raw in the password", in("x=http://svc:hunter2#$&/x@proxy.example"), LintOptions{}, "UD023:2"},
		{"of dnf", in("proxy_password=hunter2"), LintOptions{}, "UD023:2"},
		{"in a header", in("curl -H 'Proxy-Authorization: Basic hunter2'"), LintOptions{}, "UD023:2"},
		{"a key", in("-----BEGIN RSA PRIVATE KEY-----"), LintOptions{}, "UD023:2"},
		{"of AWS", in("export AWS_SECRET_ACCESS_KEY=hunter2"), LintOptions{}, "UD023:2"},
		{"in base64", multi("b", "Content-Type: text/x-shellscript\nContent-Transfer-Encoding: base64\n\n"+b64(in("a=http://u:hunter2@h"))), LintOptions{AL2, SelfManaged}, "UD023:4"},
		{"in a NodeConfig", multi("b", part(bootdata.TypeNodeConfig, strings.ReplaceAll(ourConfig, "http://", "http://svc:hunter2@"))), LintOptions{}, "UD023:14"},
		{"in TOML", strings.ReplaceAll(ourSettings, "http://", "http://svc:hunter2@"), LintOptions{}, "UD023:3"},
		{"a variable", in("export HTTPS_PROXY=http://svc:$PASS@proxy.example:3128"), LintOptions{}, ""},
		{"a user alone", in("export HTTPS_PROXY=http://svc@proxy.example:3128"), LintOptions{}, ""},
		{"an address", in("# ask proxy: a@b.example"), LintOptions{}, ""},
	})
}

// TestLintScript: BL-003, BL-014, BL-024, BL-033, and a boothook that hangs.
func TestLintScript(t *testing.T) {
	hook := func(line string) string {
		return multi("b", part(bootdata.TypeBoothook, "#!/bin/sh\n"+line+"\n"))
	}
	checkLint(t, []lintCase{
		{"BL-033", hook("cat <<EOF >> /etc/environment\nx\nEOF"), LintOptions{}, "UD040:8"},
		{"BL-033 guarded", hook("cloud-init-per instance env cat << EOF >> /etc/environment\nx\nEOF"), LintOptions{}, ""},
		{"BL-014", hook("export NO_PROXY=localhost, .svc"), LintOptions{}, "UD041:8"},
		{"BL-014 quoted", hook("export NO_PROXY='localhost, .svc'"), LintOptions{}, ""},
		{"BL-003", hook("MAC=$(curl -s http://169.254.169.254/latest/meta-data/mac/)"), LintOptions{}, "UD042:8"},
		{"BL-003 with a token", hook("T=$(curl -X PUT http://169.254.169.254/latest/api/token)\ncurl -H \"X-aws-ec2-metadata-token: $T\" http://169.254.169.254/latest/meta-data/mac/"), LintOptions{}, ""},
		{"BL-024", hook("x /etc/systemd/system/containerd.service.d/p.conf"), LintOptions{AL2, SelfManaged}, "UD043:8"},
		{"BL-024 both", hook("x /etc/systemd/system/containerd.service.d/p.conf\nx /etc/systemd/system/sandbox-image.service.d/p.conf"), LintOptions{AL2, SelfManaged}, ""},
		{"BL-024 not on al2023", hook("x /etc/systemd/system/containerd.service.d/p.conf"), LintOptions{AL2023, SelfManaged}, ""},
		{"it waits", hook("systemctl restart containerd"), LintOptions{}, "UD044:8"},
		{"it does not wait", hook("systemctl --no-block restart containerd\nsystemctl daemon-reload"), LintOptions{}, ""},
	})
}

// TestLintSettings: BL-016, BL-036, BL-037, BL-047.
func TestLintSettings(t *testing.T) {
	network := func(lines string) string { return "[settings.network]\n" + lines + "\n" }
	checkLint(t, []lintCase{
		{"good", ourSettings, LintOptions{Bottlerocket, ManagedNodeGroup}, ""},
		{"BL-047 twice", network("hostname = \"hunter2\"") + network("https-proxy = \"http://p:1\""), LintOptions{}, "UD030:3"},
		{"no TOML", network("x = hunter2"), LintOptions{}, "UD030:2"},
		{"BL-016 no scheme", network("https-proxy = \"10.0.5.67:8080\""), LintOptions{}, "UD031:2"},
		{"BL-016 glued", network("no-proxy = [\"a\", \".internal,s3.example\"]"), LintOptions{}, "UD032:2"},
		{"BL-016 all of AWS", network("no-proxy = [\".amazonaws.com\"]"), LintOptions{}, "UD034:2"},
		{"BL-036 invented keys", network("https-proxy = \"http://p:1\"\nhttp-proxy = \"http://p:1\"\nproxy-username = \"x\""), LintOptions{}, "UD033:3 UD033:4"},
		{"BL-037", network("https-proxy = \"http://p:1\"") + "[settings.bootstrap-containers.x]\nsource = \"public.ecr.aws/x\"\n", LintOptions{}, "UD035:3"},
		{"EKS's merger", "[settings.kubernetes.node-labels]\n\"a.b/c\" = \"d\"\n[settings.\"x.y\"]\n", LintOptions{Bottlerocket, ManagedNodeGroup}, "UD036:3"},
		{"EKS's merger, mixed", "[settings.x]\na = [1, \"b\"]\n", LintOptions{Bottlerocket, ManagedNodeGroup}, "UD036:2"},
		{"CRLF", crlf(ourSettings), LintOptions{}, "UD003:1"},
	})
}

// TestLintRules: each code has a case above, and each case's code a rule.
func TestLintRules(t *testing.T) {
	codes := regexp.MustCompile(`^UD0[0-9]{2}$`)
	for code, r := range Rules() {
		if !codes.MatchString(code) || r.Title == "" || r.Remedy == "" || strings.HasSuffix(r.Title, ".") {
			t.Errorf("%s: %+v", code, r)
		}
	}
	for k := bootdata.FaultCRLF; k <= bootdata.FaultOtherBoundary; k++ {
		if _, ok := Rules()[codeOf(k)]; !ok {
			t.Errorf("fault %d has no rule", k)
		}
	}
	warnings := []string{"UD015", "UD016", "UD023", "UD025", "UD034", "UD035", "UD040", "UD042", "UD043"}
	for code, r := range Rules() {
		if (r.Severity == Warning) != slices.Contains(warnings, code) {
			t.Errorf("%s is of severity %s", code, r.Severity)
		}
	}
}
