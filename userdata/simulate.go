package userdata

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/eksproxy/eksproxy/bootdata"
)

// Fate is what becomes of a part.
type Fate string

// The fates.
const (
	Kept    Fate = "kept"
	Changed Fate = "changed" // it arrives, and not as it was written
	Lost    Fate = "lost"    // it does not arrive, or nothing can read it
	Added   Fate = "added"   // the launcher's own
)

// SimulateOptions says who launches, and what the launcher knows.
type SimulateOptions struct {
	OS  OS
	For Launcher
	// Cluster is what the launcher writes of the cluster; what is empty gets a
	// name in capitals.
	Cluster bootdata.NodeCluster
}

// Simulation is what a launcher makes of user data.
type Simulation struct {
	// Refused is why the launcher takes nothing.
	Refused string
	Parts   []SimulatedPart
	Notes   []string
	// Document is what EC2 receives, before base64.
	Document []byte
	// NodeConfig is what nodeadm computes; nil where no nodeadm runs, or where
	// it stops with NodeConfigFault.
	NodeConfig      *bootdata.NodeConfig
	NodeConfigFault string
}

// SimulatedPart is one part, theirs or the launcher's.
type SimulatedPart struct {
	// Part counts from 1 in the document that was given; 0 is the launcher's.
	Part   int    `json:"part"`
	Type   string `json:"type"`
	Fate   Fate   `json:"fate"`
	ReadBy string `json:"readBy,omitempty"`
	Why    string `json:"why,omitempty"`
}

// Whole says whether the node gets everything, and can read it.
func (s Simulation) Whole() bool {
	return s.Refused == "" && s.NodeConfigFault == "" &&
		!slices.ContainsFunc(s.Parts, func(p SimulatedPart) bool { return p.Fate == Lost })
}

// SimulateLaunchers are those that simulate knows.
func SimulateLaunchers() []Launcher {
	return []Launcher{ManagedNodeGroup, ManagedCustomAMI, Karpenter, Eksctl, viaTerraform, SelfManaged}
}

// Simulate gives the document that EC2 receives, and what becomes of its parts.
func Simulate(raw []byte, o SimulateOptions) (Simulation, error) {
	if !slices.Contains(SimulateLaunchers(), o.For) {
		return Simulation{}, fmt.Errorf("simulating: --for %q is not known; allowed: %s", o.For, joined(SimulateLaunchers()))
	}
	if !slices.Contains(OSes(), o.OS) {
		return Simulation{}, fmt.Errorf("simulating: --os %q is not known; allowed: %s", o.OS, joined(OSes()))
	}
	body, layers, err := bootdata.Unwrap(raw)
	if err != nil {
		return Simulation{}, fmt.Errorf("simulating: %w", err)
	}
	s := &simulator{SimulateOptions: o, raw: body, gzip: slices.Contains(layers, bootdata.LayerGzip)}
	s.Cluster = named(s.Cluster)
	switch {
	case o.OS == Bottlerocket:
		s.bottlerocket()
	case o.For == ManagedNodeGroup:
		s.managed()
	case o.For == Karpenter:
		s.karpenter()
	case o.For == Eksctl:
		s.eksctl()
	case o.For == viaTerraform:
		s.terraform()
	default:
		s.untouched("")
	}
	if s.Refused == "" && o.OS == AL2023 {
		s.nodeadm()
	}
	return s.Simulation, nil
}

// simulator is one simulation.
type simulator struct {
	SimulateOptions
	Simulation
	raw  []byte // out of gzip and base64
	gzip bool
}

// named gives what is not known a name that nobody takes for a value.
func named(c bootdata.NodeCluster) bootdata.NodeCluster {
	for field, name := range map[*string]string{
		&c.Name: "CLUSTER_NAME", &c.APIServerEndpoint: "https://CLUSTER_ENDPOINT",
		&c.CertificateAuthority: "Q0xVU1RFUl9DQQ==", &c.CIDR: "SERVICE_CIDR",
	} {
		if *field == "" {
			*field = name
		}
	}
	return c
}

