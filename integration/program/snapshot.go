package program

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Snapshot is a text with a line for everything in the tree: mode, owner,
// path, and the target of a link or the hash of a content. Two trees with
// the same text are the same byte for byte.
func Snapshot(t *testing.T, dir string) string {
	t.Helper()
	return walk(t, dir, func(path string, info fs.FileInfo) (string, error) {
		stat := info.Sys().(*syscall.Stat_t)
		line := fmt.Sprintf("%s %d:%d", info.Mode(), stat.Uid, stat.Gid)
		switch {
		case info.Mode().IsRegular():
			content, err := os.ReadFile(path)
			return fmt.Sprintf("%s %x", line, sha256.Sum256(content)), err
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			return line + " -> " + target, err
		}
		return line, nil
	})
}

// Stamps is a text with the inode and the times of everything in the tree. It
// changes by any write, even of the same content and even in a file that was
// made and removed.
func Stamps(t *testing.T, dir string) string {
	t.Helper()
	return walk(t, dir, func(_ string, info fs.FileInfo) (string, error) {
		stat := info.Sys().(*syscall.Stat_t)
		return fmt.Sprintf("inode %d modified %d.%09d changed %d.%09d", stat.Ino,
			stat.Mtim.Sec, stat.Mtim.Nsec, stat.Ctim.Sec, stat.Ctim.Nsec), nil
	})
}

// walk makes a line of everything in the tree, in the order of the paths.
func walk(t *testing.T, dir string, describe func(string, fs.FileInfo) (string, error)) string {
	t.Helper()
	var text strings.Builder
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		line, err := describe(path, info)
		fmt.Fprintf(&text, "/%s %s\n", strings.TrimPrefix(path[len(dir):], "/"), line)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// Diff lists the lines that only one of two snapshots has.
func Diff(before, after string) string {
	var text strings.Builder
	only := func(mark, of, other string) {
		for line := range strings.Lines(of) {
			if !strings.Contains("\n"+other, "\n"+line) {
				text.WriteString(mark + line)
			}
		}
	}
	only("- ", before, after)
	only("+ ", after, before)
	return text.String()
}
