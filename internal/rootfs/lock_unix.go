//go:build unix

package rootfs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// lockPoll is how often a lock that another program holds is tried again.
const lockPoll = 50 * time.Millisecond

// Lock takes an exclusive lock on a directory, or on a file that is made if
// need be, and returns what gives it back. It waits no longer than wait.
func Lock(ctx context.Context, path string, wait time.Duration) (unlock func(), err error) {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		f, err = os.OpenFile(path, os.O_RDONLY|os.O_CREATE, 0o600)
	}
	if err != nil {
		return nil, fmt.Errorf("opening the lock: %w", err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, wait, fmt.Errorf("another eksproxy held it for %s", wait))
	defer cancel()
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return func() { _ = f.Close() }, nil
		}
		if !errors.Is(err, unix.EWOULDBLOCK) {
			_ = f.Close()
			return nil, fmt.Errorf("locking %s: %w", path, err)
		}
		select {
		case <-ctx.Done():
			_ = f.Close()
			return nil, fmt.Errorf("locking %s: %w", path, context.Cause(ctx))
		case <-time.After(lockPoll):
		}
	}
}
