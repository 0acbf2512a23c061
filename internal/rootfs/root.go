// Package rootfs reads and replaces files below a root directory, which may be
// "/" or the tree of an image. A file is only ever the old one or the new one;
// nothing below the root can lead a write out of it. It knows nothing of what
// the files mean.
package rootfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Op names a call that changes the tree.
type Op string

// The calls, in the order in which a write makes them.
const (
	OpMkdir  Op = "mkdir"
	OpCreate Op = "create"
	OpWrite  Op = "write"
	OpAttr   Op = "attributes"
	OpSync   Op = "sync"
	OpRename Op = "rename"
	OpRemove Op = "remove"
	OpRmdir  Op = "rmdir"
)

// maxLinks is the number of symbolic links that the kernel follows in one path
// (path_resolution(7)).
const maxLinks = 40

// Root is a directory below which all paths lie. Paths are absolute and mean
// what they would mean if the directory were "/".
type Root struct {
	dir string
	in  *os.Root
	// dirs are the directories below that are open, by their resolved paths:
	// without them every call would walk down from the root again.
	dirs map[string]*os.Root
	// unsynced are the directories that MkdirUnsynced made others in.
	unsynced map[string]bool
	// Step is called before each call that changes the tree, if it is set:
	// the crash test ends the program there.
	Step func(op Op, path string)
}

// Open opens the directory as a root.
func Open(dir string) (*Root, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("opening root %s: %w", dir, err)
	}
	in, err := os.OpenRoot(abs)
	if err != nil {
		return nil, fmt.Errorf("opening root: %w", err)
	}
	return &Root{dir: abs, in: in, dirs: map[string]*os.Root{}, unsynced: map[string]bool{}}, nil
}

// Dir is the absolute path of the root directory.
func (r *Root) Dir() string { return r.dir }

// Close releases the directory.
func (r *Root) Close() error {
	for dir := range r.dirs {
		r.forget(dir)
	}
	return r.in.Close()
}

func (r *Root) step(op Op, p string) {
	if r.Step != nil {
		r.Step(op, p)
	}
}

// Resolve follows the symbolic links of a path and returns the path that is
// really meant. An absolute link means the same place below the root. A link
// that leaves the root is refused, and so is one whose target's directory does
// not exist below the root: in a tree it points at the builder's own files.
func (r *Root) Resolve(p string) (string, error) {
	rest := strings.Split(path.Clean("/"+p), "/")
	done, links := "/", 0
	for len(rest) > 0 {
		name := rest[0]
		rest = rest[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			if done == "/" {
				return "", fmt.Errorf("%s: a symbolic link leaves the root %s; replace the link by a file", p, r.dir)
			}
			done = path.Dir(done)
			continue
		}
		next := path.Join(done, name)
		target, err := r.readlink(next)
		if errors.Is(err, fs.ErrNotExist) {
			if links > 0 && len(rest) > 0 {
				return "", fmt.Errorf("%s: a symbolic link leads to %s, which is not below the root %s; replace the link by a file", p, next, r.dir)
			}
			return path.Join(append([]string{next}, rest...)...), nil
		}
		if err != nil { // not a link
			done = next
			continue
		}
		if links++; links > maxLinks {
			return "", fmt.Errorf("%s: more than %d symbolic links", p, maxLinks)
		}
		if path.IsAbs(target) {
			done = "/"
		}
		rest = append(strings.Split(target, "/"), rest...)
	}
	return done, nil
}

// File is a regular file, or the absence of one.
type File struct {
	// Path is where the file really is, with links followed.
	Path   string
	Exists bool
	Data   []byte
	// Mode holds the permission bits, set-uid, set-gid and sticky included.
	Mode fs.FileMode
}

// permBits are the bits of a mode that chmod sets.
const permBits = fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky

// Read returns the file at path, with links followed. A file that does not
// exist is no error; anything but a regular file is.
func (r *Root) Read(p string) (File, error) {
	where, err := r.Resolve(p)
	if err != nil {
		return File{}, err
	}
	f, err := r.openFile(where)
	if errors.Is(err, fs.ErrNotExist) {
		return File{Path: where}, nil
	}
	if err != nil {
		return File{}, err
	}
	defer f.Close() //nolint:errcheck // nothing was written
	info, err := f.Stat()
	if err != nil {
		return File{}, err
	}
	if !info.Mode().IsRegular() {
		return File{}, fmt.Errorf("%s is a %s, not a regular file; move it away", p, kind(info.Mode()))
	}
	data, err := io.ReadAll(f)
	if err != nil {
		return File{}, fmt.Errorf("reading %s: %w", p, err)
	}
	return File{Path: where, Exists: true, Data: data, Mode: info.Mode() & permBits}, nil
}

func kind(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "directory"
	case m&fs.ModeNamedPipe != 0:
		return "named pipe"
	case m&fs.ModeSocket != 0:
		return "socket"
	}
	return "device"
}

// Exists says whether something is at path, with links followed.
func (r *Root) Exists(p string) bool {
	where, err := r.Resolve(p)
	if err != nil {
		return false
	}
	_, err = r.lstat(where)
	return err == nil
}

// ReadDir returns the names in a directory, sorted; none where it is absent.
func (r *Root) ReadDir(p string) ([]string, error) {
	where, err := r.Resolve(p)
	if err != nil {
		return nil, err
	}
	d, err := r.openFile(where)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer d.Close() //nolint:errcheck // nothing was written
	names, err := d.Readdirnames(-1)
	slices.Sort(names)
	return names, err
}
