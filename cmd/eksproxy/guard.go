//go:build !nodeonly

package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"
)

// The flags of what writes to a cluster.
const (
	flagYes     = "yes"
	flagPlan    = "plan"
	flagReason  = "reason"
	flagDryRun  = "dry-run"
	flagTimeout = "timeout"
	flagWait    = "wait"
)

// guard says what is about to be written to, and asks on a terminal. Without one
// the target must have been named: a current context is whatever was used last.
func (p *program) guard(c *cli.Context, t clusterTarget) error {
	p.talk.Note("this changes %s", t)
	if c.Bool(flagYes) || !p.onTerminal() {
		return p.named(c)
	}
	yes, err := p.ask("Change this cluster?")
	if err == nil && !yes {
		err = errors.New("not done: the answer was not yes")
	}
	return err
}

// fields are what is known of a target, in the order in which it is shown.
func (t clusterTarget) fields() [][2]string {
	return [][2]string{{"account", t.Account}, {"region", t.Region}, {"cluster", t.Cluster}, {"endpoint", t.Endpoint}, {"context", t.Context}, {"server", t.Server}}
}

// String is the target in one line.
func (t clusterTarget) String() string {
	var parts []string
	for _, f := range t.fields() {
		if f[1] != "" {
			parts = append(parts, f[0]+" "+f[1])
		}
	}
	return strings.Join(parts, ", ")
}

// plan is the target as a plan has it. The context is no part of it: it is a
// name on one workstation.
func (t clusterTarget) plan() map[string]string {
	m := map[string]string{}
	for _, f := range t.fields() {
		if f[1] != "" && f[0] != "context" {
			m[f[0]] = f[1]
		}
	}
	return m
}

// named says whether the target was named.
func (p *program) named(c *cli.Context) error {
	for _, name := range []string{"kubeconfig", "context", "cluster", flagPlan} {
		if c.String(name) != "" {
			return nil
		}
	}
	return usagef("without a terminal the target is named: give --kubeconfig, --context, --cluster or --plan; the current context of a kubeconfig is not taken")
}

// onTerminal says whether somebody can be asked.
func (p *program) onTerminal() bool {
	in, ok := p.In.(*os.File)
	return ok && term.IsTerminal(int(in.Fd()))
}

// ask asks a question; only y and yes are yes.
func (p *program) ask(question string) (bool, error) {
	_, _ = fmt.Fprintf(p.Err, "%s [y/N] ", question)
	line, err := bufio.NewReader(p.In).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return false, fmt.Errorf("reading the answer: %w", err)
	}
	answer := strings.ToLower(strings.TrimSpace(line))
	return answer == "y" || answer == "yes", nil
}
