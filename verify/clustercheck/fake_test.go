package clustercheck_test

import (
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/yaml"

	"github.com/eksproxy/eksproxy/addons"
	"github.com/eksproxy/eksproxy/facts"
	"github.com/eksproxy/eksproxy/internal/kube"
	"github.com/eksproxy/eksproxy/internal/podenv"
	"github.com/eksproxy/eksproxy/noproxy/compose"
	"github.com/eksproxy/eksproxy/proxyconfig"
	"github.com/eksproxy/eksproxy/verify"
	"github.com/eksproxy/eksproxy/verify/clustercheck"
)

const (
	proxyURL = "http://proxy.example:3128"
	password = "Pa55/w0rd#x"
	endpoint = "0123456789ABCDEF.gr7.eu-west-1.eks.amazonaws.com"
)

// aCluster is an API server with few objects, which eksproxy has patched.
type aCluster struct {
	t       *testing.T
	objects []*unstructured.Unstructured
	denied  []string // resources
	reads   map[string]int
	known   facts.Cluster
	options clustercheck.Options
	wanted  addons.Desired
	url     string
}

// goodCluster is a cluster in which every check is good.
func goodCluster(t *testing.T) *aCluster {
	t.Helper()
	c := &aCluster{t: t, known: facts.NewCluster(), reads: map[string]int{}}
	c.known.Region, c.known.DNSSuffix, c.known.EndpointHost = "eu-west-1", "amazonaws.com", endpoint
	c.known.VPCCIDRs = []netip.Prefix{netip.MustParsePrefix("10.40.0.0/16"), netip.MustParsePrefix("100.64.0.0/16"), netip.MustParsePrefix("2001:db8::/56")}
	c.known.ServiceCIDRs = []netip.Prefix{netip.MustParsePrefix("10.100.0.0/16")}
	r, err := compose.Cluster(c.known, compose.Options{})
	check(t, err)
	u, err := proxyconfig.ParseURL(proxyURL)
	check(t, err)
	settings := proxyconfig.Settings{HTTPProxy: u, HTTPSProxy: u, NoProxy: r.Entries}
	c.wanted, err = addons.Want(settings, c.known, addons.Options{})
	check(t, err)
	c.add(`{apiVersion: v1, kind: Service, metadata: {name: kubernetes, namespace: default}, spec: {clusterIP: 10.100.0.1, clusterIPs: [10.100.0.1]}}`)
	c.settingsMap(settings)
	c.daemonSet("aws-node", "aws-vpc-cni-init", "aws-node", "aws-eks-nodeagent")
	c.daemonSet("kube-proxy", "", "kube-proxy")
	c.add(`{apiVersion: apps/v1, kind: Deployment, metadata: {name: coredns, namespace: kube-system, uid: u-coredns}, spec: {selector: {matchLabels: {app: coredns}}, template: {spec: {containers: [{name: coredns, image: i}]}}}}`)
	for _, w := range []string{"aws-node", "kube-proxy"} {
		c.patchBy(w, "spec.template.metadata.annotations", map[string]any{addons.AnnotationHash: settings.Hash()})
	}
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	c.url = server.URL
	c.connect(server.URL)
	return c
}

func (c *aCluster) connect(url string) {
	config := &rest.Config{Host: url, QPS: -1}
	d, err := dynamic.NewForConfig(config)
	check(c.t, err)
	set, err := kubernetes.NewForConfig(config)
	check(c.t, err)
	c.options.Client = &kube.Client{Clientset: set, Dynamic: d, Config: config, Server: url}
}

