package userdata

import (
	"maps"

	"github.com/eksproxy/eksproxy/bootdata"
)

// Rule is one fault that lint knows.
type Rule struct {
	Severity Severity
	Title    string
	Remedy   string
}

// rules are all faults by their codes.
func rules() map[string]Rule {
	all := documentRules()
	for _, more := range []map[string]Rule{launcherRules(), settingsRules(), scriptRules()} {
		maps.Copy(all, more)
	}
	return all
}

// Rules are all faults that lint knows, by their codes.
func Rules() map[string]Rule { return rules() }

// documentRules are the faults of text and MIME.
func documentRules() map[string]Rule {
	return map[string]Rule{
		"UD001": {Error, "the document is empty", "give a script, NodeConfig, MIME multipart or Bottlerocket's TOML"},
		"UD002": {Error, "gzip, base64 or quoted-printable cannot be undone", "encode it again, or write it as plain text"},
		"UD003": {Error, "Windows line ends", "write line feeds only: sed -i 's/\\r$//' FILE; eksproxy userdata merge does so too"},
		"UD004": {Error, "something stands before the MIME header", "begin the file with MIME-Version: 1.0, without an empty line or a byte order mark"},
		"UD005": {Error, "the MIME header does not begin with MIME-Version", "put MIME-Version: 1.0 into the first line and Content-Type into the second"},
		"UD006": {Error, "no empty line between the MIME header and the first boundary", "add an empty line before this one"},
		"UD007": {Error, "the multipart names no boundary", `write Content-Type: multipart/mixed; boundary="BOUNDARY" into the header`},
		"UD008": {Error, "the boundary of the header comes nowhere", "begin each part with -- and the boundary exactly as the header has it"},
		"UD009": {Error, "the closing boundary is missing", "end the file with --, the boundary and --"},
		"UD010": {Error, "text behind the closing boundary, which nothing reads", "move it above the closing boundary, or remove it"},
		"UD011": {Error, "a script without its interpreter", "let the first line be #!/bin/bash, with # in the first column"},
		"UD012": {Error, "a boothook or configuration that is taken for another type", "write it as MIME multipart, a boothook as Content-Type: text/cloud-boothook"},
		"UD013": {Error, "no empty line between the header of a part and its body", "add an empty line before this one"},
		"UD014": {Error, "a MIME document inside a part", "put its parts side by side with the others; eksproxy userdata merge does so"},
		"UD015": {Warning, "a type that neither cloud-init nor nodeadm knows", "give the part the Content-Type of what it is"},
		"UD026": {Error, "the boundary is written in a form that nodeadm and Karpenter cannot read", `put it into quotes: boundary="BOUNDARY"`},
		"UD027": {Error, "a Content-Type that nodeadm cannot read, at which it stops", `write it as TYPE; charset="us-ascii"`},
		"UD019": {Error, "a part that begins with another boundary than the header names", "write the boundary as the header has it"},
	}
}

// launcherRules are the faults that depend on who launches the node.
func launcherRules() map[string]Rule {
	return map[string]Rule{
		"UD016": {Warning, "Karpenter breaks this part: it copies only Content-Type", "write the part as plain text (7bit)"},
		"UD017": {Error, "the document is too large", "let the program come from the image (--mode agent --agent-in-image), or take out comments and certificates; what is loaded from S3 does not count"},
		"UD018": {Error, "the launcher takes no gzip", "give the document uncompressed"},
		"UD020": {Error, "a managed node group takes MIME multipart alone", "wrap it: eksproxy userdata merge FILE --for managed-node-group"},
		"UD021": {Error, "Bottlerocket reads TOML alone", "write [settings.network] and [settings.pki.NAME], and leave scripts out"},
		"UD022": {Error, "TOML is Bottlerocket's", "write MIME multipart for this system, or give --os bottlerocket"},
		"UD023": {Warning, "a secret, which everyone can read who may ask metadata or describe the launch template", "take it out; eksproxy fetches credentials when the node boots (--credentials-from)"},
		"UD024": {Error, "a NodeConfig that nodeadm does not take as it is written", "write it as nodeadm's node.eks.aws/v1alpha1 has it"},
		"UD025": {Warning, "the proxy is set too late for nodeadm", "set it in a NodeConfig under spec.instance.environment.default: nodeadm runs before cloud-init's scripts"},
	}
}

// settingsRules are the faults of Bottlerocket's TOML.
func settingsRules() map[string]Rule {
	return map[string]Rule{
		"UD030": {Error, "a table or key is there twice, or the TOML cannot be read", "put the keys of a table into one table"},
		"UD031": {Error, "the proxy has no scheme, at which Bottlerocket's settings generator stops", "write the whole URL: https-proxy = \"http://HOST:PORT\""},
		"UD032": {Error, "an entry of no-proxy that is several or holds a blank", "write one entry a string"},
		"UD033": {Error, "a key that Bottlerocket does not know", "use https-proxy and no-proxy alone; credentials stand in the URL"},
		"UD034": {Warning, "AWS goes past the proxy: there must be a VPC endpoint for each service that the node calls", "take the entry out, or make sure that ec2, eks, ecr.api, ecr.dkr, sts and s3 have endpoints"},
		"UD035": {Warning, "older Bottlerocket pulls bootstrap containers without the proxy (fixed in mid-2025)", "take a newer Bottlerocket, or an image from inside the VPC"},
		"UD036": {Error, "a managed node group's merger cannot read it: quoted table name, escaped quote or mixed array", "write names without dots and quotes, and arrays of one type"},
	}
}

// scriptRules are the faults in the text of scripts.
func scriptRules() map[string]Rule {
	return map[string]Rule{
		"UD040": {Warning, "lines are appended at each boot", "write the file as a whole, or let eksproxy userdata merge --adopt replace the part"},
		"UD041": {Error, "a list with a blank in an export, which ends there", "quote the value, or take the blank out"},
		"UD042": {Warning, "metadata is asked without a token, which instances that want IMDSv2 refuse", "PUT /latest/api/token first, and send it as X-aws-ec2-metadata-token"},
		"UD043": {Warning, "containerd gets the proxy and sandbox-image does not, so that kubelet cannot start", "write the same drop-in for sandbox-image.service"},
		"UD044": {Error, "the boothook waits for a service that waits for cloud-init: the boot hangs", "add --no-block, or leave it out: what was not started yet needs no restart"},
	}
}

// codeOf is the code of a fault in the text of a MIME document.
func codeOf(k bootdata.FaultKind) string {
	switch k {
	case bootdata.FaultCRLF:
		return "UD003"
	case bootdata.FaultLeading:
		return "UD004"
	case bootdata.FaultOrder:
		return "UD005"
	case bootdata.FaultTopEmpty:
		return "UD006"
	case bootdata.FaultNoBoundary:
		return "UD007"
	case bootdata.FaultNoParts:
		return "UD008"
	case bootdata.FaultNotClosed:
		return "UD009"
	case bootdata.FaultAfterClosing:
		return "UD010"
	case bootdata.FaultPartEmpty:
		return "UD013"
	case bootdata.FaultNested:
		return "UD014"
	case bootdata.FaultBoundaryForm:
		return "UD026"
	case bootdata.FaultPartType:
		return "UD027"
	default:
		return "UD019"
	}
}
