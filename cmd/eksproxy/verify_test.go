package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/eksproxy/eksproxy/verify/nodecheck"
)

// checkTable is the registry of node checks.
func checkTable(t *testing.T, _ []string) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("| id | check | what fails it | remedy |\n| --- | --- | --- | --- |\n")
	for _, c := range nodecheck.Checks(nodecheck.Options{}) {
		fmt.Fprintf(&b, "| %s | %s | %s | `%s` |\n", c.ID, c.Title, cell(c.Fails), cell(c.Remedy))
	}
	return b.String()
}

// A remedy can be pasted: what a shell would take apart is quoted.
func TestShellWord(t *testing.T) {
	for text, want := range map[string]string{
		"proxy.yaml": "proxy.yaml", "": "''", "a b": "'a b'", "it's": `'it'\''s'`, "*.corp.example": "'*.corp.example'", "http://p:1": "http://p:1",
	} {
		if got := shellWord(text); got != want {
			t.Errorf("%q is %s, want %s", text, got, want)
		}
	}
}
