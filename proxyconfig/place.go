package proxyconfig

import (
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/eksproxy/eksproxy/facts"
	"github.com/eksproxy/eksproxy/noproxy"
)

func (r *resolver) node() {
	n := Node{
		OS: r.text(pathOS), Runtime: r.text(pathRuntime),
		CredentialsInEtcEnvironment: r.text(pathInEtc) == "true",
		IMDSEndpoint:                r.text(pathIMDSEndpoint),
		Off:                         map[string]bool{},
	}
	if v, ok := r.layer.at(r.scope, pathIMDSEndpoint); ok {
		host, plain := strings.CutPrefix(strings.TrimSuffix(n.IMDSEndpoint, "/"), "http://")
		if !plain || host == "" || strings.ContainsAny(host, "/@ \t\r\n?#") {
			r.fault(v.Origin, errors.New("the metadata endpoint is not http://HOST or http://HOST:PORT"))
		}
		n.IMDSGiven = v.Origin.Level > Default
	}
	n.IMDSTimeout, _ = time.ParseDuration(r.text(pathIMDSTimeout))
	for _, t := range Targets() {
		if r.text(pathTargets+t.Name) == "false" {
			n.Off[t.Name] = true
		}
	}
	r.config.Node = n
}

// inspection resolves what the proxy does to TLS.
func (r *resolver) inspection() {
	r.config.Inspection.Resigns = r.text(pathInspection) == "true"
	for _, item := range r.items(pathExempt) {
		texts, err := noproxy.ParseAddition(item.Text)
		if err == nil && strings.Contains(texts[0], "/") {
			err = fmt.Errorf("%s %q is a range; write a host as in ec2.eu-west-1.amazonaws.com or a zone as in .amazonaws.com", pathExempt, texts[0])
		}
		if err != nil {
			r.fault(item.Origin, err)
			continue
		}
		r.config.Inspection.Exempt = append(r.config.Inspection.Exempt, texts...)
	}
}

func (r *resolver) cluster() {
	c := Cluster{Name: r.text(pathClusterName), sources: map[string]string{}}
	r.given(&c, pathRegion, facts.FieldRegion, func(s string) (err error) { c.Region, err = parseRegion(s); return err })
	r.given(&c, pathEndpoint, facts.FieldEndpointHost, func(s string) (err error) { c.EndpointHost, err = parseEndpoint(s); return err })
	r.given(&c, pathDomain, facts.FieldClusterDomain, func(s string) (err error) { c.Domain, err = parseDomain(s); return err })
	r.given(&c, pathVPCCIDRs, facts.FieldVPCCIDRs, func(s string) error { return appendCIDR(&c.VPCCIDRs, s) })
	r.given(&c, pathServiceCIDRs, facts.FieldServiceCIDRs, func(s string) error { return appendCIDR(&c.ServiceCIDRs, s) })
	r.config.Cluster = c
}

// given parses each text of a field and notes its source.
func (r *resolver) given(c *Cluster, path, field string, parse func(string) error) {
	for _, item := range r.items(path) {
		if item.Text == "" {
			continue
		}
		if err := parse(item.Text); err != nil {
			r.fault(item.Origin, err)
		}
		c.sources[field] = item.Origin.String()
	}
}

// WithoutVPC is the same without the CIDRs of the VPC.
func (c Cluster) WithoutVPC() Cluster {
	c.VPCCIDRs, c.sources = nil, maps.Clone(c.sources)
	delete(c.sources, facts.FieldVPCCIDRs)
	return c
}

// Overlay puts what the user says of the cluster over what was found out.
func (c Cluster) Overlay(n *facts.Node) {
	if c.Name != "" {
		n.ClusterName = c.Name
	}
	if c.Region != "" {
		n.Region = c.Region
	}
	if c.EndpointHost != "" {
		n.EndpointHost = c.EndpointHost
	}
	if c.Domain != "" {
		n.ClusterDomain = c.Domain
	}
	if len(c.VPCCIDRs) > 0 {
		n.VPCCIDRs = c.VPCCIDRs
	}
	if len(c.ServiceCIDRs) > 0 {
		n.ServiceCIDRs = c.ServiceCIDRs
		if !slices.ContainsFunc(c.ServiceCIDRs, func(p netip.Prefix) bool { return p.Contains(n.ServiceAddress) }) {
			n.ServiceAddress = netip.Addr{} // it is of another range than the user's
			delete(n.Sources, facts.FieldServiceAddress)
		}
	}
	for field, source := range c.sources {
		n.Fill(field, source)
	}
}
