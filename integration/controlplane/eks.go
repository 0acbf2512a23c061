package controlplane

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"text/template"
)

//go:embed testdata/eks/*.yaml
var eksFiles embed.FS

// Manager is the field manager by which EKS applies its add-ons.
const Manager = "eks"

// EKS says what a cluster has beside the add-ons that every one has.
type EKS struct {
	// Only installs these of Addons, all but node-local-dns where it is empty.
	Only []string
	// NodeLocalDNS adds the cache of names on each node.
	NodeLocalDNS bool
	// NoWait does not wait until all is rolled out, as where nodes are to come.
	NoWait bool
}

// Addons are the names that EKS.Only takes.
func Addons() []string {
	return []string{"aws-node", "kube-proxy", "coredns", "pod-identity", "ebs-csi", "workloads", "node-local-dns"}
}

// InstallEKS applies the add-ons of a fresh EKS cluster as EKS does, and waits
// until they run on the simulated nodes.
func InstallEKS(tb testing.TB, c *ControlPlane, o EKS) {
	tb.Helper()
	if err := c.InstallEKS(tb.Context(), o); err != nil {
		tb.Fatal(err)
	}
}

// InstallEKS is what the function of this name does, outside of a test.
func (c *ControlPlane) InstallEKS(ctx context.Context, o EKS) error {
	names := o.Only
	if len(names) == 0 {
		names = Addons()[:len(Addons())-1]
	}
	if o.NodeLocalDNS {
		names = append(names[:len(names):len(names)], "node-local-dns")
	}
	var all strings.Builder
	for _, name := range names {
		text, err := c.Manifest(name)
		if err != nil {
			return err
		}
		all.WriteString("---\n" + text)
	}
	if err := c.apply(ctx, Manager, true, all.String()); err != nil {
		return fmt.Errorf("installing the add-ons: %w", err)
	}
	if o.NoWait || c.options.NoControllers {
		return nil
	}
	return c.rollout(ctx, "kube-system")
}

// Manifest is the text of one of Addons, for an upgrade that a test makes up.
func (c *ControlPlane) Manifest(name string) (string, error) {
	files, err := template.New("").Delims("[[", "]]").ParseFS(eksFiles, "testdata/eks/*.yaml")
	if err != nil {
		return "", fmt.Errorf("reading the add-ons: %w", err)
	}
	services, err := netip.ParsePrefix(c.options.ServiceCIDR)
	if err != nil {
		return "", fmt.Errorf("reading the range of Services: %w", err)
	}
	address := services.Masked().Addr()
	for range 10 { // EKS gives the tenth address to its Service kube-dns
		address = address.Next()
	}
	var text bytes.Buffer
	if err := files.ExecuteTemplate(&text, name+".yaml", struct{ DNS netip.Addr }{address}); err != nil {
		return "", fmt.Errorf("writing the add-on %s: %w", name, err)
	}
	return text.String(), nil
}

// Rollout waits until all DaemonSets and Deployments of a namespace are rolled
// out.
func (c *ControlPlane) Rollout(tb testing.TB, namespace string) {
	tb.Helper()
	if err := c.rollout(tb.Context(), namespace); err != nil {
		tb.Fatal(err)
	}
}

// rollout is what Rollout does.
func (c *ControlPlane) rollout(ctx context.Context, namespace string) error {
	list, err := c.kubectl(ctx, "", "get", "daemonsets,deployments", "-n", namespace, "-o", "name")
	if err != nil {
		return err
	}
	if list == "" {
		return nil
	}
	// One command for all: each start of kubectl costs a tenth of a second.
	args := append([]string{"rollout", "status", "-n", namespace, "--timeout", kubectlLimit.String()}, strings.Fields(list)...)
	_, err = c.kubectl(ctx, "", args...)
	return err
}
