package rollout

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/eksproxy/eksproxy/internal/kube"
)

func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	if err := json.Unmarshal([]byte(text), &o.Object); err != nil {
		t.Fatal(err)
	}
	return o
}

const rolling = `{"kind":"DaemonSet","apiVersion":"apps/v1","metadata":{"name":"x"},"spec":{"updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"maxUnavailable":"10%"}}}}`

func TestHoldPatch(t *testing.T) {
	for name, c := range map[string]struct{ live, want string }{
		"rolling":           {rolling, `{"metadata":{"annotations":{"eksproxy.dev/held-strategy":"{\"rollingUpdate\":{\"maxUnavailable\":\"10%\"},\"type\":\"RollingUpdate\"}"}},"spec":{"updateStrategy":{"rollingUpdate":null,"type":"OnDelete"}}}`},
		"own OnDelete":      {`{"kind":"DaemonSet","spec":{"updateStrategy":{"type":"OnDelete"}}}`, `null`},
		"running":           {`{"kind":"Deployment","spec":{"replicas":1}}`, `{"metadata":{"annotations":{"eksproxy.dev/held-strategy":"null"}},"spec":{"paused":true}}`},
		"paused":            {`{"kind":"Deployment","spec":{"paused":true}}`, `null`},
		"without a field":   {`{"kind":"CronJob","spec":{}}`, `null`},
		"set by another":    {strings.Replace(rolling, `"name":"x"`, `"annotations":{"eksproxy.dev/held-strategy":"{}"}`, 1), `{"metadata":{"annotations":{"eksproxy.dev/held-strategy":"{\"rollingUpdate\":{\"maxUnavailable\":\"10%\"},\"type\":\"RollingUpdate\"}"}},"spec":{"updateStrategy":{"rollingUpdate":null,"type":"OnDelete"}}}`},
		"held, record kept": {`{"kind":"DaemonSet","metadata":{"annotations":{"eksproxy.dev/held-strategy":"{}"}},"spec":{"updateStrategy":{"type":"OnDelete"}}}`, `null`},
	} {
		patch, err := holdPatch(object(t, c.live))
		got, _ := json.Marshal(patch)
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %s, %v, want %s", name, got, err, c.want)
		}
	}
}

func TestStrategyPatch(t *testing.T) {
	held := func(kind, record, spec string) string {
		quoted, _ := json.Marshal(record)
		return `{"kind":"` + kind + `","metadata":{"annotations":{"eksproxy.dev/held-strategy":` + string(quoted) + `}},"spec":` + spec + `}`
	}
	const was = `{"type":"RollingUpdate","rollingUpdate":{"maxUnavailable":"10%"}}`
	for name, c := range map[string]struct{ live, want, fails string }{
		"given back":     {live: held("DaemonSet", was, `{"updateStrategy":{"type":"OnDelete"}}`), want: `{"spec":{"updateStrategy":{"rollingUpdate":{"maxUnavailable":"10%"},"type":"RollingUpdate"}}}`},
		"resumed":        {live: held("Deployment", "null", `{"paused":true}`), want: `{"spec":{"paused":null}}`},
		"set by another": {live: held("DaemonSet", was, `{"updateStrategy":{"type":"RollingUpdate"}}`), want: `null`},
		"not held":       {live: rolling, want: `null`},
		"no JSON":        {live: held("DaemonSet", "{", `{"updateStrategy":{"type":"OnDelete"}}`), want: `null`, fails: "by hand"},
		"no strategy":    {live: held("DaemonSet", "true", `{"updateStrategy":{"type":"OnDelete"}}`), want: `null`, fails: "no strategy of a DaemonSet"},
		"of another":     {live: held("Deployment", was, `{"paused":true}`), want: `null`, fails: "no strategy of a Deployment"},
	} {
		patch, err := strategyPatch(object(t, c.live))
		got, _ := json.Marshal(patch)
		if string(got) != c.want || (err != nil) != (c.fails != "") || err != nil && !strings.Contains(err.Error(), c.fails) {
			t.Errorf("%s: %s, %v, want %s", name, got, err, c.want)
		}
	}
}

