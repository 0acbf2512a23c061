package rootfs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// copyAttributes gives the new file the owner and the extended attributes
// (SELinux label, ACL, capabilities) of the file that it will replace.
func (r *Root) copyAttributes(f *os.File, p string) error {
	old, err := r.openFile(p)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // a new file: the directory's defaults are right
	}
	if err != nil {
		return err
	}
	defer old.Close() //nolint:errcheck // nothing was written
	info, err := old.Stat()
	if err != nil {
		return err
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && (int(st.Uid) != os.Geteuid() || int(st.Gid) != os.Getegid()) {
		if err := f.Chown(int(st.Uid), int(st.Gid)); err != nil {
			return fmt.Errorf("keeping the owner: %w", err)
		}
	}
	return copyXattrs(int(f.Fd()), int(old.Fd()))
}

func copyXattrs(to, from int) error {
	size, err := unix.Flistxattr(from, nil)
	if errors.Is(err, unix.ENOTSUP) || (err == nil && size == 0) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("listing extended attributes: %w", err)
	}
	names := make([]byte, size)
	if size, err = unix.Flistxattr(from, names); err != nil {
		return fmt.Errorf("listing extended attributes: %w", err)
	}
	for name := range strings.SplitSeq(strings.Trim(string(names[:size]), "\x00"), "\x00") {
		if err := copyXattr(to, from, name); err != nil {
			return fmt.Errorf("keeping extended attribute %s: %w", name, err)
		}
	}
	return nil
}

func copyXattr(to, from int, name string) error {
	size, err := unix.Fgetxattr(from, name, nil)
	if err != nil {
		return err
	}
	value := make([]byte, size)
	if size, err = unix.Fgetxattr(from, name, value); err != nil {
		return err
	}
	err = unix.Fsetxattr(to, name, value[:size], 0)
	// Without root rights the kernel gives security.* itself and lets nobody
	// set it: the label is then the directory's default.
	if os.Geteuid() != 0 && strings.HasPrefix(name, "security.") && errors.Is(err, unix.EPERM) {
		return nil
	}
	return err
}
