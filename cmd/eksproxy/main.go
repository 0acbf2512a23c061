// Command eksproxy puts an Amazon EKS cluster behind a corporate proxy and
// proves that it is. This package parses the command line, wires one call a
// step, and prints; everything else is in the packages it imports.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/eksproxy/eksproxy/internal/ui"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := Run(ctx, os.Args, ui.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, os.Environ())
	stop()
	os.Exit(code)
}
