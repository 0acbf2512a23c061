package node

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/eksproxy/eksproxy/internal/rootfs"
	"github.com/eksproxy/eksproxy/plan"
	"github.com/eksproxy/eksproxy/proxyconfig"
)

const block1 = "# BEGIN eksproxy\nHTTP_PROXY=http://old.example:1\n# END eksproxy\n"

// trees are what eksproxy may meet on a node, by what is special about them.
func trees() map[string]tree {
	recipe := "http_proxy=http://old.example:3128\nHTTP_PROXY=http://old.example:3128\nno_proxy=localhost\n"
	return map[string]tree{
		"plain":                   {},
		"no final line end":       {"/etc/environment": file("A=1"), "/etc/dnf/dnf.conf": file("[main]\ngpgcheck=1"), "/etc/yum.conf": file("[main]\ngpgcheck=1")},
		"CRLF":                    {"/etc/environment": file("A=1\r\nHTTP_PROXY=x\r\n"), "/etc/dnf/dnf.conf": file("[main]\r\nproxy=http://old.example:1\r\ngpgcheck=1\r\n")},
		"empty files":             {"/etc/environment": file(""), "/etc/dnf/dnf.conf": file(""), "/etc/yum.conf": file("")},
		"two blocks of ours":      {"/etc/environment": file("A=1\n" + block1 + "B=2\n" + block1 + "no_proxy=y\n")},
		"a block without its end": {"/etc/environment": file("# BEGIN eksproxy\nHTTP_PROXY=x\nno_proxy=y\nB=2\n")},
		"the published recipe": {
			"/etc/environment":  file(recipe + recipe),
			"/etc/dnf/dnf.conf": file("[main]\nproxy=http://old.example:3128\nproxy=http://old.example:3128\n"),
			"/etc/systemd/system/containerd.service.d/http-proxy.conf": file("[Service]\nEnvironmentFile=/etc/environment\n"),
		},
		"no section (BL-029)":      {"/etc/dnf/dnf.conf": file("# nothing\n[extras]\nenabled=0"), "/etc/yum.conf": file("[extras]\nproxy=_none_\n")},
		"options of others":        {"/etc/dnf/dnf.conf": file("[main]\nproxy = http://old.example:1\n  http://continued\nproxy_username=old\nproxy_password=secret\nbest=1\n\n[main]\nproxy=second\n")},
		"modes":                    {"/etc/environment": {text: "A=1\n", mode: 0o640}, "/etc/dnf/dnf.conf": {text: "[main]\n", mode: 0o664}},
		"a drop-in of that name":   {"/etc/systemd/system/kubelet.service.d/zz-eksproxy.conf": file("[Service]\nRestart=always\n"), "/etc/eksproxy/proxy.env": {text: "mine\n", mode: 0o644}},
		"links":                    {"/etc/environment": link("default/env"), "/etc/default/env": file("A=1\n"), "/etc/systemd/system/kubelet.service.d": link("/opt/kubelet.d"), "/opt/kubelet.d/": {}},
		"a dangling link":          {"/etc/environment": link("/etc/default/env"), "/etc/default/": {}},
		"binary and long lines":    {"/etc/environment": file("A=\x00\xff\n" + strings.Repeat("x", 9000) + "\n\n\n")},
		"a link as record's place": {"/var/lib/eksproxy": link("/srv/state"), "/srv/state/": {}},
	}
}

// forEachTree runs a test on every tree of every family.
func forEachTree(t *testing.T, test func(t *testing.T, files tree)) {
	t.Helper()
	for _, family := range []Family{AL2, AL2023, Ubuntu} {
		for name, special := range trees() {
			t.Run(fmt.Sprintf("%s/%s", family, name), func(t *testing.T) {
				t.Parallel()
				test(t, baseTree(family).with(special))
			})
		}
	}
}

// revert(apply(T)) = T: bytes, modes, links and directories.
func TestRevertRestoresTheTree(t *testing.T) {
	forEachTree(t, func(t *testing.T, files tree) {
		t.Helper()
		for _, credentials := range []bool{false, true} {
			root := plant(t, files)
			before := snapshot(t, root.Dir())
			applyTo(t, root, settings(credentials), proxyconfig.Node{})
			if snapshot(t, root.Dir()) == before {
				t.Fatal("apply changed nothing")
			}
			revert(t, root)
			if diff := cmp.Diff(before, snapshot(t, root.Dir())); diff != "" {
				t.Errorf("credentials %v: the tree differs (-before +after):\n%s", credentials, diff)
			}
		}
	})
}

