package kube

import (
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"regexp"
	"syscall"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
)

// Error is a request that the API server did not answer, or answered with no.
type Error struct {
	// Doing is the request, as in "reading DaemonSet kube-system/aws-node".
	Doing string
	// Proxy is the proxy that it went through; empty where it went direct.
	Proxy string
	Err   error
}

func (e *Error) Error() string {
	text := e.Doing + ": " + e.Err.Error()
	if e.Proxy != "" && unanswered(e.Err) {
		text += WentThrough(e.Proxy)
	}
	return text
}

// Unwrap is what the server, or the way to it, said.
func (e *Error) Unwrap() error { return e.Err }

// WentThrough is the end of an error of a request that a proxy was in the way of.
func WentThrough(proxy string) string {
	return "; the request went through the proxy " + proxy + ": put the server's host into NO_PROXY of this command, or give --kube-direct"
}

// Undecided says that the server was not reached, or did not let us look: what
// was asked is unknown.
func Undecided(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && (unanswered(e.Err) || apierrors.IsForbidden(e.Err) || apierrors.IsUnauthorized(e.Err) || busy(e.Err))
}

// rejection is how the API server words what admission refused.
var rejection = regexp.MustCompile(`admission webhook ".*" denied|ValidatingAdmissionPolicy|violates PodSecurity|denied the request|denied request`)

// jsonTest is how it words a test of a JSON patch that failed.
var jsonTest = regexp.MustCompile(`test(ing value)? .*failed|testing value`)

// IsRejected says that admission refused the object: a policy or a webhook.
// The API server answers such a request like one without rights, but names who
// denied it.
func IsRejected(err error) bool {
	var status apierrors.APIStatus
	return errors.As(err, &status) && rejection.MatchString(status.Status().Message)
}

// unanswered says that there was no answer of an API server at all.
func unanswered(err error) bool {
	if errors.Is(err, context.Canceled) {
		return false
	}
	_, isURL := errors.AsType[*url.Error](err)
	_, isNet := errors.AsType[net.Error](err)
	return isURL || isNet || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, context.DeadlineExceeded)
}

// busy says that the server answered that it cannot now.
func busy(err error) bool {
	return apierrors.IsTooManyRequests(err) || apierrors.IsInternalError(err) || apierrors.IsServiceUnavailable(err) ||
		apierrors.IsServerTimeout(err) || apierrors.IsTimeout(err) || serverError(err)
}

// serverError is any answer of 500 and above, whatever its reason.
func serverError(err error) bool {
	var status apierrors.APIStatus
	return errors.As(err, &status) && status.Status().Code >= 500
}

// attempts is how often a request is made; the pauses between are about 0.2,
// 0.4, 0.8 and 1.6 s. client-go waits for Retry-After by itself.
const attempts = 5

// again makes a request until it is answered. What it does must be the same when
// it is done twice.
func (c *Client) again(ctx context.Context, doing string, request func(context.Context) error) error {
	var last error
	pause := wait.Backoff{Duration: 200 * time.Millisecond, Factor: 2, Jitter: 0.2, Steps: attempts}
	err := wait.ExponentialBackoffWithContext(ctx, pause, func(ctx context.Context) (bool, error) {
		last = request(ctx)
		switch {
		case last == nil:
			return true, nil
		case ctx.Err() == nil && (unanswered(last) || busy(last)):
			return false, nil
		}
		return false, last
	})
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		last = errors.Join(context.Cause(ctx), last)
	}
	return &Error{Doing: doing, Proxy: c.throughProxy(), Err: last}
}
