package integration

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/eksproxy/eksproxy/integration/program"
)

// The file layer is checked from outside as well, by what the kernel is asked
// for: whatever changes the tree goes through a temporary file that is synced
// and renamed, and a kill at any of these calls leaves whole files.

// changing are the system calls that can change a tree. "openat" is among them
// for O_CREAT and O_TRUNC.
const changing = "openat,write,fsync,renameat,renameat2,rename,unlinkat,unlink,mkdirat,mkdir,fchmod,fchmodat,fchown,ftruncate,truncate,link,linkat,symlink,symlinkat,pwrite64,fallocate"

func needStrace(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("strace"); err != nil {
		t.Fatal("strace is missing: run apt-get install strace")
	}
}

// traced runs the program under strace and returns its result and the calls.
func traced(t *testing.T, options, args []string) (program.Result, []string) {
	t.Helper()
	needStrace(t)
	log := filepath.Join(t.TempDir(), "trace")
	wrapper := append([]string{"strace", "-f", "-y", "-qq", "-o", log, "-e", "signal=none"}, options...)
	r := program.RunUnder(t, wrapper, nil, args...)
	data, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	return r, strings.Split(string(data), "\n")
}

// flagsOf are flags that need no metadata, so that every run makes the same
// calls.
func flagsOf(root string) []string {
	return []string{"--root", root, "--vpc-cidr", "10.40.0.0/16", "--region", "eu-west-1", "--http-proxy", httpProxy}
}

// No write bypasses the layer.
func TestEveryWriteIsARename(t *testing.T) {
	root := program.Tree(t, "al2023")
	for _, verb := range [][]string{append([]string{"node", "apply"}, flagsOf(root)...), {"node", "revert", "--root", root}} {
		r, calls := traced(t, []string{"-e", "trace=" + changing}, verb)
		if r.Code != 0 {
			t.Fatalf("%v: exit %d: %s", verb, r.Code, r.Stderr)
		}
		opened, synced, renamed := checkCalls(t, root, calls)
		if renamed == 0 || opened != renamed {
			t.Errorf("%v: %d files opened for writing, %d renamed", verb[:2], opened, renamed)
		}
		if synced < 2*renamed {
			t.Errorf("%v: %d syncs for %d files: a file and its directory need two", verb[:2], synced, renamed)
		}
	}
}

// checkCalls fails the test for each call below the root that a whole-file
// write does not make, and counts those that it does.
func checkCalls(t *testing.T, root string, calls []string) (opened, synced, renamed int) {
	t.Helper()
	writing := regexp.MustCompile(`O_(WRONLY|RDWR|CREAT|TRUNC|APPEND)`)
	for _, call := range calls {
		_, call, _ = strings.Cut(call, " ")
		call = strings.TrimSpace(call)
		name, rest, _ := strings.Cut(call, "(")
		below := strings.Contains(rest, "<"+root)
		switch {
		case !below:
		case name == "openat" && !writing.MatchString(rest):
		case name == "openat" && strings.Contains(rest, `.eksproxy-new", O_WRONLY|O_CREAT|O_EXCL|O_NOFOLLOW`):
			opened++
		case (name == "write" || name == "fchmod" || name == "fchown") && strings.Contains(rest, ".eksproxy-new>"):
		case name == "fsync":
			synced++
		case name == "renameat" && strings.Contains(rest, `.eksproxy-new", `):
			renamed++
		case name == "mkdirat", name == "unlinkat":
		case name == "fchmod" && strings.Contains(rest, ", 0755)"), name == "fchmod" && strings.Contains(rest, ", 0700)"): // a directory
		default:
			t.Errorf("a call bypasses the file layer: %s", call)
		}
	}
	return opened, synced, renamed
}

// A kill at the Nth of each kind of call leaves each file old or new, and the
// next run makes the rest. (strace counts for each thread, so the Nth call of
// the program as a whole is a later one.)
func TestKilledAtEachKindOfCall(t *testing.T) {
	needStrace(t)
	base := program.Tree(t, "al2023")
	old := contents(t, base)
	program.Expect(t, 0, append([]string{"node", "apply"}, flagsOf(base)...)...)
	done, final := contents(t, base), program.Snapshot(t, base)
	for _, call := range []string{"openat", "write", "fsync", "renameat", "mkdirat", "fchmod"} {
		t.Run(call, func(t *testing.T) {
			begun := 0
			for n := 1; n <= 4000; n += 1 + n/4 {
				root := program.Tree(t, "al2023")
				args := append([]string{"node", "apply"}, flagsOf(root)...)
				r, _ := traced(t, []string{"-e", "trace=" + call, "-e", fmt.Sprintf("inject=%s:signal=KILL:when=%d", call, n)}, args)
				if r.Code == 0 {
					break // there are fewer calls
				}
				now := contents(t, root)
				if _, ok := now["/etc/eksproxy/proxy.env"]; ok {
					begun++
				}
				oldOrNew(t, fmt.Sprintf("%s %d", call, n), now, old, done)
				program.Expect(t, 0, args...)
				if diff := program.Diff(final, program.Snapshot(t, root)); diff != "" {
					t.Errorf("%s %d: the next run does not converge:\n%s", call, n, diff)
				}
			}
			if begun == 0 {
				t.Error("no kill came in the middle of the files: the test shows nothing")
			}
		})
	}
}

// oldOrNew fails the test for each file that is neither; half a write beside it
// and the record are no files of the node.
func oldOrNew(t *testing.T, where string, now, old, done map[string]string) {
	t.Helper()
	for path, text := range now {
		if strings.HasSuffix(path, ".eksproxy-new") || strings.HasSuffix(path, "/state.json") {
			continue
		}
		if text != old[path] && text != done[path] {
			t.Errorf("%s: %s is neither old nor new: %q", where, path, text)
		}
	}
}

// contents are the regular files of a tree by path.
func contents(t *testing.T, root string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		files[strings.TrimPrefix(path, root)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
