package clustercheck_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/eksproxy/eksproxy/addons"
	"github.com/eksproxy/eksproxy/facts"
	"github.com/eksproxy/eksproxy/verify"
)

const (
	ebsName    = "ebs-csi-controller"
	ebsAddon   = "aws-ebs-csi-driver"
	ebsSchema  = `{"type":"object","additionalProperties":false,"properties":{"proxy":{"type":"object","properties":{"http_proxy":{"type":"string"},"no_proxy":{"type":"string"}}}}}`
	ebsWithout = `{"type":"object","properties":{"node":{"type":"object","additionalProperties":false}}}`
)

// ebs adds ebs-csi-controller as EKS configures it: upper case alone, one URL, on
// the plugin and on a sidecar.
func (c *aCluster) ebs() {
	c.t.Helper()
	list := c.wanted.Settings.NoProxy.String()
	o := c.add(`{apiVersion: apps/v1, kind: Deployment, metadata: {name: ` + ebsName + `, namespace: kube-system, uid: u-ebs}, spec: {replicas: 1, selector: {matchLabels: {app: ebs}}, template: {spec: {containers: [{name: ebs-plugin, image: i}, {name: csi-provisioner, image: i}]}}}}`)
	var owned []fieldpath.Path
	for _, container := range []string{"ebs-plugin", "csi-provisioner"} {
		for name, value := range map[string]string{"HTTP_PROXY": proxyURL, "HTTPS_PROXY": proxyURL, "NO_PROXY": list} {
			c.setEnv(ebsName, container, name, map[string]any{"name": name, "value": value})
			owned = append(owned, fieldpath.MakePathOrDie("spec", "template", "spec", "containers", fieldpath.KeyByFields("name", container), "env", fieldpath.KeyByFields("name", name), "value"))
		}
	}
	own(c.t, o, "eks", 1, owned...)
	c.add(`{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: ebs-new, namespace: kube-system, uid: u-rs, annotations: {deployment.kubernetes.io/revision: "2"}, labels: {app: ebs, pod-template-hash: new}, ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: ` + ebsName + `, uid: u-ebs, controller: true}]}, spec: {template: {spec: {}}}}`)
	set(c.t, o, "2", "metadata", "annotations", "deployment.kubernetes.io/revision")
	template, err := json.Marshal(o.Object["spec"].(map[string]any)["template"])
	check(c.t, err)
	var copied map[string]any
	check(c.t, json.Unmarshal(template, &copied))
	copied["metadata"] = map[string]any{"labels": map[string]any{"pod-template-hash": "new"}}
	set(c.t, c.object("ebs-new"), copied, "spec", "template")
	c.add(`{apiVersion: v1, kind: Pod, metadata: {name: ebs-a, namespace: kube-system, labels: {app: ebs, pod-template-hash: new}, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: ebs-new, uid: u-rs, controller: true}]}, spec: {nodeName: node-a}, status: {phase: Running, conditions: [{type: Ready, status: "True"}]}}`)
	c.record(ebsAddon, map[string]any{
		"cluster": "demo", "region": "eu-west-1", "settingsHash": c.wanted.Settings.Hash(), "components": []string{ebsName},
		"additions": []map[string]any{{"pointer": "/proxy/http_proxy", "value": proxyURL}, {"pointer": "/proxy/no_proxy", "value": list}}, "created": []string{"/proxy"},
	})
	c.known.ClusterName = "demo"
	c.known.Addons = append(c.known.Addons, facts.Addon{Name: ebsAddon, Version: "v1.20.0-eksbuild.1", Status: "ACTIVE", Configuration: `{"proxy":{"http_proxy":"` + proxyURL + `","no_proxy":"` + list + `"}}`})
	c.known.SetSource(facts.FieldAddons, "EKS")
	c.options.Schemas = schemas(ebsSchema, nil)
}

func schemas(text string, err error) func(context.Context, string, string) (*addons.Schema, error) {
	return func(context.Context, string, string) (*addons.Schema, error) {
		if err != nil {
			return nil, err
		}
		return addons.ParseSchema(text)
	}
}

// record writes what eksproxy has recorded of one add-on.
func (c *aCluster) record(addon string, record any) {
	c.t.Helper()
	if !slices.ContainsFunc(c.objects, func(o *unstructured.Unstructured) bool { return o.GetName() == addons.RecordName }) {
		c.add(`{apiVersion: v1, kind: ConfigMap, metadata: {name: ` + addons.RecordName + `, namespace: kube-system, labels: {eksproxy.dev/managed: "true"}}}`)
	}
	text, isText := record.(string)
	if !isText {
		data, err := json.Marshal(record)
		check(c.t, err)
		text = string(data)
	}
	set(c.t, c.object(addons.RecordName), text, "data", addon)
}

