package secretref

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// request is the body and the target of the service's one call.
func (r reference) request() (target string, body any) {
	if r.service == ssm {
		return "AmazonSSM.GetParameter", struct {
			Name           string
			WithDecryption bool
		}{r.name, true}
	}
	return "secretsmanager.GetSecretValue", struct{ SecretId string }{r.name} //nolint:revive // the service's name
}

// answer is what is read of both services' answers. A failed one has a type and
// a message.
type answer struct {
	SecretString *string
	SecretBinary []byte
	Parameter    struct{ Value *string }
	Type         string `json:"__type"`
	Message      string
}

// call asks the service once.
func (f *fetcher) call(ctx context.Context) (value, *fault) {
	wrong := &fault{stage: fromService, at: "POST " + f.endpoint}
	req, err := f.signed(ctx)
	if err != nil {
		wrong.err = err
		return value{}, wrong
	}
	resp, err := f.transport.RoundTrip(req) // no redirects, no cookies
	if err != nil {
		return value{}, wrong.broken(err)
	}
	defer resp.Body.Close() //nolint:errcheck // it was only read
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	if err != nil {
		return value{}, wrong.broken(err)
	}
	if len(data) > maxBody {
		wrong.err = errors.New("the answer is larger than any secret")
		return value{}, wrong
	}
	wrong.status = resp.StatusCode
	var a answer
	parsed := json.Unmarshal(data, &a) == nil
	if resp.StatusCode == http.StatusOK {
		return a.value(wrong)
	}
	if parsed {
		f.refused(wrong, resp.Header, a)
	}
	wrong.retry = wrong.retry || resp.StatusCode >= 500 || resp.StatusCode == http.StatusTooManyRequests
	return value{}, wrong
}

// signed is the request, signed with the role's credentials.
func (f *fetcher) signed(ctx context.Context) (*http.Request, error) {
	target, document := f.ref.request()
	body, err := json.Marshal(document)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, f.endpoint, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/x-amz-json-1.1")
	req.Header.Set("X-Amz-Target", target)
	req.Header.Set("User-Agent", "eksproxy")
	sum := sha256.Sum256(body)
	err = v4.NewSigner().SignHTTP(ctx, f.role, req, hex.EncodeToString(sum[:]), string(f.ref.service), f.region, time.Now().Add(f.skew))
	return req, err
}

// value is what a good answer holds.
func (a answer) value(wrong *fault) (value, *fault) {
	switch {
	case a.SecretString != nil:
		return newValue([]byte(*a.SecretString)), nil
	case a.SecretBinary != nil:
		return newValue(a.SecretBinary), nil
	case a.Parameter.Value != nil:
		return newValue([]byte(*a.Parameter.Value)), nil
	}
	wrong.err = errors.New("the answer is not one of the service: something else answered in its place")
	return value{}, wrong
}

// refused reads what the service says against the request, and prepares for
// the next try.
func (f *fetcher) refused(wrong *fault, h http.Header, a answer) {
	code := a.Type
	if code == "" {
		code, _, _ = strings.Cut(h.Get("X-Amzn-Errortype"), ":")
	}
	wrong.code = printable(code[strings.LastIndexByte(code, '#')+1:])
	wrong.message = f.scrub(a.Message)
	switch wrong.code {
	case "ExpiredTokenException", "UnrecognizedClientException", "InvalidClientTokenId":
		f.role, wrong.retry = aws.Credentials{}, true
	case "ThrottlingException", "Throttling", "TooManyRequestsException", "RequestLimitExceeded", "InternalServiceError", "InternalServerError":
		wrong.retry = true
	case "InvalidSignatureException", "RequestExpired", "RequestTimeTooSkewed", "SignatureDoesNotMatch":
		at, err := http.ParseTime(h.Get("Date"))
		if ahead := time.Until(at); err == nil && ahead.Abs() > time.Minute && f.skew == 0 {
			f.skew, wrong.retry = ahead, true
		}
	}
}

// scrub makes a message of a service showable: printable, short, and without
// what the request was signed with, should it come back.
func (f *fetcher) scrub(message string) string {
	for _, s := range []string{f.role.SecretAccessKey, f.role.SessionToken, f.role.AccessKeyID} {
		if s != "" {
			message = strings.ReplaceAll(message, s, "[secret]")
		}
	}
	return printable(message)
}

// maxMessage is as much of a message as is shown.
const maxMessage = 400

// printable leaves out what is not printable ASCII.
func printable(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < 0x20 || r > 0x7e {
			return -1
		}
		return r
	}, text)
	if len(text) > maxMessage {
		text = text[:maxMessage] + "..."
	}
	return text
}
