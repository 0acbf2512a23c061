package secretref

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/eksproxy/eksproxy/internal/nameform"
)

// fetcher carries out one Fetch.
type fetcher struct {
	ref       reference
	limits    limits
	metadata  *metadata
	transport *http.Transport
	// endpoint is the service's URL; empty until it is known.
	endpoint       string
	region, suffix string
	role           aws.Credentials
	// skew is what the service's clock is ahead of ours.
	skew time.Duration
}

func newFetcher(r reference, o Options, l limits) (*fetcher, error) {
	m, err := newMetadata(o.IMDSEndpoint, l)
	if err != nil {
		return nil, err
	}
	f := &fetcher{ref: r, limits: l, metadata: m, transport: newTransport(l), region: r.region, suffix: o.DNSSuffix}
	if f.region == "" {
		f.region = o.Region
	}
	if f.suffix == "" {
		f.suffix = suffixOf(r.partition)
	}
	if f.region != "" && !nameform.IsRegion(f.region) || f.suffix != "" && !nameform.IsDomain(f.suffix) {
		return nil, errors.New("the region or the domain of AWS services is not of the usual form; write a region as in eu-west-1")
	}
	if o.Getenv != nil {
		err = f.fromEnvironment(o.Getenv)
	}
	return f, err
}

// fromEnvironment takes the endpoint from the SDKs' variables.
func (f *fetcher) fromEnvironment(getenv func(string) string) error {
	own := "AWS_ENDPOINT_URL_SSM"
	if f.ref.service == secretsManager {
		own = "AWS_ENDPOINT_URL_SECRETS_MANAGER"
	}
	for _, name := range []string{own, "AWS_ENDPOINT_URL"} {
		text := getenv(name)
		if text == "" {
			continue
		}
		u, err := url.Parse(text)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.RawQuery != "" {
			return fmt.Errorf("%s is not a URL such as https://vpce-0123.%s.eu-west-1.vpce.amazonaws.com", name, f.ref.service)
		}
		f.endpoint = u.Scheme + "://" + u.Host + strings.TrimSuffix(u.Path, "/") + "/"
		return nil
	}
	return nil
}

func (f *fetcher) close() {
	f.metadata.transport.CloseIdleConnections()
	f.transport.CloseIdleConnections()
}

// run tries until there is a value, a final fault, or no time or try left.
func (f *fetcher) run(parent context.Context) (value, error) {
	ctx, cancel := context.WithTimeout(parent, f.limits.total)
	defer cancel()
	start, pause := time.Now(), f.limits.firstPause
	for try := 1; ; try++ {
		v, wrong := f.try(ctx)
		if wrong == nil {
			return v, nil
		}
		if errors.Is(parent.Err(), context.Canceled) {
			return value{}, fmt.Errorf("fetching %s: %s: %w", f.ref, wrong.at, context.Cause(parent))
		}
		if !wrong.retry || try == f.limits.tries || !sleep(ctx, pause) {
			return value{}, f.explain(wrong, try, time.Since(start))
		}
		pause *= 2
	}
}

// sleep waits, and says whether there is time left after it.
func sleep(ctx context.Context, pause time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(pause):
		return true
	}
}

// try asks metadata for what is not known yet, and then the service.
func (f *fetcher) try(ctx context.Context) (value, *fault) {
	ctx, cancel := context.WithTimeout(ctx, f.limits.try)
	defer cancel()
	if wrong := f.locate(ctx); wrong != nil {
		return value{}, wrong
	}
	if !f.role.HasKeys() {
		role, wrong := f.metadata.role(ctx)
		if wrong != nil {
			return value{}, wrong
		}
		f.role = role
	}
	return f.call(ctx)
}

// locate finds out the region and the endpoint.
func (f *fetcher) locate(ctx context.Context) (wrong *fault) {
	if f.region == "" {
		if f.region, wrong = f.metadata.text(ctx, "/placement/region", nameform.IsRegion); wrong != nil {
			return wrong
		}
	}
	if f.endpoint != "" {
		return nil
	}
	if f.suffix == "" {
		if f.suffix, wrong = f.metadata.text(ctx, "/services/domain", nameform.IsDomain); wrong != nil {
			return wrong
		}
	}
	f.endpoint = "https://" + string(f.ref.service) + "." + f.region + "." + f.suffix + "/"
	return nil
}
