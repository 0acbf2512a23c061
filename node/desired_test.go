package node

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/eksproxy/eksproxy/proxyconfig"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares with a file in testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		check(t, os.MkdirAll("testdata", 0o755))
		check(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	check(t, err)
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

// Every file of every family, with its mode, as it is on the disk. BL-024,
// BL-025: sandbox-image on Amazon Linux 2 and nodeadm's units on 2023 are among
// them.
func TestFilesOfEachFamily(t *testing.T) {
	for _, family := range []Family{AL2, AL2023, Ubuntu} {
		for _, credentials := range []bool{false, true} {
			root := plant(t, baseTree(family))
			p := applyTo(t, root, settings(credentials), proxyconfig.Node{})
			var b strings.Builder
			for _, c := range p.Changes {
				fmt.Fprintf(&b, "== %s %s: %s\n%s", c.After.Mode, c.Target, c.Reason, read(t, root, strings.Fields(c.Target)[0]))
			}
			name := string(family)
			if credentials {
				name += "-credentials"
			}
			golden(t, name+".txt", b.String())
		}
	}
}

// What is switched off is not written.
func TestTargetsSwitchedOff(t *testing.T) {
	for _, target := range proxyconfig.Targets() {
		found := false
		for _, family := range []Family{AL2, AL2023, Ubuntu} {
			sys := System{family, []string{"containerd", "docker"}}
			all, err := Want(sys, settings(false), proxyconfig.Node{})
			check(t, err)
			some, err := Want(sys, settings(false), proxyconfig.Node{Off: map[string]bool{target.Name: true}})
			check(t, err)
			found = found || len(some.Items) < len(all.Items)
		}
		if !found && target.Name != proxyconfig.TargetTrustStore {
			t.Errorf("switching %s off changes nothing on any family", target.Name)
		}
	}
}

func TestRuntimes(t *testing.T) {
	for runtime, want := range map[string]string{"containerd": "containerd", "docker": "docker"} {
		sys, err := Detect(plant(t, baseTree(AL2)), "", runtime)
		check(t, err)
		d, err := Want(sys, settings(false), proxyconfig.Node{})
		check(t, err)
		var got []string
		for _, i := range d.Items {
			for _, r := range []string{"containerd", "docker"} {
				if i.Path == dropInDir(r)+"/"+dropInName {
					got = append(got, r)
				}
			}
		}
		if !cmp.Equal(got, []string{want}) {
			t.Errorf("--runtime %s gives drop-ins of %q", runtime, got)
		}
	}
}

func TestDetect(t *testing.T) {
	release := func(text string) tree { return tree{"/etc/os-release": file(text)} }
	docker := tree{"/usr/lib/systemd/system/docker.service": file("")}
	containerd := tree{"/etc/systemd/system/containerd.service": file("")}
	for name, c := range map[string]struct {
		files       tree
		os, runtime string
		want        string
		err         string
	}{
		"AL2":               {release("ID=\"amzn\"\nVERSION_ID=\"2\"\n").with(docker), "", "", "Amazon Linux 2, docker", ""},
		"AL2023":            {release("ID=amzn\nVERSION_ID=2023\n").with(containerd), "", "", "Amazon Linux 2023, containerd", ""},
		"nodeadm decides":   {release("ID=amzn\nVERSION_ID=2027\n").with(tree{"/usr/lib/systemd/system/nodeadm-config.service": file("")}), "", "", "Amazon Linux 2023, containerd and docker", ""},
		"Ubuntu":            {release("ID=ubuntu\n").with(docker).with(containerd), "", "", "Ubuntu, containerd and docker", ""},
		"usr/lib":           {tree{"/usr/lib/os-release": file("ID=ubuntu\n")}, "", "docker", "Ubuntu, docker", ""},
		"link":              {tree{"/etc/os-release": link("../usr/lib/os-release"), "/usr/lib/os-release": file("ID=ubuntu\n")}, "", "docker", "Ubuntu, docker", ""},
		"given":             {tree{}, "al2", "containerd", "Amazon Linux 2, containerd", ""},
		"another":           {release("ID=debian\nVERSION_ID=\"12\"\n"), "", "", "", `ID "debian", VERSION_ID "12": the operating system is not known; give --os al2, al2023 or ubuntu`},
		"a later Amazon":    {release("ID=amzn\nVERSION_ID=2027\n"), "", "", "", "give --os"},
		"no os-release":     {tree{}, "", "", "", "there is none"},
		"directory instead": {tree{"/etc/os-release/": {}}, "", "", "", "not a regular file"},
	} {
		sys, err := Detect(plant(t, c.files), c.os, c.runtime)
		switch {
		case c.err != "":
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: error %v, want %q", name, err, c.err)
			}
		case err != nil || sys.String() != c.want:
			t.Errorf("%s: %v, %v; want %s", name, sys, err, c.want)
		}
	}
}

