//go:build integration

package userdata

import (
	"context"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/eksproxy/eksproxy/imds"
	"github.com/eksproxy/eksproxy/internal/rootfs"
	"github.com/eksproxy/eksproxy/node"
)

// fakeMetadata answers as instance metadata with one or more interfaces: by MAC
// address, what each says of the VPC.
func fakeMetadata(t *testing.T, v4, v6 string) string {
	t.Helper()
	macs := "/latest/meta-data/network/interfaces/macs/"
	files := map[string]string{
		macs: "0a:00:00:00:00:01/\n0a:00:00:00:00:02/", macs + "0a:00:00:00:00:01/vpc-ipv4-cidr-blocks": v4,
		macs + "0a:00:00:00:00:02/vpc-ipv4-cidr-blocks": v4, "/latest/meta-data/placement/region": "eu-west-1",
		"/latest/meta-data/services/domain": "amazonaws.com",
	}
	if v6 != "" {
		files[macs+"0a:00:00:00:00:02/vpc-ipv6-cidr-blocks"] = v6
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, ok := files[r.URL.Path]
		switch {
		case r.URL.Path == "/latest/api/token" && r.Method == http.MethodPut:
			w.Header().Set("X-Aws-Ec2-Metadata-Token-Ttl-Seconds", r.Header.Get("X-Aws-Ec2-Metadata-Token-Ttl-Seconds"))
			fmt.Fprint(w, "token")
		case r.Header.Get("X-Aws-Ec2-Metadata-Token") != "token":
			http.Error(w, "<html>401</html>", http.StatusUnauthorized)
		case !ok:
			http.Error(w, "<html>404</html>", http.StatusNotFound)
		default:
			fmt.Fprint(w, text)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// plant makes a tree of a family, or more of it.
func plant(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		name, mode, _ := strings.Cut(name, " ")
		full := filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(full), 0o755)
		if link, ok := strings.CutPrefix(text, "-> "); ok && err == nil {
			err = os.Symlink(link, full)
		} else if err == nil {
			err = os.WriteFile(full, []byte(text), 0o644)
			if mode != "" && err == nil {
				err = os.Chmod(full, 0o640)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func familyTree(family OS) map[string]string {
	files := map[string]string{"usr/lib/systemd/system/containerd.service": ""}
	switch family {
	case AL2:
		files["etc/os-release"] = "ID=\"amzn\"\nVERSION_ID=\"2\"\n"
		files["etc/yum.conf"] = "[main]\ngpgcheck=1\n# comment\n\n[extras]\nenabled=0\n"
	case AL2023:
		files["etc/os-release"] = "ID=\"amzn\"\nVERSION_ID=\"2023\"\n"
		files["etc/dnf/dnf.conf"], files["etc/yum.conf"] = "[main]\ngpgcheck=1\ninstallonly_limit=3", "-> dnf/dnf.conf"
	default:
		files["etc/os-release"] = "ID=ubuntu\nVERSION_ID=\"22.04\"\n"
		files["etc/environment 640"] = "PATH=\"/usr/bin:/bin\""
	}
	return files
}

// applied is the tree as "node apply" leaves it with the same settings.
func applied(t *testing.T, in Input, url string, trees ...map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for _, tree := range trees {
		plant(t, dir, tree)
	}
	agentApply(t, in, url, dir)
	return dir
}

func agentApply(t *testing.T, in Input, url, dir string) {
	t.Helper()
	n, err := imds.Read(t.Context(), imds.Options{Endpoint: url, Timeout: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	in.Facts.VPCCIDRs = n.VPCCIDRs
	list, err := in.composed()
	if err != nil {
		t.Fatal(err)
	}
	root, err := rootfs.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close() //nolint:errcheck // every file was synced
	sys, err := node.Detect(root, string(in.OS), in.Config.Node.Runtime)
	if err != nil {
		t.Fatal(err)
	}
	want, err := node.Want(sys, in.Config.Settings(list), in.Config.Node)
	if err != nil {
		t.Fatal(err)
	}
	p, err := node.Prepare(root, want)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Apply(context.Background(), ""); err != nil {
		t.Fatal(err)
	}
}

// ran is the tree as the script leaves it, run by a shell.
func ran(t *testing.T, shell, script, url string, trees ...map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for _, tree := range trees {
		plant(t, dir, tree)
	}
	run(t, shell, script, url, dir)
	return dir
}

func run(t *testing.T, shell, script, url, dir string) string {
	t.Helper()
	out, err := tryRun(t, shell, script, url, dir)
	if err != nil {
		t.Fatalf("%s: %v\n%s", shell, err, out)
	}
	return out
}

func tryRun(t *testing.T, shell, script, url, dir string) (string, error) {
	t.Helper()
	needs(t, shell, "curl")
	bin := t.TempDir()
	name := filepath.Join(bin, "hook")
	// Ubuntu has mawk, Amazon Linux gawk: each shell gets one of them.
	if awk, err := exec.LookPath(map[string]string{"dash": "mawk", "bash": "gawk"}[shell]); err == nil {
		plant(t, bin, map[string]string{"awk": "-> " + awk})
	}
	script = strings.Replace(script, "PATH=", "PATH="+bin+":", 1)
	if err := os.WriteFile(name, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), shell, name)
	cmd.Env = []string{"EKSPROXY_ROOT=" + dir, "EKSPROXY_IMDS_ENDPOINT=" + url, "EKSPROXY_BOUND=1", "http_proxy=http://127.0.0.1:1", "HTTPS_PROXY=http://127.0.0.1:1"}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// needs fails where a program is missing, with what installs it.
func needs(t *testing.T, programs ...string) {
	t.Helper()
	for _, name := range programs {
		if _, err := exec.LookPath(name); err != nil {
			t.Fatalf("%s is missing: apt-get install --no-install-recommends %s", name, name)
		}
	}
}

// files are all files of a tree with their modes, without the record.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		name := strings.TrimPrefix(p, dir)
		switch {
		case err != nil || strings.HasPrefix(name, "/var"):
		case info.Mode()&fs.ModeSymlink != 0:
			to, _ := os.Readlink(p)
			found[name] = "-> " + to
		case info.Mode().IsRegular():
			data, _ := os.ReadFile(p)
			found[name] = fmt.Sprintf("%s\n%s", info.Mode(), data)
		case name != "":
			found[name] = info.Mode().String()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// scriptOf is the script of a node.
func scriptOf(t *testing.T, in Input) string {
	t.Helper()
	if err := in.check(); err != nil {
		t.Fatal(err)
	}
	text, err := in.script(everyBoot)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func shells() []string { return []string{"dash", "bash"} }

// equalTrees holds the script against the agent: the same bytes and modes for
// every item, on a tree as it comes and on its own result.
func equalTrees(t *testing.T, in Input, url string, trees ...map[string]string) {
	t.Helper()
	in.Mode, in.CredentialsInUserData = Static, true
	in.Boot.VPCEndpoints = []string{"ec2"} // with a password, a node of AL2023 cannot boot otherwise
	script := scriptOf(t, in)
	agent := applied(t, in, url, trees...)
	want := files(t, agent)
	for _, shell := range shells() {
		dir := ran(t, shell, script, url, trees...)
		if diff := cmp.Diff(want, files(t, dir)); diff != "" {
			t.Errorf("%s (-agent +script):\n%s", shell, diff)
		}
		run(t, shell, script, url, dir)
		if diff := cmp.Diff(want, files(t, dir)); diff != "" {
			t.Errorf("%s, second run (-agent +script):\n%s", shell, diff)
		}
	}
	agentApply(t, in, url, agent)
	if diff := cmp.Diff(want, files(t, agent)); diff != "" {
		t.Errorf("the agent's second run:\n%s", diff)
	}
}

// TestReaderStaticIsAgent: BL-024, BL-025, BL-033. static and agent give the same
// bytes and modes for every node item.
func TestReaderStaticIsAgent(t *testing.T) {
	blocks := "172.31.0.0/16\n10.40.0.0/16\r\n9.0.0.0/8\n10.40.0.0/15\n100.64.3.0/16\n10.4.0.0/16"
	six := "fd00:10:0:0::/56\n2001:DB8:0:0:1::/80\n2001:db8::/56"
	for name, spec := range map[string]string{
		"plain":        plainSpec,
		"authority":    withCA(t, plainSpec, 10),
		"credentials":  "  httpProxy: 'http://svc:p%40ss%20%22!%27%60%3B&$(x)@proxy.example:3128'\n  node: {credentialsInEtcEnvironment: true}\n",
		"encoded":      "  httpProxy: 'http://svc:%25%5C%24x@proxy.example:3128'\n",
		"https":        "  httpsProxy: https://[2001:db8::1]:3129\n  httpProxy: http://other.example:80\n",
		"many":         "  httpProxy: http://proxy.example:3128\n  noProxy: {add: [10.40.0.0/16, " + entries(20) + ", CORP.example, 9.0.0.0/8]}\n",
		"omitted":      "  httpProxy: http://proxy.example:3128\n  noProxy: {omit: [10.40.0.0/15, metadata, .svc]}\n",
		"no loopback":  "  httpProxy: http://proxy.example:3128\n  noProxy: {omit: [loopback, metadata]}\n",
		"vpc omitted":  "  httpProxy: http://proxy.example:3128\n  noProxy: {omit: [vpc]}\n",
		"IPv6":         "  httpProxy: http://proxy.example:3128\n  noProxy: {ipv6CIDRs: always}\n",
		"docker":       plainSpec + "  node: {runtime: docker}\n",
		"switched off": plainSpec + "  node: {targets: {etcEnvironment: false, packageManager: false, containerd: false}}\n",
		"nothing":      plainSpec + "  node: {targets: {containerd: false, docker: false, kubelet: false, cloudInit: false, ssmAgent: false, soci: false, sandboxImage: false, nodeadm: false}}\n",
	} {
		families := []OS{AL2} // which has each kind of item
		if name == "plain" || name == "authority" || name == "credentials" {
			families = []OS{AL2, AL2023, Ubuntu}
		}
		for _, os := range families {
			t.Run(string(os)+" "+name, func(t *testing.T) {
				t.Parallel()
				equalTrees(t, inputFrom(t, os, SelfManaged, spec), fakeMetadata(t, blocks, six), familyTree(os))
			})
		}
	}
}

// TestReaderStaticOnOldTrees: files of others in every shape in which they come.
func TestReaderStaticOnOldTrees(t *testing.T) {
	const ours = "# BEGIN eksproxy\nHTTP_PROXY=http://old:1\n# END eksproxy\n"
	environments := map[string]string{
		"lines behind": "A=1\nHTTP_PROXY=x\n" + ours + "\texport  https_proxy = y\nB=2\nNO_PROXY\nno_proxy=z", "two blocks": ours + "A=1\n" + ours,
		"no end": "A=1\n# BEGIN eksproxy\nHTTP_PROXY=a\nexport NO_PROXY=b\nC=3\n", "begin in it": "# BEGIN eksproxy\nHTTP_PROXY=a\nX=1\n# BEGIN eksproxy\nno_proxy=x\n# END eksproxy\nD=1\n",
		"Windows": "A=1\r\n# BEGIN eksproxy \r\nX\r\n# END eksproxy\t\r\nC=3\r\n", "empty": "", "last line": "A=\"%s\\n'\"", "end alone": "# END eksproxy\nA=1\n",
	}
	configs := map[string]string{
		"there": "[main]\nproxy = http://old:1\n  continued\nproxy_username=u\n\n# c\n[x]\nproxy=keep\n[main]\nproxy_password=p\nproxy=2", "no section": "a=1", "empty": "",
		"others": "# c\n[x]\na=1\n\n[main]\n# comment\n\n[y]\nb=2\n", "alone": "[main]", "odd": "[]\n[main] \r\nproxyx=1\nproxy\n;proxy=1\n proxy=2\n\n\n",
		"first": "[main]\nproxy=1\n more\n\t\n again\nz=1\n", "end": "[main]\nz=1", "dropped": "[main]\nproxy_username=u",
	}
	url := fakeMetadata(t, "10.40.0.0/16", "")
	for name, text := range environments {
		t.Run("environment "+name, func(t *testing.T) {
			t.Parallel()
			equalTrees(t, input(t, Ubuntu, SelfManaged), url, familyTree(AL2023), map[string]string{"etc/environment 640": text})
		})
	}
	for name, text := range configs {
		t.Run("dnf.conf "+name, func(t *testing.T) {
			t.Parallel()
			equalTrees(t, input(t, AL2023, SelfManaged), url, map[string]string{"etc/os-release": "", "etc/dnf/dnf.conf 640": text, "etc/environment": "-> /etc/env/real", "etc/env/real": "A=1\n"})
		})
	}
}