// settingsMap is the ConfigMap as addons patch leaves it.
func (c *aCluster) settingsMap(s proxyconfig.Settings) {
	c.t.Helper()
	data := map[string]any{}
	var owned []fieldpath.Path
	for _, name := range addons.VariableNames() {
		data[name] = s.HTTPProxy.Bare()
		if strings.EqualFold(name, "no_proxy") {
			data[name] = s.NoProxy.String()
		}
		owned = append(owned, fieldpath.MakePathOrDie("data", name))
	}
	o := c.add(`{apiVersion: v1, kind: ConfigMap, metadata: {name: proxy-environment-variables, namespace: kube-system, labels: {eksproxy.dev/managed: "true"}}}`)
	o.Object["data"] = data
	o.SetAnnotations(map[string]string{addons.AnnotationHash: s.Hash()})
	own(c.t, o, addons.Manager, 1, owned...)
}

// daemonSet is a DaemonSet of EKS with two pods, which eksproxy has patched.
func (c *aCluster) daemonSet(name, initContainer string, containers ...string) {
	c.t.Helper()
	o := c.add(`{apiVersion: apps/v1, kind: DaemonSet, metadata: {namespace: kube-system, labels: {eksproxy.dev/managed: "true"}},
spec: {updateStrategy: {type: RollingUpdate}, template: {metadata: {labels: {app: x}}}}, status: {desiredNumberScheduled: 2}}`)
	o.SetName(name)
	o.SetUID(types.UID(uid(name)))
	set(c.t, o, map[string]any{"matchLabels": map[string]any{"app": name}}, "spec", "selector")
	var list []any
	for _, n := range containers {
		list = append(list, map[string]any{"name": n, "image": "i", "env": []any{map[string]any{"name": "LOG", "value": "debug"}}})
	}
	set(c.t, o, list, "spec", "template", "spec", "containers")
	if initContainer != "" {
		set(c.t, o, []any{map[string]any{"name": initContainer, "image": "i"}}, "spec", "template", "spec", "initContainers")
	}
	own(c.t, o, "eks", 1, fieldpath.MakePathOrDie("spec", "template", "spec", "containers", fieldpath.KeyByFields("name", name), "image"))
	owned := []fieldpath.Path{fieldpath.MakePathOrDie("spec", "template", "metadata", "annotations", addons.AnnotationHash)}
	for _, v := range addons.VariableNames() {
		c.setEnv(name, name, v, reference(v))
		owned = append(owned, envPath(name, v))
	}
	own(c.t, o, addons.Manager, 2, owned...)
	c.add(`{apiVersion: apps/v1, kind: ControllerRevision, metadata: {name: ` + name + `-2, namespace: kube-system, labels: {app: ` + name + `, controller-revision-hash: new}, ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: ` + name + `, uid: ` + uid(name) + `, controller: true}]}, revision: 2}`)
	for _, pod := range []string{"-a", "-b"} {
		c.add(`{apiVersion: v1, kind: Pod, metadata: {name: ` + name + pod + `, namespace: kube-system, labels: {app: ` + name + `, controller-revision-hash: new}, ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: ` + name + `, uid: ` + uid(name) + `, controller: true}]}, spec: {nodeName: node` + pod + `}, status: {phase: Running, conditions: [{type: Ready, status: "True"}]}}`)
	}
}

func uid(name string) string { return "u-" + name }
func envPath(container, name string) fieldpath.Path {
	return fieldpath.MakePathOrDie("spec", "template", "spec", "containers", fieldpath.KeyByFields("name", container), "env", fieldpath.KeyByFields("name", name), "valueFrom")
}

// reference is an item as eksproxy writes it.
func reference(name string) map[string]any {
	return map[string]any{"name": name, "valueFrom": map[string]any{"configMapKeyRef": map[string]any{"name": addons.ConfigMapName, "key": name, "optional": true}}}
}

// own notes in an object that a manager has applied fields, so many hours ago.
func own(t *testing.T, o *unstructured.Unstructured, manager string, hour int, paths ...fieldpath.Path) {
	t.Helper()
	raw, err := fieldpath.NewSet(paths...).ToJSON()
	check(t, err)
	at := metav1.NewTime(time.Date(2026, 11, 30, hour, 0, 0, 0, time.UTC))
	entry := metav1.ManagedFieldsEntry{Manager: manager, Operation: metav1.ManagedFieldsOperationApply, Time: &at, FieldsType: "FieldsV1", FieldsV1: &metav1.FieldsV1{}}
	entry.FieldsV1.SetRawBytes(raw)
	kept := slices.DeleteFunc(o.GetManagedFields(), func(e metav1.ManagedFieldsEntry) bool { return e.Manager == manager })
	o.SetManagedFields(append(kept, entry))
}

