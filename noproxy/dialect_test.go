package noproxy_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/eksproxy/eksproxy/noproxy"
)

func entriesOf(value string) noproxy.List { return noproxy.SideOf(value).Entries }

const dialectValue = "localhost,127.0.0.1,::1,10.40.0.0/16,172.16.0.0/14,10.100.0.1,fd00:1::/48,ID.gr7.eu-west-1.eks.amazonaws.com," +
	".svc,*.svc,corp.example,.corp.example,*.corp.example"

// TestDialects: the same list in each dialect. In Bottlerocket each
// entry is a string of its own (bottlerocket-project-website #499).
func TestDialects(t *testing.T) {
	proxies := noproxy.Proxies{HTTP: "http://proxy.example:3128", HTTPS: "http://proxy.example:3129"}
	const endpoint = "ID.gr7.eu-west-1.eks.amazonaws.com"
	java := strings.Split("localhost 127.0.0.1 [::1] 10.40.* 172.16.* 172.17.* 172.18.* 172.19.* 10.100.0.1 "+endpoint+" *.svc corp.example *.corp.example", " ")
	awsJava := slices.DeleteFunc(slices.Clone(java), func(s string) bool { return s == "[::1]" })
	tests := map[noproxy.Dialect]struct{ want, leftOut string }{
		noproxy.JVM:     {strings.Join(java, "|") + "\n", "fd00:1::/48"},
		noproxy.AWSJava: {strings.Join(awsJava, ",") + "\n", "::1 fd00:1::/48"},
		noproxy.APT: {"Acquire::http::Proxy::localhost \"DIRECT\";\nAcquire::https::Proxy::localhost \"DIRECT\";\n" +
			"Acquire::http::Proxy::127.0.0.1 \"DIRECT\";\nAcquire::https::Proxy::127.0.0.1 \"DIRECT\";\n" +
			"Acquire::http::Proxy::10.100.0.1 \"DIRECT\";\nAcquire::https::Proxy::10.100.0.1 \"DIRECT\";\n" +
			"Acquire::http::Proxy::" + endpoint + " \"DIRECT\";\nAcquire::https::Proxy::" + endpoint + " \"DIRECT\";\n" +
			"Acquire::http::Proxy::corp.example \"DIRECT\";\nAcquire::https::Proxy::corp.example \"DIRECT\";\n",
			"::1 10.40.0.0/16 172.16.0.0/14 fd00:1::/48 .svc *.svc .corp.example *.corp.example"},
		noproxy.Bottlerocket: {"[settings.network]\nno-proxy = [\n  \"" + strings.ReplaceAll(dialectValue, ",", "\",\n  \"") + "\",\n]\n", ""},
		noproxy.Docker: {"{\n  \"proxies\": {\n    \"http-proxy\": \"http://proxy.example:3128\",\n    \"https-proxy\": \"http://proxy.example:3129\",\n" +
			"    \"no-proxy\": \"" + dialectValue + "\"\n  }\n}\n", ""},
		noproxy.Terraform: {"{\n  \"no_proxy\": \"" + dialectValue + "\",\n  \"jvm_non_proxy_hosts\": \"" + strings.Join(java, "|") + "\",\n" +
			"  \"aws_java_no_proxy\": \"" + strings.Join(awsJava, ",") + "\",\n" +
			"  \"http_proxy\": \"http://proxy.example:3128\",\n  \"https_proxy\": \"http://proxy.example:3129\"\n}\n", ""},
	}
	for _, d := range noproxy.Dialects() {
		got, err := entriesOf(dialectValue).Render(d, proxies)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tests[d].want, got.Text); diff != "" {
			t.Errorf("%s: %s", d, diff)
		}
		var left []string
		for _, o := range got.LeftOut {
			left = append(left, o.Entry)
		}
		if strings.Join(left, " ") != tests[d].leftOut {
			t.Errorf("%s leaves out %v, want %s", d, got.LeftOut, tests[d].leftOut)
		}
	}
	if _, err := entriesOf("").Render("ini", proxies); err == nil {
		t.Error("dialect ini is taken")
	}
}

// TestTerraformIsFlat: the external data source takes an object of texts.
func TestTerraformIsFlat(t *testing.T) {
	r, err := entriesOf(dialectValue).Render(noproxy.Terraform, noproxy.Proxies{})
	if err != nil {
		t.Fatal(err)
	}
	var flat map[string]string
	if err := json.Unmarshal([]byte(r.Text), &flat); err != nil {
		t.Error(err)
	}
}

const selector = `import java.net.*;
public class Selector {
  public static void main(String[] urls) throws Exception {
    for (String url : urls)
      System.out.println(ProxySelector.getDefault().select(new URI(url)).get(0).type());
  }
}
`

// TestJVMReads: the JDK decides as the list means.
func TestJVMReads(t *testing.T) {
	java, err := exec.LookPath("java")
	if err != nil || testing.Short() {
		t.Skip("not run: java is not installed, or -short")
	}
	r, err := entriesOf(dialectValue).Render(noproxy.JVM, noproxy.Proxies{})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "Selector.java")
	if err := os.WriteFile(file, []byte(selector), 0o600); err != nil {
		t.Fatal(err)
	}
	direct := strings.Fields("http://localhost/ http://127.0.0.1/ http://[::1]/ http://10.40.7.7/ http://172.19.1.1/ https://10.100.0.1/ " +
		"https://ID.gr7.eu-west-1.eks.amazonaws.com/ https://kubernetes.default.svc/ https://corp.example/ https://www.corp.example/")
	proxied := strings.Fields("http://10.41.0.1/ http://172.20.0.1/ https://github.com/ https://notcorp.example/ https://kubernetes.default.svc.cluster.local/")
	args := []string{
		"-Dhttp.proxyHost=proxy.example", "-Dhttps.proxyHost=proxy.example", "-Dhttp.nonProxyHosts=" + strings.TrimSpace(r.Text), file,
	}
	out, err := exec.CommandContext(t.Context(), java, slices.Concat(args, direct, proxied)...).Output()
	if err != nil {
		t.Skipf("not run: java compiles nothing here: %v", err)
	}
	want := strings.Repeat("DIRECT\n", len(direct)) + strings.Repeat("HTTP\n", len(proxied))
	if diff := cmp.Diff(want, string(out)); diff != "" {
		t.Error(diff)
	}
}

// TestAWSJavaReads: the model of the AWS SDK for Java decides on its own dialect
// as the list means, ranges included.
func TestAWSJavaReads(t *testing.T) {
	r, err := entriesOf(dialectValue).Render(noproxy.AWSJava, noproxy.Proxies{})
	if err != nil {
		t.Fatal(err)
	}
	items := noproxy.Explain(noproxy.ValueEnvironment(strings.TrimSpace(r.Text)), findAll(t, "AWS SDK Java v2"),
		parseAll(t, "http://10.40.7.7/", "http://172.19.1.1/", "https://www.corp.example/", "https://corp.example/", "http://10.41.0.1/"))
	var got []noproxy.Decision
	for _, e := range items {
		got = append(got, e.Decision)
	}
	want := []noproxy.Decision{noproxy.Direct, noproxy.Direct, noproxy.Direct, noproxy.Direct, noproxy.Proxied}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
