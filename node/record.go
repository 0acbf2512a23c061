package node

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/eksproxy/eksproxy/internal/rootfs"
)

// Where what apply changes is recorded, before it is changed.
const (
	stateDir  = "/var/lib/eksproxy"
	StatePath = stateDir + "/state.json"
)

// recordFormat is the format of the record. A program refuses one it does not
// know: it could not take back what that one describes.
const recordFormat = 1

// record is what eksproxy changed on a node: enough to take it back without
// any settings. It holds secrets, other people's too, so its file is 0600.
type record struct {
	Format int `json:"format"`
	// Settings say what was applied, for status.
	Settings applied `json:"settings"`
	// Dirs are the directories that were made, the outermost first.
	Dirs  []string      `json:"dirs"`
	Files []*fileRecord `json:"files"`
}

// applied is what status shows of the settings; it holds no secret.
type applied struct {
	Hash       string `json:"hash"`
	System     string `json:"system"`
	HTTPProxy  string `json:"httpProxy"`
	HTTPSProxy string `json:"httpsProxy"`
	NoProxy    string `json:"noProxy"`
	Reason     string `json:"reason,omitempty"`
}

// fileRecord is what is known of one file: how it would be without eksproxy,
// and what we wrote.
type fileRecord struct {
	// Path is the name that was wanted, Real the file behind its links.
	Path string `json:"path"`
	Real string `json:"real"`
	Kind Kind   `json:"kind"`
	// Owner is the command that wants the file: empty for apply.
	Owner string `json:"owner,omitempty"`
	// Hidden says that plans show nothing of the content.
	Hidden bool `json:"hidden,omitempty"`
	// Existed, Original and Mode are the file as it would be without us.
	Existed  bool   `json:"existed"`
	Original []byte `json:"original,omitempty"`
	Mode     mode   `json:"mode,omitempty"`
	// Moved are lines of others that stood behind our block.
	Moved   []string `json:"moved,omitempty"`
	Section string   `json:"section,omitempty"`
	// Versions are what we wrote: the last is the newest. The one before it
	// stays, because a kill may have left it in the file.
	Versions []version `json:"versions"`
}

// version is one form that we gave to a file.
type version struct {
	// Digest is the SHA-256 of the whole file, in hex.
	Digest string `json:"digest"`
	// SetMode is the mode that the file got.
	SetMode mode `json:"mode"`
	// Ours is the content of a Whole file; Keys are those of a Keys file.
	Ours []byte      `json:"ours,omitempty"`
	Keys []keyRecord `json:"keys,omitempty"`
}

type keyRecord struct {
	Name    string `json:"name"`
	Value   string `json:"value"`
	Present bool   `json:"present"`
}

// mode is a file mode that reads as in chmod(1).
type mode fs.FileMode

func (m mode) MarshalText() ([]byte, error) { return []byte(octal(fs.FileMode(m))), nil }

func (m *mode) UnmarshalText(text []byte) error {
	n, err := strconv.ParseUint(string(text), 8, 32)
	if err != nil {
		return err
	}
	*m = mode(n & 0o777)
	for bit, flag := range specialBits() {
		if n&bit != 0 {
			*m |= mode(flag)
		}
	}
	return nil
}

func octal(m fs.FileMode) string {
	n := uint64(m.Perm())
	for bit, flag := range specialBits() {
		if m&flag != 0 {
			n |= bit
		}
	}
	return fmt.Sprintf("%04o", n)
}

func specialBits() map[uint64]fs.FileMode {
	return map[uint64]fs.FileMode{0o4000: fs.ModeSetuid, 0o2000: fs.ModeSetgid, 0o1000: fs.ModeSticky}
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// readRecord returns the record of a tree, or nil where nothing is applied.
func readRecord(root *rootfs.Root) (*record, error) {
	f, err := root.Read(StatePath)
	if err != nil || !f.Exists {
		return nil, err
	}
	var r record
	if err := json.Unmarshal(f.Data, &r); err != nil {
		return nil, fmt.Errorf("reading the record %s: %w; without it eksproxy cannot take its changes back: restore the file from a backup of the node", StatePath, err)
	}
	if r.Format != recordFormat {
		return nil, fmt.Errorf("reading the record %s: it has format %d and this program knows %d; use the version that wrote it", StatePath, r.Format, recordFormat)
	}
	return &r, nil
}

// encode is the record as it is written.
func (r *record) encode() ([]byte, error) {
	data, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return nil, fmt.Errorf("encoding the record: %w", err)
	}
	return append(data, '\n'), nil
}

// file finds the record of a wanted path.
func (r *record) file(path string) *fileRecord {
	if r == nil {
		return nil
	}
	for _, f := range r.Files {
		if f.Path == path {
			return f
		}
	}
	return nil
}

// item is what a recorded file was written from, as far as showing it needs.
func (f *fileRecord) item() Item {
	newest := f.Versions[len(f.Versions)-1]
	return Item{Path: f.Path, Kind: f.Kind, hidden: f.Hidden, opaque: f.Kind == Whole && newest.Ours == nil}
}

