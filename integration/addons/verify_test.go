package addons

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/eksproxy/eksproxy/integration/controlplane"
)

// vpc are flags of verify: what no API server tells.
func vpc() []string {
	return []string{"verify", "cluster", "--vpc-cidr", "10.40.0.0/16", "--vpc-cidr", "100.64.0.0/16", "--service-cidr", "10.100.0.0/16"}
}

// report is what verify -o json prints.
type report struct {
	Kind     string
	Findings []struct{ ID, Status, Target, Evidence, Remedy string }
}

// ids are the checks with findings of these statuses, each once.
func (r report) ids(statuses ...string) []string {
	var all []string
	for _, f := range r.Findings {
		if slices.Contains(statuses, f.Status) && !slices.Contains(all, f.ID) {
			all = append(all, f.ID)
		}
	}
	return all
}

// verifies runs verify cluster and demands an exit code.
func verifies(t *testing.T, code int, kubeconfig string, more ...string) report {
	t.Helper()
	got := expect(t, code, kubeconfig, slices.Concat(vpc(), more, []string{"-o", "json"})...)
	var r report
	if err := json.Unmarshal([]byte(got.Stdout), &r); err != nil || r.Kind != "VerifyReport" {
		t.Fatalf("reading the report: %v\n%s", err, got.Stdout)
	}
	return r
}

// viewer is a user with the rights of the ClusterRole view and no others.
func viewer(t *testing.T, cp *controlplane.ControlPlane, user string) string {
	t.Helper()
	cp.Create(t, `{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: view-`+user+`},
 roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}, subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: `+user+`}]}`)
	config := cp.UserKubeconfig(t, user)
	cp.Eventually(t, time.Minute, "the rights of view", func() error {
		_, err := cp.TryKubectl(t, "--kubeconfig", config, "get", "daemonsets", "-n", "kube-system")
		return err
	})
	return config
}

// seededFault is something wrong, the check that alone must find it, and the way
// back.
type seededFault struct {
	name, id, status string
	seed, undo       func(*testing.T, *controlplane.ControlPlane)
	says             string
}

// data applies the ConfigMap with other data, as eksproxy itself would, so that
// nobody else owns a key.
func data(change func(map[string]string)) func(*testing.T, *controlplane.ControlPlane) {
	return func(t *testing.T, cp *controlplane.ControlPlane) {
		t.Helper()
		live := object(t, cp, "configmap/proxy-environment-variables")
		values := map[string]string{}
		for k, v := range live["data"].(map[string]any) {
			values[k] = v.(string)
		}
		change(values)
		meta := live["metadata"].(map[string]any)
		text, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "data": values, "metadata": map[string]any{
			"name": meta["name"], "namespace": meta["namespace"], "labels": meta["labels"], "annotations": meta["annotations"],
		}})
		if err != nil {
			t.Fatal(err)
		}
		cp.Apply(t, "eksproxy", true, string(text))
	}
}

// listed replaces an entry in both lists.
func listed(old, with string) func(*testing.T, *controlplane.ControlPlane) {
	return data(func(m map[string]string) {
		for _, key := range []string{"NO_PROXY", "no_proxy"} {
			m[key] = strings.Trim(strings.ReplaceAll(","+m[key]+",", ","+old+",", ","+with+","), ",")
			m[key] = strings.ReplaceAll(m[key], ",,", ",")
		}
	})
}

func kubectl(args ...string) func(*testing.T, *controlplane.ControlPlane) {
	return func(t *testing.T, cp *controlplane.ControlPlane) {
		t.Helper()
		cp.Kubectl(t, append([]string{"-n", "kube-system"}, args...)...)
	}
}

// rolls waits until the pods are new.
func rolls(do func(*testing.T, *controlplane.ControlPlane)) func(*testing.T, *controlplane.ControlPlane) {
	return func(t *testing.T, cp *controlplane.ControlPlane) {
		t.Helper()
		do(t, cp)
		cp.Rollout(t, "kube-system")
	}
}

// again is addons patch, which repairs most.
func again(t *testing.T, cp *controlplane.ControlPlane) {
	t.Helper()
	expect(t, 0, cp.Kubeconfig(), patch("--canary=off")...)
}

// app makes a Deployment with this in its container.
func app(env string) func(*testing.T, *controlplane.ControlPlane) {
	return func(t *testing.T, cp *controlplane.ControlPlane) {
		t.Helper()
		cp.Create(t, `{apiVersion: apps/v1, kind: Deployment, metadata: {name: other, namespace: kube-system}, spec: {replicas: 1, selector: {matchLabels: {app: other}},
 template: {metadata: {labels: {app: other}}, spec: {containers: [{name: other, image: images.test/other:1, `+env+`}]}}}}`)
	}
}

