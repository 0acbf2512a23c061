package container

import (
	"net/http"
	"testing"

	"github.com/eksproxy/eksproxy/integration/netns"
	"github.com/eksproxy/eksproxy/integration/program"
)

// The addresses of every network, and the name that only the proxy can
// resolve.
const (
	NodeIP       = "10.77.1.2"
	ProxyIP      = "10.77.1.1" // as the node sees it
	ProxyOuterIP = "10.77.2.1" // as the registry sees it
	RegistryIP   = "10.77.2.2"
	MetadataIP   = "169.254.169.254"
	RegistryName = "registry.nf.test"
)

// Network is a node's network, a proxy's and a registry's. The node has no
// default route: whatever gets out got out through the proxy, or is on
// 10.77.1.1 itself.
type Network struct {
	Node, Proxy, Registry netns.Namespace
}

// NewNetwork makes a network of its own, gone when the test ends.
func NewNetwork(t *testing.T) *Network {
	t.Helper()
	needHost(t)
	w := newWork(t)
	n := &Network{netns.New(t), netns.New(t), netns.New(t)}
	for _, ns := range []netns.Namespace{n.Node, n.Proxy, n.Registry} {
		w.note(t, nameOf(ns))
	}
	join(t, n.Node, "eth0", NodeIP, n.Proxy, "p0", ProxyIP)
	join(t, n.Proxy, "p1", ProxyOuterIP, n.Registry, "r0", RegistryIP)
	n.Node.AddAddress(t, MetadataIP+"/32")
	program.Exec(t, nil, append(n.Proxy.Exec(), "sh", "-c", "echo 0 >/proc/sys/net/ipv4/ip_forward")...)
	return n
}

// join joins two namespaces by a cable.
func join(t *testing.T, a netns.Namespace, deviceA, ipA string, b netns.Namespace, deviceB, ipB string) {
	t.Helper()
	a.IP(t, "link", "add", deviceA, "type", "veth", "peer", "name", deviceB, "netns", nameOf(b))
	a.IP(t, "addr", "add", ipA+"/24", "dev", deviceA)
	b.IP(t, "addr", "add", ipB+"/24", "dev", deviceB)
	a.IP(t, "link", "set", deviceA, "up")
	b.IP(t, "link", "set", deviceB, "up")
}

// nameOf is the name of a namespace: the last word of what enters it.
func nameOf(n netns.Namespace) string {
	words := n.Exec()
	return words[len(words)-1]
}

// Serve answers HTTP in one of the namespaces until the test ends.
func Serve(t *testing.T, ns netns.Namespace, address string, handler http.Handler) {
	t.Helper()
	server := &http.Server{Handler: handler}
	listener := ns.Listen(t, address)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
}
