package secretref

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Kind says why a reference could not be resolved.
type Kind string

// The kinds.
const (
	// Unreachable: no answer, or one of somebody else.
	Unreachable Kind = "unreachable"
	// Denied: the instance has no role, or its role may not.
	Denied Kind = "denied"
	// NotFound: there is no such secret or parameter.
	NotFound Kind = "not found"
	// Failed is any other answer of the service.
	Failed Kind = "failed"
	// Malformed: the value was fetched and is not what it must be.
	Malformed Kind = "malformed"
)

// Error is a reference that a service did not resolve.
type Error struct {
	// Ref is the reference, which names no value.
	Ref  string
	Kind Kind
	// Err is the cause: the request and what came of it.
	Err error
	// Remedy says what helps, as a sentence without a full stop.
	Remedy string
}

// Error reads like "fetching ssm:/proxy: POST https://ssm.eu-west-1.amazonaws.com/:
// 400 AccessDeniedException; allow ssm:GetParameter ...".
func (e *Error) Error() string { return "fetching " + e.Ref + ": " + e.Err.Error() + "; " + e.Remedy }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// malformed is the error about a value; file errors have their own form.
func (r reference) malformed(err error) error {
	if r.service == file {
		return fmt.Errorf("reading the credentials from %s: %w", r.name, err)
	}
	return &Error{Ref: r.String(), Kind: Malformed, Err: err, Remedy: "correct the value in " + r.service.title()}
}

// stage is where a fault happened.
type stage int

const (
	fromMetadata stage = iota
	fromService
)

// fault is what went wrong with one try.
type fault struct {
	stage stage
	// at is the request's method and URL.
	at            string
	status        int
	code, message string
	err           error
	// retry says that it may pass.
	retry bool
}

// Error is the path to the cause.
func (f *fault) Error() string {
	words := []string{f.at}
	if f.status != 0 && f.status != http.StatusOK {
		words = append(words, strconv.Itoa(f.status))
		if f.code == "" {
			words[1] += " " + http.StatusText(f.status)
		}
	}
	for _, word := range []string{f.code, f.message} {
		if word != "" {
			words = append(words, word)
		}
	}
	if f.err != nil {
		words = append(words, f.err.Error())
	}
	return strings.Join(words, ": ")
}

// broken is a fault of the connection.
func (f *fault) broken(err error) *fault {
	f.err, f.retry = err, true
	if errors.Is(err, context.DeadlineExceeded) {
		f.err = fmt.Errorf("no complete answer in time: %w", err)
	}
	return f
}

// Unwrap returns the cause.
func (f *fault) Unwrap() error { return f.err }

// explain makes the error of a fault that no further try will mend.
func (f *fetcher) explain(wrong *fault, tries int, took time.Duration) *Error {
	e := &Error{Ref: f.ref.String(), Err: wrong}
	e.Kind, e.Remedy = f.remedy(wrong)
	if tries > 1 {
		e.Err = fmt.Errorf("%w (%d tries in %.1f s)", wrong, tries, took.Seconds())
	}
	return e
}

// remedy says what kind of fault it is, and what helps.
func (f *fetcher) remedy(wrong *fault) (Kind, string) {
	switch {
	case wrong.stage == fromMetadata:
		return f.metadataRemedy(wrong)
	case wrong.code == "": // no answer, or that of something else: AWS names a code
		return Unreachable, f.endpointRemedy()
	case wrong.about("kms:Decrypt", "access to KMS", "customer master key", "DecryptionFailure", "InvalidKeyId"):
		return Denied, "allow kms:Decrypt on the key of " + f.ref.name + " in the policy of the instance's role and in the key's own policy (docs/permissions.md); the service asks KMS itself, so that no endpoint com.amazonaws." + f.region + ".kms is needed for it"
	case wrong.about("AccessDenied", "NotAuthorized"):
		return Denied, "allow " + f.ref.service.action() + " on " + f.resource() + " in the policy of the instance's role, and in that of the interface endpoint where it has one (docs/permissions.md)"
	case wrong.about("ResourceNotFound", "ParameterNotFound", "ParameterVersionNotFound"):
		return NotFound, fmt.Sprintf("there is no %s in %s in the role's account; create it, or correct the name or the region", f.ref.name, f.region)
	case wrong.about("UnrecognizedClient", "InvalidClientTokenId", "ExpiredToken"):
		return Denied, "the role's credentials are of another partition or no longer valid; look at the region " + f.region
	case wrong.about("Signature", "RequestExpired", "TooSkewed"):
		return Failed, "look at the node's clock, and at the region " + f.region
	}
	return Failed, "aws " + strings.Replace(f.ref.service.action(), ":", " ", 1) + " with this name on the node shows the same"
}

// about says whether the code or the message has one of these words.
func (f *fault) about(words ...string) bool {
	text := strings.ToLower(f.code + " " + f.message)
	for _, w := range words {
		if strings.Contains(text, strings.ToLower(w)) {
			return true
		}
	}
	return false
}

// resource is what a policy must name; the region may not be known yet.
func (f *fetcher) resource() string { return f.ref.resource(cmp.Or(f.region, "REGION")) }

func (f *fetcher) metadataRemedy(wrong *fault) (Kind, string) {
	switch {
	case wrong.status == http.StatusNotFound && strings.HasSuffix(wrong.at, rolePath), wrong.code != "":
		return Denied, "give the instance a role (an instance profile) that allows " + f.ref.service.action() + " on " + f.resource()
	case wrong.status == http.StatusForbidden:
		return Unreachable, "enable instance metadata: aws ec2 modify-instance-metadata-options --http-endpoint enabled"
	}
	return Unreachable, "the credentials of the instance's role come from instance metadata; --imds-endpoint names another endpoint, and outside EC2 --credentials-file takes a file"
}

// endpointRemedy names the interface endpoint: without one, a service's name
// leads out of the VPC, where the node gets to by the proxy alone.
func (f *fetcher) endpointRemedy() string {
	name := "com.amazonaws." + f.region + "." + string(f.ref.service)
	if partitionOf(f.region) == "aws-cn" {
		name += " (or cn." + name + ")"
	}
	return f.ref.service.title() + " is called directly, never through the proxy: give the VPC the interface endpoint " + name + " with private DNS, in a security group that lets the node in on port 443"
}
