package fargate

import (
	"encoding/base64"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/eksproxy/eksproxy/integration/controlplane"
	"github.com/eksproxy/eksproxy/integration/program"
)

// nodeClassCRD is a definition in the shape that the user guide of EKS shows
// ("Create a Node Class for Amazon EKS"), with what stands in for fields.
const nodeClassCRD = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: nodeclasses.eks.amazonaws.com}
spec:
  group: eks.amazonaws.com
  scope: Cluster
  names: {plural: nodeclasses, singular: nodeclass, kind: NodeClass, listKind: NodeClassList}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            required: [role]
            properties:
              role: {type: string}
              snatPolicy: {type: string}
FIELDS
`

const allFields = `
              advancedNetworking:
                type: object
                properties:
                  associatePublicIPAddress: {type: boolean}
                  httpsProxy: {type: string, maxLength: 255}
                  noProxy: {type: array, maxItems: 50, items: {type: string, maxLength: 255}}
              certificateBundles: {type: array, items: {type: object, required: [name, data], properties: {name: {type: string}, data: {type: string, format: byte}}}}`

// nodeClasses makes the definition and some NodeClasses, the one of EKS first.
func nodeClasses(t *testing.T, cp *controlplane.ControlPlane, fields string, names ...string) {
	t.Helper()
	cp.Create(t, strings.Replace(nodeClassCRD, "FIELDS", fields, 1))
	cp.Eventually(t, 30*time.Second, "the schema", func() error {
		text, err := cp.TryKubectl(t, "get", "--raw", "/openapi/v3/apis/eks.amazonaws.com/v1")
		if err == nil && !strings.Contains(text, "snatPolicy") {
			err = errors.New("it is not published")
		}
		return err
	})
	for _, name := range names {
		cp.Apply(t, "eks", true, `{apiVersion: eks.amazonaws.com/v1, kind: NodeClass, metadata: {name: `+name+`}, spec: {role: r, snatPolicy: Random}}`)
	}
}

func spec(t *testing.T, cp *controlplane.ControlPlane, name, path string) string {
	t.Helper()
	return cp.Kubectl(t, "get", "nodeclass", name, "-o", "jsonpath={.spec"+path+"}")
}

func classes(t *testing.T, cp *controlplane.ControlPlane) string {
	t.Helper()
	text := cp.Kubectl(t, "get", "nodeclasses", "-o", "yaml")
	for _, v := range volatile {
		text = v.ReplaceAllString(text, "")
	}
	return text
}

// TestNodeClass: the nodes of EKS Auto Mode get the proxy, with plan, status and
// revert; what others have set there stays.
func TestNodeClass(t *testing.T) {
	t.Parallel()
	cp := controlplane.Start(t, controlplane.Options{NoControllers: true})
	nodeClasses(t, cp, allFields, "default", "gpu", "own")
	cp.Apply(t, "team", true, `{apiVersion: eks.amazonaws.com/v1, kind: NodeClass, metadata: {name: own}, spec: {advancedNetworking: {httpsProxy: "http://own.example:1"}, certificateBundles: [{name: x, data: eA==}]}}`)
	cp.Kubectl(t, "annotate", "nodeclass", "gpu", "argocd.argoproj.io/tracking-id=nodes:eks.amazonaws.com/NodeClass:gpu")
	before := classes(t, cp)
	facts := factsFile(t, "autoMode: true\n")
	ca := cp.CAFile()

	r := expect(t, 1, cp.Kubeconfig(), plan("--facts", facts, "--trusted-ca", ca, "--exit-code")...)
	says(t, r.Stdout, "NodeClass default", "replaces nodes", "NodeClass default is EKS's own", "NodeClass gpu is left alone: it belongs to Argo CD",
		"NodeClass own: spec.advancedNetworking.httpsProxy is set by team and left as it is", "NodeClass own: spec.certificateBundles is set by team")
	if diff := program.Diff(before, classes(t, cp)); diff != "" {
		t.Errorf("plan has written:\n%s", diff)
	}
	with := patch("--facts", facts, "--trusted-ca", ca)
	expect(t, 0, cp.Kubeconfig(), with...)
	if got := spec(t, cp, "default", ".advancedNetworking.httpsProxy"); got != proxyURL {
		t.Errorf("httpsProxy is %q", got)
	}
	if list := spec(t, cp, "default", ".advancedNetworking.noProxy"); !strings.Contains(list, `"10.40.0.0/16"`) || !strings.Contains(list, `".svc"`) {
		t.Errorf("noProxy is %s", list)
	}
	data, err := base64.StdEncoding.DecodeString(spec(t, cp, "default", ".certificateBundles[0].data"))
	if err != nil || !strings.HasPrefix(string(data), "-----BEGIN CERTIFICATE-----") {
		t.Errorf("the bundle is %q: %v", data, err)
	}
	if got := spec(t, cp, "default", ".role"); got != "r" {
		t.Errorf("role is %q", got)
	}
	if got := spec(t, cp, "own", ".advancedNetworking.httpsProxy"); got != "http://own.example:1" {
		t.Errorf("another's proxy is %q", got)
	}
	if r := expect(t, 0, cp.Kubeconfig(), with...); !strings.Contains(r.Stdout, "unchanged: 1 objects") {
		t.Errorf("a second run says: %s", r.Stdout)
	}
	says(t, expect(t, 0, cp.Kubeconfig(), "addons", "status").Stdout, "NODECLASS", "default", "1 NodeClasses have the proxy")

	verified := func(want ...string) {
		t.Helper()
		got := slices.DeleteFunc(found(t, cp.Kubeconfig()), func(f string) bool { return !strings.Contains(f, "CLUSTER048") })
		if len(got) != len(want) {
			t.Fatalf("found is %q, want %q", got, want)
		}
		for i := range want {
			if !strings.HasPrefix(got[i], want[i]) {
				t.Errorf("found is %q, want %q", got[i], want[i])
			}
		}
	}
	verified("warn CLUSTER048 NodeClass gpu: it has no httpsProxy") // that of Argo CD; own has one of its own

	// EKS writes it anew.
	cp.Apply(t, "eks", true, `{apiVersion: eks.amazonaws.com/v1, kind: NodeClass, metadata: {name: default}, spec: {role: r2, snatPolicy: Disabled}}`)
	if got := spec(t, cp, "default", ".advancedNetworking.httpsProxy"); got != proxyURL {
		t.Errorf("after EKS's apply httpsProxy is %q", got)
	}
	cp.Apply(t, "eks", true, `{apiVersion: eks.amazonaws.com/v1, kind: NodeClass, metadata: {name: default}, spec: {role: r, snatPolicy: Random}}`)
	cp.Kubectl(t, "patch", "nodeclass", "default", "--type=json", "-p", `[{"op":"remove","path":"/spec/advancedNetworking"}]`)
	says(t, expect(t, 1, cp.Kubeconfig(), "addons", "status").Stdout, "NodeClass default: no longer eksproxy's: httpsProxy, noProxy")
	verified("fail CLUSTER048 NodeClass default: no longer eksproxy's: httpsProxy, noProxy", "warn CLUSTER048 NodeClass gpu: it has no httpsProxy")
	expect(t, 0, cp.Kubeconfig(), with...)
	verified("warn CLUSTER048 NodeClass gpu: it has no httpsProxy")
	expect(t, 0, cp.Kubeconfig(), "addons", "revert")
	if diff := program.Diff(before, classes(t, cp)); diff != "" {
		t.Errorf("revert has left:\n%s", diff)
	}
}

// TestNodeClassShapes: only fields that the API server has are sent, and lists
// with an owner an entry are shared.
func TestNodeClassShapes(t *testing.T) {
	t.Parallel()
	cp := controlplane.Start(t, controlplane.Options{NoControllers: true})
	network := []string{"--vpc-cidr", "10.40.0.0/16", "--service-cidr", "10.100.0.0/16"}
	if r := expect(t, 2, cp.Kubeconfig(), patch(append(network, "--auto-mode", "on")...)...); !strings.Contains(r.Stderr, "knows no NodeClass") {
		t.Errorf("it says: %s", r.Stderr)
	}
	nodeClasses(t, cp, "", "default")
	r := expect(t, 0, cp.Kubeconfig(), patch(append(network, "--auto-mode", "on", "--trusted-ca", cp.CAFile())...)...)
	says(t, r.Stderr, "has no spec.advancedNetworking.httpsProxy and noProxy", "has no spec.certificateBundles")
	if got := cp.Kubectl(t, "get", "nodeclass", "default", "-o", "jsonpath={.metadata.managedFields[*].manager}"); strings.Contains(got, "eksproxy") {
		t.Errorf("something was written: %s", got)
	}
	expect(t, 0, cp.Kubeconfig(), plan(append(network, "--auto-mode", "off", "--exit-code")...)...)

	shared := strings.Replace(allFields, "noProxy: {type: array,", "noProxy: {type: array, x-kubernetes-list-type: set,", 1)
	shared = strings.Replace(shared, "certificateBundles: {type: array,", "certificateBundles: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name],", 1)
	cp.Kubectl(t, "delete", "crd", "nodeclasses.eks.amazonaws.com")
	nodeClasses(t, cp, shared+"\n              shared: {type: boolean}", "default")
	cp.Eventually(t, 30*time.Second, "the new schema", func() error {
		text, err := cp.TryKubectl(t, "get", "--raw", "/openapi/v3/apis/eks.amazonaws.com/v1")
		if err == nil && !strings.Contains(text, `"shared"`) {
			err = errors.New("it is not published")
		}
		return err
	})
	cp.Apply(t, "team", true, `{apiVersion: eks.amazonaws.com/v1, kind: NodeClass, metadata: {name: default}, spec: {advancedNetworking: {noProxy: [.team.example, localhost]}, certificateBundles: [{name: x, data: eA==}]}}`)
	before := classes(t, cp)
	on := patch(append(network, "--auto-mode", "on", "--trusted-ca", cp.CAFile())...)
	expect(t, 0, cp.Kubeconfig(), on...)
	if got := spec(t, cp, "default", ".advancedNetworking.noProxy"); !strings.Contains(got, ".team.example") || !strings.Contains(got, "10.40.0.0/16") {
		t.Errorf("noProxy is %s", got)
	}
	if got := spec(t, cp, "default", ".certificateBundles[*].name"); got != "x eksproxy-trusted-ca" {
		t.Errorf("the bundles are %s", got)
	}
	if r := expect(t, 0, cp.Kubeconfig(), on...); !strings.Contains(r.Stdout, "unchanged: 1 objects") {
		t.Errorf("a second run says: %s", r.Stdout)
	}
	expect(t, 0, cp.Kubeconfig(), "addons", "revert")
	if diff := program.Diff(before, classes(t, cp)); diff != "" {
		t.Errorf("revert has left:\n%s", diff)
	}

	login := t.TempDir() + "/login"
	if err := os.WriteFile(login, []byte(secret.User+":"+secret.Password), 0o600); err != nil {
		t.Fatal(err)
	}
	r = expect(t, 0, cp.Kubeconfig(), patch(append(network, "--auto-mode", "on", "--credentials-file", login, "--create-secret")...)...)
	says(t, r.Stderr, "a NodeClass has no place for credentials")
}
