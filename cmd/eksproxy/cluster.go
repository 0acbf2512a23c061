//go:build !nodeonly

package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/urfave/cli/v2"

	"github.com/eksproxy/eksproxy/cluster"
	"github.com/eksproxy/eksproxy/facts"
	"github.com/eksproxy/eksproxy/internal/kube"
	"github.com/eksproxy/eksproxy/proxyconfig"
)

// The flags that say which cluster is meant, beside the fields below cluster.
const (
	flagProfile       = "profile"
	flagKubeconfig    = "kubeconfig"
	flagContext       = "context"
	flagKubeDirect    = "kube-direct"
	flagOtherEndpoint = "allow-other-endpoint"

	flagRequestTimeout = "request-timeout"
)

// readLimit bounds a whole read of a cluster: some twenty calls, each tried
// three times.
const readLimit = 90 * time.Second

// clusterFlags are the flags of every command that reads a cluster; those of the
// fields below cluster come with settingFlags.
func clusterFlags() []cli.Flag {
	return append(connectionFlags(),
		&cli.StringFlag{Name: flagProfile, Usage: "`NAME` of the profile of the AWS configuration [AWS_PROFILE]"},
		&cli.BoolFlag{Name: flagOtherEndpoint, Usage: "the kubeconfig's server leads to the cluster, although EKS tells another name", DisableDefaultText: true},
		&cli.StringFlag{Name: flagFacts, Usage: "`FILE` that facts cluster -o json or -o yaml wrote; nobody is asked"},
	)
}

// connectionFlags are the flags of a command that needs Kubernetes alone.
func connectionFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: flagKubeconfig, Usage: "`FILE` that says how to reach Kubernetes [KUBECONFIG]"},
		&cli.StringFlag{Name: flagContext, Usage: "`NAME` of the kubeconfig's context (default: its current one)"},
		&cli.BoolFlag{Name: flagKubeDirect, Usage: "reach the API server without the proxy of the environment", DisableDefaultText: true},
		&cli.DurationFlag{Name: flagRequestTimeout, Value: kube.DefaultTimeout, Usage: "how long one request to the API server may take"},
	}
}

// clusterTarget is where a command on a cluster works: what is shown before it
// writes, and how to get there.
type clusterTarget struct {
	// Account, Region, Cluster and Endpoint are of EKS, as far as known.
	Account, Region, Cluster, Endpoint string
	// Context and Server are of the kubeconfig.
	Context, Server string
	// Named says that the user named the kubeconfig or its context.
	Named bool
	// Kube is nil without Kubernetes, AWS without the name of a cluster.
	Kube *kube.Client
	AWS  *aws.Config
}

// clusterFacts finds out about a cluster: from a file, from an approved plan, or
// from AWS and Kubernetes. What the user gives replaces what is found. Clients
// are there as far as they can be made, whoever the facts came from.
func (p *program) clusterFacts(c *cli.Context, cfg proxyconfig.Config, planned *facts.Cluster) (facts.Cluster, clusterTarget, error) {
	if name := c.String(flagFacts); name != "" {
		read, err := facts.ReadCluster(name)
		if err != nil {
			return facts.Cluster{}, clusterTarget{}, usage(err)
		}
		planned = &read
	}
	t, err := p.clusterClients(c, cfg, planned == nil)
	if err != nil {
		return facts.Cluster{}, t, err
	}
	var f facts.Cluster
	if planned != nil {
		f = *planned
		f.Region, f.DNSSuffix = placeOf(f, cfg.Cluster.Region)
	} else if f, err = p.readCluster(c, cfg, &t); err != nil {
		return f, t, err
	}
	cfg.Cluster.Overlay(&f.Node)
	t.Account, t.Region, t.Cluster, t.Endpoint = f.Account, f.Region, f.ClusterName, f.EndpointHost
	p.clusterGaps(f.Gaps)
	return f, t, nil
}

