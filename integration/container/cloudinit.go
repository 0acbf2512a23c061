package container

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"testing"

	"github.com/eksproxy/eksproxy/integration/metadata"
)

// cloudConfig makes cloud-init ask EC2's metadata and leave the network alone.
// Without metadata_urls it would look for a host name that nobody resolves; a
// strict id would be one from the firmware, which a container has not.
const cloudConfig = `datasource_list: [Ec2]
datasource:
  Ec2:
    strict_id: false
    apply_network_config: false
    timeout: 2
    max_wait: 5
    metadata_urls: ["http://169.254.169.254"]
network: {config: disabled}
locale: false
`

// resolvedConfig keeps systemd-resolved from asking the neighbours, in vain
// and for seconds, for the names that cloud-init tries.
const resolvedConfig = "[Resolve]\nLLMNR=no\nMulticastDNS=no\n"

// serveMetadata answers as the metadata of the node.
func (c *Container) serveMetadata(t *testing.T, o Options) {
	t.Helper()
	switch {
	case o.Metadata != nil && o.UserData != nil:
		t.Fatal("making a node: the user data belongs into the given metadata")
	case o.Metadata == nil && !o.CloudInit:
		return
	case o.Metadata == nil:
		instance := metadata.NewInstance("10.77.1.0/24")
		instance.UserData = o.UserData
		c.Metadata = metadata.NewServer(instance)
	}
	Serve(t, c.Network.Node, MetadataIP+":80", c.Metadata)
}

// seedCloud sets cloud-init up, or off.
func (c *Container) seedCloud(t *testing.T, on bool) {
	t.Helper()
	c.seed(t, "/etc/systemd/resolved.conf.d/99-test.conf", []byte(resolvedConfig), 0o644)
	if on {
		c.seed(t, "/etc/cloud/cloud.cfg.d/99-test.cfg", []byte(cloudConfig), 0o644)
	} else {
		c.seed(t, "/etc/cloud/cloud-init.disabled", nil, 0o644)
	}
}

// Part is a part of user data.
type Part struct{ Type, Body string }

// Boothook is a part that runs early in every boot.
func Boothook(script string) Part { return Part{"text/cloud-boothook", script} }

// Script is a part that runs at the end of the first boot.
func Script(script string) Part { return Part{"text/x-shellscript", script} }

// UserData makes user data of several parts.
func UserData(parts ...Part) []byte {
	const boundary = "==part=="
	text := fmt.Appendf(nil, "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"%s\"\n", boundary)
	for _, p := range parts {
		text = fmt.Appendf(text, "\n--%s\nContent-Type: %s; charset=\"utf-8\"\n\n%s", boundary, p.Type, p.Body)
	}
	return fmt.Appendf(text, "\n--%s--\n", boundary)
}

// Gzip compresses user data, as EC2 allows.
func Gzip(data []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, err := w.Write(data)
	if err = errors.Join(err, w.Close()); err != nil {
		panic(err) // a buffer takes all
	}
	return out.Bytes()
}