const recipe = "envFrom: [{configMapRef: {name: proxy-environment-variables, optional: true}}]"

func faultsOfTheConfigMap() []seededFault {
	gone := func(keys ...string) func(*testing.T, *controlplane.ControlPlane) {
		return data(func(m map[string]string) {
			for _, key := range keys {
				delete(m, key)
			}
		})
	}
	https := func(value string, keys ...string) func(*testing.T, *controlplane.ControlPlane) {
		return data(func(m map[string]string) {
			for _, key := range keys {
				m[key] = value
			}
		})
	}
	return []seededFault{
		{name: "no ConfigMap", id: "CLUSTER002", seed: kubectl("delete", "configmap", "proxy-environment-variables"), says: "it is not there"},
		{name: "BL-022 no HTTPS_PROXY", id: "CLUSTER002", seed: gone("HTTPS_PROXY", "https_proxy"), says: "https goes direct"},
		{name: "BL-013 two values", id: "CLUSTER003", seed: https("http://old.example:1", "https_proxy"), says: "differ"},
		{name: "BL-015 a line end", id: "CLUSTER004", seed: https(proxyURL+"\n", "HTTPS_PROXY", "https_proxy"), says: "control character"},
		{name: "BL-035 a password", id: "CLUSTER005", seed: https("http://"+secret.User+":"+secret.Core+"@proxy.example:3128", "HTTPS_PROXY", "https_proxy"), says: "a user or a password"},
		{name: "BL-011 an address pattern", id: "CLUSTER006", seed: listed("localhost", "localhost,172.17.*"), says: "NP027"},
		{name: "BL-009 another service range", id: "CLUSTER007", seed: func(t *testing.T, cp *controlplane.ControlPlane) {
			t.Helper()
			listed("10.100.0.1", "172.20.0.1")(t, cp)
			listed("10.100.0.0/16", "172.20.0.0/16")(t, cp)
		}, says: "the ClusterIP of the service kubernetes"},
		{name: "BL-005 a second CIDR", id: "CLUSTER008", seed: listed("100.64.0.0/16", ""), says: "the VPC has this CIDR"},
		{name: "BL-006 Pod Identity", id: "CLUSTER010", seed: listed("169.254.170.23", ""), says: "EKS Pod Identity"},
		{name: "kube-proxy without the endpoint", id: "CLUSTER018", seed: listed("0123456789ABCDEF0123456789ABCDEF.gr7.eu-west-1.eks.amazonaws.com", ""), says: "it loses the API server"},
		{name: "a key is another's", id: "CLUSTER017", seed: kubectl("patch", "configmap", "proxy-environment-variables", "--type=merge", "-p", `{"data":{"HTTP_PROXY":"http://proxy.example:3128/","http_proxy":"http://proxy.example:3128/"}}`), says: "set by others, by kubectl-patch"},
	}
}

