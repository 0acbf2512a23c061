package userdata

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/eksproxy/eksproxy/bootdata"
)

// MergeOptions says what goes into a document, or out of it.
type MergeOptions struct {
	OS  OS
	For Launcher
	// Ours are our parts; for Bottlerocket one of bootdata.TypeTOML.
	Ours []bootdata.Part
	// Adopt replaces what the published recipes wrote.
	Adopt bool
	// Remove takes our parts out, and puts none in.
	Remove bool
}

// Merged is a document with what there is to say about it.
type Merged struct {
	Document []byte
	Notes    []string
}

// Merge puts our parts into a document, in place of those that it has from an
// earlier merge. Everything else stays as it is, but for faults that can be
// repaired without a guess; the others are errors.
func Merge(existing []byte, o MergeOptions) (Merged, error) {
	for i, p := range o.Ours {
		if !p.IsASCII() {
			return Merged{}, fmt.Errorf("merging user data: our part %d has bytes that are not 7bit; give settings in ASCII", i+1)
		}
	}
	body, layers, err := bootdata.Unwrap(existing)
	if err != nil {
		return Merged{}, fmt.Errorf("merging user data: %w", err)
	}
	m := &merger{MergeOptions: o}
	for _, l := range layers {
		m.note("the document was in %s; what is printed is not", l)
	}
	if o.OS == Bottlerocket {
		err = m.settings(body)
	} else {
		err = m.document(body, len(layers) == 0)
	}
	if err != nil {
		return Merged{}, fmt.Errorf("merging user data: %w", err)
	}
	return Merged{Document: m.out, Notes: m.notes}, nil
}

// merger is one merge.
type merger struct {
	MergeOptions
	text   bootdata.Text
	pieces []piece
	// clean says that every byte of the document may stay where it is.
	clean bool
	out   []byte
	notes []string
}

func (m *merger) note(format string, args ...any) {
	m.notes = append(m.notes, fmt.Sprintf(format, args...))
}

// document merges into what is, or becomes, MIME multipart.
func (m *merger) document(body []byte, clean bool) error {
	m.clean = clean
	if err := m.read(body); err != nil {
		return err
	}
	m.recipes()
	m.shells()
	pieces := m.placed()
	if len(pieces) == 0 {
		return nil
	}
	if m.clean {
		m.out = m.splice(pieces)
		if agree(m.out, pieces) {
			return nil
		}
	}
	m.out = rewrite(pieces)
	if !agree(m.out, pieces) {
		return errors.New("the parts cannot be put into one document: readers would take it apart otherwise; look for a boundary or a wrong header line in a part")
	}
	return nil
}

// shells notes a script of theirs that joins the cluster without the proxy: its
// shell has only what it reads or exports itself.
func (m *merger) shells() {
	for i, p := range m.pieces {
		if p.ours || m.Remove || len(p.decoded) != 1 || m.OS == AL2023 {
			continue
		}
		c, err := bootdata.Document{Parts: p.decoded}.Cluster()
		reads := regexp.MustCompile(`(?i)/etc/environment|proxy\.env|export +https?_proxy`).Match(p.decoded[0].Body)
		if err == nil && c.From == bootdata.FromBootstrap && !reads {
			m.note("part %d calls bootstrap.sh in a shell without the proxy; add before the call: set -a; . /etc/eksproxy/proxy.env; set +a", i+1)
		}
	}
}

// placed are their parts with ours: where an older one of ours was, or at the
// front, NodeConfig before all others.
func (m *merger) placed() []piece {
	ours := slices.Clone(m.Ours)
	if m.Remove {
		ours = nil
	}
	slices.SortStableFunc(ours, func(a, b bootdata.Part) int { return rank(a) - rank(b) })
	var out []piece
	for _, p := range m.pieces {
		if !p.ours {
			out = append(out, p)
			continue
		}
		same := func(o bootdata.Part) bool { return o.ContentType == p.decoded[0].ContentType }
		if i := slices.IndexFunc(ours, same); i >= 0 {
			out = append(out, piece{own: &ours[i]})
			ours = slices.Concat(ours[:i:i], ours[i+1:])
		}
	}
	for _, o := range slices.Backward(ours) {
		at := 0
		for o.ContentType != bootdata.TypeNodeConfig && at < len(out) && out[at].isNodeConfig() {
			at++
		}
		out = slices.Insert(out, at, piece{own: &o})
	}
	return out
}

// rank is the order that readers need: nodeadm's part, boothooks, scripts.
func rank(p bootdata.Part) int {
	switch p.ContentType {
	case bootdata.TypeNodeConfig:
		return 0
	case bootdata.TypeBoothook:
		return 1
	}
	return 2
}

// splice puts our parts into the document and leaves its bytes alone.
func (m *merger) splice(pieces []piece) []byte {
	out := bytes.Clone(m.text.Top)
	for _, p := range pieces {
		if p.own != nil {
			out = append(out, p.own.Encode(m.text.Boundary)...)
		} else {
			out = append(out, p.raw...)
		}
	}
	return append(out, m.text.End...)
}

// rewrite writes the document anew.
func rewrite(pieces []piece) []byte {
	all := make([]bootdata.Part, len(pieces))
	for i, p := range pieces {
		all[i] = bootdata.Part{ContentType: p.contentType, Body: p.wire()}
	}
	boundary := bootdata.Boundary(all)
	out := bootdata.TopOf(boundary)
	for _, p := range pieces {
		out = append(out, p.encode(boundary)...)
	}
	return append(out, "--"+boundary+"--\n"...)
}

// CheckMerge refuses what there is no document for.
func CheckMerge(o MergeOptions) error {
	if err := checkPair(o.OS, o.For); err != nil {
		return err
	}
	switch o.For {
	case Eksctl:
		return refuse("eksctl takes no user-data document: its ClusterConfig has fields for the parts", "eksproxy userdata render --for eksctl prints them")
	case AutoMode:
		return refuse("auto-mode takes no user data: its NodeClass has fields for the proxy", "eksproxy userdata render --for auto-mode prints them")
	default:
		return nil
	}
}
