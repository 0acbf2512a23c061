package node

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/eksproxy/eksproxy/internal/rootfs"
	"github.com/eksproxy/eksproxy/plan"
)

// Prepared is a plan for a tree, together with what carries it out.
type Prepared struct {
	plan.Plan
	root *rootfs.Root
	// was is the record as it stands, will the one to write first, and kept
	// the one to write last; kept is nil where nothing stays applied.
	was, will, kept *record
	steps           map[string]step
	// environment is what services should run with, former what the record
	// says that they were given.
	environment, former map[string]string
}

// step is the operation behind a change: on a file, or what do does.
type step struct {
	do   func(context.Context) error
	path string
	dirs []string
	// write says that the file gets data and mode; else it is removed.
	write bool
	data  []byte
	mode  fs.FileMode
}

// Prepare compares what is wanted with the tree and writes nothing.
func Prepare(root *rootfs.Root, d Desired) (*Prepared, error) {
	was, err := readRecord(root)
	if err != nil {
		return nil, err
	}
	p := newPrepared(root, was)
	p.kept = &record{Format: recordFormat, Settings: d.applied()}
	p.Plan = plan.Plan{
		Target:       map[string]string{"root": root.Dir(), "system": d.System.String()},
		SettingsHash: d.Settings.Hash(),
		Notes:        d.Notes,
	}
	if was != nil {
		p.kept.Dirs = slices.Clone(was.Dirs)
	}
	for _, item := range d.Items {
		if item.Path == ProxyEnvPath {
			p.environment = assignmentsIn(item.Body)
		}
		if err := p.want(item, d.Settings.Secrets()); err != nil {
			return nil, err
		}
	}
	p.will = &record{Format: recordFormat, Settings: p.kept.Settings, Dirs: p.kept.Dirs, Files: slices.Clone(p.kept.Files)}
	if err := p.prune(d); err != nil {
		return nil, err
	}
	overrides, err := overridden(root, d.System)
	p.Notes = append(slices.Clip(p.Notes), overrides...)
	return p, err
}

func newPrepared(root *rootfs.Root, was *record) *Prepared {
	p := &Prepared{root: root, was: was, steps: map[string]step{}, former: map[string]string{}}
	for _, text := range was.written(ProxyEnvPath) {
		p.former = assignmentsIn(text)
	}
	return p
}

// assignmentsIn are the variables that an environment file of ours sets.
func assignmentsIn(text []byte) map[string]string {
	env := map[string]string{}
	for _, line := range lines(text) {
		if name, ok := sets(line); ok {
			_, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
			env[name] = value
		}
	}
	return env
}

func (d Desired) applied() applied {
	return applied{
		Hash: d.Settings.Hash(), System: d.System.String(), NoProxy: d.Settings.NoProxy.String(),
		HTTPProxy: d.Settings.HTTPProxy.Bare(), HTTPSProxy: d.Settings.HTTPSProxy.Bare(),
	}
}

// want plans one item.
func (p *Prepared) want(item Item, secrets []string) error {
	now, err := p.root.Read(item.Path)
	if err != nil {
		return fmt.Errorf("planning %s: %w", item.Path, err)
	}
	old := p.was.file(item.Path)
	b := old.without(now)
	data, moved := item.edit(now.Data)
	m := item.mode(b)
	c := plan.Change{
		ID: "file:" + item.Path, Target: item.Path, Action: plan.Update,
		Before: value(now, secrets), After: &plan.Value{Content: plan.NewContent(data, secrets...), Mode: octal(m)},
		Reason: item.Reason, Disruption: "none", Undo: undo(b),
	}
	switch {
	case now.Exists && bytes.Equal(now.Data, data) && now.Mode == m:
		c.Action = plan.Unchanged
	case !now.Exists:
		c.Action = plan.Create
	}
	if now.Path != item.Path {
		c.Target += " -> " + now.Path
	}
	for _, line := range moved {
		p.Notes = append(p.Notes, fmt.Sprintf("%s: the line %q behind our block is taken out and comes back with revert", item.Path, plan.Mask(strings.TrimSpace(line), secrets...)))
	}
	dirs := p.root.MissingDirs(path.Dir(now.Path))
	p.kept.addDirs(dirs)
	p.steps[c.ID] = step{path: now.Path, dirs: dirs, write: true, data: data, mode: m}
	p.kept.Files = append(p.kept.Files, old.next(item, now, b, data, m, moved))
	p.Changes = append(p.Changes, c)
	return nil
}

