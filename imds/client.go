package imds

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds"
)

const (
	metadataRoot   = "/latest/meta-data/"
	interfacesPath = "network/interfaces/macs/"
	userDataPath   = "/latest/user-data"
	tokenPath      = "/latest/api/token" //nolint:gosec // G101: a path, no credential

	// maxParallel bounds requests side by side: EC2 throttles an instance.
	maxParallel = 4
)

// limits are the bounds in time.
type limits struct {
	total      time.Duration // of a whole read
	request    time.Duration // of one request with its token, so that a hang costs no more
	dial       time.Duration
	header     time.Duration
	firstPause time.Duration // between attempts; doubles
	maxPause   time.Duration
}

func defaultLimits() limits {
	return limits{
		total:      DefaultTimeout,
		request:    2 * time.Second,
		dial:       time.Second,
		header:     1500 * time.Millisecond,
		firstPause: 50 * time.Millisecond,
		maxPause:   time.Second,
	}
}

// client asks the endpoints of one instance.
type client struct {
	limits    limits
	transport *http.Transport
	endpoints []endpoint
	preferred atomic.Int64  // index of the endpoint that answered last
	slots     chan struct{} // as many as there may be requests
}

// endpoint is one way to the same metadata, with a token of its own.
type endpoint struct {
	url string
	api *imds.Client
}

func newClient(urls []string, l limits) *client {
	c := &client{limits: l, transport: newTransport(l), slots: make(chan struct{}, maxParallel)}
	for _, url := range urls {
		c.endpoints = append(c.endpoints, endpoint{url, imds.New(imds.Options{
			Endpoint:          url, // else the SDK would ask the environment
			HTTPClient:        recorder{c.transport},
			Retryer:           aws.NopRetryer{}, // get repeats, over both endpoints
			EnableFallback:    aws.FalseTernary,
			ClientEnableState: imds.ClientEnabled, // AWS_EC2_METADATA_DISABLED is about credentials
		})})
	}
	return c
}

// answer is a definite answer of metadata.
type answer struct {
	endpoint, path string
	body           string
	found          bool // false: 404
}

// invalid is the error about an answer that makes no sense.
func (a answer) invalid(err error) error {
	return &Error{Path: a.path, Status: http.StatusOK, Endpoint: a.endpoint, Err: err}
}

// must reads a path under meta-data that every instance has.
func (c *client) must(ctx context.Context, path string) (answer, error) {
	a, err := c.get(ctx, metadataRoot+path)
	if err == nil && !a.found {
		err = &Error{Path: a.path, Status: http.StatusNotFound, Endpoint: a.endpoint}
	}
	return a, err
}

// get reads a path until an answer is definite, an error final or the time up.
func (c *client) get(ctx context.Context, path string) (answer, error) {
	start := time.Now()
	pause := c.limits.firstPause
	var last *Error
	for {
		a, err := c.attempt(ctx, path)
		if err == nil {
			return a, nil
		}
		if !err.retryable() {
			return answer{}, err
		}
		// An attempt that the end of the time cut off says nothing new.
		if last == nil || ctx.Err() == nil {
			last = err
		}
		select {
		case <-ctx.Done():
			last.Tried = time.Since(start)
			return answer{}, last
		case <-time.After(pause):
			pause = min(2*pause, c.limits.maxPause)
		}
	}
}

// attempt asks each endpoint once, the one that answered last first. Of two
// errors it returns the one that says more: an answer beats silence.
func (c *client) attempt(ctx context.Context, path string) (answer, *Error) {
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-ctx.Done():
		return answer{}, &Error{Path: path, Endpoint: c.endpoints[0].url, Err: ctx.Err()}
	}
	var told *Error
	first := int(c.preferred.Load())
	for i := range c.endpoints {
		n := (first + i) % len(c.endpoints)
		a, err := c.ask(ctx, c.endpoints[n], path)
		if err == nil {
			c.preferred.Store(int64(n))
			return a, nil
		}
		if !err.retryable() {
			return answer{}, err
		}
		if told == nil || told.Status == 0 && err.Status != 0 {
			told = err
		}
	}
	return answer{}, told
}

// ask sends one request, with one for a token before it where there is none.
func (c *client) ask(ctx context.Context, e endpoint, path string) (answer, *Error) {
	ctx, cancel := context.WithTimeout(ctx, c.limits.request)
	defer cancel()
	ctx, last := withExchange(ctx)
	text, err := e.read(ctx, path)
	a := answer{endpoint: e.url, path: path, body: text}
	switch {
	case err == nil:
		a.found = true
		return a, nil
	case last.path == path && last.status == http.StatusNotFound && last.err == nil:
		return a, nil
	default:
		return a, explain(e, path, last)
	}
}

// read is one call of the SDK.
func (e endpoint) read(ctx context.Context, path string) (string, error) {
	var content io.ReadCloser
	if path == userDataPath {
		out, err := e.api.GetUserData(ctx, nil)
		if err != nil {
			return "", err
		}
		content = out.Content
	} else {
		out, err := e.api.GetMetadata(ctx, &imds.GetMetadataInput{Path: path[len(metadataRoot):]})
		if err != nil {
			return "", err
		}
		content = out.Content
	}
	text, err := io.ReadAll(content) // from memory: the SDK has read it
	return string(text), err
}

// explain makes an Error of what was recorded: the SDK's own error would name
// neither the URL nor the cause.
func explain(e endpoint, path string, last *exchange) *Error {
	out := &Error{Path: path, Endpoint: e.url, Status: last.status, Err: last.err}
	if last.path != "" {
		out.Path = last.path
	}
	switch {
	case errors.Is(last.err, errBodyTooLarge): // final, as the status is kept
	case last.err != nil:
		out.Status = 0
		if errors.Is(last.err, context.DeadlineExceeded) {
			out.Err = fmt.Errorf("no complete answer: %w", last.err)
		}
	case last.path == "": // nothing was sent: the SDK waits for another request's token
		out.Path, out.Err = tokenPath, errors.New("no token in time")
	case last.path == tokenPath && last.status/100 == 2:
		out.Err = errors.New("the answer is no token, so this is not instance metadata")
	case last.path == tokenPath && last.status == http.StatusForbidden:
		out.Err = errors.New("instance metadata is disabled, or its hop limit is too low for where this runs" +
			" (aws ec2 modify-instance-metadata-options --http-endpoint enabled --http-put-response-hop-limit 2)")
	}
	return out
}
