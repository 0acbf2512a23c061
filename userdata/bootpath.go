package userdata

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// BootOptions are what decides, beside the proxy, whether a node can boot.
type BootOptions struct {
	// AMIRelease is the release of the image, as in v20251120.
	AMIRelease string
	// VPCEndpoints are the services that have an interface endpoint.
	VPCEndpoints []string
	// InstanceIDNodeName names nodes by their instance: nodeadm asks no EC2.
	InstanceIDNodeName bool
	// EC2Rule says that the proxy lets ec2.REGION through without a password
	// and without re-signing.
	EC2Rule bool
}

func (b BootOptions) hasEndpoint(service string) bool {
	return slices.Contains(b.VPCEndpoints, service)
}

// The releases of the image of Amazon Linux 2023 that differ (amazon-eks-ami
// PR 2384, 2471, 2427 and 2489).
const (
	firstWithEnvironment = "20251007"
	firstThatWorks       = "20251120"
)

// release is what an image does with spec.instance.environment.
type release string

const (
	releaseWorks   release = "v20251120 or later"
	releaseBroken  release = "v20251007 to v20251112"
	releaseIgnores release = "before v20251007"
)

var releaseForm = regexp.MustCompile(`(?:^|-)v?(20[0-9]{6})$`)

// release tells the kind of release. One that is not given is taken for one
// that works, and a note says so.
func (b BootOptions) release() (release, error) {
	if b.AMIRelease == "" {
		return releaseWorks, nil
	}
	m := releaseForm.FindStringSubmatch(b.AMIRelease)
	switch {
	case m == nil:
		return "", fmt.Errorf("--ami-release %q is not a release; write it as in v20251120, or as EKS does, 1.33.5-20251120", b.AMIRelease)
	case m[1] < firstWithEnvironment:
		return releaseIgnores, nil
	case m[1] < firstThatWorks:
		return releaseBroken, nil
	}
	return releaseWorks, nil
}

// Feed is how the first call to AWS of a boot gets past the proxy's borders.
type Feed string

// The feeds.
const (
	// FeedNone: nothing of the user data is needed for it.
	FeedNone Feed = "nothing"
	// FeedEnvironment: spec.instance.environment of a NodeConfig.
	FeedEnvironment Feed = "NodeConfig environment"
	// FeedBoothook: a boothook comes before it.
	FeedBoothook Feed = "boothook"
	// FeedSettings: settings of the system itself.
	FeedSettings Feed = "settings"
)

// Verdict says whether a node can boot.
type Verdict struct {
	BootPath
	release release
}

// situation is what the table is asked.
type situation struct {
	os                                                         OS
	release                                                    release
	credentials, resigned, endpoint, inImage, idNodeName, rule bool
}

// bootPath decides whether such a node can boot. One that cannot is a *RefusedError
// with the ways out.
func (in Input) bootPath() (Verdict, error) {
	r, err := in.Boot.release()
	if err != nil {
		return Verdict{}, err
	}
	s := situation{
		os: in.OS, release: r, credentials: secretIn(in.Config), resigned: in.ec2Resigned(),
		endpoint: in.Boot.hasEndpoint("ec2"), inImage: in.Agent.InImage,
		idNodeName: in.Boot.InstanceIDNodeName, rule: in.Boot.EC2Rule,
	}
	for _, row := range BootPaths() {
		if !row.matches(s) {
			continue
		}
		if !row.Boots {
			return Verdict{}, refuse("such a node cannot boot: "+row.Why, row.waysOut(in.region())...)
		}
		return Verdict{row, r}, nil
	}
	return Verdict{}, fmt.Errorf("no row of the boot paths is for %q", in.OS)
}

// ec2Host is the host that nodeadm asks; empty where the region is not known.
func (in Input) ec2Host() string {
	if in.Facts.Region == "" {
		return ""
	}
	suffix := in.Facts.DNSSuffix
	if suffix == "" {
		suffix = "amazonaws.com"
		if strings.HasPrefix(in.Facts.Region, "cn-") {
			suffix = "amazonaws.com.cn"
		}
	}
	return "ec2." + in.Facts.Region + "." + suffix
}

func (in Input) region() string {
	if in.Facts.Region == "" {
		return "REGION"
	}
	return in.Facts.Region
}

// ec2Resigned says whether the proxy re-signs what EC2 answers.
func (in Input) ec2Resigned() bool {
	if !in.Config.Inspection.Resigns {
		return false
	}
	host := in.ec2Host()
	for _, exempt := range in.Config.Inspection.Exempt {
		zone, isZone := strings.CutPrefix(exempt, ".")
		switch {
		case host != "" && strings.EqualFold(exempt, host):
			return false
		case host != "" && isZone && strings.HasSuffix(host, "."+strings.ToLower(zone)):
			return false
		}
	}
	return true
}

// notes are what who launches such nodes must know.
func (v Verdict) notes(in Input) []string {
	var notes []string
	if v.Note != "" {
		notes = append(notes, v.Note)
	}
	if in.Config.Inspection.Resigns && len(in.Config.CAs) == 0 {
		notes = append(notes, "the proxy re-signs TLS and no authority is given: nodes will trust nothing that comes through it; give --trusted-ca")
	}
	if in.OS == AL2023 && v.Feed == FeedEnvironment && in.Boot.AMIRelease == "" {
		notes = append(notes, "the image must be release v20251120 or later: older ones ignore or misapply the environment of a NodeConfig; --ami-release checks it")
	}
	if in.OS == AL2023 && v.Feed == FeedEnvironment && v.release != releaseWorks {
		notes = append(notes, fmt.Sprintf("release %s is %s: it does not apply the environment of the NodeConfig to its call to EC2", in.Boot.AMIRelease, v.release))
	}
	return notes
}
