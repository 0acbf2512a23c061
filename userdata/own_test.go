package userdata

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/eksproxy/eksproxy/bootdata"
)

const (
	ourConfig = "# eksproxy format 1\napiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  instance:\n    environment:\n      default:\n        HTTPS_PROXY: http://proxy.example:3128\n"
	ourHook   = "#!/bin/sh\n# eksproxy format 1\necho proxy\n"
	theirConf = "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  cluster:\n    name: blue\n    apiServerEndpoint: https://api.example\n"
	theirRun  = "#!/bin/bash\nyum -y update\n"
)

func ours() []bootdata.Part {
	return []bootdata.Part{
		bootdata.NewPart(bootdata.TypeNodeConfig, "eksproxy-nodeconfig.yaml", []byte(ourConfig)),
		bootdata.NewPart(bootdata.TypeBoothook, "eksproxy-boothook.sh", []byte(ourHook)),
	}
}

// multi is a well-formed multipart document of parts that are "headers\n\nbody".
func multi(boundary string, parts ...string) string {
	return "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"" + boundary + "\"\n\n--" + boundary + "\n" +
		strings.Join(parts, "\n--"+boundary+"\n") + "\n--" + boundary + "--\n"
}

func part(contentType, body string) string { return "Content-Type: " + contentType + "\n\n" + body }

func crlf(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }

func b64(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

func zip(s string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(s))
	_ = z.Close()
	return b.String()
}

func theirDocument() string {
	return multi("==B==", part(bootdata.TypeNodeConfig, theirConf), part("text/x-shellscript; charset=\"us-ascii\"", theirRun))
}

// bodies are the parts of a document as "type: body", ours as "ours TYPE".
func bodies(t *testing.T, document []byte) []string {
	t.Helper()
	doc, err := bootdata.Parse(document)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, p := range doc.Parts {
		if isOurs(p.Body) {
			out = append(out, "ours "+p.ContentType)
			continue
		}
		out = append(out, p.ContentType+": "+string(p.Body))
	}
	return out
}

func merge(t *testing.T, in string, o MergeOptions) Merged {
	t.Helper()
	if o.OS == "" {
		o.OS = AL2023
	}
	if o.For == "" {
		o.For = ManagedNodeGroup
	}
	m, err := Merge([]byte(in), o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func wantBodies(t *testing.T, document []byte, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, bodies(t, document)); diff != "" {
		t.Errorf("parts (-want +got):\n%s", diff)
	}
}
