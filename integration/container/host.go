package container

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// The script that makes the root file system, and what it installs.
var (
	//go:embed rootfs.sh
	rootScript []byte
	//go:embed packages.txt
	rootPackages []byte
)

// hostPrograms are what the tests run on the host, and the Debian packages
// that they are in.
var hostPrograms = map[string]string{
	"ip":                                   "iproute2",
	"mmdebstrap":                           "mmdebstrap",
	"mount":                                "mount",
	"nsenter":                              "util-linux",
	"squid":                                "squid-openssl",
	"systemd-nspawn":                       "systemd-container",
	"unshare":                              "util-linux",
	"zstd":                                 "zstd",
	"/usr/lib/squid/security_file_certgen": "squid-openssl",
}

// needHost skips a test without root, and fails it where a package is missing.
func needHost(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED, NOT TESTED: booting nodes needs root; run these tests as root")
	}
	var missing []string
	for program, pkg := range hostPrograms {
		if _, err := exec.LookPath(program); err != nil {
			missing = append(missing, pkg)
		}
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		t.Fatalf("booting nodes: packages are missing; run: apt-get install --no-install-recommends %s",
			strings.Join(slices.Compact(missing), " "))
	}
}

// Root is the unpacked root file system that all nodes share. It is made once
// and kept in the cache of the checkout. Nothing may write to it.
func Root(t *testing.T) string {
	t.Helper()
	needHost(t)
	start := time.Now()
	dir, err := unpackedRoot()
	if err != nil {
		t.Fatal(err)
	}
	tell(t, start, "root file system")
	return dir
}

// unpackedRoot makes and unpacks the root file system where it is not there.
var unpackedRoot = sync.OnceValues(func() (string, error) {
	sum := sha256.Sum256(slices.Concat(rootScript, rootPackages, []byte(runtime.GOARCH)))
	cache, err := cacheFolder()
	if err != nil {
		return "", err
	}
	unlock, err := lock(cache)
	if err != nil {
		return "", err
	}
	defer unlock()
	dir := filepath.Join(cache, hex.EncodeToString(sum[:6]))
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	archive := dir + ".tar.zst"
	if _, err := os.Stat(archive); err != nil {
		if err := removeAll(cache); err != nil { // those of older lists
			return "", err
		}
		if err := makeRoot(archive); err != nil {
			return "", err
		}
	}
	return dir, unpack(archive, dir)
})

// makeRoot makes the archive of the root file system, which takes minutes.
func makeRoot(archive string) error {
	dir, err := os.MkdirTemp("", "eksproxy-root-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	list := filepath.Join(dir, "packages.txt")
	if err := os.WriteFile(list, rootPackages, 0o644); err != nil {
		return err
	}
	cmd := exec.Command("bash", "-c", string(rootScript), "rootfs.sh", list, archive)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("making the root file system: %w\n%s", err, out)
	}
	return nil
}

// unpack unpacks the archive into a new folder, which appears when complete.
func unpack(archive, dir string) error {
	part := dir + ".new"
	if err := os.RemoveAll(part); err != nil {
		return err
	}
	if err := os.Mkdir(part, 0o755); err != nil {
		return err
	}
	cmd := exec.Command("tar", "--numeric-owner", "-I", "zstd", "-C", part, "-xf", archive)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("unpacking %s: %w\n%s", archive, err, out)
	}
	return os.Rename(part, dir)
}

// removeAll empties a folder.
func removeAll(dir string) error {
	entries, err := os.ReadDir(dir)
	for _, entry := range entries {
		err = errors.Join(err, os.RemoveAll(filepath.Join(dir, entry.Name())))
	}
	return err
}

// cacheFolder is where the root file system is kept.
func cacheFolder() (string, error) {
	out, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("looking for the checkout: %w", err)
	}
	integration := filepath.Dir(strings.TrimSpace(string(out)))
	dir := filepath.Join(integration, "..", ".cache", "rootfs")
	return dir, os.MkdirAll(dir, 0o755)
}

// lock waits until no other process holds the folder, and returns what lets it
// go.
func lock(dir string) (func(), error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		return nil, errors.Join(fmt.Errorf("locking %s: %w", dir, err), f.Close())
	}
	return func() { _ = f.Close() }, nil
}

// tell logs how long a step took.
func tell(t *testing.T, start time.Time, format string, args ...any) {
	t.Helper()
	t.Logf("%5.2f s  %s", time.Since(start).Seconds(), fmt.Sprintf(format, args...))
}
