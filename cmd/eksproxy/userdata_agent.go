//go:build nodeonly

package main

import "github.com/urfave/cli/v2"

// workstationCommands are those that the agent does not have.
func (p *program) workstationCommands() []*cli.Command { return nil }
