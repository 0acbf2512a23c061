//go:build !nodeonly

package main

import (
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/eksproxy/eksproxy/addons"
)

// The flags of workload namespaces and of EKS Auto Mode.
const (
	flagFargateNamespaces = "fargate-namespaces"
	flagFargate           = "fargate"
	flagAutoMode          = "auto-mode"
)

// namespaceFlags say what is patched beside the add-ons.
func namespaceFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{Name: flagFargateNamespaces, Usage: "`NAME` of a workload namespace to patch, beside those labelled " + addons.LabelInject + "=" + addons.InjectEnabled + "; repeat the flag"},
		&cli.StringFlag{Name: flagFargate, Value: string(addons.FargateNamed), Usage: "which workload namespaces are patched: named, those that are named or labelled; patch, also all workloads that a Fargate profile takes; off, none",
			Action: oneOf(flagFargate, string(addons.FargateNamed), string(addons.FargatePatch), string(addons.FargateOff))},
		&cli.StringFlag{Name: flagAutoMode, Value: string(addons.AutoModeAuto), Usage: "whether the NodeClasses of EKS Auto Mode are patched, which replaces nodes: auto, where EKS runs nodes; on; off",
			Action: oneOf(flagAutoMode, string(addons.AutoModeAuto), string(addons.AutoModeOn), string(addons.AutoModeOff))},
	}
}

// namespacesTable prints a row a workload namespace and a row a NodeClass.
func namespacesTable(w io.Writer, s addons.Status) {
	if len(s.Namespaces) > 0 {
		fmt.Fprintln(w, "NAMESPACE\tSETTINGS")
		for _, n := range s.Namespaces {
			fmt.Fprintf(w, "%s\t%s\n", n.Namespace, n.Hash)
		}
		fmt.Fprintln(w)
	}
	if len(s.NodeClasses) > 0 {
		fmt.Fprintln(w, "NODECLASS\tSETTINGS\tOWNER")
		for _, n := range s.NodeClasses {
			fmt.Fprintf(w, "%s\t%s\t%s\n", n.Name, n.Hash, n.Owner)
		}
		fmt.Fprintln(w)
	}
}

// namespaceLines say what of them is not as it should be.
func namespaceLines(s addons.Status) []string {
	var lines []string
	for _, n := range s.Namespaces {
		for _, d := range n.Drift {
			lines = append(lines, "ConfigMap "+n.Namespace+"/"+addons.ConfigMapName+": "+oneRow(d.String()))
		}
	}
	for _, n := range s.NodeClasses {
		for _, d := range n.Drift {
			lines = append(lines, "NodeClass "+n.Name+": "+oneRow(d.String()))
		}
	}
	return lines
}