// add adds an object from YAML.
func (c *aCluster) add(text string) *unstructured.Unstructured {
	c.t.Helper()
	o := &unstructured.Unstructured{}
	check(c.t, yaml.Unmarshal([]byte(text), &o.Object))
	c.objects = append(c.objects, o)
	return o
}

func (c *aCluster) object(name string) *unstructured.Unstructured {
	c.t.Helper()
	for _, o := range c.objects {
		if o.GetName() == name {
			return o
		}
	}
	c.t.Fatalf("there is no %s", name)
	return nil
}

func (c *aCluster) remove(name string) {
	c.objects = slices.DeleteFunc(c.objects, func(o *unstructured.Unstructured) bool { return o.GetName() == name })
}

// data sets keys of the settings' ConfigMap, as eksproxy; an empty value takes
// the key away.
func (c *aCluster) data(value string, keys ...string) {
	c.t.Helper()
	o := c.object(addons.ConfigMapName)
	for _, key := range keys {
		if value == "" {
			unstructured.RemoveNestedField(o.Object, "data", key)
		} else {
			set(c.t, o, value, "data", key)
		}
	}
}

// noProxy replaces a text in both lists.
func (c *aCluster) noProxy(old, with string) {
	c.t.Helper()
	list, _, _ := unstructured.NestedString(c.object(addons.ConfigMapName).Object, "data", "NO_PROXY")
	if !strings.Contains(","+list+",", ","+old+",") {
		c.t.Fatalf("%s has no %s", list, old)
	}
	list = strings.Trim(strings.Replace(","+list+",", ","+old+",", ","+with+",", 1), ",")
	c.data(strings.ReplaceAll(list, ",,", ","), "NO_PROXY", "no_proxy")
}

// patchBy sets a field, as "spec.template.metadata.annotations".
func (c *aCluster) patchBy(name, path string, value any) {
	c.t.Helper()
	set(c.t, c.object(name), value, strings.Split(path, ".")...)
}

// setEnv puts an item into a container's env; nil takes those of the name away.
func (c *aCluster) setEnv(workload, container, name string, item map[string]any) {
	c.t.Helper()
	c.container(workload, container, func(m map[string]any) {
		env, _ := m["env"].([]any)
		env = slices.DeleteFunc(slices.Clone(env), func(e any) bool { return e.(map[string]any)["name"] == name })
		if item != nil {
			env = append(env, item)
		}
		m["env"] = env
	})
}

// container changes one container of a workload.
func (c *aCluster) container(workload, container string, change func(map[string]any)) {
	c.t.Helper()
	o := c.object(workload)
	list, _, err := unstructured.NestedSlice(o.Object, append(podenv.TemplatePath(o.GetKind()), "spec", "containers")...)
	check(c.t, err)
	for _, m := range list {
		if m.(map[string]any)["name"] == container {
			change(m.(map[string]any))
		}
	}
	set(c.t, o, list, append(podenv.TemplatePath(o.GetKind()), "spec", "containers")...)
}

// disown makes an object one that eksproxy has never seen.
func (c *aCluster) disown(name string) {
	o := c.object(name)
	o.SetLabels(nil)
	own(c.t, o, addons.Manager, 2)
	for _, v := range addons.VariableNames() {
		c.setEnv(name, name, v, nil)
	}
}

// checkAll runs every check.
func (c *aCluster) checkAll() verify.Report {
	c.t.Helper()
	c.options.Cluster = c.known
	c.options.Now = func() time.Time { return time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC) }
	return verify.Run(c.t.Context(), clustercheck.Checks(c.options), nil)
}
