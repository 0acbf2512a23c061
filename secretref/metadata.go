package secretref

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials/ec2rolecreds"
	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds"
)

const (
	metadataRoot = "/latest/meta-data"
	rolePath     = "/iam/security-credentials/"
	// maxBody bounds every answer. A secret has 64 KiB, and JSON may need six
	// bytes for one.
	maxBody = 512 << 10
)

// newTransport never asks a proxy, whatever the environment says.
func newTransport(l limits) *http.Transport {
	return &http.Transport{
		Proxy:              nil,
		DialContext:        (&net.Dialer{Timeout: l.dial}).DialContext,
		DisableCompression: true,
	}
}

// metadata asks the endpoints of one instance. It is used by one goroutine.
type metadata struct {
	transport *http.Transport
	apis      []*imds.Client
	// last is the last request and how it went: the SDK's errors name neither
	// the URL nor the cause.
	last *fault
}

func newMetadata(endpoint string, l limits) (*metadata, error) {
	urls := []string{"http://169.254.169.254", "http://[fd00:ec2::254]"}
	if endpoint != "" {
		u, err := url.Parse(endpoint)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil {
			return nil, errors.New("the metadata endpoint is not a URL such as http://169.254.169.254")
		}
		urls = []string{u.Scheme + "://" + u.Host}
	}
	m := &metadata{transport: newTransport(l)}
	m.transport.DialContext = (&net.Dialer{Timeout: l.header}).DialContext
	m.transport.ResponseHeaderTimeout = l.header
	for _, u := range urls {
		m.apis = append(m.apis, imds.New(imds.Options{
			Endpoint:          u, // else the SDK would ask the environment
			HTTPClient:        recorder{m},
			Retryer:           aws.NopRetryer{}, // the fetcher repeats
			EnableFallback:    aws.FalseTernary,
			ClientEnableState: imds.ClientEnabled, // the environment has no say
		}))
	}
	return m, nil
}

// GetMetadata asks one endpoint after the other until one answers. It is what
// the SDK's provider of role credentials asks.
func (m *metadata) GetMetadata(ctx context.Context, in *imds.GetMetadataInput, _ ...func(*imds.Options)) (*imds.GetMetadataOutput, error) {
	var told *fault
	for _, api := range m.apis {
		m.last = nil
		out, err := api.GetMetadata(ctx, in)
		if err == nil {
			return out, nil
		}
		f := m.explain(in.Path, err)
		if told == nil || f.status != 0 {
			told = f
		}
		if f.status != 0 {
			break
		}
	}
	return nil, told
}

// explain makes a fault of what was recorded.
func (m *metadata) explain(path string, err error) *fault {
	if m.last == nil {
		return &fault{stage: fromMetadata, at: "GET " + metadataRoot + path, err: err, retry: true}
	}
	f := *m.last
	f.retry = true
	return &f
}

// text reads a word and checks its form.
func (m *metadata) text(ctx context.Context, path string, valid func(string) bool) (string, *fault) {
	out, err := m.GetMetadata(ctx, &imds.GetMetadataInput{Path: path})
	if err != nil {
		return "", asFault(err)
	}
	data, err := io.ReadAll(out.Content) // from memory: the SDK has read it
	word := strings.TrimSpace(string(data))
	if err != nil || !valid(word) {
		return "", &fault{stage: fromMetadata, at: m.last.at, err: errors.New("the answer is not what it must be")}
	}
	return word, nil
}

// role reads the credentials of the instance's role.
func (m *metadata) role(ctx context.Context) (aws.Credentials, *fault) {
	provider := ec2rolecreds.New(func(o *ec2rolecreds.Options) { o.Client = m })
	c, err := provider.Retrieve(ctx)
	told, hasCode := errors.AsType[coded](err)
	switch {
	case err == nil && c.HasKeys():
		return c, nil
	case asFault(err) != nil:
		return c, asFault(err)
	case hasCode:
		return c, &fault{stage: fromMetadata, at: m.last.at, code: printable(told.ErrorCode()), err: errors.New("metadata has no credentials of the role"), retry: true}
	}
	// The SDK's error may quote the document.
	return c, &fault{stage: fromMetadata, at: m.last.at, err: errors.New("the answer is no credentials of a role"), retry: true}
}

// coded is an error of the SDK that has the code of a document.
type coded interface {
	error
	ErrorCode() string
}

// asFault is the fault in an error of this package; nil where there is none.
func asFault(err error) *fault {
	f, _ := errors.AsType[*fault](err)
	return f
}

// recorder is the SDK's HTTP client: the transport alone, which follows no
// redirect.
type recorder struct{ m *metadata }

// Do sends the request once and records how it went.
func (r recorder) Do(req *http.Request) (*http.Response, error) {
	r.m.last = &fault{stage: fromMetadata, at: req.Method + " " + req.URL.Scheme + "://" + req.URL.Host + req.URL.Path}
	resp, err := r.m.transport.RoundTrip(req)
	if err != nil {
		return nil, r.m.last.broken(err)
	}
	r.m.last.status = resp.StatusCode
	resp.Body = struct {
		io.Reader
		io.Closer
	}{io.LimitReader(resp.Body, maxBody), resp.Body}
	return resp, nil
}
