package addons_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/eksproxy/eksproxy/addons"
	"github.com/eksproxy/eksproxy/internal/kube"
)

const (
	statusNamespace = "/api/v1/namespaces/kube-system/"
	statusApps      = "/apis/apps/v1/"
	aboutManager    = `"manager":"eksproxy","operation":"Apply","fieldsType":"FieldsV1","fieldsV1":`
	ownedKeys       = `{"f:data":{"f:HTTP_PROXY":{},"f:HTTPS_PROXY":{},"f:NO_PROXY":{},"f:http_proxy":{},"f:https_proxy":{},"f:no_proxy":{}}}`
	sixValues       = `{"HTTP_PROXY":"p","HTTPS_PROXY":"p","NO_PROXY":"l","http_proxy":"p","https_proxy":"p","no_proxy":"l"}`
)

// served are the answers of an API server, by path; a list that is not named is
// empty.
type served map[string]string

func (s served) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	text, ok := s[r.URL.Path]
	switch {
	case text == "denied":
		w.WriteHeader(http.StatusForbidden)
		text = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,"message":"pods is forbidden"}`
	case !ok && strings.HasPrefix(r.URL.Path, statusNamespace+"configmaps/"):
		w.WriteHeader(http.StatusNotFound)
		text = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}`
	case !ok:
		text = `{"apiVersion":"v1","kind":"List","metadata":{},"items":[]}`
	}
	_, _ = w.Write([]byte(text))
}

func list(items ...string) string {
	return `{"apiVersion":"v1","kind":"List","metadata":{},"items":[` + strings.Join(items, ",") + `]}`
}

// patched is a cluster in which coredns, of all, has the variables: a Deployment
// without a table of containers.
func patched() served {
	return served{
		statusNamespace + "configmaps/proxy-environment-variables": `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"proxy-environment-variables","namespace":"kube-system","uid":"c",` +
			`"labels":{"eksproxy.dev/managed":"true"},"annotations":{"eksproxy.dev/settings-hash":"h1"},"managedFields":[{` + aboutManager + ownedKeys + `}]},"data":` + sixValues + `}`,
		statusApps + "daemonsets": list(awsNode(`"HTTP_PROXY","HTTPS_PROXY","NO_PROXY","http_proxy","https_proxy","no_proxy"`)),
		statusApps + "namespaces/kube-system/controllerrevisions": list(`{"apiVersion":"apps/v1","kind":"ControllerRevision","metadata":{"name":"aws-node-1","namespace":"kube-system",` +
			`"labels":{"controller-revision-hash":"new"},"ownerReferences":[{"apiVersion":"apps/v1","kind":"DaemonSet","name":"aws-node","uid":"d","controller":true}]},"revision":1}`),
		statusNamespace + "pods": list(pod("a", "new"), pod("b", "new")),
	}
}

// awsNode has these variables, quoted and with commas between.
func awsNode(names string) string {
	var items []string
	for name := range strings.SplitSeq(strings.ReplaceAll(names, `"`, ""), ",") {
		items = append(items, `{"name":"`+name+`","valueFrom":{"configMapKeyRef":{"name":"proxy-environment-variables","key":"`+name+`","optional":true}}}`)
	}
	return `{"apiVersion":"apps/v1","kind":"DaemonSet","metadata":{"name":"aws-node","namespace":"kube-system","uid":"d","labels":{"eksproxy.dev/managed":"true"},"managedFields":[` +
		`{"manager":"eks","operation":"Apply","time":"2026-11-30T10:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{}}},` +
		`{` + aboutManager + `{"f:spec":{"f:template":{"f:metadata":{"f:annotations":{"f:eksproxy.dev/settings-hash":{}}}}}}}]},` +
		`"spec":{"selector":{"matchLabels":{"k8s-app":"aws-node"}},"template":{"metadata":{"annotations":{"eksproxy.dev/settings-hash":"h1"}},` +
		`"spec":{"containers":[{"name":"aws-node","env":[` + strings.Join(items, ",") + `]},{"name":"aws-eks-nodeagent"}]}}},"status":{"desiredNumberScheduled":2}}`
}

func pod(name, revision string) string {
	return `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"aws-node-` + name + `","namespace":"kube-system","labels":{"controller-revision-hash":"` + revision + `"},` +
		`"ownerReferences":[{"apiVersion":"apps/v1","kind":"DaemonSet","name":"aws-node","uid":"d","controller":true}]},"spec":{"nodeName":"node-` + name + `"},` +
		`"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}`
}

