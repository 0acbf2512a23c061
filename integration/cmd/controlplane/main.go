// Command controlplane runs a control plane for tests of other modules. It
// prints the path of the admin's kubeconfig as one line, and stays until its
// standard input is closed.
//
//	controlplane -nodes 3 -eks -rules '[{"When": "...", "Outcome": "unready"}]'
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/eksproxy/eksproxy/integration/controlplane"
)

func main() {
	if err := run(context.Background(), os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "controlplane:", err)
		os.Exit(1)
	}
}

// run returns when the input has ended.
func run(ctx context.Context, args []string, in io.Reader, out io.Writer) error {
	var o controlplane.Options
	flags := flag.NewFlagSet("controlplane", flag.ContinueOnError)
	flags.IntVar(&o.Nodes, "nodes", 1, "how many simulated nodes there are")
	eks := flags.Bool("eks", false, "install the add-ons of an EKS cluster")
	flags.Func("rules", "JSON list of what becomes of pods, as controlplane.Rule", func(text string) error {
		return json.Unmarshal([]byte(text), &o.Rules)
	})
	if err := flags.Parse(args); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "controlplane")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	c, err := controlplane.Run(ctx, dir, o)
	if err != nil {
		return err
	}
	defer c.Stop()
	if *eks {
		if err := c.InstallEKS(ctx, controlplane.EKS{}); err != nil {
			return err
		}
	}
	fmt.Fprintln(out, c.Kubeconfig())
	_, err = io.Copy(io.Discard, in)
	return err
}
