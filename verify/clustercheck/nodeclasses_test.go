package clustercheck_test

import (
	"strings"
	"testing"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/eksproxy/eksproxy/addons"
	"github.com/eksproxy/eksproxy/verify"
)

// nodeClass adds one; fields are further fields of spec.
func (c *aCluster) nodeClass(name, fields string) {
	c.t.Helper()
	c.add(`{apiVersion: eks.amazonaws.com/v1, kind: NodeClass, metadata: {name: ` + name + `}, spec: {role: r` + fields + `}}`)
}

const nodeFields = `, advancedNetworking: {httpsProxy: "http://proxy.example:3128", noProxy: [localhost]}`

// patchedNodeClass adds one as addons patch leaves it.
func (c *aCluster) patchedNodeClass(hash string) {
	c.t.Helper()
	c.nodeClass("mine", nodeFields)
	o := c.object("mine")
	o.SetLabels(map[string]string{addons.LabelManaged: "true"})
	o.SetAnnotations(map[string]string{addons.AnnotationHash: hash})
	own(c.t, o, addons.Manager, 1, fieldpath.MakePathOrDie("spec", "advancedNetworking", "httpsProxy"), fieldpath.MakePathOrDie("spec", "advancedNetworking", "noProxy"))
}

func faultsOfNodeClasses() []fault {
	return []fault{
		{name: "a NodeClass that lost the proxy", id: "CLUSTER048", seed: func(c *aCluster) {
			c.patchedNodeClass(c.wanted.Settings.Hash())
			o := c.object("mine")
			set(c.t, o, map[string]any{"role": "r"}, "spec")
			own(c.t, o, "eks", 2, fieldpath.MakePathOrDie("spec", "role"))
		}, says: "no longer eksproxy's: httpsProxy, noProxy"},
		{name: "a NodeClass with older settings", id: "CLUSTER048", seed: func(c *aCluster) { c.patchedNodeClass("0123456789ab") }, says: "it has the settings 0123456789ab, and the ConfigMap "},
		{name: "a NodeClass without a proxy", id: "CLUSTER048", warn: true, seed: func(c *aCluster) { c.nodeClass("new", "") }, says: "it has no httpsProxy"},
	}
}

// Those that have the proxy, whoever gave it, are good; who may not list them is
// told.
func TestNodeClasses(t *testing.T) {
	c := goodCluster(t)
	c.patchedNodeClass(c.wanted.Settings.Hash())
	c.nodeClass("theirs", nodeFields)
	status := func() (verify.Status, string) {
		for _, f := range c.checkAll().Findings {
			if f.ID == "CLUSTER048" {
				return f.Status, f.Evidence
			}
		}
		return "", ""
	}
	if s, evidence := status(); s != verify.Pass || evidence != "2 NodeClasses" {
		t.Errorf("%s: %s", s, evidence)
	}
	c.denied = []string{"nodeclasses"}
	if s, evidence := status(); s != verify.Skip || !strings.Contains(evidence, "nodeclasses is forbidden") {
		t.Errorf("without the right: %s: %s", s, evidence)
	}
}
