package imds

import (
	"net/netip"
	"strings"

	"github.com/eksproxy/eksproxy/bootdata"
	"github.com/eksproxy/eksproxy/facts"
)

// addUserData adds what the user data says about the cluster. User data that
// makes no sense is no error: the node may be fed by flags.
func addUserData(n *facts.Node, raw string) {
	if strings.TrimSpace(raw) == "" {
		addGaps(n, "no user data", "no user data")
		return
	}
	doc, err := bootdata.Parse([]byte(raw))
	var cluster bootdata.Cluster
	if err == nil {
		cluster, err = doc.Cluster()
	}
	if err != nil { // holds no content, by promise of bootdata
		addGaps(n, err.Error(), err.Error())
		return
	}
	addCluster(n, cluster)
	addGaps(n, whyNoEndpoint(cluster), whyNoServices(cluster))
}

func addCluster(n *facts.Node, c bootdata.Cluster) {
	source := "user data (" + c.From + ")"
	n.ClusterName = c.Name
	if c.EndpointHost != "" {
		n.EndpointHost = c.EndpointHost
		n.SetSource(facts.FieldEndpointHost, source)
	}
	if c.ServiceCIDR.IsValid() {
		n.ServiceCIDRs = []netip.Prefix{c.ServiceCIDR}
		n.SetSource(facts.FieldServiceCIDRs, source)
	}
	if c.ServiceAddress.IsValid() {
		n.ServiceAddress = c.ServiceAddress
		n.SetSource(facts.FieldServiceAddress, source)
	}
}

// addGaps names what is still unknown, with the reasons for each.
func addGaps(n *facts.Node, whyNoEndpoint, whyNoServices string) {
	if n.EndpointHost == "" {
		n.Gaps = append(n.Gaps, facts.Gap{Field: facts.FieldEndpointHost, Why: whyNoEndpoint, Remedy: "give --cluster-endpoint"})
	}
	if len(n.ServiceCIDRs) == 0 {
		n.Gaps = append(n.Gaps, facts.Gap{Field: facts.FieldServiceCIDRs, Why: whyNoServices, Remedy: "give --service-cidr"})
	}
}

func whyNoEndpoint(c bootdata.Cluster) string {
	switch c.From {
	case bootdata.FromNodeConfig:
		return "NodeConfig gives no spec.cluster.apiServerEndpoint"
	case bootdata.FromBootstrap:
		return "bootstrap.sh call gives no --apiserver-endpoint"
	default:
		return "the user data names no cluster"
	}
}

func whyNoServices(c bootdata.Cluster) string {
	switch {
	case c.ServiceAddress.IsValid():
		return "bootstrap.sh gives --dns-cluster-ip, whose range is not one of EKS's defaults"
	case c.From == bootdata.FromNodeConfig:
		return "NodeConfig gives no spec.cluster.cidr"
	case c.From == bootdata.FromBootstrap:
		return "bootstrap.sh call tells no range by --dns-cluster-ip or --service-ipv6-cidr"
	default:
		return "the user data names no cluster"
	}
}
