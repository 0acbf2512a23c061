package rollout

import (
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/eksproxy/eksproxy/internal/kube"
)

// Kind says how a rollout did not succeed.
type Kind string

// The kinds. What else goes wrong, as a server that does not answer or an
// interrupt, is an error of another type.
const (
	// Failed says that a pod of the new template does not work.
	Failed Kind = "failed"
	// Rejected says that admission refused a pod or the workload.
	Rejected Kind = "rejected"
	// TimedOut says that Options.Timeout ran out.
	TimedOut Kind = "timed out"
)

// Error says that a rollout did not succeed, and where.
type Error struct {
	Kind Kind
	// Pod and Node are where it showed; empty where it did not show at a pod.
	Pod, Node string
	// Why is what the cluster says of it, in one line. It may quote what a
	// container printed.
	Why string
	Err error
}

func (e *Error) Error() string {
	switch {
	case e.Pod != "" && e.Node != "":
		return fmt.Sprintf("pod %s on node %s: %s", e.Pod, e.Node, e.Why)
	case e.Pod != "":
		return fmt.Sprintf("pod %s: %s", e.Pod, e.Why)
	case e.Node != "":
		return fmt.Sprintf("node %s: %s", e.Node, e.Why)
	}
	return e.Why
}

func (e *Error) Unwrap() error { return e.Err }

var (
	// errTimeUp ends a rollout, errStalled the wait for one pod.
	errTimeUp   = errors.New("the time for the rollout is up")
	errStalled  = errors.New("the time for one pod is up")
	errUnproven = errors.New("the probe pod shows that new pods do not work on the node")
	errDeleted  = errors.New("the probe pod was deleted before it had ended")
)

// rejected says that a message, as of an event, quotes a refusal by admission.
func rejected(message string) bool {
	return kube.IsRejected(&apierrors.StatusError{ErrStatus: metav1.Status{Message: message}})
}

// ended makes of what ended the steps what the caller needs to know: whether
// the time was up, and whether something stays held.
func (o *run) ended(err error, timedOut bool) error {
	if err == nil {
		return nil
	}
	_, known := errors.AsType[*Error](err)
	if !known && timedOut {
		why := fmt.Sprintf("not rolled out after %s", o.Timeout.Round(time.Second))
		if o.progress != "" {
			why += ": " + o.progress
		}
		err, known = &Error{Kind: TimedOut, Why: why, Err: err}, true
	}
	err = fmt.Errorf("rolling out %s: %w", o.ref, err)
	if o.held && !known {
		err = fmt.Errorf("%w; its pods are held back as the annotation %s says: the next run or \"eksproxy addons revert\" gives its own strategy back", err, Annotation)
	}
	return err
}
