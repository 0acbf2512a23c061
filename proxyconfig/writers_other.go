//go:build !unix

package proxyconfig

import "io/fs"

// otherWriters knows nothing: mode bits do not say it here.
func otherWriters(fs.FileInfo) string { return "" }
