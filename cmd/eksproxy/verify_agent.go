//go:build nodeonly

package main

import "github.com/urfave/cli/v2"

// withCluster adds nothing: the agent knows no cluster.
func (p *program) withCluster(c *cli.Command) *cli.Command { return c }
