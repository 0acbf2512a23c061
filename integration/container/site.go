package container

import "testing"

// Site is a network with a proxy and two registries: Hidden, which only the
// proxy can resolve and reach, and Near, on 10.77.1.1 beside the node.
type Site struct {
	*Network
	CA           *Authority // of both registries
	Squid        *Squid
	Hidden, Near *Registry
}

// NewSite makes a site, gone when the test ends.
func NewSite(t *testing.T, o SquidOptions) *Site {
	t.Helper()
	n := NewNetwork(t)
	ca := NewAuthority(t, "registries")
	o.Trust += ca.PEM
	return &Site{
		Network: n,
		CA:      ca,
		Squid:   NewSquid(t, n, o),
		Hidden:  NewRegistry(t, n.Registry, RegistryIP, RegistryName, ca),
		Near:    NewRegistry(t, n.Proxy, ProxyIP, ProxyIP, ca),
	}
}
