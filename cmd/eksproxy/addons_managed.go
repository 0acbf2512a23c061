//go:build !nodeonly

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/urfave/cli/v2"

	"github.com/eksproxy/eksproxy/addons"
	"github.com/eksproxy/eksproxy/proxyconfig"
)

const flagOwnedBy = "addons-owned-by"

// managedFlags are those of the configuration of EKS add-ons.
func managedFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{
			Name: flagOwnedBy, Value: addons.OwnedByAuto, Action: oneOf(flagOwnedBy, addons.OwnedByAuto, addons.OwnedByEKS, addons.OwnedByTerraform),
			Usage: "`WHO` writes the configuration of EKS add-ons: terraform says what to put there and changes none, eks changes it, auto goes by their tags",
		},
	}
}

// revertFlags name the EKS cluster for a revert; without them it is the one that
// was recorded.
func revertFlags() []cli.Flag {
	var named []cli.Flag
	for _, f := range proxyconfig.Fields() {
		if f.Flag == "cluster" || f.Flag == "region" {
			named = append(named, settingFlag(f))
		}
	}
	return append(named,
		&cli.StringFlag{Name: flagProfile, Usage: "`NAME` of the profile of the AWS configuration [AWS_PROFILE]"},
		&cli.BoolFlag{Name: flagOtherEndpoint, Usage: "the kubeconfig's server leads to the cluster, although EKS tells another name", DisableDefaultText: true},
	)
}

// managed says how add-ons that EKS manages are reached: the cluster that is
// known, else the one that eksproxy has recorded.
func (p *program) managed(c *cli.Context, t clusterTarget) addons.Managed {
	m := addons.Managed{Cluster: t.Cluster, Region: t.Region}
	if t.AWS == nil {
		m.Cluster = cmp.Or(c.String("cluster"), p.getenv("EKSPROXY_CLUSTER"))
		m.Region = cmp.Or(c.String("region"), p.getenv("EKSPROXY_REGION"))
	}
	made := map[string]addons.EKS{}
	m.Connect = func(ctx context.Context, cluster, region string) (addons.EKS, error) {
		if client, ok := made[cluster]; ok {
			return client, nil
		}
		cfg, err := p.awsConfig(c, region)
		if err != nil {
			return nil, &addons.OptionError{Err: err}
		}
		client := eks.NewFromConfig(cfg)
		if err := sameCluster(ctx, client, cluster, t, c.Bool(flagOtherEndpoint)); err != nil {
			return nil, err
		}
		made[cluster] = client
		return client, nil
	}
	return m
}

// sameCluster demands that the kubeconfig's server is the endpoint of the EKS
// cluster whose add-ons are to be changed: what is recorded in a cluster may have
// come there with a backup of another one.
func sameCluster(ctx context.Context, client eks.DescribeClusterAPIClient, name string, t clusterTarget, allowed bool) error {
	out, err := client.DescribeCluster(ctx, &eks.DescribeClusterInput{Name: &name})
	if err == nil && out.Cluster == nil {
		err = errors.New("the answer has no cluster")
	}
	if err != nil {
		return codeError{exitUndecided, fmt.Errorf("reading the EKS cluster %s: eks:DescribeCluster: %w; give --cluster, --region and --profile", name, err)}
	}
	server, err1 := url.Parse(t.Server)
	endpoint, err2 := url.Parse(aws.ToString(out.Cluster.Endpoint))
	if !allowed && (err1 != nil || err2 != nil || !strings.EqualFold(server.Hostname(), endpoint.Hostname())) {
		return usagef("the server of the kubeconfig is %s, and the endpoint of the EKS cluster %s is %s; give the --context of this cluster, or --allow-other-endpoint where another name leads to the same server",
			t.Server, name, aws.ToString(out.Cluster.Endpoint))
	}
	return nil
}

// notDone says what is left to others.
func notDone(prepared *addons.Prepared) error {
	if len(prepared.NotDone) == 0 {
		return nil
	}
	return errors.New(strings.Join(prepared.NotDone, "\n"))
}
