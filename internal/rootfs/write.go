package rootfs

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
)

// tempName is where the new bytes of a file are put before they replace it. The
// name is fixed, so that what a killed program left is found again; nobody but
// the owner of the directory could have put a link there, and O_EXCL follows
// none.
func tempName(p string) string {
	return path.Join(path.Dir(p), "."+path.Base(p)+".eksproxy-new")
}

// Write replaces the file at a resolved path (File.Path) as a whole: readers
// see the old bytes or the new ones. The owner and the extended attributes of
// the old file are kept; the mode is the given one, whatever the umask. The
// directory must exist.
func (r *Root) Write(p string, data []byte, mode fs.FileMode) error {
	if err := r.RemoveTemp(p); err != nil {
		return err
	}
	dir, name, err := r.at(p)
	if err != nil {
		return fmt.Errorf("creating a file beside %s: %w", p, err)
	}
	temp := tempName(name)
	r.step(OpCreate, tempName(p))
	f, err := dir.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("creating a file beside %s: %w", p, err)
	}
	if err := errors.Join(r.fill(f, p, data, mode), f.Close()); err != nil {
		return errors.Join(fmt.Errorf("writing %s: %w", p, err), dir.Remove(temp))
	}
	r.step(OpRename, p)
	if err := dir.Rename(temp, name); err != nil {
		return errors.Join(fmt.Errorf("replacing %s: %w", p, err), dir.Remove(temp))
	}
	return r.syncDir(path.Dir(p))
}

// fill gives the new file its bytes, owner, attributes and mode. Attributes
// come before the mode: setting a POSIX ACL changes the mode as well.
func (r *Root) fill(f *os.File, p string, data []byte, mode fs.FileMode) error {
	r.step(OpWrite, p)
	if _, err := f.Write(data); err != nil {
		return err
	}
	r.step(OpAttr, p)
	if err := r.copyAttributes(f, p); err != nil {
		return err
	}
	if err := f.Chmod(mode & permBits); err != nil {
		return err
	}
	r.step(OpSync, p)
	return f.Sync()
}

// RemoveTemp removes what a killed program left of a write of the file at a
// resolved path.
func (r *Root) RemoveTemp(p string) error {
	temp := tempName(p)
	if _, err := r.lstat(temp); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return r.Remove(temp)
}

// Remove removes the file at a resolved path; it is no error if it is absent.
func (r *Root) Remove(p string) error {
	r.step(OpRemove, p)
	dir, name, err := r.at(p)
	if err == nil {
		err = dir.Remove(name)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("removing %s: %w", p, err)
	}
	return r.syncDir(path.Dir(p))
}

// MissingDirs returns the directories that MkdirAll would make for a resolved
// path, the outermost first.
func (r *Root) MissingDirs(dir string) []string {
	var missing []string
	for ; dir != "/" && dir != "."; dir = path.Dir(dir) {
		if _, err := r.lstat(dir); err == nil {
			break
		}
		missing = append(missing, dir)
	}
	slices.Reverse(missing)
	return missing
}

// Mkdir makes one directory with the given mode, whatever the umask; it is no
// error if it exists.
func (r *Root) Mkdir(dir string, mode fs.FileMode) error {
	if err := r.MkdirUnsynced(dir, mode); err != nil {
		return err
	}
	return r.Sync()
}

// MkdirUnsynced is Mkdir for one of many directories: that they stand in those
// above them is durable after Sync.
func (r *Root) MkdirUnsynced(dir string, mode fs.FileMode) error {
	r.step(OpMkdir, dir)
	above, name, err := r.at(dir)
	if err == nil {
		err = above.Mkdir(name, mode)
	}
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("making directory %s: %w", dir, err)
	}
	r.unsynced[path.Dir(dir)] = true
	if err := r.chmodDir(dir, mode); err != nil {
		return fmt.Errorf("making directory %s: %w", dir, err)
	}
	return nil
}

// Sync makes durable what MkdirUnsynced has made: most directories lie in the
// same one, which is synced but once.
func (r *Root) Sync() error {
	for _, dir := range slices.Sorted(maps.Keys(r.unsynced)) {
		if err := r.syncDir(dir); err != nil {
			return err
		}
	}
	return nil
}

// chmodDir sets a mode through a descriptor: by path it takes a system call
// that kernels before 6.6 lack.
func (r *Root) chmodDir(dir string, mode fs.FileMode) error {
	d, err := r.openFile(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Chmod(mode), d.Close())
}

// Rmdir removes a directory if it is empty, and says nothing if it is not, is
// absent, or is a link to one.
func (r *Root) Rmdir(dir string) error {
	if info, err := r.lstat(dir); err != nil || !info.IsDir() {
		return nil //nolint:nilerr // there is no directory to remove
	}
	names, err := r.ReadDir(dir)
	if err != nil || len(names) > 0 {
		return err
	}
	r.step(OpRmdir, dir)
	r.forget(dir)
	above, name, err := r.at(dir)
	if err == nil {
		err = above.Remove(name)
	}
	if err != nil {
		return fmt.Errorf("removing directory %s: %w", dir, err)
	}
	return r.syncDir(path.Dir(dir))
}

// syncDir makes a rename or removal in the directory durable.
func (r *Root) syncDir(dir string) error {
	d, err := r.openFile(dir)
	if err != nil {
		return err
	}
	defer d.Close() //nolint:errcheck // opened for its fsync only
	if err := d.Sync(); err != nil {
		return fmt.Errorf("syncing directory %s: %w", dir, err)
	}
	delete(r.unsynced, dir)
	return nil
}
