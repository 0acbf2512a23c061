package imds

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// maxBody bounds an answer; EC2 allows 16 KiB of user data.
const maxBody = 64 << 10

var errBodyTooLarge = fmt.Errorf("the answer is larger than %d bytes", maxBody)

// newTransport never asks a proxy (BL-001), whatever the environment says, and
// keeps connections: their set-up is most of the cost of a read.
func newTransport(l limits) *http.Transport {
	http1 := new(http.Protocols)
	http1.SetHTTP1(true)
	return &http.Transport{
		Proxy:                 nil,
		DialContext:           (&net.Dialer{Timeout: l.dial}).DialContext,
		ResponseHeaderTimeout: l.header,
		MaxConnsPerHost:       maxParallel,
		MaxIdleConnsPerHost:   maxParallel,
		IdleConnTimeout:       10 * time.Second,
		DisableCompression:    true,
		Protocols:             http1,
	}
}

// exchange is the last request and its outcome. The SDK loses the cause of a
// transport error, so that it travels here, in the request's context.
type exchange struct {
	path   string
	status int
	err    error
}

type exchangeKey struct{}

func withExchange(ctx context.Context) (context.Context, *exchange) {
	last := new(exchange)
	return context.WithValue(ctx, exchangeKey{}, last), last
}

// recorder is the SDK's HTTP client. It uses the transport alone, which knows
// no redirects and no cookies.
type recorder struct {
	transport *http.Transport
}

// Do sends the request once and records how it went.
func (r recorder) Do(req *http.Request) (*http.Response, error) {
	last, ok := req.Context().Value(exchangeKey{}).(*exchange)
	if !ok {
		return nil, errors.New("sending a metadata request: no record to write to")
	}
	*last = exchange{path: req.URL.Path}
	resp, err := r.transport.RoundTrip(req)
	if err != nil {
		last.err = err
		return nil, err
	}
	last.status = resp.StatusCode
	resp.Body = &body{ReadCloser: resp.Body, left: maxBody, last: last}
	return resp, nil
}

// body bounds an answer and records where it breaks off.
type body struct {
	io.ReadCloser
	left int
	last *exchange
}

// Read reads on up to the bound.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= n; b.left < 0 {
		n, err = 0, errBodyTooLarge
	}
	if err != nil && err != io.EOF {
		b.last.err = err
	}
	return n, err
}
