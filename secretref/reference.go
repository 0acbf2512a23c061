package secretref

import (
	"errors"
	"fmt"
	"strings"

	"github.com/eksproxy/eksproxy/internal/nameform"
)

// service is where a reference leads.
type service string

// The services, by the names in their endpoints.
const (
	secretsManager service = "secretsmanager"
	ssm            service = "ssm"
	file           service = "file"
)

// reference is a parsed reference.
type reference struct {
	service service
	// name is an ARN, the name of a secret or parameter, or a path.
	name string
	// key names a field of the value, which is JSON.
	key string
	// partition and region are those of an ARN; empty where the name is none.
	partition, region string
}

// errKind does not quote the reference: it may be the credentials themselves.
var errKind = errors.New("the reference is of no known kind; allowed: secretsmanager:ARN[#key], ssm:NAME, file:PATH")

const lower = "abcdefghijklmnopqrstuvwxyz0123456789-"

// The words that come to stand in a request or a host name.

func isPartition(s string) bool {
	return strings.HasPrefix(s, "aws") && strings.Trim(s, lower) == "" && len(s) <= 40
}

func isName(s string) bool {
	return s != "" && strings.Trim(s, lower+"ABCDEFGHIJKLMNOPQRSTUVWXYZ/_+=.@:") == "" && len(s) <= 2048
}

func parse(ref string) (reference, error) {
	kind, rest, _ := strings.Cut(ref, ":")
	r := reference{service: service(kind), name: rest}
	switch {
	case r.service == file && rest != "":
		return r, nil
	case r.service != secretsManager && r.service != ssm || rest == "":
		return reference{}, errKind
	}
	r.name, r.key, _ = strings.Cut(rest, "#")
	switch {
	case strings.HasSuffix(rest, "#"):
		return reference{}, fmt.Errorf("the reference to %s ends in #; write the field's name behind it, or leave it out", r.service)
	case !isName(r.name):
		return reference{}, fmt.Errorf("the reference to %s has a character that no name has there; allowed: letters, digits and / _ + = . @ : -", r.service)
	case strings.HasPrefix(r.name, "arn:"):
		return r.withARN()
	case r.service == secretsManager && strings.Contains(r.name, ":"):
		return reference{}, errors.New("the reference to secretsmanager is neither an ARN nor a name; a field of the secret is named behind a #")
	}
	return r, nil
}

// withARN takes partition and region from the ARN that the name is.
func (r reference) withARN() (reference, error) {
	want := "arn:aws:secretsmanager:REGION:ACCOUNT:secret:NAME"
	parts, prefix := 7, "secret"
	if r.service == ssm {
		want, parts, prefix = "arn:aws:ssm:REGION:ACCOUNT:parameter/NAME", 6, "parameter/"
	}
	words := strings.Split(r.name, ":")
	if len(words) != parts || words[2] != string(r.service) || !isPartition(words[1]) || !nameform.IsRegion(words[3]) || !strings.HasPrefix(words[5], prefix) {
		return reference{}, fmt.Errorf("the ARN %s is not of the form %s", r.name, want)
	}
	r.partition, r.region = words[1], words[3]
	return r, nil
}

// String is the reference as it was given; it names no value.
func (r reference) String() string {
	s := string(r.service) + ":" + r.name
	if r.key != "" {
		s += "#" + r.key
	}
	return s
}

// title is the service's name for a person.
func (s service) title() string {
	return map[service]string{secretsManager: "Secrets Manager", ssm: "SSM Parameter Store", file: "a file"}[s]
}

// action is what IAM calls the request.
func (s service) action() string {
	if s == ssm {
		return "ssm:GetParameter"
	}
	return "secretsmanager:GetSecretValue"
}

// resource is the ARN, as far as it is known, for an IAM policy.
func (r reference) resource(region string) string {
	switch {
	case strings.HasPrefix(r.name, "arn:"):
		return r.name
	case r.service == ssm:
		name, _, _ := strings.Cut(r.name, ":") // a version or a label
		return "arn:" + partitionOf(region) + ":ssm:" + region + ":*:parameter/" + strings.TrimPrefix(name, "/")
	}
	return "arn:" + partitionOf(region) + ":secretsmanager:" + region + ":*:secret:" + r.name + "-??????"
}

// partitionOf is the partition of a region, by the form of its name.
func partitionOf(region string) string {
	for prefix, partition := range map[string]string{"cn-": "aws-cn", "us-gov-": "aws-us-gov", "us-iso-": "aws-iso", "us-isob-": "aws-iso-b", "eusc-": "aws-eusc"} {
		if strings.HasPrefix(region, prefix) {
			return partition
		}
	}
	return "aws"
}

// suffixOf is the domain of the services of a partition; empty where it is not
// known here.
func suffixOf(partition string) string {
	return map[string]string{
		"aws": "amazonaws.com", "aws-us-gov": "amazonaws.com", "aws-cn": "amazonaws.com.cn", "aws-eusc": "amazonaws.eu",
		"aws-iso": "c2s.ic.gov", "aws-iso-b": "sc2s.sgov.gov",
	}[partition]
}
