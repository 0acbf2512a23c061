//go:build !unix

package rootfs

import (
	"context"
	"errors"
	"time"
)

// Lock is refused: nodes run Linux.
func Lock(context.Context, string, time.Duration) (func(), error) {
	return nil, errors.New("locking a tree needs a Unix system; run eksproxy node on Linux")
}
