package rollout

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/eksproxy/eksproxy/internal/kube"
)

// broken is the error of a pod that does not work.
func (o *run) broken(ctx context.Context, pod *corev1.Pod, cause error) error {
	why := state(pod)
	if cause != nil {
		why = cause.Error() + ": " + why
	}
	if event := o.lastEvent(ctx, pod.UID); event != "" {
		why += "; last event: " + event
	}
	return &Error{Kind: Failed, Pod: pod.Name, Node: pod.Spec.NodeName, Why: oneLine(why), Err: cause}
}

// containers are the states of a pod's containers, in the order of their start.
func containers(pod *corev1.Pod) []corev1.ContainerStatus {
	return slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses)
}

// state says why a pod is not ready, as far as its status tells.
func state(pod *corev1.Pod) string {
	for _, c := range containers(pod) {
		if text := containerState(c); text != "" {
			return fmt.Sprintf("container %s %s", c.Name, text)
		}
	}
	if pod.Status.Reason != "" {
		return words(pod.Status.Reason, pod.Status.Message)
	}
	for _, c := range pod.Status.Conditions {
		if c.Status == corev1.ConditionFalse && c.Reason != "" {
			return words(c.Reason, c.Message)
		}
	}
	return "it is " + cmp.Or(strings.ToLower(string(pod.Status.Phase)), "pending")
}

// containerState is empty for a container that is as it should be.
func containerState(c corev1.ContainerStatus) string {
	switch {
	case c.State.Waiting != nil:
		text := "waits: " + words(c.State.Waiting.Reason, c.State.Waiting.Message)
		if last := c.LastTerminationState.Terminated; last != nil {
			text += "; it ended " + ending(last)
		}
		return text
	case c.State.Terminated != nil && c.State.Terminated.ExitCode != 0:
		return "ended " + ending(c.State.Terminated)
	case c.State.Running != nil && !c.Ready:
		return "runs, but is not ready"
	}
	return ""
}

func ending(t *corev1.ContainerStateTerminated) string {
	text := fmt.Sprintf("with exit code %d", t.ExitCode)
	if said := words(t.Reason, t.Message); said != "" {
		text += " (" + said + ")"
	}
	return text
}

// words joins a reason and a message, either of which may be empty.
func words(reason, message string) string {
	return strings.Trim(reason+": "+message, ": ")
}

// stuck is the reason of a state that a pod rarely leaves without help.
func stuck(pod *corev1.Pod) string {
	for _, c := range containers(pod) {
		if c.State.Waiting == nil {
			continue
		}
		switch r := c.State.Waiting.Reason; r {
		case "CrashLoopBackOff", "ImagePullBackOff", "ErrImagePull", "ErrImageNeverPull", "InvalidImageName",
			"CreateContainerConfigError", "CreateContainerError", "RunContainerError":
			return r
		}
	}
	return ""
}

// crashRestarts is how often a container may end before it is taken for broken:
// a first start that finds a server not yet there ends once or twice.
const crashRestarts = 3

// crashes says that a container ends again and again.
func crashes(pod *corev1.Pod) bool {
	return slices.ContainsFunc(containers(pod), func(c corev1.ContainerStatus) bool {
		return c.State.Waiting != nil && c.State.Waiting.Reason == "CrashLoopBackOff" && c.RestartCount >= crashRestarts
	})
}

func events() kube.Kind {
	return kube.Kind{GroupVersionResource: corev1.SchemeGroupVersion.WithResource("events"), Kind: "Event"}
}

// eventsOf lists the warnings about an object, the newest last. Events only
// explain: without the right to read them there are none.
func (o *run) eventsOf(ctx context.Context, uid types.UID) []corev1.Event {
	var all []corev1.Event
	options := metav1.ListOptions{FieldSelector: "involvedObject.uid=" + string(uid) + ",type=" + corev1.EventTypeWarning}
	err := o.Client.List(ctx, events(), o.ref.Namespace, options, func(object *unstructured.Unstructured) error {
		var e corev1.Event
		err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &e)
		all = append(all, e)
		return err
	})
	if err != nil {
		return nil
	}
	slices.SortStableFunc(all, func(a, b corev1.Event) int { return when(a).Compare(when(b).Time) })
	return all
}

func when(e corev1.Event) metav1.Time {
	if e.LastTimestamp.IsZero() {
		return metav1.Time{Time: e.EventTime.Time}
	}
	return e.LastTimestamp
}

// lastEvent is the last warning about an object, in one line.
func (o *run) lastEvent(ctx context.Context, uid types.UID) string {
	all := o.eventsOf(ctx, uid)
	if len(all) == 0 {
		return ""
	}
	last := all[len(all)-1]
	return oneLine(words(last.Reason, last.Message))
}

// remember notes which refusals of pods are old.
func (o *run) remember(ctx context.Context) {
	o.refusals = map[types.UID]int64{}
	for _, e := range o.eventsOf(ctx, o.uid) {
		o.refusals[e.UID] = int64(e.Count)
	}
}

// rejection is the message by which admission refused a pod of the workload
// since the run began. A Deployment says it in its own status, as its
// ReplicaSets make the pods.
func (o *run) rejection(ctx context.Context, live *unstructured.Unstructured) string {
	conditions, _, _ := unstructured.NestedSlice(live.Object, "status", "conditions")
	for _, c := range conditions {
		fields, _ := c.(map[string]any)
		message, _ := fields["message"].(string)
		if fields["type"] == "ReplicaFailure" && rejected(message) {
			return oneLine(message)
		}
	}
	for _, e := range o.eventsOf(ctx, o.uid) {
		if count, known := o.refusals[e.UID]; e.Reason == "FailedCreate" && rejected(e.Message) && (!known || int64(e.Count) > count) {
			return oneLine(e.Message)
		}
	}
	return ""
}

// lineLimit bounds, in bytes, what is quoted from a cluster.
const lineLimit = 600

// oneLine makes one line of what a container or a webhook said: no control
// character of theirs reaches a terminal.
func oneLine(text string) string {
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }), " ")
	if len(text) > lineLimit {
		text = strings.ToValidUTF8(text[:lineLimit], "") + "..."
	}
	return text
}
