package clustercheck_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/eksproxy/eksproxy/addons"
	"github.com/eksproxy/eksproxy/facts"
	"github.com/eksproxy/eksproxy/internal/rollout"
	"github.com/eksproxy/eksproxy/verify"
)

// fault is something wrong with a cluster, and the check that alone must find it.
type fault struct {
	name string // with the public report where there is one
	id   string
	warn bool // it is no failure
	seed func(*aCluster)
	says string // part of the evidence
}

const (
	deployment = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: NAME, namespace: kube-system, uid: u-NAME}, spec: {selector: {matchLabels: {app: NAME}}, template: {spec: {containers: [{name: NAME, image: i, ENV}]}}}}`
	withSix    = `envFrom: [{configMapRef: {name: proxy-environment-variables, optional: true}}]`
)

// app adds a Deployment that has the variables, and more.
func (c *aCluster) app(name, env string) {
	c.t.Helper()
	c.add(strings.NewReplacer("NAME", name, "ENV", env).Replace(deployment))
}

// faultsOfSettings are in the ConfigMap.
func faultsOfSettings() []fault {
	const both = "HTTPS_PROXY"
	return []fault{
		{name: "no ConfigMap", id: "CLUSTER002", seed: func(c *aCluster) { c.remove(addons.ConfigMapName) }, says: "it is not there"},
		{name: "BL-022 no HTTPS_PROXY", id: "CLUSTER002", seed: func(c *aCluster) { c.data("", both, "https_proxy") }, says: "https goes direct"},
		{name: "BL-013 one case alone", id: "CLUSTER002", seed: func(c *aCluster) { c.data("", "no_proxy") }, says: "it lacks no_proxy"},
		{name: "BL-013 two values", id: "CLUSTER003", seed: func(c *aCluster) { c.data("http://old.example:1", "https_proxy") }, says: "HTTPS_PROXY and https_proxy differ"},
		{name: "BL-015 a line end", id: "CLUSTER004", seed: func(c *aCluster) { c.data(proxyURL+"\n", both, "https_proxy") }, says: "key HTTPS_PROXY: it holds a control character"},
		{name: "BL-015 a carriage return in the list", id: "CLUSTER004", seed: func(c *aCluster) { c.noProxy("localhost", "localhost,x.example\r") }, says: "key NO_PROXY: it holds a control character"},
		{name: "BL-016 no scheme", id: "CLUSTER004", seed: func(c *aCluster) { c.data("proxy.example:3128", both, "https_proxy") }, says: "it is no URL"},
		{name: "another scheme", id: "CLUSTER004", seed: func(c *aCluster) { c.data("socks5://proxy.example:1080", both, "https_proxy") }, says: "it is no URL"},
		{name: "BL-035 a password", id: "CLUSTER005", seed: func(c *aCluster) {
			c.data("http://svc:"+password+"@proxy.example:3128", "HTTP_PROXY", "http_proxy", both, "https_proxy")
		}, says: "the URL carries a user or a password"},
		{name: "BL-035 a password in a workload", id: "CLUSTER005", seed: func(c *aCluster) {
			c.app("other", "env: [{name: HTTPS_PROXY, value: 'http://svc:"+password+"@proxy.example:3128'}]")
		}, says: "HTTPS_PROXY in container other"},
		{name: "BL-007 brackets", id: "CLUSTER006", seed: func(c *aCluster) { c.noProxy("localhost", "localhost,[fd64:1:2::1]") }, says: "NP010"},
		{name: "BL-011 an address pattern", id: "CLUSTER006", seed: func(c *aCluster) { c.noProxy("localhost", "localhost,172.17.*") }, says: "NP027"},
		{name: "BL-027 a comment", id: "CLUSTER006", seed: func(c *aCluster) { c.noProxy("localhost", "localhost,x.example # managed") }, says: "NP028"},
		{name: "BL-016 a whole domain of AWS", id: "CLUSTER006", warn: true, seed: func(c *aCluster) { c.noProxy("localhost", "localhost,.amazonaws.com,*.amazonaws.com") }, says: "NP033"},
		{name: "the settings want another list", id: "CLUSTER021", seed: func(c *aCluster) {
			w := c.wanted
			w.Settings.NoProxy = w.Settings.NoProxy[:len(w.Settings.NoProxy)-1]
			c.options.Wanted = &w
		}, says: "NO_PROXY has more: "},
	}
}

// faultsOfTheList are in what NO_PROXY covers.
func faultsOfTheList() []fault {
	return []fault{
		{name: "BL-009 the services of another cluster", id: "CLUSTER007", seed: func(c *aCluster) {
			c.noProxy("10.100.0.1", "172.20.0.1")
			c.noProxy("10.100.0.0/16", "172.20.0.0/16")
		}, says: "it is the ClusterIP"},
		{name: "BL-010 by its range alone", id: "CLUSTER007", warn: true, seed: func(c *aCluster) {
			c.noProxy("10.100.0.1", "")
			c.noProxy("10.100.0.0/16", "10.100.0.0/15") // lint warns where the range itself lacks its first address
		}, says: "by a range alone"},
		{name: "BL-005 a second CIDR", id: "CLUSTER008", seed: func(c *aCluster) { c.noProxy("100.64.0.0/16", "") }, says: "the VPC has this CIDR"},
		{name: "the endpoint, without kube-proxy", id: "CLUSTER009", seed: func(c *aCluster) {
			c.remove("kube-proxy")
			c.noProxy(endpoint, "")
		}, says: "the host of the cluster's endpoint"},
		{name: "BL-002 instance metadata", id: "CLUSTER010", seed: func(c *aCluster) { c.noProxy("169.254.169.254", "") }, says: "instance metadata go through the proxy"},
		{name: "BL-006 Pod Identity", id: "CLUSTER010", seed: func(c *aCluster) { c.noProxy("169.254.170.23", "") }, says: "EKS Pod Identity go through the proxy"},
		{name: "BL-006 Pod Identity over IPv6", id: "CLUSTER010", warn: true, seed: func(c *aCluster) { c.noProxy("fd00:ec2::23", "") }, says: "over IPv6"},
		{name: "kube-proxy without the endpoint", id: "CLUSTER018", seed: func(c *aCluster) { c.noProxy(endpoint, "") }, says: "it loses the API server"},
		{name: "BL-016 a service without an endpoint", id: "CLUSTER020", seed: func(c *aCluster) {
			c.known.SetSource(facts.FieldVPCEndpoints, "EC2")
			c.noProxy("localhost", "localhost,sts.eu-west-1.amazonaws.com")
		}, says: "sends sts past the proxy"},
		{name: "BL-051 a conflict", id: "CLUSTER024", warn: true, seed: func(c *aCluster) {
			c.known.Addons = []facts.Addon{{Name: "vpc-cni", Issues: []string{`ConfigurationConflict: conflict with "kubectl-edit"`}}}
		}, says: "kubectl-edit"},
	}
}

// faultsOfWorkloads are in what has the variables.
func faultsOfWorkloads() []fault {
	return []fault{
		{name: "aws-node was never patched", id: "CLUSTER011", seed: func(c *aCluster) { c.disown("aws-node") }, says: "container aws-node lacks HTTP_PROXY"},
		{name: "the variables in the wrong container", id: "CLUSTER011", seed: func(c *aCluster) {
			c.disown("aws-node")
			c.container("aws-node", "aws-eks-nodeagent", func(m map[string]any) {
				m["envFrom"] = []any{map[string]any{"configMapRef": map[string]any{"name": addons.ConfigMapName, "optional": true}}}
			})
		}, says: "container aws-node lacks HTTP_PROXY"},
		{name: "another proxy of someone", id: "CLUSTER011", seed: func(c *aCluster) {
			c.disown("aws-node")
			for _, v := range addons.VariableNames() {
				c.setEnv("aws-node", "aws-node", v, reference(v))
			}
			c.setEnv("aws-node", "aws-node", "HTTPS_PROXY", map[string]any{"name": "HTTPS_PROXY", "value": "http://old.example:1"})
		}, says: "HTTPS_PROXY, set by someone, is http://old.example:1"},
		{name: "BL-059 listed twice", id: "CLUSTER012", warn: true, seed: func(c *aCluster) {
			c.container("coredns", "coredns", func(m map[string]any) {
				m["env"] = []any{map[string]any{"name": "HTTP_PROXY", "value": proxyURL}, map[string]any{"name": "HTTP_PROXY", "value": proxyURL}}
			})
		}, says: "lists HTTP_PROXY 2 times"},
		{name: "BL-054 a ConfigMap that is missing", id: "CLUSTER013", seed: func(c *aCluster) {
			c.app("other", withSix+", env: [{name: A, valueFrom: {configMapKeyRef: {name: gone, key: a}}}]")
		}, says: "ConfigMap kube-system/gone for A, and it is not there"},
		{name: "BL-054 a key that is missing", id: "CLUSTER013", seed: func(c *aCluster) {
			c.add("{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: kube-system}, data: {b: Yg==}}")
			c.app("other", withSix+", env: [{name: A, valueFrom: {secretKeyRef: {name: s, key: a}}}]")
		}, says: "it has no key a"},
		{name: "the recipe wiped envFrom", id: "CLUSTER014", seed: func(c *aCluster) {
			c.app("other", withSix)
			c.add(`{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: other-1, namespace: kube-system, ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: other, uid: u-other, controller: true}]}, spec: {template: {spec: {containers: [{name: other, envFrom: [{secretRef: {name: settings}}]}]}}}}`)
		}, says: "container other had Secret settings in envFrom until"},
		{name: "BL-052 a stale pod", id: "CLUSTER015", seed: func(c *aCluster) {
			c.object("aws-node-b").SetLabels(map[string]string{"app": "aws-node", "controller-revision-hash": "old"})
		}, says: "1 of 2 pods have an older template: aws-node-b on node-b"},
		{name: "BL-052 the ConfigMap is newer", id: "CLUSTER015", seed: func(c *aCluster) {
			c.object(addons.ConfigMapName).SetAnnotations(map[string]string{addons.AnnotationHash: "0123456789ab"})
		}, says: `and the ConfigMap "0123456789ab"`},
		{name: "a run that was killed", id: "CLUSTER016", seed: func(c *aCluster) {
			c.object("aws-node").SetAnnotations(map[string]string{rollout.Annotation: `{"type":"RollingUpdate"}`})
		}, says: `which was {"type":"RollingUpdate"}`},
		{name: "BL-050 lost to a new manifest", id: "CLUSTER017", seed: func(c *aCluster) {
			for _, v := range addons.VariableNames() {
				c.setEnv("aws-node", "aws-node", v, nil)
			}
			own(c.t, c.object("aws-node"), "helm", 3, fieldpath.MakePathOrDie("spec", "template"))
		}, says: "gone from container aws-node: HTTP_PROXY, HTTPS_PROXY, NO_PROXY, http_proxy, https_proxy, no_proxy, by helm"},
		{name: "BL-050 another value in our item", id: "CLUSTER017", seed: func(c *aCluster) {
			c.setEnv("aws-node", "aws-node", "NO_PROXY", map[string]any{"name": "NO_PROXY", "value": c.wanted.Settings.NoProxy.String()})
			own(c.t, c.object("aws-node"), "kubectl-edit", 3, envPath("aws-node", "NO_PROXY"))
		}, says: "NO_PROXY in container aws-node says something else, by kubectl-edit"},
		{name: "a key of the ConfigMap is another's", id: "CLUSTER017", seed: func(c *aCluster) {
			o := c.object(addons.ConfigMapName)
			own(c.t, o, addons.Manager, 2, fieldpath.MakePathOrDie("data", "HTTP_PROXY"))
			own(c.t, o, "kubectl-edit", 3, fieldpath.MakePathOrDie("data", "NO_PROXY"))
		}, says: "key NO_PROXY is set by others, by kubectl-edit"},
		{name: "BL-018 a controller without the variables", id: "CLUSTER019", warn: true, seed: func(c *aCluster) { c.app("cluster-autoscaler", "env: []") }, says: "it has none of the variables; it resizes node groups"},
		{name: "BL-018 someone unknown", id: "CLUSTER019", warn: true, seed: func(c *aCluster) { c.app("other", "env: []") }, says: "deployment/other"},
		{name: "BL-038 no certificates", id: "CLUSTER022", seed: func(c *aCluster) {
			c.patchBy("aws-node", "spec.template.spec.volumes", []any{map[string]any{"name": "eksproxy-trusted-ca", "configMap": map[string]any{"name": addons.CAConfigMapName, "optional": true}}})
		}, says: "it is not there: pods trust the public authorities alone"},
		{name: "no Secret", id: "CLUSTER023", seed: func(c *aCluster) { c.fromSecret() }, says: "it is not there"},
		{name: "BL-015 a line end in the Secret", id: "CLUSTER023", seed: func(c *aCluster) {
			c.fromSecret()
			c.add("{apiVersion: v1, kind: Secret, metadata: {name: eksproxy-credentials, namespace: kube-system}, data: {HTTP_PROXY: aHR0cDovL3AuZXhhbXBsZToxCg==, HTTPS_PROXY: aHR0cDovL3AuZXhhbXBsZToxCg==}}")
		}, says: "key HTTP_PROXY: it holds a control character"},
	}
}

// fromSecret makes a URL of aws-node one from a Secret.
func (c *aCluster) fromSecret() {
	c.setEnv("aws-node", "aws-node", "HTTPS_PROXY", map[string]any{"name": "HTTPS_PROXY", "valueFrom": map[string]any{"secretKeyRef": map[string]any{"name": addons.SecretName, "key": "HTTPS_PROXY", "optional": true}}})
}

func TestSeededFaults(t *testing.T) {
	for _, f := range slices.Concat(faultsOfSettings(), faultsOfTheList(), faultsOfWorkloads(), faultsOfNodeClasses()) {
		t.Run(f.id+" "+f.name, func(t *testing.T) {
			c := goodCluster(t)
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
			for _, found := range r.Findings {
				if c.options.Wanted == nil && strings.Contains(found.Remedy, "addons patch") && !strings.Contains(found.Remedy, "--http-proxy "+proxyURL) && !strings.Contains(found.Remedy, "--config FILE") {
					t.Errorf("%s: the remedy lacks the proxy: %s", found.ID, found.Remedy)
				}
			}
			if strings.Contains(string(text), password) {
				t.Errorf("the password is shown\n%s", text)
			}
		})
	}
}
