package proxyconfig

import (
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/eksproxy/eksproxy/facts"
)

// Config is what holds for one place, after merging: parsed and checked.
type Config struct {
	// HTTPProxy and HTTPSProxy carry the credentials. Both are zero where
	// the plan is to revert.
	HTTPProxy, HTTPSProxy URL
	CAs                   []CA
	NoProxy               NoProxy
	Cluster               Cluster
	Node                  Node
	// Warnings are what works and should not stay so.
	Warnings []string
}

// NoProxy is what the user adds to and takes from the composed list.
type NoProxy struct {
	Add, Omit []Item
	IPv6CIDRs string
}

// Cluster is what the user says of the cluster; empty where they do not.
type Cluster struct {
	Name, Region, EndpointHost, Domain string
	VPCCIDRs, ServiceCIDRs             []netip.Prefix
	sources                            map[string]string
}

// Node is what the user says of the node.
type Node struct {
	OS, Runtime                 string
	CredentialsInEtcEnvironment bool
	IMDSEndpoint                string
	// IMDSGiven says that the endpoint was meant for eksproxy, and not only
	// for every AWS SDK on the machine.
	IMDSGiven   bool
	IMDSTimeout time.Duration
	// Off holds the targets that are switched off.
	Off map[string]bool
}

// ErrNoProxy says that no proxy is configured at all.
var ErrNoProxy = errors.New("no proxy is given; give --http-proxy http://HOST:PORT, or httpProxy in a file that --config names (eksproxy config init writes one)")

// Revert says that both proxies are given as empty: eksproxy's settings are to
// be taken back.
func (c Config) Revert() bool { return c.HTTPProxy.IsZero() && c.HTTPSProxy.IsZero() }

// Resolve parses and checks what holds in a scope ("node", "addons", "pods").
// Every fault is reported, with its origin.
func (l Layer) Resolve(scope string) (Config, error) {
	r := &resolver{layer: l, scope: scope}
	r.place()
	r.authority()
	r.proxies() // last: a configuration that has a fault is not one without a proxy
	return r.config, errors.Join(r.faults...)
}

// ResolveNode parses and checks only what the user says of the cluster and the
// node, for commands that need no proxy.
func (l Layer) ResolveNode() (Config, error) {
	r := &resolver{layer: l, scope: "node"}
	r.place()
	return r.config, errors.Join(r.faults...)
}

// resolver collects the faults of one Resolve.
type resolver struct {
	layer  Layer
	scope  string
	config Config
	faults []error
}

func (r *resolver) fault(o Origin, err error) {
	r.faults = append(r.faults, fmt.Errorf("%s: %w", o, err))
}

func (r *resolver) warn(format string, args ...any) {
	r.config.Warnings = append(r.config.Warnings, fmt.Sprintf(format, args...))
}

// place resolves what the user says of the place, whatever its proxy.
func (r *resolver) place() {
	r.cluster()
	r.node()
	r.config.NoProxy = NoProxy{Add: r.items(pathAdd), Omit: r.items(pathOmit), IPv6CIDRs: r.text(pathIPv6CIDRs)}
}

func (r *resolver) items(path string) []Item {
	v, _ := r.layer.at(r.scope, path)
	return v.Items
}

// text returns a scalar, checked against its type.
func (r *resolver) text(path string) string {
	v, ok := r.layer.at(r.scope, path)
	if !ok {
		return ""
	}
	if f, _ := lookup(path); v.Text() != "" || f.Type != Text {
		if why := wrongText(f, v.Text()); why != "" {
			r.fault(v.Origin, fmt.Errorf("%s %s", path, why))
		}
	}
	return v.Text()
}

func (r *resolver) proxies() {
	httpURL, httpGiven := r.proxy(pathHTTPProxy)
	httpsURL, httpsGiven := r.proxy(pathHTTPSProxy)
	switch {
	case len(r.faults) > 0:
		return
	case !httpGiven && !httpsGiven:
		r.faults = append(r.faults, ErrNoProxy)
		return
	case httpURL.IsZero() && httpsURL.IsZero() && (httpGiven != httpsGiven):
		r.faults = append(r.faults, errors.New("one proxy is given as empty and the other not at all; give a proxy, or give both as empty to take eksproxy's settings back"))
		return
	case httpGiven && httpsGiven && httpURL.IsZero() != httpsURL.IsZero():
		r.faults = append(r.faults, errors.New("one proxy is given as empty and the other is not; leave the empty one out (it defaults to the other), or give both as empty to take eksproxy's settings back"))
		return
	}
	if !httpGiven {
		httpURL = httpsURL
	}
	if !httpsGiven {
		httpsURL = httpURL
	}
	r.config.HTTPProxy, r.config.HTTPSProxy = r.authenticate(httpURL, httpsURL)
}