func faultsOfTheWorkloads() []seededFault {
	takeOut := kubectl("delete", "deployment", "other")
	unset := []string{"set", "env", awsNode, "-c", "aws-node"}
	for _, name := range variables() {
		unset = append(unset, name+"-")
	}
	return []seededFault{
		{name: "aws-node was never patched", id: "CLUSTER011", seed: rolls(func(t *testing.T, cp *controlplane.ControlPlane) {
			t.Helper()
			cp.Apply(t, "eksproxy", false, "{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: aws-node, namespace: kube-system}}")
		}), says: "container aws-node lacks HTTP_PROXY"},
		{name: "BL-059 listed twice", id: "CLUSTER012", status: "warn", seed: app(`env: [{name: HTTP_PROXY, value: "` + proxyURL + `"}, {name: HTTP_PROXY, value: "` + proxyURL + `"}]`), undo: takeOut, says: "2 times"},
		{name: "BL-054 a missing ConfigMap", id: "CLUSTER013", seed: app(recipe + ", env: [{name: A, valueFrom: {configMapKeyRef: {name: gone, key: a}}}]"), undo: takeOut, says: "it is not there"},
		{name: "the recipe wiped envFrom", id: "CLUSTER014", seed: func(t *testing.T, cp *controlplane.ControlPlane) {
			t.Helper()
			app("envFrom: [{configMapRef: {name: kube-proxy, optional: true}}]")(t, cp)
			cp.Rollout(t, "kube-system")
			kubectl("patch", "deployment", "other", "-p", `{"spec":{"template":{"spec":{"containers":[{"name":"other",`+
				`"envFrom":[{"configMapRef":{"name":"proxy-environment-variables"}}]}]}}}}`)(t, cp)
		}, undo: takeOut, says: "had ConfigMap kube-proxy in envFrom"},
		{name: "BL-052 stale pods", id: "CLUSTER015", seed: func(t *testing.T, cp *controlplane.ControlPlane) {
			t.Helper()
			kubectl("patch", awsNode, "--type=merge", "-p", `{"spec":{"updateStrategy":{"type":"OnDelete","rollingUpdate":null},"template":{"metadata":{"annotations":{"new":"1"}}}}}`)(t, cp)
			cp.Eventually(t, time.Minute, "a new revision", func() error {
				if out := cp.Kubectl(t, "-n", "kube-system", "get", awsNode, "-o", "jsonpath={.metadata.generation} {.status.observedGeneration} {.status.updatedNumberScheduled}"); !strings.HasSuffix(out, " ") && !strings.HasSuffix(out, " 0") {
					return fmt.Errorf("it has %s", out)
				}
				return nil
			})
		}, undo: rolls(kubectl("patch", awsNode, "--type=merge", "-p", `{"spec":{"updateStrategy":{"type":"RollingUpdate"},"template":{"metadata":{"annotations":{"new":null}}}}}`)), says: "2 of 2 pods have an older template"},
		{name: "a run was killed", id: "CLUSTER016", seed: kubectl("annotate", awsNode, `eksproxy.dev/held-strategy={"type":"RollingUpdate"}`), undo: kubectl("annotate", awsNode, "eksproxy.dev/held-strategy-"), says: "its pods are held back"},
		{name: "BL-050 variables are lost", id: "CLUSTER017", seed: rolls(kubectl(unset...)), says: "gone from container aws-node"},
		{name: "BL-018 someone without", id: "CLUSTER019", status: "warn", seed: app("env: []"), undo: takeOut, says: "deployment/other"},
	}
}

func TestVerifyFindsSeededFaults(t *testing.T) {
	cp := start(t, 2)
	view := viewer(t, cp, "user0")
	again(t, cp)
	good := verifies(t, 0, view)
	t.Logf("of a good cluster, warnings of %v, skipped are %v", good.ids("warn"), good.ids("skip"))
	expect(t, 0, cp.Kubeconfig(), "addons", "status")
	for _, f := range append(faultsOfTheConfigMap(), faultsOfTheWorkloads()...) {
		t.Run(f.id+" "+f.name, func(t *testing.T) {
			f.seed(t, cp)
			code := 1
			if f.status == "warn" {
				code = 0
			}
			r := verifies(t, code, view)
			want, warned := []string{f.id}, good.ids("warn")
			if f.status == "warn" {
				want = nil
				if !slices.Contains(warned, f.id) {
					warned = append([]string{f.id}, warned...)
				}
			}
			if got := r.ids("fail", "unknown"); !slices.Equal(got, want) || !slices.Equal(r.ids("warn"), warned) {
				t.Errorf("fail %v, warn %v; want %v and %v\n%v", got, r.ids("warn"), want, warned, r.Findings)
			}
			if text := fmt.Sprint(r.Findings); !strings.Contains(text, f.says) {
				t.Errorf("nothing says %q: %s", f.says, text)
			}
			if f.undo == nil {
				f.undo = again
			}
			f.undo(t, cp)
		})
	}
	verifies(t, 0, view)
	verifies(t, 0, cp.Kubeconfig(), "--http-proxy", proxyURL)
	if r := verifies(t, 1, cp.Kubeconfig(), "--http-proxy", "http://other.example:1"); !slices.Equal(r.ids("fail"), []string{"CLUSTER021"}) {
		t.Errorf("other settings fail %v", r.ids("fail"))
	}
}

// What cannot be reached is unknown, and a user without rights is told which.
func TestVerifyCannotDecide(t *testing.T) {
	cp := controlplane.Start(t, controlplane.Options{NoControllers: true})
	r := verifies(t, 3, cp.UserKubeconfig(t, "user1"))
	if len(r.ids("fail", "pass")) > 1 || !strings.Contains(fmt.Sprint(r.Findings), `User "user1" cannot`) {
		t.Errorf("without rights: %v", r.Findings)
	}
	config := cp.Kubeconfig()
	cp.Stop()
	if r := verifies(t, 3, config); !slices.Equal(r.ids("unknown"), []string{"CLUSTER001"}) {
		t.Errorf("unreachable: %v", r.Findings)
	}
}
