package node

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/eksproxy/eksproxy/internal/rootfs"
	"github.com/eksproxy/eksproxy/noproxy"
	"github.com/eksproxy/eksproxy/proxyconfig"
)

// entry is a file of a test tree: text, or where a link leads.
type entry struct {
	text, link string
	mode       fs.FileMode
}

func file(text string) entry { return entry{text: text, mode: 0o644} }

func link(to string) entry { return entry{link: to} }

// tree is the files of a root by path; a path that ends in "/" is a directory.
type tree map[string]entry

// with returns the tree with other files in it.
func (t tree) with(more tree) tree {
	out := tree{}
	for _, from := range []tree{t, more} {
		maps.Copy(out, from)
	}
	return out
}

func baseTree(family Family) tree {
	release := map[Family]string{
		AL2:    "NAME=\"Amazon Linux\"\nID=\"amzn\"\nVERSION_ID=\"2\"\n",
		AL2023: "NAME=\"Amazon Linux\"\nID=\"amzn\"\nVERSION_ID=\"2023\"\n",
		Ubuntu: "NAME=\"Ubuntu\"\nID=ubuntu\nVERSION_ID=\"22.04\"\n",
	}
	t := tree{"/etc/os-release": file(release[family]), "/var/lib/": {}, "/usr/lib/systemd/system/containerd.service": file("")}
	switch family {
	case AL2:
		return t.with(tree{"/etc/yum.conf": file("[main]\ngpgcheck=1\n# comment\n\n[extras]\nenabled=0\n")})
	case AL2023:
		return t.with(tree{"/etc/dnf/dnf.conf": file("[main]\ngpgcheck=1\n"), "/etc/yum.conf": link("dnf/dnf.conf")})
	default:
		return t.with(tree{"/etc/apt/apt.conf.d/": {}, "/etc/environment": file("PATH=\"/usr/bin:/bin\"\n")})
	}
}

// plant makes the tree in a new directory and opens it.
func plant(t *testing.T, files tree) *rootfs.Root {
	t.Helper()
	dir := t.TempDir()
	plantIn(t, dir, files)
	return open(t, dir)
}

func plantIn(t *testing.T, dir string, files tree) {
	t.Helper()
	for p, e := range files {
		full := filepath.Join(dir, p)
		parent := filepath.Dir(full)
		if strings.HasSuffix(p, "/") {
			parent = full
		}
		check(t, os.MkdirAll(parent, 0o755))
		switch {
		case strings.HasSuffix(p, "/"):
		case e.link != "":
			check(t, os.Symlink(e.link, full))
		default:
			check(t, os.WriteFile(full, []byte(e.text), 0o600))
			check(t, os.Chmod(full, e.mode))
		}
	}
}

func open(t *testing.T, dir string) *rootfs.Root {
	t.Helper()
	root, err := rootfs.Open(dir)
	check(t, err)
	t.Cleanup(func() { _ = root.Close() })
	return root
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// snapshot is every path below the root with its mode and content, so that two
// trees can be compared byte for byte.
func snapshot(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	check(t, filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		what := ""
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			what, err = os.Readlink(p)
		case info.Mode().IsRegular():
			var data []byte
			data, err = os.ReadFile(p)
			what = fmt.Sprintf("%x %q", sha256.Sum256(data), data)
		}
		fmt.Fprintf(&b, "%s %s %s\n", strings.TrimPrefix(p, dir), info.Mode(), what)
		return err
	}))
	return b.String()
}

func read(t *testing.T, root *rootfs.Root, p string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root.Dir(), p))
	check(t, err)
	return string(data)
}

func write(t *testing.T, root *rootfs.Root, p, text string) {
	t.Helper()
	check(t, os.WriteFile(filepath.Join(root.Dir(), p), []byte(text), 0o644))
}

// testPassword holds what every format writes differently.
const testPassword = `p@ss:w/#%41 $x'"\`

// proxyURL is a proxy for tests, with credentials or without.
func proxyURL(credentials bool) proxyconfig.URL {
	u, err := proxyconfig.ParseURL("http://proxy.example:3128")
	if err != nil {
		panic(err)
	}
	if credentials {
		c, err := proxyconfig.ParseCredentials([]byte("svc:" + testPassword + "\n"))
		if err != nil {
			panic(err)
		}
		u = u.With(c)
	}
	return u
}

func list(texts ...string) noproxy.List {
	var l noproxy.List
	for _, text := range texts {
		l = append(l, noproxy.Entry{Text: text})
	}
	return l
}

// settings are what most tests apply.
func settings(credentials bool) proxyconfig.Settings {
	u := proxyURL(credentials)
	return proxyconfig.Settings{HTTPProxy: u, HTTPSProxy: u, NoProxy: list("localhost", "169.254.169.254", "10.40.0.0/16", ".svc", "*.svc")}
}

// desire is what the settings want on the tree.
func desire(t *testing.T, root *rootfs.Root, s proxyconfig.Settings, cfg proxyconfig.Node) Desired {
	t.Helper()
	sys, err := Detect(root, cfg.OS, cfg.Runtime)
	check(t, err)
	d, err := Want(sys, s, cfg)
	check(t, err)
	return d
}

// applyTo applies settings to the tree and returns the plan.
func applyTo(t *testing.T, root *rootfs.Root, s proxyconfig.Settings, cfg proxyconfig.Node) *Prepared {
	t.Helper()
	p, err := doApply(t.Context(), root, s, cfg)
	check(t, err)
	return p
}

func doApply(ctx context.Context, root *rootfs.Root, s proxyconfig.Settings, cfg proxyconfig.Node) (*Prepared, error) {
	sys, err := Detect(root, cfg.OS, cfg.Runtime)
	if err != nil {
		return nil, err
	}
	d, err := Want(sys, s, cfg)
	if err != nil {
		return nil, err
	}
	p, err := Prepare(root, d)
	if err != nil {
		return nil, err
	}
	_, err = p.Apply(ctx, "")
	return p, err
}

func revert(t *testing.T, root *rootfs.Root) {
	t.Helper()
	check(t, doRevert(t.Context(), root))
}

func doRevert(ctx context.Context, root *rootfs.Root) error {
	p, err := PrepareRevert(root)
	if err != nil {
		return err
	}
	_, err = p.Apply(ctx, "")
	return err
}