// of are the files that a command wants, rest are those of other commands.
func (r *record) of(owner string) (of, rest []*fileRecord) {
	if r == nil {
		return nil, nil
	}
	for _, f := range r.Files {
		if f.Owner == owner {
			of = append(of, f)
		} else {
			rest = append(rest, f)
		}
	}
	return of, rest
}

// written are the contents that the record has of whole files of ours whose
// path begins so.
func (r *record) written(prefix string) [][]byte {
	var out [][]byte
	if r == nil {
		return nil
	}
	for _, f := range r.Files {
		if strings.HasPrefix(f.Path, prefix) {
			for _, v := range f.Versions {
				out = append(out, v.Ours)
			}
		}
	}
	return out
}

// base is a file as it would be without eksproxy.
type base struct {
	exists bool
	data   []byte
	mode   fs.FileMode
}

// without says how the file would be now if eksproxy had never been: the
// recorded original where nobody else wrote, else what is there less what is
// ours. A nil record is a file that we never wrote.
func (f *fileRecord) without(now rootfs.File) base {
	if f == nil || !now.Exists || f.Existed && bytes.Equal(now.Data, f.Original) {
		return base{now.Exists, now.Data, f.modeWithout(now)}
	}
	if f.wrote(now.Data) {
		return base{f.Existed, f.Original, f.modeWithout(now)}
	}
	data := f.drop(now.Data)
	return base{f.Existed || len(bytes.TrimSpace(data)) > 0, data, f.modeWithout(now)}
}

// modeWithout is the original mode, unless others changed it since.
func (f *fileRecord) modeWithout(now rootfs.File) fs.FileMode {
	if f == nil || !f.Existed {
		return now.Mode
	}
	for _, v := range f.Versions {
		if fs.FileMode(v.SetMode) == now.Mode {
			return fs.FileMode(f.Mode)
		}
	}
	return now.Mode
}

// wrote says whether the file is as we left it.
func (f *fileRecord) wrote(data []byte) bool { return f.version(data) >= 0 }

func (f *fileRecord) version(data []byte) int {
	sum := digest(data)
	return slices.IndexFunc(f.Versions, func(v version) bool { return v.Digest == sum })
}

// drop takes out of a file that others have written to what is ours.
func (f *fileRecord) drop(data []byte) []byte {
	switch f.Kind {
	case Block:
		return dropBlock(data, f.Moved)
	case Keys:
		for _, v := range slices.Backward(f.Versions) {
			data = dropKeys(data, f.Original, f.Section, v.keys())
		}
		return data
	default: // Whole, Link
		for _, v := range slices.Backward(f.Versions) {
			data = dropLines(data, v.Ours)
		}
		return append(slices.Clip(f.Original), data...)
	}
}

func (v version) keys() []key {
	keys := make([]key, len(v.Keys))
	for i, k := range v.Keys {
		keys[i] = key{k.Name, k.Value, k.Present}
	}
	return keys
}

// next is the record of the file once it has the new content.
func (f *fileRecord) next(item Item, now rootfs.File, b base, data []byte, m fs.FileMode, moved []string) *fileRecord {
	n := &fileRecord{
		Path: item.Path, Real: now.Path, Kind: item.Kind, Section: item.Section, Owner: item.owner, Hidden: item.hidden,
		Existed: b.exists, Moved: moved,
	}
	if b.exists {
		n.Original, n.Mode = b.data, mode(b.mode)
	}
	v := version{Digest: digest(data), SetMode: mode(m)}
	switch item.Kind {
	case Whole:
		if !item.opaque {
			v.Ours = item.Body
		}
	case Keys:
		for _, k := range item.keys {
			v.Keys = append(v.Keys, keyRecord{k.name, k.value, k.present})
		}
	default: // of a Block nothing is needed, it has markers, nor of a Link
	}
	if f != nil {
		n.Versions = f.kept(now, v.Digest)
		n.Moved = append(without(f.Moved, moved), moved...)
	}
	n.Versions = append(n.Versions, v)
	return n
}

// kept are the former versions that may still be in the file.
func (f *fileRecord) kept(now rootfs.File, newest string) []version {
	if i := f.version(now.Data); now.Exists && i >= 0 {
		if f.Versions[i].Digest == newest {
			return nil
		}
		return []version{f.Versions[i]}
	}
	const most = 3 // kills in a row, each with other settings
	var kept []version
	for _, v := range f.Versions {
		if v.Digest != newest {
			kept = append(kept, v)
		}
	}
	return kept[max(0, len(kept)-most):]
}

// needs says whether a recorded file lies below the directory.
func (r *record) needs(dir string) bool {
	return slices.ContainsFunc(r.Files, func(f *fileRecord) bool {
		for d := path.Dir(f.Real); d != "/" && d != "."; d = path.Dir(d) {
			if d == dir {
				return true
			}
		}
		return false
	})
}
