//go:build !unix

package main

// toJournal is false: the journal is systemd's, on Linux.
func toJournal(any, func(string) string) bool { return false }

func writeConsole(string) {}
