package container

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/eksproxy/eksproxy/integration/metadata"
	"github.com/eksproxy/eksproxy/integration/program"
)

// The orders of cloud-init's units: as Debian and Ubuntu ship them, where
// user data hooks run before anything else, and as Amazon Linux does, where
// containerd may be up by then.
const (
	OrderD = "D"
	OrderA = "A"
)

// helperPath is where the helper program is on a node.
const helperPath = "/usr/local/bin/nodehelper"

// caBundle is the bundle of trusted certificates on a node.
const caBundle = "/etc/ssl/certs/ca-certificates.crt"

// Options are what a node is made with.
type Options struct {
	// Network is where the node is; nil makes one.
	Network *Network
	// CloudInit lets cloud-init run, with the Ec2 datasource.
	CloudInit bool
	// Order is OrderD, also where it is empty, or OrderA.
	Order string
	// UserData is for cloud-init, where Metadata is nil.
	UserData []byte
	// Metadata answers on 169.254.169.254; nil makes a server where CloudInit
	// is set.
	Metadata *metadata.Server
	// Units is the family whose stand-ins the node has: al2023, which needs
	// OrderA, al2, ubuntu. None where it is empty.
	Units string
	// Files are written before the first boot, with mode 0644, or 0755 where
	// they start with #!.
	Files map[string]string
	// Trust are certificates, in PEM, that the node trusts from the start.
	Trust []string
	// Nspawn are more options of systemd-nspawn.
	Nspawn []string
}

// Container is a node. Its files are the root file system and a layer of its
// own, which it keeps from boot to boot.
type Container struct {
	Network  *Network
	Metadata *metadata.Server

	work    work
	root    string // the shared root file system
	options []string
	process *process  // nil until the first boot
	leader  int       // process 1 of the node, as the host numbers it
	began   time.Time // the last boot
	state   string

	reported bool
}

// New makes a node that is not booted yet.
func New(t *testing.T, o Options) *Container {
	t.Helper()
	c := &Container{root: Root(t), work: newWork(t), options: o.Nspawn, Network: o.Network, Metadata: o.Metadata}
	for _, dir := range []string{"upper", "work", "root"} {
		if err := os.Mkdir(c.work.path(dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if c.Network == nil {
		c.Network = NewNetwork(t)
	}
	c.serveMetadata(t, o)
	c.seedCloud(t, o.CloudInit)
	c.order(t, o.Order)
	if o.Units != "" {
		c.addUnits(t, o.Units, o.Order)
	}
	for path, content := range o.Files {
		mode := os.FileMode(0o644)
		if len(content) > 1 && content[:2] == "#!" {
			mode = 0o755
		}
		c.seed(t, path, []byte(content), mode)
	}
	c.seedTrust(t, o.Trust)
	c.seedHelper(t)
	return c
}

// seedTrust adds certificates to the bundle, which is all that OpenSSL and Go
// programs read: building it again would take seconds. They are put where the
// next building finds them.
func (c *Container) seedTrust(t *testing.T, certificates []string) {
	t.Helper()
	if len(certificates) == 0 {
		return
	}
	bundle := readFile(t, filepath.Join(c.root, caBundle))
	for i, certificate := range certificates {
		bundle = certificate + bundle
		c.seed(t, fmt.Sprintf("/usr/local/share/ca-certificates/test-%d.crt", i), []byte(certificate), 0o644)
	}
	c.seed(t, caBundle, []byte(bundle), 0o644)
}

// seedHelper copies the helper program to the node.
func (c *Container) seedHelper(t *testing.T) {
	t.Helper()
	binary, err := helper()
	if err != nil {
		t.Fatal(err)
	}
	c.CopyFile(t, binary, helperPath)
}

// CopyFile copies a program from the host, before the boot.
func (c *Container) CopyFile(t *testing.T, from, to string) {
	t.Helper()
	content, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	c.seed(t, to, content, 0o755)
}

// CopyProgram copies the program under test to /usr/local/bin/eksproxy, before
// the boot.
func (c *Container) CopyProgram(t *testing.T) {
	t.Helper()
	path, err := program.Path()
	if err != nil {
		t.Fatal(err)
	}
	c.CopyFile(t, path, "/usr/local/bin/eksproxy")
}

// upper is the node's own layer.
func (c *Container) upper() string { return c.work.path("upper") }