func TestDisowned(t *testing.T) {
	entry := func(manager, operation, fields string) string {
		return `{"manager":"` + manager + `","operation":"` + operation + `","apiVersion":"apps/v1","fieldsType":"FieldsV1","fieldsV1":` + fields + `}`
	}
	const (
		strategy = `"f:updateStrategy":{"f:rollingUpdate":{".":{},"f:maxUnavailable":{}},"f:type":{}}`
		record   = `"f:eksproxy.dev/held-strategy":{}`
	)
	theirs := entry("eks", "Apply", `{"f:spec":{`+strategy+`}}`)
	applied := entry("eksproxy", "Apply", `{"f:spec":{`+strategy+`}}`)
	for name, c := range map[string]struct{ live, want []string }{
		"nothing of ours": {[]string{theirs, applied}, nil},
		"all of it":       {[]string{theirs, entry("eksproxy", "Update", `{"f:metadata":{"f:annotations":{".":{},`+record+`}},"f:spec":{`+strategy+`}}`)}, []string{theirs}},
		"part of it": {
			[]string{applied, entry("eksproxy", "Update", `{"f:metadata":{"f:annotations":{"f:other":{},`+record+`}},"f:spec":{`+strategy+`}}`)},
			[]string{applied, entry("eksproxy", "Update", `{"f:metadata":{"f:annotations":{"f:other":{}}}}`)},
		},
		"none left": {[]string{entry("eksproxy", "Update", `{"f:spec":{`+strategy+`}}`)}, []string{`{}`}},
	} {
		live := object(t, `{"kind":"DaemonSet","metadata":{"managedFields":[`+strings.Join(c.live, ",")+`]}}`)
		entries, err := disowned(live, "eksproxy")
		var got []string
		for _, e := range entries {
			text, _ := json.Marshal(e)
			got = append(got, string(text))
		}
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
	}
}

func TestState(t *testing.T) {
	waiting := func(reason, message string) corev1.ContainerState {
		return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}
	}
	ended := corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, Reason: "Error", Message: "no EC2"}}
	for want, s := range map[string]corev1.PodStatus{
		"it is pending": {Phase: corev1.PodPending},
		"container a waits: CrashLoopBackOff: back-off 40s; it ended with exit code 1 (Error: no EC2)": {ContainerStatuses: []corev1.ContainerStatus{
			{Name: "a", State: waiting("CrashLoopBackOff", "back-off 40s"), LastTerminationState: ended}}},
		"container i ended with exit code 1 (Error: no EC2)": {
			InitContainerStatuses: []corev1.ContainerStatus{{Name: "i", State: ended}}, ContainerStatuses: []corev1.ContainerStatus{{Name: "a", State: waiting("PodInitializing", "")}}},
		"container a runs, but is not ready":     {ContainerStatuses: []corev1.ContainerStatus{{Name: "a", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}},
		"Unschedulable: 0/3 nodes are available": {Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: "0/3 nodes are available"}}},
		"Evicted: the node was low on memory":    {Phase: corev1.PodFailed, Reason: "Evicted", Message: "the node was low on memory"},
	} {
		if got := state(&corev1.Pod{Status: s}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestCrashes(t *testing.T) {
	for restarts, want := range map[int32]bool{1: false, crashRestarts: true} {
		pod := &corev1.Pod{Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{
			RestartCount: restarts, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}},
		}}}}
		if crashes(pod) != want {
			t.Errorf("after %d restarts: %v", restarts, !want)
		}
	}
}

