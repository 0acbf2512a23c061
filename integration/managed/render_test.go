package managed

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclparse"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
	"gopkg.in/yaml.v3"

	"github.com/eksproxy/eksproxy/integration/ekssim"
	"github.com/eksproxy/eksproxy/integration/program"
)

// renderArgs render before there is a cluster: the network is given, and AWS is
// asked for schemas alone.
func renderArgs(format string, more ...string) []string {
	return append([]string{
		"addons", "render", "--for", format, "--region", ekssim.Region, "--http-proxy", proxyURL, "--vpc-cidr", "10.0.0.0/16", "--service-cidr", "10.96.0.0/12",
		"--cluster-endpoint", "0123456789ABCDEF0123456789ABCDEF.gr7.eu-west-1.eks.amazonaws.com",
	}, more...)
}

// eksctlValues are the configuration values of a list for eksctl, by name.
func eksctlValues(t *testing.T, text string) map[string]string {
	t.Helper()
	var doc struct {
		Addons []struct {
			Name, Version       string
			ResolveConflicts    string `yaml:"resolveConflicts"`
			ConfigurationValues string `yaml:"configurationValues"`
		}
	}
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, a := range doc.Addons {
		all[a.Name] = a.ConfigurationValues
		if a.Version == "" || a.ResolveConflicts != "preserve" {
			t.Errorf("%+v", a)
		}
	}
	return all
}

// TestRenderBeforeTheCluster: values are checked against the schema of the version
// that is named, no cluster is asked, and what cannot be carried is named with what
// to do instead.
func TestRenderBeforeTheCluster(t *testing.T) {
	t.Parallel()
	c := newCatalog(t, "")
	versions := []string{"--addon", "vpc-cni=v1.21.1-eksbuild.1", "--addon", "aws-ebs-csi-driver=v1.20.0-eksbuild.1", "--addon", "kube-proxy=v1.36.0-eksbuild.2"}
	r := c.run(t, 0, renderArgs("eksctl", versions...)...)
	values := eksctlValues(t, r.Stdout)
	if len(values) != 2 || !strings.Contains(values["vpc-cni"], "extraEnv:") || !strings.Contains(values["aws-ebs-csi-driver"], "http_proxy: "+proxyURL) {
		t.Errorf("%v", values)
	}
	says(t, r.Stderr, "kube-proxy is left out: the EKS add-on kube-proxy v1.36.0-eksbuild.2 cannot carry the settings", "--for kustomize", "which must be there before its pods start")
	if again := c.run(t, 0, renderArgs("eksctl", versions...)...); again.Stdout != r.Stdout {
		t.Error("the same input gave other bytes")
	}
	r = c.run(t, 0, renderArgs("terraform", "--addon", "vpc-cni=v1.15.0-eksbuild.1")...)
	says(t, r.Stderr, "aws-node is left out: the EKS add-on vpc-cni v1.15.0-eksbuild.1 cannot carry the settings: its configuration has no place for variables of aws-node")
	if r.Stdout != "" {
		t.Errorf("printed is %s", r.Stdout)
	}
	says(t, c.run(t, 0, renderArgs("helm", "--addon", "vpc-cni=v1.15.0-eksbuild.1")...).Stderr, "values-aws-node.yaml is for the chart alone: the EKS add-on vpc-cni v1.15.0-eksbuild.1 refuses /extraEnv")
	says(t, c.run(t, 2, renderArgs("terraform")...).Stderr, "no version of an EKS add-on is known: give --addon NAME=VERSION")
	says(t, c.run(t, 2, renderArgs("terraform", "--addon", "other=v1")...).Stderr, `"other" is not an EKS add-on that eksproxy knows`)
	says(t, c.run(t, 2, renderArgs("manifests", "--addon", "vpc-cni=v1")...).Stderr, "give it with --for terraform, eksctl or helm")
	if len(c.calls) > 0 {
		t.Errorf("a cluster was asked: %q", c.calls)
	}
	c.setDown(true)
	c.run(t, 3, renderArgs("terraform", versions...)...)
}

// TestRenderManagedFiles: files of others are left, and files that are wanted no
// longer are named.
func TestRenderManagedFiles(t *testing.T) {
	t.Parallel()
	c := newCatalog(t, "")
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	args := renderArgs("terraform", "--out", dir, "--addon", "vpc-cni=v1.21.1-eksbuild.1")
	write("eksproxy.tf", "# mine\n")
	says(t, c.run(t, 2, args...).Stderr, "eksproxy.tf is there and is not eksproxy's", "nothing was written")
	write("eksproxy.tf", "# eksproxy format 1\n")
	says(t, c.run(t, 0, args...).Stdout, "update     eksproxy.tf")
	says(t, c.run(t, 0, args...).Stdout, "unchanged  eksproxy.tf")
	args = renderArgs("eksctl", "--out", dir, "--addon", "vpc-cni=v1.21.1-eksbuild.1")
	says(t, c.run(t, 0, args...).Stderr, "eksproxy.tf is of an earlier render")
}

