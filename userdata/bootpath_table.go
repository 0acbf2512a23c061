package userdata

import "strings"

// Condition is what a row of the table says about one fact.
type Condition string

// The conditions.
const (
	Any Condition = ""
	Yes Condition = "yes"
	No  Condition = "no"
)

func (c Condition) allows(fact bool) bool { return c == Any || (c == Yes) == fact }

// BootPath is a row of the decision table: the first that matches decides.
type BootPath struct {
	OS OS
	// Releases are those of the image; none means all.
	Releases []string
	// Credentials: the proxy asks for a password. Resigned: it re-signs what
	// ec2.REGION answers. Endpoint: the VPC has an interface endpoint of EC2.
	// InImage: the agent is in the image. IDNodeName: nodes are named by
	// their instance. Rule: the proxy lets ec2.REGION through as it is.
	Credentials, Resigned, Endpoint, InImage, IDNodeName, Rule Condition

	Boots bool
	Feed  Feed
	Why   string
	// Note is for who launches such nodes.
	Note string
	// Ways are what helps where the node does not boot, the best first.
	Ways []WayOut
}

// WayOut is one thing that makes such a node boot.
type WayOut string

// The ways out.
const (
	WayRelease    WayOut = "take an image of release v20251120 or later, and say so with --ami-release"
	WayEndpoint   WayOut = "give the VPC an interface endpoint for ec2 with private DNS, and say so with --vpc-endpoint ec2: nodeadm then needs no proxy"
	WayInImage    WayOut = "put the agent into the image (eksproxy node install), and say so with --agent-in-image: its unit runs before nodeadm-config"
	WayIDNodeName WayOut = "name nodes by their instance with --instance-id-node-name: nodeadm then asks no EC2. It needs a node role of its own, " +
		"with an access entry of type EC2 whose user name is system:node:{{SessionName}}, and an instance type that nodeadm knows"
	WayRule WayOut = "let the proxy pass ec2.REGION without password and without re-signing, and say so with --ec2-rule (for re-signing alone: inspectionExempt)"
)

func (row BootPath) matches(s situation) bool {
	ofRelease := len(row.Releases) == 0
	for _, r := range row.Releases {
		ofRelease = ofRelease || r == string(s.release)
	}
	return row.OS == s.os && ofRelease && row.Credentials.allows(s.credentials) && row.Resigned.allows(s.resigned) &&
		row.Endpoint.allows(s.endpoint) && row.InImage.allows(s.inImage) && row.IDNodeName.allows(s.idNodeName) && row.Rule.allows(s.rule)
}

func (row BootPath) waysOut(region string) []string {
	ways := make([]string, len(row.Ways))
	for i, w := range row.Ways {
		ways[i] = strings.ReplaceAll(string(w), "ec2.REGION", "ec2."+region)
	}
	return ways
}

// BootPaths is the decision table.
func BootPaths() []BootPath { return append(al2023Paths(), otherPaths()...) }

const noteIDNodeName = "InstanceIdNodeName needs a node role of its own, with an access entry of type EC2 whose user name is system:node:{{SessionName}}; " +
	"an instance type that nodeadm does not know is asked of EC2 all the same"

func al2023Paths() []BootPath {
	all := []WayOut{WayEndpoint, WayInImage, WayIDNodeName, WayRule}
	old := []string{string(releaseBroken), string(releaseIgnores)}
	const first = "nodeadm-config asks EC2 for the node's name before any script of user data runs"
	return []BootPath{
		{OS: AL2023, InImage: Yes, Boots: true, Feed: FeedNone,
			Why: "the agent's unit runs before nodeadm-config, which reads its drop-in; a URL in NodeConfig would win over the drop-in and stays out"},
		{OS: AL2023, IDNodeName: Yes, Credentials: No, Boots: true, Feed: FeedEnvironment,
			Why: "nodes are named by their instance, so that nodeadm asks no EC2", Note: noteIDNodeName},
		{OS: AL2023, IDNodeName: Yes, Boots: true, Feed: FeedNone,
			Why: "nodes are named by their instance, so that nodeadm asks no EC2", Note: noteIDNodeName},
		{OS: AL2023, Endpoint: Yes, Credentials: No, Boots: true, Feed: FeedEnvironment,
			Why: "nodeadm reaches EC2 by the endpoint; NO_PROXY of the NodeConfig has its host"},
		{OS: AL2023, Endpoint: Yes, Boots: true, Feed: FeedNone,
			Why: "nodeadm reaches EC2 by the endpoint, without a proxy"},
		{OS: AL2023, Releases: old, Credentials: No, Resigned: No,
			Why:  first + ", and this release does not apply the environment of a NodeConfig to that call",
			Ways: []WayOut{WayRelease, WayEndpoint, WayInImage, WayIDNodeName}},
		{OS: AL2023, Releases: old,
			Why:  first + ", without the proxy on this release",
			Ways: []WayOut{WayEndpoint, WayInImage, WayIDNodeName}},
		{OS: AL2023, Rule: Yes, Boots: true, Feed: FeedEnvironment,
			Why: "the proxy passes nodeadm's call to EC2 as it is; NodeConfig has the URL without password"},
		{OS: AL2023, Credentials: Yes,
			Why: first + ", and the proxy asks for a password, which nodeadm would print to the console", Ways: all},
		{OS: AL2023, Resigned: Yes,
			Why: first + ", and the proxy re-signs the answer with an authority that the node does not trust by then", Ways: all},
		{OS: AL2023, Boots: true, Feed: FeedEnvironment,
			Why: "nodeadm asks EC2 through the proxy, by the environment in NodeConfig"},
	}
}

func otherPaths() []BootPath {
	return []BootPath{
		{OS: AL2, Boots: true, Feed: FeedBoothook, Why: "the boothook comes before bootstrap.sh, and cloud-final takes its environment from it"},
		{OS: Ubuntu, Boots: true, Feed: FeedBoothook, Why: "the boothook comes before bootstrap.sh, and cloud-final takes its environment from it"},
		{OS: Bottlerocket, Credentials: Yes, Boots: true, Feed: FeedSettings,
			Why:  "the system reads its settings before it asks AWS",
			Note: "Bottlerocket sends a password to the proxy as it stands in the URL, not decoded: take one of letters and digits. Versions before bottlerocket PR 3639 ignore credentials (BL-036)"},
		{OS: Bottlerocket, Boots: true, Feed: FeedSettings, Why: "the system reads its settings before it asks AWS"},
		{OS: "", Boots: true, Feed: FeedSettings, Why: "EKS puts the fields of the NodeClass into the node itself"},
	}
}
