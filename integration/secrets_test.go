package integration

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/eksproxy/eksproxy/integration/program"
)

// credentials writes the test's user and password as --credentials-file takes
// them, and returns the path.
func credentials(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "credentials")
	if err := os.WriteFile(path, []byte(secret.User+":"+secret.Password+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// checkFiles fails where a file with the password is open to others, and
// where no file has it.
func checkFiles(t *testing.T, root string) {
	t.Helper()
	found := false
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if form := secret.In(string(content)); form != "" {
			found = true
			if info.Mode() != 0o600 {
				t.Errorf("%s has the password %s and mode %s", path, form, info.Mode())
			}
		}
		return err
	})
	if err != nil || !found {
		t.Errorf("no file of the tree has the password: %v", err)
	}
}

// TestMain searches the output of all these runs for the password.
func TestPasswordIsNeverShown(t *testing.T) {
	for i, format := range []string{"table", "json", "yaml", "markdown"} {
		family := program.Families[i]
		t.Run(format+" on "+family, func(t *testing.T) {
			_, url := serve(t, instanceOf(family))
			root := program.Tree(t, family)
			before := program.Snapshot(t, root)
			plan := filepath.Join(t.TempDir(), "plan.json")
			flags := []string{"-o", format, "--imds-endpoint", url,
				"--http-proxy", httpProxy, "--credentials-file", credentials(t)}
			program.Expect(t, 0, node("plan", root, append(flags, "--out", plan)...)...)
			if form := secret.In(read(t, "", plan)); form != "" {
				t.Errorf("the plan file has the password %s", form)
			}
			program.Expect(t, 0, node("apply", root, flags...)...)
			checkFiles(t, root)
			program.Expect(t, 0, node("plan", root, flags...)...)
			program.Expect(t, 0, node("status", root, "-o", format)...)
			program.Expect(t, 0, node("revert", root, "-o", format)...)
			if diff := program.Diff(before, program.Snapshot(t, root)); diff != "" {
				t.Errorf("revert does not give back the tree:\n%s", diff)
			}
		})
	}
}

// A change of the password alone is planned, applied and not shown.
func TestPasswordChange(t *testing.T) {
	_, url := serve(t, twoBlocks())
	root := program.Tree(t, "al2023")
	file := credentials(t)
	flags := []string{"--imds-endpoint", url, "--http-proxy", httpProxy, "--credentials-file", file}
	program.Expect(t, 0, node("apply", root, flags...)...)
	changed := secret.User + ":next-" + secret.Password + "\n"
	if err := os.WriteFile(file, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	check := untouched(t, root)
	program.Expect(t, 1, node("plan", root, append(flags, "--exit-code")...)...)
	check()
	program.Expect(t, 0, node("apply", root, flags...)...)
	program.Expect(t, 0, node("plan", root, append(flags, "--exit-code")...)...)
	checkFiles(t, root)
}

// Errors say what is wrong without the password in it.
func TestPasswordInErrors(t *testing.T) {
	_, url := serve(t, twoBlocks())
	inURL := "http://" + secret.User + ":" + secret.Core + "@proxy.example:3128"
	malformed := "http://" + secret.User + ":%zz" + secret.Core + "@proxy.example:3128"
	for name, c := range map[string]struct {
		code int
		args []string
	}{
		"metadata unreachable": {3, []string{"--imds-endpoint", "http://127.0.0.1:1", "--imds-timeout", "1s", "--http-proxy", httpProxy}},
		"password in a flag":   {2, []string{"--imds-endpoint", url, "--http-proxy", inURL}},
		"malformed URL":        {2, []string{"--imds-endpoint", url, "--http-proxy", malformed}},
		"password in endpoint": {2, []string{"--imds-endpoint", malformed, "--http-proxy", httpProxy}},
		"unknown flag":         {2, []string{"--imds-endpoint", url, "--password", secret.Core}},
		"unknown format":       {2, []string{"--imds-endpoint", url, "--http-proxy", httpProxy, "-o", "xml"}},
	} {
		t.Run(name, func(t *testing.T) {
			root := program.Tree(t, "al2023")
			check := untouched(t, root)
			program.Expect(t, c.code, node("apply", root, append(c.args, "--credentials-file", credentials(t))...)...)
			check()
		})
	}
}

// A credentials file that is not one is refused without a word of it.
func TestMalformedCredentials(t *testing.T) {
	_, url := serve(t, twoBlocks())
	for name, content := range map[string]string{
		"no user":   secret.Password + "\nsecond line " + secret.Core + "\n",
		"two lines": secret.User + ":" + secret.Password + "\nHTTP_PROXY=" + secret.Core + "\n",
		"a control": secret.User + ":" + secret.Core + "\x1b[2J\n",
	} {
		t.Run(name, func(t *testing.T) {
			root := program.Tree(t, "al2023")
			file := filepath.Join(t.TempDir(), "credentials")
			if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			check := untouched(t, root)
			program.Expect(t, 2, node("apply", root, "--imds-endpoint", url,
				"--http-proxy", httpProxy, "--credentials-file", file)...)
			check()
		})
	}
}

// Passwords that someone else left in the tree are masked as well.
func TestOlderPasswordIsNeverShown(t *testing.T) {
	_, url := serve(t, twoBlocks())
	for _, format := range []string{"table", "json", "yaml", "markdown"} {
		root := program.Tree(t, "al2023")
		old := "http://" + older.User + ":" + older.Password + "@old.example:3128"
		write(t, root, "etc/environment", "http_proxy="+old+"\nhttps_proxy=\""+old+"\"\n")
		write(t, root, "etc/dnf/dnf.conf", "[main]\nproxy="+old+"\nproxy_username="+older.User+
			"\nproxy_password="+older.Password+"\n")
		before := program.Snapshot(t, root)
		flags := []string{"-o", format, "--imds-endpoint", url, "--http-proxy", httpProxy}
		plan := filepath.Join(t.TempDir(), "plan.json")
		program.Expect(t, 0, node("plan", root, append(flags, "--out", plan)...)...)
		if form := older.In(read(t, "", plan)); form != "" {
			t.Errorf("%s: the plan file has the old password %s", format, form)
		}
		program.Expect(t, 0, node("apply", root, flags...)...)
		program.Expect(t, 0, node("revert", root, "-o", format)...)
		if diff := program.Diff(before, program.Snapshot(t, root)); diff != "" {
			t.Errorf("%s: revert does not give back the tree:\n%s", format, diff)
		}
	}
}