// configure gives an add-on of EKS other values.
func (c *aCluster) configure(values string) { c.known.Addons[0].Configuration = values }

func faultsOfManaged() []fault {
	list := func(c *aCluster) string { return c.wanted.Settings.NoProxy.String() }
	return []fault{
		{name: "a record that is no JSON", id: "CLUSTER040", seed: func(c *aCluster) { c.record(ebsAddon, `{"cluster": "demo"`) }, says: "key aws-ebs-csi-driver: it cannot be read"},
		{name: "the record of another cluster", id: "CLUSTER040", seed: func(c *aCluster) { c.known.ClusterName = "other" }, says: `it is of the EKS cluster "demo", and this one is other`},
		{name: "an add-on that was removed", id: "CLUSTER040", seed: func(c *aCluster) { c.known.Addons = nil }, says: "EKS no longer has this add-on"},
		{name: "terraform took it out", id: "CLUSTER041", seed: func(c *aCluster) { c.configure(`{}`) }, says: "no longer in its configuration values as eksproxy has put it there: /proxy/http_proxy, /proxy/no_proxy"},
		{name: "it did not arrive", id: "CLUSTER041", seed: func(c *aCluster) {
			c.setEnv(ebsName, "ebs-plugin", "NO_PROXY", nil)
			c.setEnv("ebs-new", "ebs-plugin", "NO_PROXY", nil)
		}, says: "container ebs-plugin lacks NO_PROXY, which the configuration of the add-on aws-ebs-csi-driver sets"},
		{name: "an update that failed", id: "CLUSTER042", seed: func(c *aCluster) {
			c.known.Addons[0].Status, c.known.Addons[0].Issues = "UPDATE_FAILED", []string{"InsufficientNumberOfReplicas: the pods are not ready"}
		}, says: "it carries the settings, and EKS says UPDATE_FAILED: InsufficientNumberOfReplicas"},
		{name: "an update that is not over", id: "CLUSTER042", warn: true, seed: func(c *aCluster) { c.known.Addons[0].Status = "UPDATING" }, says: "is being updated"},
		{name: "another add-on is degraded", id: "CLUSTER042", warn: true, seed: func(c *aCluster) {
			c.known.Addons = append(c.known.Addons, facts.Addon{Name: "vpc-cni", Status: "DEGRADED", Issues: []string{"UnsupportedAddonModification: x"}})
		}, says: "EKS says DEGRADED"},
		{name: "two routes with two values", id: "CLUSTER043", seed: func(c *aCluster) {
			c.known.Addons = append(c.known.Addons, facts.Addon{Name: "vpc-cni", Status: "ACTIVE", Configuration: `{"extraEnv":[{"name":"HTTPS_PROXY","value":"http://old.example:1"}]}`})
		}, says: `HTTPS_PROXY in container aws-node is eksproxy's, and the add-on's configuration sets it at /extraEnv/0 to "http://old.example:1"`},
		{name: "two routes with one value", id: "CLUSTER043", warn: true, seed: func(c *aCluster) {
			c.known.Addons = append(c.known.Addons, facts.Addon{Name: "vpc-cni", Status: "ACTIVE", Configuration: "extraEnv:\n- {name: HTTPS_PROXY, value: '" + proxyURL + "/'}\n"})
		}, says: "sets it at /extraEnv/0 too"},
		{name: "the settings are newer", id: "CLUSTER044", seed: func(c *aCluster) {
			c.record(ebsAddon, map[string]any{"cluster": "demo", "settingsHash": "0123456789ab", "components": []string{ebsName}, "additions": []map[string]any{{"pointer": "/proxy/http_proxy", "value": proxyURL}}})
		}, says: `its configuration has the settings "0123456789ab"`},
		{name: "another proxy in the configuration", id: "CLUSTER044", seed: func(c *aCluster) {
			c.remove(addons.RecordName)
			c.configure(`{"proxy":{"http_proxy":"http://old.example:1","no_proxy":"` + list(c) + `"}}`)
		}, says: `/proxy/http_proxy for Deployment kube-system/ebs-csi-controller is "http://old.example:1", not what the ConfigMap has`},
		{name: "a list without the API server", id: "CLUSTER044", seed: func(c *aCluster) {
			c.remove(addons.RecordName)
			c.configure(`{"proxy":{"http_proxy":"` + proxyURL + `","no_proxy":".corp.example"}}`)
		}, says: "through the proxy"},
		{name: "a password in the configuration", id: "CLUSTER045", seed: func(c *aCluster) {
			c.remove(addons.RecordName)
			c.configure(`{"proxy":{"http_proxy":"http://svc:` + password + `@proxy.example:3128","no_proxy":"` + list(c) + `"}}`)
		}, says: "/proxy/http_proxy: the URL carries a user or a password"},
		{name: "a version without the place", id: "CLUSTER046", seed: func(c *aCluster) { c.options.Schemas = schemas(ebsWithout, nil) }, says: "the version v1.20.0-eksbuild.1 has no place /proxy, which carries the settings"},
		{name: "values that the version refuses", id: "CLUSTER046", seed: func(c *aCluster) {
			c.configure(strings.Replace(c.known.Addons[0].Configuration, `{"proxy"`, `{"gone":1,"proxy"`, 1))
		}, says: "refuses /gone of the configuration values: this version has no such name"},
		{name: "pods before the update", id: "CLUSTER047", seed: func(c *aCluster) {
			c.object("ebs-a").SetLabels(map[string]string{"app": "ebs", "pod-template-hash": "old"})
			c.object("ebs-a").SetOwnerReferences(nil)
			c.add(`{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: ebs-old, namespace: kube-system, uid: u-old, labels: {app: ebs, pod-template-hash: old}, ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: ` + ebsName + `, uid: u-ebs, controller: true}]}, spec: {template: {spec: {containers: [{name: ebs-plugin, image: old}]}}}}`)
			own := c.object("ebs-old")
			c.object("ebs-a").Object["metadata"].(map[string]any)["ownerReferences"] = []any{map[string]any{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "ebs-old", "uid": string(own.GetUID()), "controller": true}}
		}, says: "1 of 1 pods are older than the configuration of the add-on aws-ebs-csi-driver: ebs-a on node-a"},
	}
}