// refuse notes why the launcher stops.
func (s *simulator) refuse(format string, args ...any) { s.Refused = fmt.Sprintf(format, args...) }

// fate notes what becomes of a part of theirs, the next one.
func (s *simulator) fate(contentType string, f Fate, why string) {
	p := SimulatedPart{Part: len(s.Parts) + 1, Type: contentType, Fate: f, Why: why}
	if f != Lost {
		p.ReadBy = readBy(contentType)
	}
	s.Parts = append(s.Parts, p)
}

// own notes the part of the launcher.
func (s *simulator) own(contentType, why string) {
	s.Parts = append(s.Parts, SimulatedPart{Type: contentType, Fate: Added, ReadBy: readBy(contentType), Why: why})
}

// readBy is who reads a part, and when.
func readBy(contentType string) string {
	switch contentType {
	case bootdata.TypeNodeConfig:
		return "nodeadm, before cloud-init"
	case bootdata.TypeBoothook:
		return "cloud-init, early at each boot"
	case bootdata.TypeShell, bootdata.TypeShell + "-per-instance":
		return "cloud-init, once, late"
	case bootdata.TypeShell + "-per-boot":
		return "cloud-init, late at each boot"
	case bootdata.TypeTOML:
		return "Bottlerocket, before its services"
	case bootdata.TypePlain, "":
		return "cloud-init, by its first bytes"
	}
	if isKnown(contentType) {
		return "cloud-init"
	}
	return "nothing that is known"
}

// sent is a part as a launcher sends it.
type sent struct {
	headers []string
	body    []byte
}

func sentAs(contentType string, body []byte) sent {
	return sent{[]string{"Content-Type: " + contentType}, body}
}

// assemble is a multipart document with line feeds, as all launchers give it.
func assemble(parts []sent) []byte {
	out := bytes.NewBufferString(launcherTop)
	for _, p := range parts {
		_, _ = fmt.Fprintf(out, "--%s\n%s\n\n%s\n", launcherBoundary, strings.Join(p.headers, "\n"), p.body)
	}
	_, _ = fmt.Fprintf(out, "--%s--\n", launcherBoundary)
	return bytes.ReplaceAll(out.Bytes(), []byte("\r"), nil)
}

// untouched hands the document on.
func (s *simulator) untouched(note string) {
	s.Document = s.raw
	if note != "" {
		s.Notes = append(s.Notes, note)
	}
	if !bootdata.IsMIME(s.raw) {
		kind := bootdata.TypeOf(s.raw)
		if s.fate(kind, Kept, ""); kind == bootdata.TypePlain {
			s.Parts[0].Fate, s.Parts[0].ReadBy, s.Parts[0].Why = Lost, "", "its first line tells no type"
		}
		return
	}
	for _, p := range bootdata.ReadText(s.raw).Parts {
		s.asCloudInit(p, Kept, "")
	}
	s.joins()
}

// asCloudInit notes a part that arrives with its header.
func (s *simulator) asCloudInit(p bootdata.TextPart, f Fate, why string) {
	mediaType, _ := p.Fields.ContentType()
	if _, nested, _ := inside(p); nested {
		f, why = Changed, "a document in a part: cloud-init reads its parts, nodeadm does not"
		if !strings.HasPrefix(mediaType, "multipart/") {
			f, why = Lost, "a document in a part of another type, which nothing takes apart"
		}
	}
	s.fate(mediaType, f, why)
}

// joins notes a document that nobody completes and that names no cluster.
func (s *simulator) joins() {
	doc, err := bootdata.Parse(s.raw)
	if err != nil {
		return
	}
	if c, err := doc.Cluster(); err == nil && c.Name == "" && c.From != bootdata.FromBootstrap {
		s.Notes = append(s.Notes, "nothing in the document joins the cluster, and "+string(s.For)+" adds nothing: give a NodeConfig with spec.cluster, or a call of bootstrap.sh")
	}
}