func readStatus(t *testing.T, s served) addons.Status {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	config := &rest.Config{Host: server.URL}
	d, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	status, err := addons.ReadStatus(t.Context(), &kube.Client{Dynamic: d, Config: config})
	if err != nil {
		t.Fatal(err)
	}
	return status
}

func TestStatusDocument(t *testing.T) {
	data, err := json.Marshal(readStatus(t, patched()))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"apiVersion":"eksproxy.dev/v1alpha1","kind":"AddonsStatus","applied":true,"settingsHash":"h1","configMap":"ConfigMap kube-system/proxy-environment-variables",` +
		`"workloads":[{"component":"aws-node","object":"DaemonSet kube-system/aws-node","route":"in-cluster","owner":{"name":"EKS"},"hash":"h1","pods":{"desired":2,"current":2,"ready":2}}],` +
		`"conditions":[{"type":"Applied","status":"True","reason":"Applied","message":"workloads with the variables: 1"},` +
		`{"type":"InSync","status":"True","reason":"AsApplied","message":"all is as eksproxy set it"},` +
		`{"type":"RolledOut","status":"True","reason":"Current","message":"no pod has an older template"}]}`
	if diff := cmp.Diff(want, string(data)); diff != "" {
		t.Error(diff)
	}
}

func TestStatusConditions(t *testing.T) {
	const configMap = statusNamespace + "configmaps/proxy-environment-variables"
	for name, tt := range map[string]struct {
		change func(served)
		want   map[string]string // type to status and reason; the others are True
		says   string
	}{
		"nothing there": {func(s served) { delete(s, configMap); delete(s, statusApps+"daemonsets") }, map[string]string{"Applied": "False NothingThere"}, "nothing of eksproxy's"},
		"no ConfigMap":  {func(s served) { delete(s, configMap) }, map[string]string{"Applied": "False ConfigMapMissing"}, "is missing"},
		"no workload":   {func(s served) { delete(s, statusApps+"daemonsets") }, map[string]string{"Applied": "False NoWorkload"}, "no workload refers"},
		"BL-050 variables are gone": {
			func(s served) { s[statusApps+"daemonsets"] = list(awsNode(`"HTTP_PROXY","HTTPS_PROXY"`)) },
			map[string]string{"InSync": "False Drifted"}, "gone from container aws-node: NO_PROXY, http_proxy, https_proxy, no_proxy, by eks",
		},
		"a key is another's": {
			func(s served) {
				s[configMap] = strings.Replace(s[configMap], `"f:NO_PROXY":{},`, "", 1)
			},
			map[string]string{"InSync": "False Drifted"}, "key NO_PROXY is set by others",
		},
		"BL-052 other settings": {
			func(s served) { s[configMap] = strings.Replace(s[configMap], `"h1"`, `"h2"`, 1) },
			map[string]string{"InSync": "False Drifted"}, "has settings h1, and the ConfigMap h2",
		},
		"BL-052 a stale pod": {func(s served) { s[statusNamespace+"pods"] = list(pod("a", "new"), pod("b", "old")) }, map[string]string{"RolledOut": "False StalePods"}, "1 pods have an older template"},
		"a run was killed": {
			func(s served) {
				s[statusApps+"daemonsets"] = strings.Replace(s[statusApps+"daemonsets"], `"labels":{`, `"annotations":{"eksproxy.dev/held-strategy":"{}"},"labels":{`, 1)
			},
			map[string]string{"RolledOut": "False Held"}, "holds the pods of DaemonSet kube-system/aws-node back",
		},
		"pods may not be read": {func(s served) { s[statusNamespace+"pods"] = "denied" }, map[string]string{"RolledOut": "Unknown PodsNotRead"}, "pods is forbidden"},
	} {
		s := patched()
		tt.change(s)
		status := readStatus(t, s)
		for _, c := range status.Conditions {
			got, want := string(c.Status)+" "+c.Reason, tt.want[c.Type]
			if want == "" && c.Status != metav1.ConditionTrue || want != "" && got != want {
				t.Errorf("%s: %s is %s, want %s: %s", name, c.Type, got, want, c.Message)
			}
			if want != "" && !strings.Contains(c.Message, tt.says) {
				t.Errorf("%s: %s says %q", name, c.Type, c.Message)
			}
		}
	}
}