// TestManagedFaults seeds faults of add-ons that EKS configures: each is found by
// one check alone, and no password is shown.
func TestManagedFaults(t *testing.T) {
	for _, f := range faultsOfManaged() {
		t.Run(f.id+" "+f.name, func(t *testing.T) {
			c := goodCluster(t)
			c.ebs()
			f.seed(c)
			r := c.checkAll()
			text, err := json.MarshalIndent(r, "", " ")
			check(t, err)
			status := verify.Fail
			if f.warn {
				status = verify.Warn
			}
			if got := ids(r, verify.Fail, verify.Warn, verify.Unknown); !slices.Equal(got, []string{f.id}) || !slices.Contains(r.IDs(status), f.id) {
				t.Errorf("found %v, want %s to %s alone\n%s", got, f.id, status, text)
			}
			if !slices.ContainsFunc(r.Findings, func(found verify.Finding) bool { return found.ID == f.id && strings.Contains(found.Evidence, f.says) }) {
				t.Errorf("nothing says %q\n%s", f.says, text)
			}
			if strings.Contains(string(text), password) {
				t.Errorf("the password is shown\n%s", text)
			}
		})
	}
}

// TestManagedForm: a component's own form is right: upper case alone, one URL, also
// where the settings name the component, and where nobody recorded it.
func TestManagedForm(t *testing.T) {
	for _, recorded := range []bool{true, false} {
		c := goodCluster(t)
		c.ebs()
		if !recorded {
			c.remove(addons.RecordName)
		}
		w, err := addons.Want(c.wanted.Settings, c.known, addons.Options{Components: []string{ebsName}})
		check(t, err)
		c.options.Wanted = &w
		r := c.checkAll()
		for _, f := range r.Findings {
			if f.Status != verify.Pass && f.Status != verify.Skip {
				t.Errorf("recorded %t: %s %s: %s: %s", recorded, f.ID, f.Status, f.Target, f.Evidence)
			}
		}
		// The same by a hand is none: programs read the one or the other case.
		own(t, c.object(ebsName), "eks", 1)
		if got := ids(c.checkAll(), verify.Fail); !slices.Equal(got, []string{"CLUSTER011"}) {
			t.Errorf("recorded %t: without EKS as the owner %v fail", recorded, got)
		}
	}
}

// TestManagedUndecided: what AWS does not answer is no pass.
func TestManagedUndecided(t *testing.T) {
	c := goodCluster(t)
	c.ebs()
	c.options.Schemas = schemas("", errors.New("no route to host"))
	if got := ids(c.checkAll(), verify.Fail, verify.Warn, verify.Unknown); !slices.Equal(got, []string{"CLUSTER046"}) {
		t.Errorf("found %v", got)
	}
	c.options.Schemas, c.known.Addons, c.known.Sources = nil, nil, nil
	for _, f := range c.checkAll().Findings {
		if f.ID >= "CLUSTER042" && f.ID != "CLUSTER044" && f.ID < "CLUSTER047" && f.Status != verify.Skip {
			t.Errorf("%s %s: %s", f.ID, f.Status, f.Evidence)
		}
	}
}