// proxy parses one proxy and says whether it was given, be it as empty.
func (r *resolver) proxy(path string) (URL, bool) {
	v, ok := r.layer.at(r.scope, path)
	if !ok || v.Text() == "" {
		return URL{}, ok
	}
	u, err := ParseURL(v.Text())
	switch {
	case err != nil:
		r.fault(v.Origin, fmt.Errorf("%s: %w", path, err))
	case u.HasCredentials() && v.Origin.Level == Flag:
		r.fault(v.Origin, errors.New("a password in a flag can be read by every user of the machine; keep user:password in a file and give --credentials-file"))
	case u.HasCredentials():
		r.warn("%s: %s holds a password; keep user:password in a file that only its owner can read and name it as credentials.file", v.Origin, path)
	}
	return u, true
}

// authenticate gives both proxies the credentials that are kept apart.
func (r *resolver) authenticate(httpURL, httpsURL URL) (URL, URL) {
	c, o, ok := r.credentials()
	if !ok || httpURL.IsZero() {
		return httpURL, httpsURL
	}
	if httpURL.HasCredentials() || httpsURL.HasCredentials() {
		r.fault(o, errors.New("the proxy URL holds credentials as well; take them out of the URL"))
		return httpURL, httpsURL
	}
	return httpURL.With(c), httpsURL.With(c)
}

// fileRef starts a reference to a file.
const fileRef = "file:"

func (r *resolver) credentials() (Credentials, Origin, bool) {
	file, hasFile := r.layer.at(r.scope, pathCredentialsFile)
	from, hasFrom := r.layer.at(r.scope, pathCredentialsFrom)
	hasFile, hasFrom = hasFile && file.Text() != "", hasFrom && from.Text() != ""
	switch {
	case hasFile && hasFrom:
		r.fault(from.Origin, fmt.Errorf("credentials are given twice, the other time at %s; keep one of file and from", file.Origin))
		return Credentials{}, from.Origin, false
	case hasFrom:
		path, ok := strings.CutPrefix(from.Text(), fileRef)
		if !ok { // not quoted: it may be the credentials themselves
			r.fault(from.Origin, errors.New("the credentials' reference is not of a kind that this version resolves; allowed: file:PATH"))
			return Credentials{}, from.Origin, false
		}
		file = Value{Items: []Item{{path, from.Origin}}, Origin: from.Origin}
	case !hasFile:
		return Credentials{}, Origin{}, false
	}
	data, err := os.ReadFile(beside(file.Origin, file.Text()))
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok && strings.Contains(file.Text(), ":") { // not quoted either
		err = fmt.Errorf("%w; give the name of a file that holds user:password, not the credentials themselves", pathErr.Err)
	}
	if err != nil {
		r.fault(file.Origin, fmt.Errorf("reading the credentials: %w", err))
		return Credentials{}, file.Origin, false
	}
	c, err := ParseCredentials(data)
	if err != nil {
		r.fault(file.Origin, fmt.Errorf("reading the credentials from %s: %w", file.Text(), err))
	}
	return c, file.Origin, err == nil
}

// beside makes a relative path in a configuration file relative to that file.
func beside(o Origin, path string) string {
	if o.Level != File || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(o.Name), path)
}

func (r *resolver) authority() {
	v, ok := r.layer.at(r.scope, pathTrustedCA)
	if !ok || v.Text() == "" {
		return
	}
	data := []byte(v.Text())
	if !strings.Contains(v.Text(), pemStart) {
		var err error
		if data, err = os.ReadFile(beside(v.Origin, v.Text())); err != nil {
			r.fault(v.Origin, fmt.Errorf("reading the trusted CA: %w", err))
			return
		}
	}
	cas, err := ParseCAs(data)
	if err != nil {
		r.fault(v.Origin, fmt.Errorf("reading the trusted CA: %w", err))
	}
	for _, ca := range cas {
		if time.Now().After(ca.NotAfter) {
			r.warn("%s: the certificate %q expired on %s", v.Origin, ca.Subject, ca.NotAfter.Format(time.DateOnly))
		}
	}
	r.config.CAs = cas
}

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
		n.ServiceCIDRs, n.ServiceAddress = c.ServiceCIDRs, netip.Addr{}
		delete(n.Sources, facts.FieldServiceAddress)
	}
	for field, source := range c.sources {
		n.Fill(field, source)
	}
}
