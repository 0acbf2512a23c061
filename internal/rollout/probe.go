package rollout

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/eksproxy/eksproxy/internal/kube"
	"github.com/eksproxy/eksproxy/internal/podenv"
)

// Probe says how the pod is made that proves a node.
type Probe struct {
	// Off makes no such pod: the canary pod's readiness is the proof.
	Off bool
	// Image is the workload's own where it is empty: it is on the node already.
	Image string
	// Namespace is the workload's own where it is empty.
	Namespace string
	// Tolerations are those for every taint where there are none.
	Tolerations []corev1.Toleration
}

// ProbeAnnotation marks a probe pod.
const ProbeAnnotation = "eksproxy.dev/probe"

// probeScript is what a probe pod runs: sh, or what an image has for it.
//
//go:embed probe.sh
var probeScript string

// Exit codes of probeScript.
const (
	exitNoDNS        = 10
	exitNoConnection = 11
	exitNoTool       = 12
)

// cleanUpLimit bounds the deletion of a probe pod, also after an interrupt.
const cleanUpLimit = 20 * time.Second

// probe proves that a new pod on the node gets an address, resolves a name and
// reaches a Service.
func (o *run) probe(ctx context.Context, live *unstructured.Unstructured, node, container string) error {
	if o.Probe.Off {
		return nil
	}
	image, err := o.probeImage(live, container)
	if err != nil {
		return err
	}
	ref := kube.Ref{Kind: kube.Pod(), Namespace: cmp.Or(o.Probe.Namespace, o.ref.Namespace), Name: probeName(o.ref.Name)}
	for tries := 1; ; tries++ {
		err = o.probeOnce(ctx, ref, node, image)
		if !errors.Is(err, errDeleted) || tries == probeTries {
			return err
		}
		o.tell("someone deleted the probe pod on node %s before it had ended: making another", node)
	}
}

// probeTries is how many probe pods are made where others delete them, as a
// drain does: that shows nothing of the node.
const probeTries = 3

// probeOnce makes a probe pod, waits for its end, judges it and deletes it.
func (o *run) probeOnce(ctx context.Context, ref kube.Ref, node, image string) error {
	made, err := o.createProbe(ctx, ref, o.probePod(ref, node, image))
	if err != nil {
		return errors.Join(err, o.clearUnknown(ctx, ref, err))
	}
	defer o.deleteProbe(ctx, ref, made.GetUID())
	pod, err := o.awaitProbe(ctx, ref, made)
	if err != nil {
		return err
	}
	return o.judge(ctx, pod, node, image)
}

// probeName is the same for each run, so that one finds what another left.
func probeName(workload string) string {
	const longest = 40 // with the prefix, a pod's name may have 63 as a host name
	return strings.TrimRight("eksproxy-probe-"+workload[:min(len(workload), longest)], "-.")
}

func (o *run) probeImage(live *unstructured.Unstructured, container string) (string, error) {
	if o.Probe.Image != "" {
		return o.Probe.Image, nil
	}
	template, err := podenv.Template(live)
	if err != nil {
		return "", err
	}
	all := podenv.Containers(&template)
	i := slices.IndexFunc(all, func(c podenv.Container) bool { return c.Name == container })
	if i < 0 {
		return "", fmt.Errorf("choosing the image of the probe pod: %s has no container %q; give --probe-image", o.ref, container)
	}
	return all[i].Image, nil
}

// createProbe makes the pod, and again where nobody knows whether it was made
// or where a run that was killed left one.
func (o *run) createProbe(ctx context.Context, ref kube.Ref, pod *corev1.Pod) (made *unstructured.Unstructured, err error) {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(pod)
	if err != nil {
		return nil, fmt.Errorf("writing the probe pod: %w", err)
	}
	object := &unstructured.Unstructured{Object: fields}
	object.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(ref.Kind.Kind))
	tries := 0
	err = poll(ctx, func(ctx context.Context) (bool, error) {
		made, err = o.Client.Create(ctx, ref, object.DeepCopy(), o.Manager)
		tries++
		switch {
		case apierrors.IsAlreadyExists(err):
			return false, o.clearProbe(ctx, ref)
		case apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err):
			return false, err
		case kube.Undecided(err) && tries < createTries:
			return false, nil
		}
		return err == nil, err
	})
	if kube.IsRejected(err) {
		err = &Error{Kind: Rejected, Pod: ref.Name, Node: pod.Spec.NodeName, Why: oneLine(err.Error()), Err: err}
	}
	return made, err
}

// createTries is how often a busy server is asked for the probe pod.
const createTries = 8

// clearProbe deletes a probe pod that a run left which was killed.
func (o *run) clearProbe(ctx context.Context, ref kube.Ref) error {
	old, err := o.Client.Get(ctx, ref)
	if err != nil || old == nil {
		return err
	}
	if old.GetAnnotations()[ProbeAnnotation] == "" {
		return fmt.Errorf("creating the probe pod: there is a pod %s/%s that is not eksproxy's; delete it, or give --probe-namespace", ref.Namespace, ref.Name)
	}
	return o.Client.Delete(ctx, ref, old.GetUID(), "")
}

// clearUnknown deletes a pod that was made although the answer was lost, as by
// an interrupt.
func (o *run) clearUnknown(ctx context.Context, ref kube.Ref, why error) error {
	if ctx.Err() == nil && !kube.Undecided(why) || apierrors.IsForbidden(why) || apierrors.IsUnauthorized(why) {
		return nil // the server has said no
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUpLimit)
	defer cancel()
	return o.clearProbe(ctx, ref)
}

// deleteProbe deletes the pod in any case. Where even that fails it ends by its
// own deadline, and the next run deletes it.
func (o *run) deleteProbe(ctx context.Context, ref kube.Ref, uid types.UID) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUpLimit)
	defer cancel()
	if err := o.Client.Delete(ctx, ref, uid, ""); err != nil {
		o.tell("the probe pod is left: delete it with \"kubectl delete pod -n %s %s\": %v", ref.Namespace, ref.Name, err)
	}
}

// awaitProbe waits until the pod has ended, or for as long as it may take. It
// returns the pod as it was seen last.
func (o *run) awaitProbe(parent context.Context, ref kube.Ref, made *unstructured.Unstructured) (*corev1.Pod, error) {
	ctx, cancel := context.WithTimeoutCause(parent, o.StallLimit, errStalled)
	defer cancel()
	o.progress = "waiting for the probe pod " + ref.Name
	pod, err := podOf(made)
	if err != nil {
		return nil, err
	}
	err = poll(ctx, func(ctx context.Context) (bool, error) {
		now, err := o.Client.Get(ctx, ref)
		switch {
		case err != nil:
			return false, err
		case now == nil || now.GetUID() != made.GetUID():
			return false, &Error{Kind: Failed, Pod: ref.Name, Node: pod.Spec.NodeName, Why: "someone deleted it before it had ended", Err: errDeleted}
		}
		pod, err = podOf(now)
		return err == nil && settled(pod), err
	})
	if errors.Is(err, errStalled) {
		err = nil
	}
	return pod, err
}

// settled says that waiting longer shows nothing new.
func settled(pod *corev1.Pod) bool {
	if pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
		return true
	}
	return pod.Status.PodIP != "" && stuck(pod) != "" && stuck(pod) != "ErrImagePull" // which is tried again
}
