// Package imds owns reading EC2 instance metadata and user data into
// facts.Node. It must not use a proxy, follow a redirect, speak IMDSv1 or look
// at the environment, and it guesses nothing: what nobody gave is a gap.
package imds

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"time"

	"github.com/eksproxy/eksproxy/facts"
	"github.com/eksproxy/eksproxy/internal/nameform"
)

// DefaultTimeout bounds Read: early in the boot, metadata may be out of reach
// for a while.
const DefaultTimeout = 60 * time.Second

// sourceMetadata stands in Node.Sources.
const sourceMetadata = "instance metadata"

// Options say where and how long to read. The zero value is right on a node.
type Options struct {
	// Endpoint is the URL of the one endpoint to ask; empty means the IPv4
	// and the IPv6 endpoint of EC2.
	Endpoint string
	// Timeout bounds the whole read; 0 means DefaultTimeout.
	Timeout time.Duration
}

// Read asks instance metadata for what it says about the node. It goes on
// through whatever may pass until the timeout; its errors hold an *Error.
func Read(ctx context.Context, o Options) (facts.Node, error) {
	urls := []string{"http://169.254.169.254", "http://[fd00:ec2::254]"}
	if o.Endpoint != "" {
		endpoint, err := parseEndpoint(o.Endpoint)
		if err != nil {
			return facts.Node{}, err
		}
		urls = []string{endpoint}
	}
	l := defaultLimits()
	if o.Timeout > 0 {
		l.total = o.Timeout
	}
	return newClient(urls, l).node(ctx)
}

// parseEndpoint returns scheme and host of a URL; the paths are fixed.
func parseEndpoint(s string) (string, error) {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil {
		return "", errors.New("parsing the metadata endpoint: want a URL such as http://169.254.169.254")
	}
	return u.Scheme + "://" + u.Host, nil
}

// node reads all facts, one after the other on one connection: requests side by
// side would each cost a connection and its goroutines, which is more than the
// wait for a service on the same host.
func (c *client) node(parent context.Context) (facts.Node, error) {
	ctx, cancel := context.WithTimeout(parent, c.limits.total)
	defer cancel()
	defer c.transport.CloseIdleConnections()

	n := facts.NewNode()
	var userData answer
	for _, step := range []struct {
		what string
		read func() error
	}{
		{"the VPC CIDRs", func() (err error) {
			n.VPCCIDRs, err = c.vpcCIDRs(ctx)
			return err
		}},
		{"the region", func() (err error) {
			n.Region, err = c.name(ctx, "placement/region", "a region", nameform.IsRegion)
			return err
		}},
		{"the domain of AWS services", func() (err error) {
			n.DNSSuffix, err = c.name(ctx, "services/domain", "a DNS name", nameform.IsDomain)
			if e, ok := errors.AsType[*Error](err); ok && e.Status == http.StatusNotFound {
				err = nil // no entry of NO_PROXY needs it, so a boot does not end here
			}
			return err
		}},
		{"the user data", func() (err error) {
			userData, err = c.get(ctx, userDataPath)
			return err
		}},
	} {
		if err := step.read(); err != nil {
			if parent.Err() != nil {
				err = fmt.Errorf("%w: %w", err, parent.Err())
			}
			return facts.Node{}, fmt.Errorf("reading %s: %w", step.what, err)
		}
	}
	for _, field := range []string{facts.FieldVPCCIDRs, facts.FieldRegion, facts.FieldDNSSuffix} {
		if field != facts.FieldDNSSuffix || n.DNSSuffix != "" {
			n.SetSource(field, sourceMetadata)
		}
	}
	addUserData(&n, userData.body)
	return n, nil
}

// vpcCIDRs reads all blocks of the VPC: every interface lists them, and a VPC
// can have several (BL-005). Interfaces are read side by side: a node boots with
// one and later has up to fifteen.
func (c *client) vpcCIDRs(ctx context.Context) ([]netip.Prefix, error) {
	list, err := c.must(ctx, interfacesPath)
	if err != nil {
		return nil, err
	}
	macs, err := parseMACs(list.body)
	if err != nil {
		return nil, list.invalid(err)
	}
	blocks := make([][]netip.Prefix, len(macs))
	g, ctx := newGroup(ctx)
	for i, mac := range macs {
		g.run(func() (err error) {
			blocks[i], err = c.interfaceBlocks(ctx, mac)
			return err
		})
	}
	if err := g.wait(); err != nil {
		return nil, err
	}
	all := slices.Concat(blocks...)
	if len(all) == 0 {
		return nil, list.invalid(fmt.Errorf("none of its %d interfaces has a CIDR of the VPC: %s is 404 or empty for each", len(macs), ipv4))
	}
	slices.SortFunc(all, comparePrefix)
	return slices.Compact(all), nil
}

// interfaceBlocks reads the blocks of both families from one interface.
func (c *client) interfaceBlocks(ctx context.Context, mac string) ([]netip.Prefix, error) {
	v4, err := c.blocks(ctx, mac, ipv4)
	if err != nil {
		return nil, err
	}
	v6, err := c.blocks(ctx, mac, ipv6)
	return append(v4, v6...), err
}

// blocks reads the blocks of one family. No such path means that the VPC has
// none, or that the interface vanished since it was listed.
func (c *client) blocks(ctx context.Context, mac string, f family) ([]netip.Prefix, error) {
	a, err := c.get(ctx, metadataRoot+interfacesPath+mac+"/"+string(f))
	if err != nil || !a.found {
		return nil, err
	}
	prefixes, err := parseCIDRs(a.body, f)
	if err != nil {
		return nil, a.invalid(err)
	}
	return prefixes, nil
}

// name reads a single word and checks it.
func (c *client) name(ctx context.Context, path, what string, valid func(string) bool) (string, error) {
	a, err := c.must(ctx, path)
	if err != nil {
		return "", err
	}
	s := trimLineEnd(a.body)
	if !valid(s) {
		return "", a.invalid(notA(what, s))
	}
	return s, nil
}
