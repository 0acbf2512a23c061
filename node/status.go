package node

import (
	"fmt"
	"io/fs"

	"github.com/eksproxy/eksproxy/internal/rootfs"
	"github.com/eksproxy/eksproxy/plan"
)

// Status is how a tree stands against its record.
type Status struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Root       string `json:"root"`
	// Applied says that there is a record.
	Applied      bool         `json:"applied"`
	System       string       `json:"system,omitempty"`
	SettingsHash string       `json:"settingsHash,omitempty"`
	HTTPProxy    string       `json:"httpProxy,omitempty"`
	HTTPSProxy   string       `json:"httpsProxy,omitempty"`
	NoProxy      string       `json:"noProxy,omitempty"`
	Reason       string       `json:"reason,omitempty"`
	Files        []FileStatus `json:"files,omitempty"`
}

// FileStatus is how one file stands.
type FileStatus struct {
	Path string `json:"path"`
	// State is "as written", "changed", "missing" or "mode MODE, not MODE".
	State string `json:"state"`
	Mode  string `json:"mode,omitempty"`
}

// asWritten is the state of a file that is as apply left it.
const asWritten = "as written"

// Good says that everything is as apply left it.
func (s Status) Good() bool {
	for _, f := range s.Files {
		if f.State != asWritten {
			return false
		}
	}
	return s.Applied
}

// ReadStatus compares a tree with its record; it needs no settings.
func ReadStatus(root *rootfs.Root) (Status, error) {
	s := Status{APIVersion: plan.APIVersion, Kind: "NodeStatus", Root: root.Dir()}
	r, err := readRecord(root)
	if err != nil || r == nil {
		return s, err
	}
	files, _ := r.of("")
	if len(files) == 0 {
		return s, nil
	}
	s.Applied, s.System, s.SettingsHash = true, r.Settings.System, r.Settings.Hash
	s.HTTPProxy, s.HTTPSProxy, s.NoProxy, s.Reason = r.Settings.HTTPProxy, r.Settings.HTTPSProxy, r.Settings.NoProxy, r.Settings.Reason
	for _, f := range files {
		file, err := f.status(root)
		if err != nil {
			return s, err
		}
		s.Files = append(s.Files, file)
	}
	return s, nil
}

func (f *fileRecord) status(root *rootfs.Root) (FileStatus, error) {
	now, err := root.Read(f.Path)
	if err != nil {
		return FileStatus{}, fmt.Errorf("reading the status of %s: %w", f.Path, err)
	}
	s := FileStatus{Path: f.Path, State: asWritten}
	newest := f.Versions[len(f.Versions)-1]
	if now.Exists {
		s.Mode = octal(now.Mode)
	}
	switch {
	case !now.Exists:
		s.State = "missing"
	case digest(now.Data) != newest.Digest:
		s.State = "changed"
	case now.Mode != fs.FileMode(newest.SetMode):
		s.State = fmt.Sprintf("mode %s, not %s", octal(now.Mode), octal(fs.FileMode(newest.SetMode)))
	}
	return s, nil
}
