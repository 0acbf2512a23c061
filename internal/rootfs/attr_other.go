//go:build !linux

package rootfs

import "os"

// copyAttributes does nothing: node commands run on Linux; elsewhere they only
// plan.
func (r *Root) copyAttributes(*os.File, string) error { return nil }
