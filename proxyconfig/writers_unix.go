//go:build unix

package proxyconfig

import (
	"fmt"
	"io/fs"
	"syscall"
)

// otherWriters says who but the owner can write a file; empty where nobody can.
// Root's group counts as nobody, and so does the group that the owner has alone.
func otherWriters(info fs.FileInfo) string {
	stat, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case info.Mode()&0o002 != 0:
		return "every user of the machine"
	case info.Mode()&0o020 != 0 && ok && stat.Gid != 0 && stat.Gid != stat.Uid:
		return fmt.Sprintf("the group %d", stat.Gid)
	}
	return ""
}
