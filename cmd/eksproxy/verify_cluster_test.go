package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/eksproxy/eksproxy/verify/clustercheck"
)

// clusterCheckTable is the registry of cluster checks.
func clusterCheckTable(t *testing.T, _ []string) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("| id | check | what fails it | remedy |\n| --- | --- | --- | --- |\n")
	for _, c := range clustercheck.Checks(clustercheck.Options{}) {
		fmt.Fprintf(&b, "| %s | %s | %s | `%s` |\n", c.ID, c.Title, cell(c.Fails), cell(c.Remedy))
	}
	return b.String()
}
