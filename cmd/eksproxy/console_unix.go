//go:build unix

package main

import (
	"fmt"
	"os"
	"syscall"
)

// console is where a boot is watched: EC2 keeps it as the console output.
const console = "/dev/console"

// toJournal says whether a stream goes to the journal, as systemd.exec(5)
// describes it: JOURNAL_STREAM holds device and inode of the connection.
func toJournal(w any, getenv func(string) string) bool {
	f, ok := w.(*os.File)
	if !ok || getenv("JOURNAL_STREAM") == "" {
		return false
	}
	info, err := f.Stat()
	if err != nil {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && fmt.Sprintf("%d:%d", st.Dev, st.Ino) == getenv("JOURNAL_STREAM")
}

// writeConsole shows the line to who watches the boot. A console that is
// missing or busy must not hold the boot up.
func writeConsole(line string) {
	f, err := os.OpenFile(console, os.O_WRONLY|syscall.O_NOCTTY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return
	}
	_, _ = f.WriteString(line + "\r\n")
	_ = f.Close()
}
