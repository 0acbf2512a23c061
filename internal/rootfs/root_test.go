//go:build linux

package rootfs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// plant makes a root with these directories (a path that ends in "/"), links
// (a text that begins with "->") and files.
func plant(t *testing.T, files map[string]string) *Root {
	t.Helper()
	dir := t.TempDir()
	for p, text := range files {
		full := filepath.Join(dir, p)
		if strings.HasSuffix(p, "/") {
			check(t, os.MkdirAll(full, 0o755))
			continue
		}
		check(t, os.MkdirAll(filepath.Dir(full), 0o755))
		if to, ok := strings.CutPrefix(text, "->"); ok {
			check(t, os.Symlink(to, full))
		} else {
			check(t, os.WriteFile(full, []byte(text), 0o644))
		}
	}
	r, err := Open(dir)
	check(t, err)
	t.Cleanup(func() { check(t, r.Close()) })
	return r
}

func TestResolve(t *testing.T) {
	r := plant(t, map[string]string{
		"etc/dnf/dnf.conf": "x", "etc/yum.conf": "->dnf/dnf.conf", "etc/abs": "->/etc/dnf/dnf.conf",
		"etc/up": "->../opt/x", "opt/": "", "etc/out": "->../../outside", "etc/far": "->/tmp/nowhere/x",
		"etc/dangling": "->new", "etc/loop": "->loop", "dir": "->/etc", "etc/chain": "->/dir/yum.conf",
		"etc/dots": "->./././dnf/../dnf/dnf.conf", "etc/root": "->/..",
	})
	for p, want := range map[string]string{
		"/etc/dnf/dnf.conf": "/etc/dnf/dnf.conf", "/etc/yum.conf": "/etc/dnf/dnf.conf", "/etc/abs": "/etc/dnf/dnf.conf",
		"/etc/up": "/opt/x", "/etc/dangling": "/etc/new", "/dir/dnf": "/etc/dnf", "/etc/chain": "/etc/dnf/dnf.conf",
		"/etc/dots": "/etc/dnf/dnf.conf", "/new/dir/file": "/new/dir/file", "/": "/", "/etc/../etc/dnf": "/etc/dnf",
	} {
		if got, err := r.Resolve(p); err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", p, got, err, want)
		}
	}
	for p, want := range map[string]string{
		"/etc/out":  "leaves the root",
		"/etc/root": "leaves the root",
		"/etc/far":  "is not below the root",
		"/etc/loop": "more than 40 symbolic links",
	} {
		if got, err := r.Resolve(p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %q, %v; want error %q", p, got, err, want)
		}
	}
}

// A link out of the tree is never written through, however it is made.
func TestNothingLeavesTheRoot(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "victim")
	check(t, os.WriteFile(outside, []byte("safe"), 0o644))
	r := plant(t, map[string]string{"etc/": "", "etc/abs": "->" + outside, "etc/dir": "->" + filepath.Dir(outside)})
	rel, err := filepath.Rel(filepath.Join(r.Dir(), "etc"), outside)
	check(t, err)
	check(t, os.Symlink(rel, filepath.Join(r.Dir(), "etc/rel")))
	for _, p := range []string{"/etc/abs", "/etc/rel", "/etc/dir/victim"} {
		if f, err := r.Read(p); err == nil {
			if err := r.Write(f.Path, []byte("overwritten"), 0o644); err == nil {
				t.Errorf("%s was written to %s", p, f.Path)
			}
		}
		// The same by the kernel's own path, as if the link had just been put there.
		_ = r.Write(p, []byte("overwritten"), 0o644)
	}
	data, err := os.ReadFile(outside)
	check(t, err)
	if string(data) != "safe" {
		t.Errorf("the file outside is %q", data)
	}
}

func TestReadKinds(t *testing.T) {
	r := plant(t, map[string]string{"dir/": "", "file": "text"})
	check(t, unix.Mkfifo(filepath.Join(r.Dir(), "pipe"), 0o644))
	if f, err := r.Read("/absent"); err != nil || f.Exists {
		t.Errorf("absent: %v, %v", f, err)
	}
	if f, err := r.Read("/file"); err != nil || !f.Exists || string(f.Data) != "text" || f.Mode != 0o644 {
		t.Errorf("file: %v, %v", f, err)
	}
	for p, want := range map[string]string{"/dir": "/dir is a directory, not a regular file; move it away", "/pipe": "named pipe"} {
		done := make(chan error, 1)
		go func() {
			_, err := r.Read(p)
			done <- err
		}()
		select {
		case err := <-done:
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", p, err, want)
			}
		case <-time.After(5 * time.Second):
			t.Errorf("reading %s hangs", p)
		}
	}
}

// The umask changes nothing: every mode is the given one.
func TestModesWithUmask(t *testing.T) {
	old := syscall.Umask(0o077)
	defer syscall.Umask(old)
	r := plant(t, map[string]string{})
	check(t, r.Mkdir("/d", 0o755))
	check(t, r.Write("/d/f", []byte("x"), 0o644))
	check(t, r.Write("/d/s", []byte("x"), 0o600))
	for p, want := range map[string]os.FileMode{"d": 0o755, "d/f": 0o644, "d/s": 0o600} {
		info, err := os.Stat(filepath.Join(r.Dir(), p))
		check(t, err)
		if info.Mode().Perm() != want {
			t.Errorf("%s has mode %s, want %s", p, info.Mode().Perm(), want)
		}
	}
}

