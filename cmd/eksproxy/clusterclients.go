//go:build !nodeonly

package main

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/urfave/cli/v2"

	"github.com/eksproxy/eksproxy/internal/kube"
	"github.com/eksproxy/eksproxy/proxyconfig"
)

// Bounds of one call of AWS.
const (
	awsDialLimit   = 5 * time.Second
	awsAnswerLimit = 20 * time.Second
)

// clusterClients makes the clients of AWS, where the name of a cluster is given,
// and of Kubernetes, where a kubeconfig is there. Nobody is asked yet. Without
// need for facts a lack of a region is no error.
func (p *program) clusterClients(c *cli.Context, cfg proxyconfig.Config, asks bool) (clusterTarget, error) {
	t := clusterTarget{Named: c.String(flagKubeconfig) != "" || c.String(flagContext) != ""}
	if cfg.Cluster.Name != "" {
		loaded, err := p.awsConfig(c, cfg.Cluster.Region)
		if err != nil {
			return t, usage(err)
		}
		if loaded.Region == "" && asks {
			return t, usagef("the region of the cluster %s is unknown: give --region, or set AWS_REGION", cfg.Cluster.Name)
		}
		t.AWS = &loaded
	}
	client, err := kube.Connect(p.kubeOptions(c))
	switch {
	case err == nil:
		t.Kube, t.Context, t.Server = client, client.Context, client.Server
	case t.Named:
		return t, usage(err)
	case !errors.Is(err, kube.ErrNoKubeconfig):
		p.talk.Note("Kubernetes is not asked: %v", err)
	}
	return t, nil
}

// kubeOptions say which API server the flags mean.
func (p *program) kubeOptions(c *cli.Context) kube.Options {
	return kube.Options{
		Kubeconfig: c.String(flagKubeconfig), Context: c.String(flagContext), Getenv: p.getenv,
		Direct: c.Bool(flagKubeDirect), Timeout: c.Duration(flagRequestTimeout),
	}
}

// connect reaches Kubernetes alone.
func (p *program) connect(c *cli.Context) (clusterTarget, error) {
	client, err := kube.Connect(p.kubeOptions(c))
	if err != nil {
		return clusterTarget{}, usage(err)
	}
	return clusterTarget{Kube: client, Context: client.Context, Server: client.Server, Named: c.String(flagKubeconfig) != "" || c.String(flagContext) != ""}, nil
}

// awsConfig is the SDK's own, as the AWS CLI has it: environment, profile, and
// AWS_ENDPOINT_URL. Its connections follow the process environment, which the
// errors name where it leads through a proxy.
func (p *program) awsConfig(c *cli.Context, region string) (aws.Config, error) {
	client := awshttp.NewBuildableClient().
		WithDialerOptions(func(d *net.Dialer) { d.Timeout = awsDialLimit }).
		WithTransportOptions(func(t *http.Transport) { t.ResponseHeaderTimeout = awsAnswerLimit })
	options := []func(*config.LoadOptions) error{config.WithHTTPClient(client)}
	if region != "" {
		options = append(options, config.WithRegion(region))
	}
	if name := c.String(flagProfile); name != "" {
		options = append(options, config.WithSharedConfigProfile(name))
	}
	cfg, err := config.LoadDefaultConfig(c.Context, options...)
	if err != nil {
		return cfg, fmt.Errorf("reading the AWS configuration: %w; look at --profile", err)
	}
	cfg.HTTPClient = naming{cfg.HTTPClient} // not before: the SDK puts AWS_CA_BUNDLE into its own type only
	return cfg, nil
}

// naming is a client whose errors name the proxy that a request went through.
type naming struct{ aws.HTTPClient }

func (n naming) Do(r *http.Request) (*http.Response, error) {
	resp, err := n.HTTPClient.Do(r)
	if err == nil {
		return resp, nil
	}
	if proxy, _ := http.ProxyFromEnvironment(r); proxy != nil {
		err = fmt.Errorf("%w (through the proxy %s of the environment)", err, proxy.Host)
	}
	return resp, err
}
