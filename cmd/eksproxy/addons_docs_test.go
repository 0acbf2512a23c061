package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/eksproxy/eksproxy/addons"
)

// The generated parts of docs/permissions.md come from the table of rights, which
// integration/addons holds against what the program asks for.

func rightsTable(t *testing.T, _ []string) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("| verbs | resource | objects | where | used by | why |\n| --- | --- | --- | --- | --- | --- |\n")
	for _, r := range addons.Rights() {
		resource, objects, where, uses := r.Resource, "all", "the cluster", names(r.Uses)
		if r.Group != "" {
			resource += "." + r.Group
		}
		if len(r.Names) > 0 {
			objects = "`" + strings.Join(r.Names, "`, `") + "`"
		}
		if r.Namespace != "" {
			where = "`" + r.Namespace + "`"
		}
		if r.Only != "" {
			uses += "; only with " + r.Only
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", strings.Join(r.Verbs, ", "), resource, objects, where, uses, cell(r.Why))
	}
	return b.String()
}

// rolesText are the roles of a reader and of a writer, and what options add.
func rolesText(t *testing.T, _ []string) string {
	t.Helper()
	const name = "eksproxy-addons"
	var b strings.Builder
	for _, block := range []struct {
		role, says string
		needed     func(addons.Right) bool
	}{
		{name + "-view", "To look: `addons plan`, `addons status`, `verify cluster`.", addons.Right.Reads},
		{name, "To change: `addons patch` and `addons revert`, and everything above.", func(r addons.Right) bool { return r.Only == "" }},
		{name + "-trusted-ca", "Beside that, where `trustedCA` is set:", func(r addons.Right) bool { return r.Only == addons.OnlyCA }},
		{name + "-managed", "Beside that, where EKS manages add-ons:", func(r addons.Right) bool { return r.Only == addons.OnlyManaged }},
		{name + "-namespaces", "Beside that, for workload namespaces:", func(r addons.Right) bool { return r.Only == addons.OnlyNamespaces }},
		{name + "-auto-mode", "Beside that, where EKS Auto Mode runs nodes:", func(r addons.Right) bool { return r.Only == addons.OnlyAutoMode }},
		{name + "-create-secret", "Beside that, for `--create-secret`:", func(r addons.Right) bool { return r.Only == addons.OnlySecret }},
	} {
		fmt.Fprintf(&b, "\n%s\n\n```yaml\n%s```\n", block.says, addons.Roles(block.role, block.role, block.needed))
	}
	return b.String()
}

func actionsTable(t *testing.T, _ []string) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("| action | resource | used by | why |\n| --- | --- | --- | --- |\n")
	for _, a := range slices.Concat(addons.Actions(), addons.ManagedActions(), addons.AheadActions()) {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", a.Name, strings.Replace(a.Resource, "*", "`*`", 1), names(a.Uses), cell(a.Why))
	}
	return b.String()
}

func policyText(t *testing.T, _ []string) string {
	t.Helper()
	text, err := addons.Policy(addons.Actions(), "aws", "eu-west-1", "123456789012", "demo")
	if err != nil {
		t.Fatal(err)
	}
	managed, err := addons.Policy(addons.ManagedActions(), "aws", "eu-west-1", "123456789012", "demo")
	if err != nil {
		t.Fatal(err)
	}
	return "```json\n" + text + "```\n\nBeside that, where add-ons that EKS manages are [configured](managed-addons.md), with the ARNs of their roles in the last statement:\n\n```json\n" + managed + "```\n"
}

// aheadPolicyText is the policy for versions of add-ons.
func aheadPolicyText(t *testing.T, _ []string) string {
	t.Helper()
	text, err := addons.Policy(addons.AheadActions(), "aws", "eu-west-1", "123456789012", "demo")
	if err != nil {
		t.Fatal(err)
	}
	return "```json\n" + text + "```\n"
}

// chartTable is where the values of charts take the variables, for docs/gitops.md.
func chartTable(t *testing.T, _ []string) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("| component | chart | variables | as | certificates |\n| --- | --- | --- | --- | --- |\n")
	for _, c := range addons.Components() {
		chart, ok := c.Chart()
		switch {
		case !ok && len(c.Containers) > 0:
			fmt.Fprintf(&b, "| %s | - | - | - | - |\n", c.Name)
		case ok:
			as, certificates := "references", "no"
			if chart.Map {
				as = "texts"
			}
			if chart.Mounts != "" {
				certificates = fmt.Sprintf("`%s`, `%s`", chart.Volumes, chart.Mounts)
			}
			fmt.Fprintf(&b, "| %s | %s | `%s` | %s | %s |\n", c.Name, chart.Name, chart.Env, as, certificates)
		}
	}
	return b.String()
}
