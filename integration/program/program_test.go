package program

import (
	"encoding/base64"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestSnapshotSeesEveryChange(t *testing.T) {
	for name, change := range map[string]func(root string) error{
		"content": func(root string) error { return os.WriteFile(root+"/etc/environment", []byte("x"), 0o644) },
		"mode":    func(root string) error { return os.Chmod(root+"/etc/environment", 0o600) },
		"owner":   func(root string) error { return os.Chown(root+"/etc/environment", 1, 1) },
		"link": func(root string) error {
			os.Remove(root + "/etc/yum.conf")
			return os.Symlink("elsewhere", root+"/etc/yum.conf")
		},
		"new folder": func(root string) error { return os.Mkdir(root+"/etc/eksproxy", 0o755) },
	} {
		root := Tree(t, "al2023")
		before := Snapshot(t, root)
		if err := change(root); err != nil {
			t.Fatal(err)
		}
		if after := Snapshot(t, root); Diff(before, after) == "" {
			t.Errorf("%s: not seen", name)
		}
	}
}

func TestStampsSeeSilentWrites(t *testing.T) {
	for name, write := range map[string]func(root string) error{
		"same content": func(root string) error { return os.WriteFile(root+"/etc/environment", nil, 0o644) },
		"same mode":    func(root string) error { return os.Chmod(root+"/etc/environment", 0o644) },
		"a file that came and went": func(root string) error {
			if err := os.WriteFile(root+"/etc/lock", nil, 0o600); err != nil {
				return err
			}
			return os.Remove(root + "/etc/lock")
		},
	} {
		root := Tree(t, "al2023")
		content, before := Snapshot(t, root), Stamps(t, root)
		time.Sleep(20 * time.Millisecond)
		if again := Stamps(t, root); again != before {
			t.Fatalf("looking changed the tree:\n%s", Diff(before, again))
		}
		if err := write(root); err != nil {
			t.Fatal(err)
		}
		if Stamps(t, root) == before || Snapshot(t, root) != content {
			t.Errorf("%s: not seen, or seen in the content", name)
		}
	}
}

func TestTrees(t *testing.T) {
	for _, family := range Families {
		one, two := Tree(t, family), Tree(t, family)
		if diff := Diff(Snapshot(t, one), Snapshot(t, two)); diff != "" {
			t.Errorf("%s: two trees differ:\n%s", family, diff)
		}
		release, err := os.ReadFile(filepath.Join(one, "etc/os-release"))
		if err != nil || !strings.Contains(string(release), "\nID=") {
			t.Errorf("%s: os-release %q, %v", family, release, err)
		}
	}
}

func TestSecretIsFound(t *testing.T) {
	s := Secret{User: "u", Password: `p@"<%core`, Core: "core"}
	for _, text := range []string{
		"x" + s.Password, url.UserPassword(s.User, s.Password).String(), url.QueryEscape(s.Password),
		"Basic " + base64.StdEncoding.EncodeToString([]byte(s.User+":"+s.Password)),
		`"p@\"\u003c%other core"`,
		base64.StdEncoding.EncodeToString([]byte("# proxy\nHTTP_PROXY=core\n")),
		base64.StdEncoding.EncodeToString([]byte("# proxy\nHTTPS_PROXY=core\n")),
		base64.StdEncoding.EncodeToString([]byte("# proxy\nXHTTPS_PROXY=core\n")),
	} {
		if s.In(text) == "" {
			t.Errorf("not found in %q", text)
		}
	}
	if form := s.In("http://u:***@proxy.example:3128"); form != "" {
		t.Errorf("found %s in a masked URL", form)
	}
	var l transcript
	l.add("node plan", "nothing", "oops core")
	if leaks := l.leaks(s); len(leaks) != 1 || !strings.Contains(leaks[0], "stderr of: eksproxy node plan") {
		t.Errorf("got %q", leaks)
	}
}
