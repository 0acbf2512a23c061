package cluster

import (
	"errors"
	"net/http"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Kind says what went wrong, and so who can help.
type Kind string

// The kinds of errors.
const (
	// Unreachable: nobody answered, or with trouble that may pass.
	Unreachable Kind = "unreachable"
	// NoCredentials: there are none, or they are not valid now.
	NoCredentials Kind = "no credentials"
	// Denied: the answer was no.
	Denied Kind = "denied"
	// NotFound: there is no such cluster, or no such thing in it.
	NotFound Kind = "not found"
	// OtherCluster: the kubeconfig is for another cluster than the one named.
	OtherCluster Kind = "other cluster"
)

// Error is a call that told nothing.
type Error struct {
	Kind Kind
	// Call is an IAM action ("eks:DescribeCluster") or a request to Kubernetes
	// ("getting the ConfigMap kube-system/coredns").
	Call string
	// Err is the cause.
	Err error
	// Remedy says what helps.
	Remedy string
}

// Error reads like "eks:DescribeCluster: AccessDeniedException: ...; grant
// eks:DescribeCluster".
func (e *Error) Error() string {
	s := e.Call + ": " + e.cause()
	if e.Remedy != "" {
		s += "; " + e.Remedy
	}
	return s
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// cause is the cause without what the SDK writes around it: the operation, the
// number of attempts, ids.
func (e *Error) cause() string {
	if api, ok := errors.AsType[smithy.APIError](e.Err); ok {
		return api.ErrorCode() + ": " + oneLine(api.ErrorMessage())
	}
	if sent, ok := errors.AsType[*smithyhttp.RequestSendError](e.Err); ok {
		return oneLine(sent.Err.Error())
	}
	return oneLine(e.Err.Error())
}

// ofAWS makes an Error of the error of an SDK's call; nil stays nil.
func ofAWS(action string, err error) *Error {
	if err == nil {
		return nil
	}
	e := &Error{Kind: kindOfAWS(err), Call: action, Err: err}
	switch e.Kind {
	case Unreachable:
		e.Remedy = "try again, look at HTTPS_PROXY and NO_PROXY of this command, or leave AWS out (--cluster '') and give the network by flags"
	case NoCredentials:
		e.Remedy = "give --profile NAME, or sign in again (aws sso login)"
	default:
		e.Remedy = "grant " + action
	}
	return e
}

// kindOfAWS goes by the code of the answer, else by its status.
func kindOfAWS(err error) Kind {
	status := 0
	if answer, ok := errors.AsType[*smithyhttp.ResponseError](err); ok {
		status = answer.HTTPStatusCode()
	}
	api, ok := errors.AsType[smithy.APIError](err)
	switch {
	case !ok && status == 0, status >= http.StatusInternalServerError, status == http.StatusTooManyRequests,
		retry.ThrottleErrorCode{Codes: retry.DefaultThrottleErrorCodes}.IsErrorThrottle(err) == aws.TrueTernary:
		return Unreachable
	case ok && slices.Contains(badCredentials(), api.ErrorCode()), status == http.StatusUnauthorized:
		return NoCredentials
	case status == http.StatusNotFound:
		return NotFound
	}
	return Denied
}

// badCredentials are the codes by which EKS and EC2 refuse who asks, whatever
// it is about.
func badCredentials() []string {
	return []string{
		"ExpiredToken", "ExpiredTokenException", "UnrecognizedClientException", "InvalidClientTokenId", "AuthFailure",
		"InvalidSignatureException", "SignatureDoesNotMatch", "MissingAuthenticationToken", "MissingAuthenticationTokenException", "RequestExpired",
	}
}

// ofKubernetes makes an Error of the error of a request; nil stays nil.
func ofKubernetes(call, grant string, err error) *Error {
	if err == nil {
		return nil
	}
	e := &Error{Kind: Unreachable, Call: call, Err: err, Remedy: "look at --kubeconfig and --context, and at HTTPS_PROXY and NO_PROXY of this command"}
	switch {
	case apierrors.IsForbidden(err):
		e.Kind, e.Remedy = Denied, "grant "+grant
	case apierrors.IsUnauthorized(err):
		e.Kind, e.Remedy = NoCredentials, "sign in again, or give --context"
	case apierrors.IsNotFound(err):
		e.Kind, e.Remedy = NotFound, ""
	}
	return e
}
