package rootfs

import (
	"io/fs"
	"os"
	"path"
	"syscall"
)

// open opens a directory by its resolved path, and keeps it open.
func (r *Root) open(dir string) (*os.Root, error) {
	if dir == "/" {
		return r.in, nil
	}
	if d := r.dirs[dir]; d != nil {
		return d, nil
	}
	above, name, err := r.at(dir)
	if err != nil {
		return nil, err
	}
	d, err := above.OpenRoot(name + "/") // the slash: a named pipe would wait for a writer
	if err != nil {
		return nil, err
	}
	r.dirs[dir] = d
	return d, nil
}

// at opens the directory that a resolved path lies in, and returns it with the
// name in it.
func (r *Root) at(p string) (dir *os.Root, name string, err error) {
	if p == "/" {
		return r.in, ".", nil
	}
	dir, err = r.open(path.Dir(p))
	return dir, path.Base(p), err
}

// forget closes a directory, which may be about to be removed.
func (r *Root) forget(dir string) {
	if d := r.dirs[dir]; d != nil {
		_ = d.Close() // nothing was written by it
		delete(r.dirs, dir)
	}
}

// openFile opens what lies at a resolved path, for reading. Without O_NONBLOCK
// opening a named pipe waits for a writer.
func (r *Root) openFile(p string) (*os.File, error) {
	dir, name, err := r.at(p)
	if err != nil {
		return nil, err
	}
	return dir.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}

// lstat says what lies at a resolved path.
func (r *Root) lstat(p string) (fs.FileInfo, error) {
	dir, name, err := r.at(p)
	if err != nil {
		return nil, err
	}
	return dir.Lstat(name)
}

// readlink reads the link at a path whose directory is resolved. What is open
// as a directory is none.
func (r *Root) readlink(p string) (string, error) {
	if r.dirs[p] != nil {
		return "", fs.ErrInvalid
	}
	dir, name, err := r.at(p)
	if err != nil {
		return "", err
	}
	return dir.Readlink(name)
}