// On Amazon Linux 2 PAM cuts lines, so that whole entries are left out of
// /etc/environment, and only there.
func TestPAMLimit(t *testing.T) {
	s := settings(false)
	for i := range 80 {
		s.NoProxy = append(s.NoProxy, list(fmt.Sprintf("host-%02d.corp.example", i))...)
	}
	for _, family := range []Family{AL2, AL2023} {
		root := plant(t, baseTree(family))
		p := applyTo(t, root, s, proxyconfig.Node{})
		longest := 0
		for line := range strings.Lines(read(t, root, etcEnv)) {
			longest = max(longest, len(strings.TrimSuffix(line, "\n")))
		}
		if cut := longest <= pamLine; cut != (family == AL2) {
			t.Errorf("%s: the longest line has %d bytes", family, longest)
		}
		if !strings.Contains(read(t, root, ProxyEnvPath), s.NoProxy.String()) {
			t.Errorf("%s: proxy.env has not the whole list", family)
		}
		if noted := strings.Contains(strings.Join(p.Notes, "\n"), "left out of NO_PROXY there"); noted != (family == AL2) {
			t.Errorf("%s: notes %q", family, p.Notes)
		}
		if family == AL2 && !strings.Contains(read(t, root, profilePath), s.NoProxy.String()) {
			t.Error("profile.d has not the whole list")
		}
	}
}

// Drop-ins of others that sort behind ours and change a variable are reported.
func TestOverrides(t *testing.T) {
	const dir = "/etc/systemd/system/kubelet.service.d/"
	for name, c := range map[string]struct {
		files tree
		want  string
	}{
		"EnvironmentFile":     {tree{dir + "zzz.conf": file("[Service]\nEnvironmentFile=-/etc/x\n"), "/etc/x": file("https_proxy=y\n")}, "takes https_proxy from -/etc/x"},
		"reset":               {tree{dir + "zzz.conf": file("[Service]\nEnvironmentFile=\n")}, "drops every EnvironmentFile="},
		"unset":               {tree{"/run/systemd/system/kubelet.service.d/zzz.conf": file("[Service]\nUnsetEnvironment=A NO_PROXY\n")}, "unsets NO_PROXY"},
		"Environment":         {tree{dir + "zzz.conf": file("[Service]\nEnvironment=\"HTTP_PROXY=x\"\n")}, "sets HTTP_PROXY by Environment="},
		"for all services":    {tree{"/etc/systemd/system/service.d/zzz.conf": file("[Service]\nEnvironmentFile=\n")}, "drops every EnvironmentFile="},
		"sorts before":        {tree{dir + "http-proxy.conf": file("[Service]\nEnvironmentFile=/etc/x\n"), "/etc/x": file("https_proxy=y\n")}, ""},
		"another variable":    {tree{dir + "zzz.conf": file("[Service]\nEnvironmentFile=/etc/x\nEnvironment=A=HTTP_PROXY\n"), "/etc/x": file("A=1\n")}, ""},
		"not a drop-in":       {tree{dir + "zzz.bak": file("[Service]\nEnvironmentFile=\n")}, ""},
		"a unit without ours": {tree{"/etc/systemd/system/sshd.service.d/zzz.conf": file("[Service]\nEnvironmentFile=\n")}, ""},
		"switched off":        {tree{"/etc/systemd/system/kubelet.service.d/zzz.conf": file("# EnvironmentFile=\n")}, ""},
	} {
		root := plant(t, baseTree(AL2023).with(c.files))
		p, err := Prepare(root, desire(t, root, settings(false), proxyconfig.Node{}))
		check(t, err)
		notes := strings.Join(p.Notes, "\n")
		if c.want == "" && notes != "" || !strings.Contains(notes, c.want) || c.want != "" && !strings.Contains(notes, "zzz.conf") {
			t.Errorf("%s: notes %q, want %q", name, notes, c.want)
		}
	}
}

// Other people's lines for our variables behind our block are moved, said, and
// come back; their passwords are not shown.
func TestLinesBehindTheBlock(t *testing.T) {
	text := "A=1\n" + block1 + "B=2\nexport https_proxy=http://u:hunter2@h:1\n no_proxy=x\nC=3\n"
	root := plant(t, baseTree(AL2023).with(tree{etcEnv: file(text)}))
	p := applyTo(t, root, settings(false), proxyconfig.Node{})
	got := read(t, root, etcEnv)
	if !strings.HasSuffix(got, "# END eksproxy\nB=2\nC=3\n") || !strings.HasPrefix(got, "A=1\n# BEGIN eksproxy\n") {
		t.Errorf("the file is %q", got)
	}
	notes := strings.Join(p.Notes, "\n")
	if strings.Count(notes, "is taken out and comes back with revert") != 2 || strings.Contains(notes, "hunter2") {
		t.Errorf("notes %q", notes)
	}
	revert(t, root)
	if got := read(t, root, etcEnv); got != text {
		t.Errorf("after revert %q", got)
	}
}
