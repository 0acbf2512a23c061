package rootfs

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
)

// ReadLink returns the symbolic link at path, not followed: its data is where
// it leads. Anything but a link is an error.
func (r *Root) ReadLink(p string) (File, error) {
	dir, err := r.Resolve(path.Dir(p))
	if err != nil {
		return File{}, err
	}
	where := path.Join(dir, path.Base(p))
	target, err := r.readlink(where)
	if errors.Is(err, fs.ErrNotExist) {
		return File{Path: where}, nil
	}
	if err != nil {
		return File{}, fmt.Errorf("%s is not a symbolic link; move it away: %w", p, err)
	}
	return File{Path: where, Exists: true, Data: []byte(target)}, nil
}

// Symlink replaces the link at a resolved path, or makes it; a reader sees the
// old link or the new one.
func (r *Root) Symlink(p, target string) error {
	if err := r.RemoveTemp(p); err != nil {
		return err
	}
	dir, name, err := r.at(p)
	if err != nil {
		return fmt.Errorf("making the link %s: %w", p, err)
	}
	temp := tempName(name)
	r.step(OpCreate, tempName(p))
	if err := dir.Symlink(target, temp); err != nil {
		return fmt.Errorf("making the link %s: %w", p, err)
	}
	r.step(OpRename, p)
	if err := dir.Rename(temp, name); err != nil {
		return errors.Join(fmt.Errorf("making the link %s: %w", p, err), dir.Remove(temp))
	}
	return r.syncDir(path.Dir(p))
}