// Any number of other settings in between changes nothing about that.
func TestRevertAfterSeveralApplies(t *testing.T) {
	forEachTree(t, func(t *testing.T, files tree) {
		t.Helper()
		root := plant(t, files)
		before := snapshot(t, root.Dir())
		for _, step := range []struct {
			credentials bool
			cfg         proxyconfig.Node
			list        []string
		}{
			{true, proxyconfig.Node{}, []string{"a"}},
			{true, proxyconfig.Node{CredentialsInEtcEnvironment: true}, []string{"b"}},
			{false, proxyconfig.Node{Runtime: "docker"}, []string{"b"}},
			{true, proxyconfig.Node{Off: map[string]bool{proxyconfig.TargetEtcEnvironment: true, proxyconfig.TargetPackageManager: true, proxyconfig.TargetKubelet: true}}, []string{"c"}},
			{false, proxyconfig.Node{}, []string{"d"}},
		} {
			s := settings(step.credentials)
			s.NoProxy = list(step.list...)
			applyTo(t, root, s, step.cfg)
			p, err := Prepare(root, desire(t, root, s, step.cfg))
			check(t, err)
			if pending := p.Pending(); len(pending) > 0 {
				t.Errorf("a second run would change %s", pending[0].Target)
			}
		}
		revert(t, root)
		if diff := cmp.Diff(before, snapshot(t, root.Dir())); diff != "" {
			t.Errorf("the tree differs (-before +after):\n%s", diff)
		}
	})
}

// A second run writes nothing, and neither does planning (BL-033).
func TestSecondRunWritesNothing(t *testing.T) {
	forEachTree(t, func(t *testing.T, files tree) {
		t.Helper()
		root := plant(t, files)
		applyTo(t, root, settings(true), proxyconfig.Node{})
		root.Step = func(op rootfs.Op, path string) { t.Errorf("the second run does %s %s", op, path) }
		p := applyTo(t, root, settings(true), proxyconfig.Node{})
		for _, c := range p.Changes {
			if c.Action != plan.Unchanged {
				t.Errorf("%s: %s", c.Target, c.Action)
			}
		}
	})
}

func TestPlanningWritesNothing(t *testing.T) {
	root := plant(t, baseTree(AL2023))
	root.Step = func(op rootfs.Op, path string) { t.Errorf("planning does %s %s", op, path) }
	p, err := Prepare(root, desire(t, root, settings(true), proxyconfig.Node{}))
	check(t, err)
	if len(p.Pending()) != len(p.Changes) || len(p.Changes) == 0 {
		t.Errorf("%d of %d changes are pending", len(p.Pending()), len(p.Changes))
	}
	if _, err := PrepareRevert(root); err != nil {
		t.Error(err)
	}
}