// TestRenderManagedCredentials: none in files; a place that takes texts alone is
// not used.
func TestRenderManagedCredentials(t *testing.T) {
	t.Parallel()
	c := newCatalog(t, "")
	args := []string{"--credentials-file", login(t), "--credentials-secret", "corp-proxy", "--addon", "vpc-cni=v1.21.1-eksbuild.1", "--addon", "aws-ebs-csi-driver=v1.20.0-eksbuild.1"}
	for _, format := range []string{"terraform", "eksctl"} {
		r := c.run(t, 0, renderArgs(format, args...)...)
		says(t, r.Stdout, "corp-proxy", "secretKeyRef")
		says(t, r.Stderr, "ebs-csi-controller is left out", "it takes texts alone, and the proxy's credentials are in a Secret")
		if strings.Contains(r.Stdout+r.Stderr, secret.Core) || strings.Contains(r.Stdout, "http_proxy\"  ") {
			t.Errorf("%s: %s", format, r.Stdout)
		}
	}
	says(t, c.run(t, 2, renderArgs("terraform", "--credentials-file", login(t), "--addon", "vpc-cni=v1.21.1-eksbuild.1")...).Stderr, "which stand in no rendered file")
}

// terraformValues are the values of an add-on as Terraform takes them from what
// was rendered, merged with others: its own language library evaluates them.
func terraformValues(t *testing.T, text, addon string) string {
	t.Helper()
	file, diagnostics := hclparse.NewParser().ParseHCL([]byte(text), "eksproxy.tf")
	if diagnostics.HasErrors() {
		t.Fatalf("%v\n%s", diagnostics, text)
	}
	if formatted := string(hclwrite.Format([]byte(text))); formatted != text {
		t.Errorf("terraform fmt would change it:\n%s", program.Diff(text, formatted))
	}
	known := map[string]cty.Value{}
	context := &hcl.EvalContext{Functions: map[string]function.Function{"jsonencode": stdlib.JSONEncodeFunc}}
	locals := hclsyntax.Attributes{}
	for _, block := range file.Body.(*hclsyntax.Body).Blocks {
		maps.Copy(locals, block.Body.Attributes)
	}
	for range locals { // one may need another
		for name, attribute := range locals {
			context.Variables = map[string]cty.Value{"local": cty.ObjectVal(known)}
			if value, diagnostics := attribute.Expr.Value(context); !diagnostics.HasErrors() {
				known[name] = value
			}
		}
	}
	configuration, ok := known["eksproxy_addon_configuration"]
	if !ok {
		t.Fatalf("there is no local eksproxy_addon_configuration:\n%s", text)
	}
	var merged map[string]any
	if err := json.Unmarshal([]byte(configuration.AsValueMap()[addon].AsString()), &merged); err != nil {
		t.Fatal(err)
	}
	merged["env"] = map[string]any{"WARM_ENI_TARGET": "2"}
	data, err := json.Marshal(merged)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestTerraformOwned: BL-050. Of an add-on of Terraform's nothing is changed; what
// is rendered for it goes there, and then the plan has nothing to do for it, and
// verify finds nothing.
func TestTerraformOwned(t *testing.T) {
	t.Parallel()
	cni := ekssim.VPCCNI(`{"env":{"WARM_ENI_TARGET":"2"}}`)
	cni.Tags = map[string]string{"managed-by": "terraform"}
	w := start(t, 1, cni, ekssim.KubeProxy())
	r := w.expect(t, 1, addons("patch", "--canary=off")...)
	says(t, r.Stderr, "eksproxy addons render --for terraform --addon vpc-cni=v1.21.1-eksbuild.1")
	if len(w.eks.Updates()) > 0 {
		t.Fatal("it was updated")
	}
	rendered := w.expect(t, 0, addons("render", "--for", "terraform", "--addon", "vpc-cni=v1.21.1-eksbuild.1")...)
	values := terraformValues(t, rendered.Stdout, "vpc-cni")
	var got map[string]any
	if err := json.Unmarshal([]byte(values), &got); err != nil || !reflect.DeepEqual(got["env"], map[string]any{"WARM_ENI_TARGET": "2"}) {
		t.Fatalf("%v: %s", err, values)
	}
	w.eks.SetValues(t, "vpc-cni", values)
	r = w.expect(t, 0, addons("patch", "--canary=off")...)
	says(t, r.Stdout, "unchanged")
	if len(w.eks.Updates()) > 0 {
		t.Fatal("it was updated")
	}
	for _, name := range variables() {
		if owners := w.owners(t, awsNode, "aws-node", name); !slices.Equal(owners, []string{"eks"}) {
			t.Errorf("%s is owned by %q", name, owners)
		}
	}
	w.Rollout(t, "kube-system")
	w.expect(t, 0, verify()...)
}
