package proxyconfig

import (
	"errors"
	"fmt"
	"net/netip"
	"time"
)

// Config is what holds for one place, after merging: parsed and checked.
type Config struct {
	// HTTPProxy and HTTPSProxy carry the credentials. Both are zero where
	// the plan is to revert.
	HTTPProxy, HTTPSProxy URL
	// KeepCredentials says that the credentials were fetched over the network,
	// so that a copy is to be kept for when they cannot be.
	KeepCredentials bool
	CAs             []CA
	Inspection      Inspection
	NoProxy         NoProxy
	Cluster         Cluster
	Node            Node
	// Warnings are what works and should not stay so.
	Warnings []string
}

// Inspection is what the proxy does to TLS.
type Inspection struct {
	// Resigns says that it ends TLS and signs anew with its own authority.
	Resigns bool
	// Exempt are the hosts and zones that it leaves as they are, in the forms
	// of a NO_PROXY entry.
	Exempt []string
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
// Every fault is reported, with its origin. A reference to credentials that is
// not to a file is given to fetch, once, and only where there is no fault so
// far; where fetch is nil it is a fault.
func (l Layer) Resolve(scope string, fetch func(ref string) (Credentials, error)) (Config, error) {
	r := &resolver{layer: l, scope: scope, fetch: fetch}
	r.place()
	r.authority()
	r.proxies() // last: a configuration that has a fault is not one without a proxy
	return r.config, errors.Join(r.faults...)
}

// ResolvePlace parses and checks only what the user says of the cluster, the node
// and NO_PROXY in a scope, for commands that need no proxy.
func (l Layer) ResolvePlace(scope string) (Config, error) {
	r := &resolver{layer: l, scope: scope}
	r.place()
	return r.config, errors.Join(r.faults...)
}

// resolver collects the faults of one Resolve.
type resolver struct {
	layer  Layer
	scope  string
	fetch  func(ref string) (Credentials, error)
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
	r.inspection()
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