// placeOf is the region of facts that were read before, or the one that is given
// now, and its domain.
func placeOf(f facts.Cluster, region string) (of, suffix string) {
	if region == "" || region == f.Region {
		return f.Region, f.DNSSuffix
	}
	suffix, _, _ = cluster.Suffixes(region)
	return region, suffix
}

// readCluster asks AWS and Kubernetes. A kubeconfig that nobody named, and that
// is for another cluster, is dropped from the target.
func (p *program) readCluster(c *cli.Context, cfg proxyconfig.Config, t *clusterTarget) (facts.Cluster, error) {
	if t.AWS == nil && t.Kube == nil && len(cfg.Cluster.VPCCIDRs) == 0 {
		return facts.Cluster{}, usagef("no cluster is named: give --cluster NAME, --kubeconfig FILE or --context NAME, --facts FILE, or --vpc-cidr with --region")
	}
	o := cluster.Options{
		Name: cfg.Cluster.Name, Region: cfg.Cluster.Region, Named: t.Named, OtherEndpoint: c.Bool(flagOtherEndpoint),
		Server: t.Server, Kubeconfig: "the kubeconfig",
	}
	if t.AWS != nil {
		o.Region, o.Credentials = t.AWS.Region, t.AWS.Credentials
		o.EKS, o.EC2 = eks.NewFromConfig(*t.AWS), ec2.NewFromConfig(*t.AWS)
	}
	if t.Kube != nil {
		o.Kubernetes, o.Kubeconfig = t.Kube.Clientset, fmt.Sprintf("context %s of %s", t.Context, t.Kube.Kubeconfig)
	}
	limit := fmt.Errorf("no complete answer within %s", readLimit)
	ctx, cancel := context.WithTimeoutCause(c.Context, readLimit, limit)
	defer cancel()
	f, err := cluster.Read(ctx, o)
	if err != nil {
		return f, unreadCluster(cfg.Cluster.Name, err, *t)
	}
	if t.Kube != nil && !t.Named && !o.OtherEndpoint && cluster.Another(f, t.Server) {
		p.talk.Note("the kubeconfig's current context %s is for another cluster and is not used", t.Context)
		t.Kube, t.Context, t.Server = nil, "", ""
	}
	return f, nil
}

// unreadCluster gives the error of a read its exit code: what does not exist can
// never work, what does not answer may later.
func unreadCluster(name string, err error, t clusterTarget) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	what := "reading the cluster"
	if name != "" {
		what += " " + name
	}
	err = fmt.Errorf("%s: %w%s", what, err, t.throughProxy(err))
	if e, ok := errors.AsType[*cluster.Error](err); ok && (e.Kind == cluster.NotFound || e.Kind == cluster.OtherCluster) {
		return usage(err)
	}
	return codeError{exitUndecided, err}
}

// throughProxy names the proxy that a request to the API server went through.
func (t clusterTarget) throughProxy(err error) string {
	sent, ok := errors.AsType[*url.Error](err)
	if !ok || t.Kube == nil || !strings.HasPrefix(sent.URL, strings.TrimSuffix(t.Server, "/")) {
		return ""
	}
	if proxy := t.Kube.Proxy(); proxy != nil {
		return kube.WentThrough(proxy.Host)
	}
	return ""
}

// clusterGaps notes what is unknown, fields with the same reason on one line.
func (p *program) clusterGaps(gaps []facts.Gap) {
	for len(gaps) > 0 {
		first, fields, is := gaps[0], []string{}, "is"
		same := func(g facts.Gap) bool { return g.Why == first.Why && g.Remedy == first.Remedy }
		for _, g := range gaps {
			if same(g) {
				fields = append(fields, g.Field)
			}
		}
		if len(fields) > 1 {
			is = "are"
		}
		p.talk.Note("%s %s unknown: %s; %s", strings.Join(fields, ", "), is, first.Why, first.Remedy)
		gaps = slices.DeleteFunc(slices.Clone(gaps), same)
	}
}
