// Package metadata is an EC2 instance metadata server for tests: tokens,
// directory listings, user data, a log of what was asked, and faults that can
// be switched on for a path while it runs.
package metadata

import (
	"encoding/json"
	"strings"
	"time"
)

// Instance is what the server tells about the machine that asks.
type Instance struct {
	ID         string
	Region     string
	Domain     string // of AWS services; empty means amazonaws.com
	Interfaces []Interface
	UserData   []byte
	Tags       map[string]string
	// Role is the name of the instance's role; empty means that it has none.
	Role string
}

// The credentials of every role. None of them may ever be shown.
const (
	RoleKeyID  = "ASIAEXAMPLEKEYID0001"
	RoleSecret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
	RoleToken  = "IQoJb3JpZ2luX2VjEXAMPLETOKEN//////////wEaCWV1LXdlc3QtMSJHMEU="
)

// Interface is a network interface with the blocks of the VPC it is in.
type Interface struct {
	MAC     string
	VPCIPv4 []string
	VPCIPv6 []string
}

// NewInstance is an instance in eu-west-1 with one interface in a VPC of
// these IPv4 blocks.
func NewInstance(blocks ...string) Instance {
	return Instance{
		ID:         "i-0123456789abcdef0",
		Region:     "eu-west-1",
		Interfaces: []Interface{{MAC: "0a:00:00:00:00:01", VPCIPv4: blocks}},
	}
}

// files are the documents below a version, by path.
func (i Instance) files() map[string]string {
	domain := i.Domain
	if domain == "" {
		domain = "amazonaws.com"
	}
	files := map[string]string{
		"meta-data/instance-id":                 i.ID,
		"meta-data/instance-type":               "m6i.large",
		"meta-data/local-ipv4":                  "10.40.0.10",
		"meta-data/placement/region":            i.Region,
		"meta-data/placement/availability-zone": i.Region + "a",
		"meta-data/services/domain":             domain,
		"meta-data/services/partition":          partition(domain),
		"dynamic/instance-identity/document":    i.document(),
	}
	if len(i.Interfaces) > 0 {
		files["meta-data/mac"] = i.Interfaces[0].MAC
	}
	for _, n := range i.Interfaces {
		n.addFiles(files)
	}
	for name, value := range i.Tags {
		files["meta-data/tags/instance/"+name] = value
	}
	if i.Role != "" {
		files["meta-data/iam/security-credentials/"+i.Role] = roleDocument()
	}
	if i.UserData != nil {
		files["user-data"] = string(i.UserData)
	}
	return files
}

// addFiles adds the documents of one interface. As on EC2 there is no document
// about IPv6 where the VPC has none.
func (n Interface) addFiles(files map[string]string) {
	dir := "meta-data/network/interfaces/macs/" + n.MAC + "/"
	files[dir+"mac"] = n.MAC
	files[dir+"vpc-id"] = "vpc-0123456789abcdef0"
	if len(n.VPCIPv4) > 0 {
		files[dir+"vpc-ipv4-cidr-block"] = n.VPCIPv4[0]
		files[dir+"vpc-ipv4-cidr-blocks"] = strings.Join(n.VPCIPv4, "\n")
	}
	if len(n.VPCIPv6) > 0 {
		files[dir+"vpc-ipv6-cidr-blocks"] = strings.Join(n.VPCIPv6, "\n")
	}
}

// document is the instance identity document.
func (i Instance) document() string {
	text, err := json.Marshal(map[string]string{
		"instanceId": i.ID, "region": i.Region, "availabilityZone": i.Region + "a",
		"accountId": "123456789012", "instanceType": "m6i.large", "architecture": "x86_64",
	})
	if err != nil {
		panic(err)
	}
	return string(text)
}

// roleDocument is the document with the credentials of a role.
func roleDocument() string {
	now := time.Now().UTC()
	text, err := json.Marshal(map[string]string{
		"Code": "Success", "Type": "AWS-HMAC", "LastUpdated": now.Format(time.RFC3339),
		"AccessKeyId": RoleKeyID, "SecretAccessKey": RoleSecret, "Token": RoleToken,
		"Expiration": now.Add(6 * time.Hour).Format(time.RFC3339),
	})
	if err != nil {
		panic(err)
	}
	return string(text)
}

// partition is the partition whose services have this domain.
func partition(domain string) string {
	if strings.HasSuffix(domain, ".cn") {
		return "aws-cn"
	}
	return "aws"
}
