//go:build nodeonly

package main

import (
	"github.com/urfave/cli/v2"

	"github.com/eksproxy/eksproxy/templates"
)

// workstationFacts are the commands below facts that the agent does not have.
func (p *program) workstationFacts() []*cli.Command { return nil }

// fromClusterFlags are the flags of config init that the agent does not have.
func fromClusterFlags() []cli.Flag { return nil }

// initText is what config init writes.
func (p *program) initText(*cli.Context) (string, error) { return templates.ConfigInit, nil }
