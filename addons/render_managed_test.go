package addons

import (
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// versions are add-ons with the schemas that these tests know.
func versions(t *testing.T, schemas map[string]string, values string) []AddonVersion {
	t.Helper()
	var all []AddonVersion
	for name, text := range schemas {
		s, err := ParseSchema(text)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, AddonVersion{Name: name, Version: "v1.2.3-eksbuild.1", Schema: s, Values: values})
	}
	slices.SortFunc(all, func(a, b AddonVersion) int { return strings.Compare(a.Name, b.Name) })
	return all
}

func managedCases(t *testing.T) map[string]renderCase {
	t.Helper()
	all := versions(t, map[string]string{"vpc-cni": cniExtra, "kube-proxy": kubeProxyS, "aws-ebs-csi-driver": ebsProxy}, "")
	lists := versions(t, map[string]string{"vpc-cni": cniExtra, "kube-proxy": kubeProxyS, "aws-ebs-csi-driver": ebsLists}, "")
	there := versions(t, map[string]string{"vpc-cni": cniExtra}, `{"extraEnv":[{"name":"NO_PROXY","value":".old.example"}]}`)
	ebs := Options{Components: []string{"ebs-csi-controller", "cluster-autoscaler"}}
	login, secret := map[string]string{"credentials.from": "ssm:/corp/proxy"}, Options{CredentialsSecret: "corp-proxy", Components: []string{"ebs-csi-controller"}}
	return map[string]renderCase{
		"managed-terraform":             {Terraform, renderCluster(), nil, ebs, RenderOptions{Addons: all}},
		"managed-eksctl":                {Eksctl, renderCluster(), nil, ebs, RenderOptions{Addons: lists}},
		"managed-credentials":           {Terraform, renderCluster(), login, secret, RenderOptions{Addons: all}},
		"managed-credentials-eksctl":    {Eksctl, renderCluster(), login, secret, RenderOptions{Addons: lists}},
		"managed-two-proxies-terraform": {Terraform, renderCluster(), map[string]string{"httpsProxy": "http://other.example:3129"}, ebs, RenderOptions{Addons: all}},
		"managed-unknown-version":       {Eksctl, renderCluster(), nil, Options{}, RenderOptions{Addons: there}},
		"managed-helm":                  {Helm, renderCluster(), nil, Options{Skip: []string{"kube-proxy"}}, RenderOptions{Addons: versions(t, map[string]string{"vpc-cni": cniClosed}, "")}},
	}
}

// TestRenderManaged holds what is rendered for EKS add-ons against the golden
// files, and against the schemas.
func TestRenderManaged(t *testing.T) {
	for name, rc := range managedCases(t) {
		t.Run(name, func(t *testing.T) {
			r, err := rc.run(t)
			if err != nil {
				t.Fatal(err)
			}
			golden := filepath.Join("testdata", "render", name+".txt")
			if flag.Lookup("update").Value.String() == "true" {
				if err := os.WriteFile(golden, []byte(r.text()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), r.text()); diff != "" {
				t.Error(diff)
			}
			again, err := rc.run(t)
			if err != nil || again.text() != r.text() {
				t.Errorf("the same input gave other bytes (%v)", err)
			}
			for _, f := range r.Files {
				if !strings.HasPrefix(string(f.Data), FormatLine+"\n") {
					t.Errorf("%s does not begin with the line that says whose it is", f.Name)
				}
			}
			if strings.Contains(r.text(), "renderL3") {
				t.Error("the password stands in it")
			}
		})
	}
}

// TestRenderManagedEksctl: each text of values is what the schema takes.
func TestRenderManagedEksctl(t *testing.T) {
	rc := managedCases(t)["managed-eksctl"]
	r, err := rc.run(t)
	if err != nil || len(r.Files) != 1 {
		t.Fatalf("%v: %v", r.Files, err)
	}
	var doc struct {
		Addons []struct{ Name, Version, ResolveConflicts, ConfigurationValues string }
	}
	if err := yaml.UnmarshalStrict(r.Files[0].Data, &doc); err != nil {
		t.Fatal(err)
	}
	for _, a := range doc.Addons {
		i := slices.IndexFunc(rc.render.Addons, func(v AddonVersion) bool { return v.Name == a.Name })
		if err := rc.render.Addons[i].Schema.Validate(a.ConfigurationValues); err != nil || a.ResolveConflicts != "preserve" || a.Version == "" {
			t.Errorf("%+v: %v", a, err)
		}
	}
	if len(doc.Addons) != 2 {
		t.Errorf("%d add-ons", len(doc.Addons))
	}
}

// TestHCL holds the encoder against Terraform itself.
func TestHCL(t *testing.T) {
	program, err := exec.LookPath("terraform")
	if err != nil {
		t.Skip("SKIPPED: the encoder against Terraform itself, which is not installed; integration/managed evaluates a whole file with the library of its language")
	}
	value := map[string]any{
		"plain": "a", "template": "${a} %{if} $${b} %%{c}", "quotes": `a"b\c`, "controls": "\x00\x01\b\f\n\r\t\u2028é", "html": "<&>", "empty": map[string]any{}, "none": []any{},
		"list": []any{json.Number("1.50"), true, nil, "x", []any{"y"}, map[string]any{"k": "v", "longer": "v"}}, "a b": "name with blank", "${x}": "name as template",
	}
	dir := t.TempDir()
	text := "locals {\n  value = " + hcl(value, "  ") + "\n}\n"
	if err := os.WriteFile(filepath.Join(dir, "a.tf"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	console := exec.CommandContext(t.Context(), program, "-chdir="+dir, "console")
	console.Stdin = strings.NewReader("base64encode(jsonencode(local.value))\n")
	console.Env = []string{"HOME=" + dir, "CHECKPOINT_DISABLE=1", "TF_CLI_CONFIG_FILE=/dev/null"}
	out, err := console.Output()
	if err != nil {
		t.Fatalf("%v: %s\n%s", err, out, text)
	}
	var encoded []byte
	if err := json.Unmarshal([]byte(strings.TrimSpace(string(out))), &encoded); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var got, want any
	data, _ := json.Marshal(value)
	if err := json.Unmarshal(encoded, &got); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s\n%s", diff, text)
	}
	format := exec.CommandContext(t.Context(), program, "-chdir="+dir, "fmt", "-check", "-diff")
	format.Env = console.Env
	if out, err := format.CombinedOutput(); err != nil {
		t.Errorf("terraform fmt: %v\n%s", err, out)
	}
}
