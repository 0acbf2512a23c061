package container

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// work is a folder of a test in which all is written down that outlives a
// killed process. It is locked while the test runs.
type work string

// workFolder holds the folders of all tests on this machine.
func workFolder() string { return filepath.Join(os.TempDir(), "eksproxy-nodes") }

// sweepOnce clears once a process what killed tests left behind.
var sweepOnce sync.Once

// newWork makes a folder, gone when the test ends. Everybody may look into it:
// squid is not root.
func newWork(t *testing.T) work {
	t.Helper()
	base := workFolder()
	if err := os.MkdirAll(base, 0o755); err != nil {
		t.Fatal(err)
	}
	unlock, err := lock(base)
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	sweepOnce.Do(func() { sweep(t, base) })
	dir := filepath.Join(base, "node-"+strings.ToLower(rand.Text()[:10]))
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	release, err := lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := work(dir).clear(); err != nil {
			t.Error(err)
		}
		release()
	})
	return work(dir)
}

// name is the last part of the folder's path, unique on this machine.
func (w work) name() string { return filepath.Base(string(w)) }

// path is a path in the folder.
func (w work) path(parts ...string) string {
	return filepath.Join(append([]string{string(w)}, parts...)...)
}

// note writes down a network namespace.
func (w work) note(t *testing.T, namespace string) {
	t.Helper()
	if err := os.MkdirAll(w.path("netns"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(w.path("netns", namespace), nil, 0o644); err != nil {
		t.Fatal(err)
	}
}

// clear removes the folder and the control group of its name.
func (w work) clear() error {
	deadline := time.Now().Add(10 * time.Second)
	for {
		err := removeGroup(w.name())
		if err == nil {
			break
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("removing the control group: %w", err)
		}
		time.Sleep(20 * time.Millisecond)
	}
	return os.RemoveAll(string(w))
}

// sweep clears the folders that no process holds, and deletes the network
// namespaces written down in them.
func sweep(t *testing.T, base string) {
	t.Helper()
	dirs, err := os.ReadDir(base)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range dirs {
		w := work(filepath.Join(base, entry.Name()))
		f, err := os.Open(string(w))
		if err != nil {
			continue
		}
		if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
			names, _ := os.ReadDir(w.path("netns"))
			for _, n := range names {
				_ = exec.Command("ip", "netns", "del", n.Name()).Run()
			}
			if err := w.clear(); err != nil {
				t.Logf("clearing what a killed test left: %v", err)
			}
		}
		_ = f.Close()
	}
}

// removeGroup removes a control group and all below it. None is fine.
func removeGroup(name string) error {
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(mounts)) {
		fields := strings.Fields(line)
		if len(fields) < 3 || fields[2] != "cgroup2" {
			continue
		}
		return removeFolders(filepath.Join(fields[1], name))
	}
	return nil
}

// removeFolders removes a tree of folders; the files in it are the kernel's.
func removeFolders(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	for _, entry := range entries {
		if entry.IsDir() {
			err = errors.Join(err, removeFolders(filepath.Join(dir, entry.Name())))
		}
	}
	return errors.Join(err, syscall.Rmdir(dir))
}