func (r *record) addDirs(dirs []string) {
	for _, d := range dirs {
		if !slices.Contains(r.Dirs, d) {
			r.Dirs = append(r.Dirs, d)
		}
	}
	slices.Sort(r.Dirs) // the same whichever run made them, and the outermost first
}

// edit is the file with the item in it, and the lines of others that this
// takes out.
func (i Item) edit(old []byte) (data []byte, moved []string) {
	switch i.Kind {
	case Block:
		return setBlock(old, i.Body)
	case Keys:
		return setKeys(old, i.Section, i.keys), nil
	default: // Whole
		return i.Body, nil
	}
}

// mode is that of the file with the item in it: a password makes it 0600;
// a file of others keeps its own.
func (i Item) mode(b base) fs.FileMode {
	switch {
	case i.Secret:
		return 0o600
	case b.exists && i.Kind != Whole:
		return b.mode
	}
	return i.Mode
}

func value(f rootfs.File, secrets []string) *plan.Value {
	if !f.Exists {
		return nil
	}
	return &plan.Value{Content: plan.NewContent(f.Data, secrets...), Mode: octal(f.Mode)}
}

func undo(b base) string {
	if b.exists {
		return "node revert restores the file"
	}
	return "node revert removes the file"
}

// prune takes back what the record names and the settings no longer want.
func (p *Prepared) prune(d Desired) error {
	if p.was == nil {
		return nil
	}
	for _, f := range p.was.Files {
		if slices.ContainsFunc(d.Items, func(i Item) bool { return i.Path == f.Path }) {
			continue
		}
		p.will.Files = append(p.will.Files, f)
		if err := p.takeBack(f, "the settings no longer want it", d.Settings.Secrets()); err != nil {
			return err
		}
	}
	return nil
}

// takeBack plans the undoing of one recorded file.
func (p *Prepared) takeBack(f *fileRecord, reason string, secrets []string) error {
	now, err := p.root.Read(f.Real)
	if err != nil {
		return fmt.Errorf("planning %s: %w", f.Path, err)
	}
	b := f.without(now)
	c := plan.Change{
		ID: "file:" + f.Path, Target: f.Path, Action: plan.Unchanged,
		Before: value(now, secrets), Reason: reason, Disruption: "none", Undo: "node apply writes it again",
	}
	if b.exists {
		c.After = &plan.Value{Content: plan.NewContent(b.data, secrets...), Mode: octal(b.mode)}
	}
	switch {
	case now.Exists && !b.exists:
		c.Action = plan.Delete
	case b.exists && (!bytes.Equal(now.Data, b.data) || now.Mode != b.mode):
		c.Action = plan.Update
	}
	p.steps[c.ID] = step{path: now.Path, write: b.exists, data: b.data, mode: b.mode}
	p.Changes = append(p.Changes, c)
	return nil
}

// PrepareRevert plans the way back to the tree as it would be without
// eksproxy, from the record alone.
func PrepareRevert(root *rootfs.Root) (*Prepared, error) {
	was, err := readRecord(root)
	if err != nil {
		return nil, err
	}
	p := newPrepared(root, was)
	p.will = was
	p.Target = map[string]string{"root": root.Dir()}
	if was == nil {
		p.Notes = []string{"nothing is recorded in " + StatePath + ": nothing is to be taken back"}
		return p, nil
	}
	p.SettingsHash = was.Settings.Hash
	p.Target["system"] = was.Settings.System
	for _, f := range slices.Backward(was.Files) {
		if err := p.takeBack(f, "taken back as recorded", nil); err != nil {
			return nil, err
		}
	}
	return p, nil
}
