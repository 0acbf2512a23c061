// Package secretref resolves references to values that are kept elsewhere:
// "secretsmanager:ARN", "ssm:NAME" and "file:PATH". It asks AWS directly, with
// the role of the instance: it must not use a proxy, whatever the environment
// says, for its answer is what opens the proxy. It must not follow a redirect,
// and no error of it holds a value, a token or a key.
package secretref

import (
	"context"
	"fmt"
	"time"

	"github.com/eksproxy/eksproxy/proxyconfig"
)

// Options say where to ask. The zero value is right on a node.
type Options struct {
	// IMDSEndpoint is the URL of the one metadata endpoint to ask; empty means
	// the IPv4 and the IPv6 endpoint of EC2.
	IMDSEndpoint string
	// Region and DNSSuffix are those of the node, where they are known. What
	// neither they nor the reference say is asked from metadata.
	Region, DNSSuffix string
	// Getenv finds the AWS SDKs' variables for the services' endpoints,
	// AWS_ENDPOINT_URL_SECRETS_MANAGER, AWS_ENDPOINT_URL_SSM and
	// AWS_ENDPOINT_URL; nothing else is looked up. It may be nil.
	Getenv func(string) string
}

// limits are the bounds of one Fetch.
type limits struct {
	tries      int
	total      time.Duration // of all tries, with the pauses between them
	try        time.Duration
	dial       time.Duration
	header     time.Duration // of metadata, which is near
	firstPause time.Duration // between tries; doubles
}

func defaultLimits() limits {
	return limits{
		tries:      3,
		total:      10 * time.Second,
		try:        3 * time.Second,
		dial:       2500 * time.Millisecond,
		header:     time.Second,
		firstPause: 300 * time.Millisecond,
	}
}

// Fetch resolves a reference to the value that it stands for. Where a service
// did not give it, the error holds an *Error; another error is about the
// reference itself, or about the file.
func Fetch(ctx context.Context, ref string, o Options) ([]byte, error) {
	r, err := parse(ref)
	if err != nil {
		return nil, err
	}
	v, err := r.fetch(ctx, o, defaultLimits())
	if err != nil {
		return nil, err
	}
	if r.key == "" {
		return v.reveal(), nil
	}
	text, err := proxyconfig.SecretField(v.reveal(), r.key)
	if err != nil {
		return nil, r.malformed(err)
	}
	return []byte(text), nil
}

// Credentials resolves a reference to a user and a password. The value is
// user:password, or a JSON object with username and password; what a key
// does is said at proxyconfig.ParseSecret.
func Credentials(ctx context.Context, ref string, o Options) (proxyconfig.Credentials, error) {
	r, err := parse(ref)
	if err != nil {
		return proxyconfig.Credentials{}, err
	}
	v, err := r.fetch(ctx, o, defaultLimits())
	if err != nil {
		return proxyconfig.Credentials{}, err
	}
	c, err := proxyconfig.ParseSecret(v.reveal(), r.key)
	if err != nil {
		return proxyconfig.Credentials{}, r.malformed(err)
	}
	return c, nil
}

// Check says what is wrong with a reference, without resolving it.
func Check(ref string) error {
	_, err := parse(ref)
	return err
}

// value is what a reference stands for. It is a function because fmt does not
// look into one, whatever the verb.
type value struct{ reveal func() []byte }

func newValue(data []byte) value { return value{func() []byte { return data }} }

// String hides the value.
func (value) String() string { return "[secret]" }

// Format prints String whatever the verb.
func (v value) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(v.String())) }

// fetch gets the value, from the file or the service.
func (r reference) fetch(ctx context.Context, o Options, l limits) (value, error) {
	if r.service == file {
		data, err := proxyconfig.ReadTrusted(r.name)
		if err != nil {
			return value{}, fmt.Errorf("reading the file of the reference: %w", err)
		}
		return newValue(data), nil
	}
	f, err := newFetcher(r, o, l)
	if err != nil {
		return value{}, err
	}
	defer f.close()
	return f.run(ctx)
}
