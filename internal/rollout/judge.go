package rollout

import (
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// judge says what a probe pod that has ended, or was waited for in vain, shows.
func (o *run) judge(ctx context.Context, pod *corev1.Pod, node, image string) error {
	address := pod.Status.PodIP
	ended := termination(pod)
	switch {
	case full(pod):
		o.tell("warning: node %s took no probe pod (%s): that new pods work there is not proven", node, oneLine(words(pod.Status.Reason, pod.Status.Message)))
		return nil
	case address == "":
		return o.unproven(ctx, pod, "it got no address: "+state(pod))
	case pod.Status.Phase == corev1.PodSucceeded:
		o.tell("a probe pod on node %s got the address %s, resolved kubernetes.default and connected to its ClusterIP", node, address)
		return nil
	case inconclusive(pod, ended):
		o.tell("warning: a probe pod on node %s got the address %s, but the image %s cannot run the rest of the proof (%s); give one with a shell and curl by --probe-image",
			node, address, image, oneLine(state(pod)))
		return nil
	case ended == nil:
		return o.unproven(ctx, pod, "it got the address "+address+", but has not ended: "+state(pod))
	case ended.ExitCode == exitNoDNS:
		return o.unproven(ctx, pod, "it does not resolve kubernetes.default: "+ended.Message)
	case ended.ExitCode == exitNoConnection:
		return o.unproven(ctx, pod, "it does not connect to the ClusterIP of kubernetes: "+ended.Message)
	}
	return o.unproven(ctx, pod, state(pod))
}

// unproven is the error of a probe pod that shows that the node is broken.
func (o *run) unproven(ctx context.Context, pod *corev1.Pod, why string) error {
	if event := o.lastEventIn(ctx, pod.Namespace, pod.UID); event != "" {
		why += "; last event: " + event
	}
	return &Error{Kind: Failed, Pod: pod.Name, Node: pod.Spec.NodeName, Why: oneLine(why), Err: errUnproven}
}

// termination is how the pod's container ended; nil where it did not.
func termination(pod *corev1.Pod) *corev1.ContainerStateTerminated {
	for _, c := range pod.Status.ContainerStatuses {
		if c.State.Terminated != nil {
			return c.State.Terminated
		}
	}
	return nil
}

// full says that the kubelet had no room for the pod, which is nothing of the
// workload's doing.
func full(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodFailed && strings.HasPrefix(pod.Status.Reason, "OutOf")
}

// inconclusive says that the image, and not the node, kept the pod from its
// proof: it cannot be pulled, has no shell, or no tool. 126 and 127 are what a
// shell ends with that cannot run a command.
func inconclusive(pod *corev1.Pod, ended *corev1.ContainerStateTerminated) bool {
	if ended == nil {
		return slices.Contains([]string{"ImagePullBackOff", "ErrImageNeverPull", "InvalidImageName", "CreateContainerError", "RunContainerError"}, stuck(pod))
	}
	return slices.Contains([]string{"StartError", "ContainerCannotRun"}, ended.Reason) ||
		slices.Contains([]int32{exitNoTool, 126, 127}, ended.ExitCode)
}

// lastEventIn is lastEvent of an object in another namespace.
func (o *run) lastEventIn(ctx context.Context, namespace string, uid types.UID) string {
	other := *o
	other.ref.Namespace = namespace
	return other.lastEvent(ctx, uid)
}
