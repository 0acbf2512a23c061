// Package userdata owns the user data of a node: what eksproxy puts into it,
// how that goes into a document which is there, which faults a document has,
// and what each launcher makes of it. It must not ask AWS or a node anything,
// and prints no secret of a document but in the document itself.
package userdata

import (
	"bytes"
	"regexp"

	"github.com/eksproxy/eksproxy/bootdata"
)

// viaTerraform is the Terraform module for EKS, which simulate knows: it writes
// the document of a managed node group.
const viaTerraform Launcher = "terraform"

// MaxSize is what EC2 takes, before base64.
const MaxSize = 16384

// ownRoom is what the part of the launcher may need: a NodeConfig with the
// certificate of the cluster, labels and taints, or a call of bootstrap.sh.
const ownRoom = 4096

// room is how many bytes the document may have for this launcher.
func room(launcher Launcher) int {
	switch launcher {
	case ManagedNodeGroup, Karpenter, Eksctl, viaTerraform:
		return MaxSize - ownRoom
	default:
		return MaxSize
	}
}

// ownMark is the comment that each of our parts has among its first lines. A
// launcher that drops file names leaves it.
var ownMark = regexp.MustCompile(`^#[ \t]*eksproxy format [0-9]+\b`)

// ownLines is how far down the mark may stand: behind #! and #cloud-boothook.
const ownLines = 4

// isOurs says whether eksproxy wrote a part.
func isOurs(body []byte) bool {
	for range ownLines {
		line, rest, _ := bytes.Cut(body, []byte("\n"))
		if ownMark.Match(line) {
			return true
		}
		body = rest
	}
	return false
}

// kindOf is a content type in words.
func kindOf(p bootdata.Part) string {
	switch p.ContentType {
	case bootdata.TypeNodeConfig:
		return "NodeConfig"
	case bootdata.TypeBoothook:
		return "boothook"
	case bootdata.TypeShell:
		return "script"
	case bootdata.TypeCloudConfig:
		return "cloud-config"
	case bootdata.TypeTOML:
		return "TOML"
	}
	return p.ContentType
}