// The owner, the ACL and other extended attributes of the old file are kept.
func TestAttributesAreKept(t *testing.T) {
	r := plant(t, map[string]string{"f": "old"})
	full := filepath.Join(r.Dir(), "f")
	if err := unix.Setxattr(full, "user.eksproxy", []byte("kept\x00bytes"), 0); err != nil {
		t.Fatalf("this file system has no extended attributes (%v): run the test where TMPDIR has them", err)
	}
	if os.Geteuid() == 0 {
		check(t, os.Chown(full, 1234, 2345))
		check(t, unix.Setxattr(full, "trusted.eksproxy", []byte("too"), 0))
	} else {
		t.Log("NOT RUN without root: owner and trusted attributes")
	}
	check(t, r.Write("/f", []byte("new"), 0o640))
	value := make([]byte, 64)
	n, err := unix.Getxattr(full, "user.eksproxy", value)
	check(t, err)
	if string(value[:n]) != "kept\x00bytes" {
		t.Errorf("the attribute is %q", value[:n])
	}
	info, err := os.Stat(full)
	check(t, err)
	if os.Geteuid() == 0 {
		st := info.Sys().(*syscall.Stat_t)
		if st.Uid != 1234 || st.Gid != 2345 {
			t.Errorf("the owner is %d:%d", st.Uid, st.Gid)
		}
		if _, err := unix.Getxattr(full, "trusted.eksproxy", value); err != nil {
			t.Error(err)
		}
	}
	if info.Mode().Perm() != 0o640 {
		t.Errorf("the mode is %s", info.Mode())
	}
}

// Write makes its calls in the order that survives a power cut.
func TestStepsOfAWrite(t *testing.T) {
	r := plant(t, map[string]string{"f": "old"})
	var steps []string
	r.Step = func(op Op, p string) { steps = append(steps, fmt.Sprintf("%s %s", op, p)) }
	check(t, r.Write("/f", []byte("new"), 0o644))
	want := []string{"create /.f.eksproxy-new", "write /f", "attributes /f", "sync /f", "rename /f"}
	if diff := cmp.Diff(want, steps); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
}

func TestLeftOverOfAKilledWrite(t *testing.T) {
	r := plant(t, map[string]string{".f.eksproxy-new": "half", ".g.eksproxy-new": "half"})
	check(t, r.Write("/f", []byte("new"), 0o644))
	check(t, r.RemoveTemp("/g"))
	check(t, r.RemoveTemp("/h"))
	names, err := r.ReadDir("/")
	check(t, err)
	if !cmp.Equal(names, []string{"f"}) {
		t.Errorf("the directory holds %q", names)
	}
}

// A write that cannot be finished leaves the old file and nothing beside it.
func TestFailedWriteLeavesNothing(t *testing.T) {
	r := plant(t, map[string]string{"f/inside": "x", "full": "old"})
	if err := r.Write("/f", []byte("x"), 0o644); err == nil || !strings.Contains(err.Error(), "replacing /f") {
		t.Errorf("replacing a directory: %v", err)
	}
	if err := r.Write("/absent/f", []byte("x"), 0o644); err == nil || !strings.Contains(err.Error(), "creating a file beside /absent/f") {
		t.Errorf("writing into no directory: %v", err)
	}
	names, err := r.ReadDir("/")
	check(t, err)
	if !cmp.Equal(names, []string{"f", "full"}) {
		t.Errorf("the directory holds %q", names)
	}
}

func TestDirectories(t *testing.T) {
	r := plant(t, map[string]string{"a/file": "", "empty/": "", "link": "->empty"})
	if got := r.MissingDirs("/a/b/c"); !cmp.Equal(got, []string{"/a/b", "/a/b/c"}) {
		t.Errorf("missing %q", got)
	}
	for _, d := range []string{"/a", "/link", "/absent"} {
		check(t, r.Rmdir(d))
	}
	check(t, r.Mkdir("/empty", 0o700))
	check(t, r.Rmdir("/empty"))
	for p, want := range map[string]bool{"/a/file": true, "/empty": false, "/link": false} {
		if got := r.Exists(p); got != want {
			t.Errorf("%s exists: %v", p, got)
		}
	}
	if _, err := os.Lstat(filepath.Join(r.Dir(), "link")); err != nil {
		t.Error("the link was removed")
	}
}

func TestLock(t *testing.T) {
	dir := t.TempDir()
	unlock, err := Lock(t.Context(), dir, time.Second)
	check(t, err)
	if _, err := Lock(t.Context(), dir, 60*time.Millisecond); err == nil || !strings.Contains(err.Error(), "another eksproxy held it for 60ms") {
		t.Errorf("the second lock: %v", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("stopped"))
	if _, err := Lock(ctx, dir, time.Minute); err == nil || !strings.Contains(err.Error(), "stopped") {
		t.Errorf("the interrupted lock: %v", err)
	}
	time.AfterFunc(100*time.Millisecond, unlock)
	again, err := Lock(t.Context(), dir, 10*time.Second)
	check(t, err)
	again()
	file := filepath.Join(dir, "run/lock")
	if _, err := Lock(t.Context(), file, time.Second); err == nil {
		t.Error("a lock in no directory")
	}
	names, err := os.ReadDir(dir)
	check(t, err)
	if len(names) != 0 {
		t.Errorf("locking a directory leaves %v", names)
	}
}
