// Package noproxy knows what a NO_PROXY value is: its entries, their one
// canonical text, and how a list is made to fit a reader with a limit. Others
// can import it; it has no dependencies.
package noproxy

import "strings"

// Group names why entries belong together; noProxy.omit takes it.
type Group string

// The groups, in the order in which they stand in a composed value.
const (
	Loopback Group = "loopback"
	Metadata Group = "metadata"
	VPC      Group = "vpc"
	Service  Group = "service"
	Endpoint Group = "endpoint"
	Cluster  Group = "cluster"
	EC2      Group = "ec2"
	AWS      Group = "aws"
	User     Group = "user"
)

// Groups are all groups in that order.
func Groups() []Group {
	return []Group{Loopback, Metadata, VPC, Service, Endpoint, Cluster, EC2, AWS, User}
}

// Entry is one element of a NO_PROXY value, and why it is there.
type Entry struct {
	// Text is the element as clients read it: a host, ".zone", "*.zone", an
	// address or a CIDR. It has no white space and no comma.
	Text   string `json:"entry"`
	Group  Group  `json:"group"`
	Reason string `json:"reason"`
	// Source is where the entry came from: a file and line, a flag, instance
	// metadata, the id of a VPC endpoint, or "always".
	Source string `json:"source"`
}

// List is a NO_PROXY value.
type List []Entry

// String is the value: the elements joined by commas, without white space.
func (l List) String() string {
	texts := make([]string, len(l))
	for i, e := range l {
		texts[i] = e.Text
	}
	return strings.Join(texts, ",")
}
