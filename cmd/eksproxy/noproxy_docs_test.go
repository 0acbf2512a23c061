package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/eksproxy/eksproxy/noproxy"
)

// clientTable is what is known about each modelled client.
func clientTable(t *testing.T, _ []string) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("| client | also | variables, the first that is set wins | checked | rules read in | remarks |\n| --- | --- | --- | --- | --- | --- |\n")
	for _, c := range noproxy.Clients() {
		info := c.Info()
		variables := "none"
		if len(info.HTTP)+len(info.HTTPS) > 0 {
			variables = fmt.Sprintf("http: %s; https: %s; list: %s", codes(info.HTTP), codes(info.HTTPS), codes(info.NoProxy))
		}
		checked := "read, not run: " + info.Versions
		if info.Run {
			checked = "run: " + info.Versions
		}
		remarks := info.Note
		if info.Configure != "" {
			remarks = strings.TrimSpace("Takes a proxy by: " + strings.TrimSuffix(info.Configure, ".") + ". " + remarks)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", cell(c.Name()), cell(strings.Join(info.Aliases, ", ")), cell(variables), cell(checked), cell(info.Source), cell(remarks))
	}
	return b.String()
}

// codes are names of variables in a table.
func codes(names []string) string {
	if len(names) == 0 {
		return "-"
	}
	return "`" + strings.Join(names, "`, `") + "`"
}

// probe is a question that every model is asked.
type probe struct{ title, value, url string }

func probes() []probe {
	return []probe{
		{"`x.test` for a.x.test", "x.test", "http://a.x.test/"},
		{"`.x.test` for a.x.test", ".x.test", "http://a.x.test/"},
		{"`.x.test` for x.test", ".x.test", "http://x.test/"},
		{"`*.x.test` for a.x.test", "*.x.test", "http://a.x.test/"},
		{"`*`", "*", "http://x.test/"},
		{"`x.test` after a blank", "a.test, x.test", "http://x.test/"},
		{"`x.test:8080`", "x.test:8080", "http://x.test:8080/"},
		{"`10.0.0.0/8`", "10.0.0.0/8", "http://10.1.2.3/"},
		{"`fd00::/8`", "fd00::/8", "http://[fd00::1]/"},
		{"`fd00::1`", "fd00::1", "http://[fd00::1]/"},
		{"`[fd00::1]`", "[fd00::1]", "http://[fd00::1]/"},
		{"localhost, unlisted", "", "http://localhost/"},
	}
}

// probeTable is what each model answers to the same questions.
func probeTable(t *testing.T, _ []string) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("| client |")
	for _, p := range probes() {
		fmt.Fprintf(&b, " %s |", cell(p.title))
	}
	b.WriteString("\n|" + strings.Repeat(" --- |", len(probes())+1) + "\n")
	marks := map[noproxy.Decision]string{noproxy.Direct: "D", noproxy.Proxied: "p", noproxy.Failed: "**E**", noproxy.Ignored: "-"}
	for _, c := range noproxy.Clients() {
		fmt.Fprintf(&b, "| %s |", cell(c.Name()))
		for _, p := range probes() {
			target, err := noproxy.ParseTarget(p.url)
			if err != nil {
				t.Fatal(err)
			}
			items := noproxy.Explain(noproxy.ValueEnvironment(p.value), []noproxy.Client{c}, []noproxy.Target{target})
			fmt.Fprintf(&b, " %s |", marks[items[0].Decision])
		}
		b.WriteString("\n")
	}
	return b.String()
}

// lintTable is the table of the codes.
func lintTable(t *testing.T, _ []string) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("| code | severity | fault | fix | `--fix` |\n| --- | --- | --- | --- | --- |\n")
	for _, r := range noproxy.LintRules() {
		safe := "no"
		if r.Safe {
			safe = "yes"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", r.Code, r.Severity, cell(r.Title), cell(r.Fix), safe)
	}
	return b.String()
}
