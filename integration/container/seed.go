package container

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// seed writes a file for the next boot. An empty content is fine.
func (c *Container) seed(t *testing.T, path string, content []byte, mode fs.FileMode) {
	t.Helper()
	file := c.seedParent(t, path)
	if info, err := os.Lstat(file); err == nil && !info.Mode().IsRegular() {
		t.Fatalf("seeding %s: there is something that is no file", path)
	}
	if err := os.WriteFile(file, content, mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(file, mode); err != nil {
		t.Fatal(err)
	}
}

// seedLink makes a symbolic link for the next boot.
func (c *Container) seedLink(t *testing.T, target, path string) {
	t.Helper()
	link := c.seedParent(t, path)
	if err := os.Remove(link); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
}

// seedParent makes the folders above a path in the node's own layer, as they
// are in the root file system, and returns where the path is in that layer.
func (c *Container) seedParent(t *testing.T, path string) string {
	t.Helper()
	for _, fresh := range []string{"/tmp/", "/run/", "/proc/", "/sys/", "/dev/", "/var/lib/containerd/"} {
		if strings.HasPrefix(path, fresh) {
			t.Fatalf("seeding %s: the node starts with an empty %s", path, fresh)
		}
	}
	if !filepath.IsAbs(path) {
		t.Fatalf("seeding %s: the path is not absolute", path)
	}
	at := ""
	for part := range strings.SplitSeq(strings.Trim(filepath.Dir(path), "/"), "/") {
		at = filepath.Join(at, part)
		if err := c.seedFolder(at); err != nil {
			t.Fatalf("seeding %s: %v", path, err)
		}
	}
	return filepath.Join(c.upper(), path)
}

// seedFolder makes one folder in the node's own layer. There its mode and
// owner hide those of the root file system, so they are the same.
func (c *Container) seedFolder(path string) error {
	upper := filepath.Join(c.upper(), path)
	if info, err := os.Lstat(upper); err == nil {
		if !info.IsDir() {
			return errors.New("/" + path + " is no folder")
		}
		return nil
	}
	info, err := os.Lstat(filepath.Join(c.root, path))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return os.Mkdir(upper, 0o755)
	case err != nil:
		return err
	case !info.IsDir():
		return errors.New("/" + path + " is no folder; give the path behind the link")
	}
	if err := os.Mkdir(upper, info.Mode().Perm()); err != nil {
		return err
	}
	stat := info.Sys().(*syscall.Stat_t)
	return errors.Join(os.Chown(upper, int(stat.Uid), int(stat.Gid)), os.Chmod(upper, info.Mode()))
}

// stopped reads a file of a node that does not run, behind no link.
func (c *Container) stopped(path string) ([]byte, error) {
	content, err := os.ReadFile(filepath.Join(c.upper(), path))
	if errors.Is(err, fs.ErrNotExist) {
		return os.ReadFile(filepath.Join(c.root, path))
	}
	return content, err
}

// readFile reads a file of the host.
func readFile(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