// Where others wrote in between, their bytes stay and ours go.
func TestOthersWroteInBetween(t *testing.T) {
	const env, dnf, dropIn = "/etc/environment", "/etc/dnf/dnf.conf", "/etc/systemd/system/kubelet.service.d/zz-eksproxy.conf"
	add := func(text string) func(string) string { return func(old string) string { return old + text } }
	for name, c := range map[string]struct {
		path string
		was  string // empty: the file is not there
		edit func(string) string
		want string
	}{
		"line behind the block":      {env, "A=1\n", add("B=2\n"), "A=1\nB=2\n"},
		"line before the block":      {env, "A=1\n", func(s string) string { return "B=2\n" + s }, "B=2\nA=1\n"},
		"in a file of ours":          {env, "", add("B=2\n"), "B=2\n"},
		"variable of ours behind it": {env, "A=1\n", add("HTTP_PROXY=theirs\n"), "A=1\nHTTP_PROXY=theirs\n"},
		"block removed by hand":      {env, "A=1\n", func(string) string { return "A=2\n" }, "A=2\n"},
		"another option":             {dnf, "[main]\na=1\n", add("b=2\n"), "[main]\na=1\nb=2\n"},
		"our option changed":         {dnf, "[main]\n", func(s string) string { return strings.Replace(s, "proxy=http://proxy", "proxy=http://theirs", 1) }, "[main]\nproxy=http://theirs.example:3128\n"},
		"old option comes back":      {dnf, "[main]\nproxy=old\na=1\n", add("b=2\n"), "[main]\nproxy=old\na=1\nb=2\n"},
		"another section":            {dnf, "", add("[x]\ny=1\n"), "[x]\ny=1\n"},
		"line in our drop-in":        {dropIn, "", add("Restart=always\n"), "Restart=always\n"},
		"line in a replaced drop-in": {dropIn, "[Service]\nA=1\n", add("Restart=always\n"), "[Service]\nA=1\nRestart=always\n"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, applies := range []int{1, 2} {
				files := baseTree(AL2023)
				delete(files, c.path)
				if c.was != "" {
					files[c.path] = file(c.was)
				}
				root := plant(t, files)
				applyTo(t, root, settings(false), proxyconfig.Node{})
				write(t, root, c.path, c.edit(read(t, root, c.path)))
				if applies == 2 && name != "our option changed" {
					applyTo(t, root, settings(false), proxyconfig.Node{})
				}
				revert(t, root)
				if got := read(t, root, c.path); got != c.want {
					t.Errorf("after %d applies: %q, want %q", applies, got, c.want)
				}
			}
		})
	}
}

// A directory of ours that others use stays, and their files with it.
func TestOthersFilesInOurDirectories(t *testing.T) {
	root := plant(t, baseTree(AL2023))
	applyTo(t, root, settings(false), proxyconfig.Node{})
	write(t, root, "/etc/systemd/system/kubelet.service.d/10-theirs.conf", "x")
	revert(t, root)
	if got := read(t, root, "/etc/systemd/system/kubelet.service.d/10-theirs.conf"); got != "x" {
		t.Errorf("their file is %q", got)
	}
	for _, gone := range []string{"/etc/eksproxy", "/var/lib/eksproxy", "/etc/systemd/system/kubelet.service.d/zz-eksproxy.conf"} {
		if root.Exists(gone) {
			t.Errorf("%s is left", gone)
		}
	}
}

// A file that others removed stays removed, and one that they gave another mode
// keeps it.
func TestOthersRemovedOrChangedMode(t *testing.T) {
	root := plant(t, baseTree(AL2023).with(tree{"/etc/environment": file("A=1\n")}))
	applyTo(t, root, settings(false), proxyconfig.Node{})
	check(t, os.Remove(filepath.Join(root.Dir(), "/etc/environment")))
	check(t, os.Chmod(filepath.Join(root.Dir(), "/etc/dnf/dnf.conf"), 0o600))
	revert(t, root)
	if root.Exists("/etc/environment") {
		t.Error("the removed file is back")
	}
	info, err := os.Stat(filepath.Join(root.Dir(), "/etc/dnf/dnf.conf"))
	check(t, err)
	if info.Mode().Perm() != 0o600 {
		t.Errorf("the mode is %s", info.Mode())
	}
}

func TestRevertWithoutRecord(t *testing.T) {
	root := plant(t, baseTree(AL2023))
	before := snapshot(t, root.Dir())
	p, err := PrepareRevert(root)
	check(t, err)
	if len(p.Notes) != 1 || !strings.Contains(p.Notes[0], "nothing is recorded") {
		t.Errorf("notes %q", p.Notes)
	}
	revert(t, root)
	if diff := cmp.Diff(before, snapshot(t, root.Dir())); diff != "" {
		t.Error(diff)
	}
}

// A record that this program does not understand stops it before it writes.
func TestForeignRecord(t *testing.T) {
	for text, want := range map[string]string{`{"format": 99}`: "format 99", "{": "reading the record"} {
		root := plant(t, baseTree(AL2023).with(tree{StatePath: {text: text, mode: 0o600}}))
		before := snapshot(t, root.Dir())
		_, err := Prepare(root, desire(t, root, settings(false), proxyconfig.Node{}))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
		if _, err := PrepareRevert(root); err == nil {
			t.Error("revert takes it")
		}
		if diff := cmp.Diff(before, snapshot(t, root.Dir())); diff != "" {
			t.Error(diff)
		}
	}
}