func TestInconclusive(t *testing.T) {
	withState := func(s corev1.ContainerState) *corev1.Pod {
		return &corev1.Pod{Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{State: s}}}}
	}
	terminated := func(code int32, reason string) *corev1.Pod {
		return withState(corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason}})
	}
	for name, c := range map[string]struct {
		pod  *corev1.Pod
		want bool
	}{
		"no shell":      {terminated(128, "StartError"), true},
		"no tool":       {terminated(exitNoTool, "Error"), true},
		"no command":    {terminated(127, "Error"), true},
		"no DNS":        {terminated(exitNoDNS, "Error"), false},
		"killed":        {terminated(137, "OOMKilled"), false},
		"no such image": {withState(corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff"}}), true},
		"still running": {withState(corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}), false},
	} {
		if got := inconclusive(c.pod, termination(c.pod)); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestJudgeFullNode(t *testing.T) {
	var lines []string
	o := &run{Roller: Roller{Options: Options{Tell: func(format string, _ ...any) { lines = append(lines, format) }}}}
	pod := &corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodFailed, Reason: "OutOfpods", Message: "Node didn't have enough resource: pods"}}
	if err := o.judge(t.Context(), pod, "n", "i"); err != nil || len(lines) != 1 {
		t.Errorf("%v, %q", err, lines)
	}
}

func TestOnlyAbsent(t *testing.T) {
	s := PodStatus{Desired: 2, pods: make([]Pod, 2)}
	for name, c := range map[string]struct {
		late   map[string]bool
		absent []string
		want   bool
	}{
		"the node was away before":  {map[string]bool{"a": true}, []string{"a"}, true},
		"another is late, too":      {map[string]bool{"a": true, "b": true}, []string{"a"}, false},
		"none was away":             {map[string]bool{"b": true}, nil, false},
		"nothing is late: it waits": {nil, []string{"a"}, false},
	} {
		w := &watch{run: &run{}, absent: c.absent}
		if got := w.onlyAbsent(c.late, s); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestEnded(t *testing.T) {
	o := &run{ref: kube.Ref{Kind: kube.DaemonSet(), Namespace: "kube-system", Name: "aws-node"}, held: true, progress: "1 of 3 pods are new, 3 are ready"}
	o.Timeout = time.Minute
	err := o.ended(context.Canceled, false)
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "eksproxy addons revert") {
		t.Error(err)
	}
	err = o.ended(errTimeUp, true)
	if e, ok := errors.AsType[*Error](err); !ok || e.Kind != TimedOut || !strings.Contains(err.Error(), "not rolled out after 1m0s: 1 of 3") {
		t.Error(err)
	}
	failed := &Error{Kind: Failed, Pod: "p", Node: "n", Why: "broken"}
	if err := o.ended(failed, true); err.Error() != "rolling out DaemonSet kube-system/aws-node: pod p on node n: broken" {
		t.Error(err)
	}
}

func TestOneLine(t *testing.T) {
	if got := oneLine("a\x1b[31m\nb\t\u202e c"); got != "a [31m b c" {
		t.Errorf("%q", got)
	}
	if got := oneLine(strings.Repeat("ä", 400)); len(got) > lineLimit+3 || !strings.HasSuffix(got, "ä...") {
		t.Errorf("%d bytes, %q", len(got), got[len(got)-6:])
	}
}

func TestProbeName(t *testing.T) {
	for workload, want := range map[string]string{
		"aws-node":                                "eksproxy-probe-aws-node",
		strings.Repeat("a", 39) + "-" + "b":       "eksproxy-probe-" + strings.Repeat("a", 39),
		strings.Repeat("x", 200):                  "eksproxy-probe-" + strings.Repeat("x", 40),
		"eks-pod-identity-agent-hybrid-container": "eksproxy-probe-eks-pod-identity-agent-hybrid-container",
	} {
		if got := probeName(workload); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestSameAnnotation(t *testing.T) {
	live := object(t, `{"kind":"ReplicaSet","spec":{"template":{"metadata":{"annotations":{"h":"1"}}}}}`)
	current, err := sameAnnotation(live, "h")
	if err != nil {
		t.Fatal(err)
	}
	for value, want := range map[string]bool{"1": true, "2": false, "": false} {
		if got := current(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{"h": value}}}); got != want {
			t.Errorf("%q: %v", value, got)
		}
	}
}
