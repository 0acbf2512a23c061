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
	// owner is the command that the plan is for; empty for apply.
	owner string
	// back says that the plan takes back what a command did.
	back bool
	// environment is what services should run with, former what the record
	// says that they were given.
	environment, former map[string]string
}

// step is the operation behind a change: on a file, or what do does.
type step struct {
	do   func(context.Context) error
	kind Kind
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
	p := newPrepared(root, was, d.owner)
	_, others := was.of(d.owner)
	p.kept = &record{Format: recordFormat, Settings: d.applied(was), Files: others}
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
	p.will = &record{Format: recordFormat, Settings: p.kept.Settings, Dirs: slices.Clone(p.kept.Dirs), Files: slices.Clone(p.kept.Files)}
	if err := p.prune(d); err != nil {
		return nil, err
	}
	overrides, err := overridden(root, d.System)
	p.Notes = append(slices.Clip(p.Notes), overrides...)
	return p, err
}

func newPrepared(root *rootfs.Root, was *record, owner string) *Prepared {
	p := &Prepared{root: root, was: was, owner: owner, steps: map[string]step{}, former: map[string]string{}}
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

// applied is what status shows: the settings of apply, whoever writes last.
func (d Desired) applied(was *record) applied {
	if d.owner != "" {
		if was == nil {
			return applied{}
		}
		return was.Settings
	}
	return applied{
		Hash: d.Settings.Hash(), System: d.System.String(), NoProxy: d.Settings.NoProxy.String(),
		HTTPProxy: d.Settings.HTTPProxy.Bare(), HTTPSProxy: d.Settings.HTTPSProxy.Bare(),
	}
}

// want plans one item.
func (p *Prepared) want(item Item, secrets []string) error {
	now, err := item.Kind.read(p.root, item.Path)
	if err != nil {
		return fmt.Errorf("planning %s: %w", item.Path, err)
	}
	old := p.was.file(item.Path)
	if item.opaque && old == nil && now.Exists {
		return p.leave(item, now)
	}
	b := old.without(now)
	data, moved := item.edit(now.Data)
	m := item.mode(b)
	c := plan.Change{
		ID: "file:" + item.Path, Target: item.Path, Action: plan.Update,
		Before: item.value(now, secrets), After: item.value(rootfs.File{Exists: true, Data: data, Mode: m}, secrets),
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
	p.steps[c.ID] = step{kind: item.Kind, path: now.Path, dirs: dirs, write: true, data: data, mode: m}
	p.kept.Files = append(p.kept.Files, old.next(item, now, b, data, m, moved))
	p.Changes = append(p.Changes, c)
	return nil
}

// leave plans nothing for a program that a package or an image brought: it is
// theirs, and its bytes are too many to keep for undo.
func (p *Prepared) leave(item Item, now rootfs.File) error {
	if !bytes.Equal(now.Data, item.Body) {
		return fmt.Errorf("%s is another program than the one to install; remove it, or the package that brought it, or give it as --binary", item.Path)
	}
	v := item.value(now, nil)
	p.Changes = append(p.Changes, plan.Change{
		ID: "file:" + item.Path, Target: item.Path, Action: plan.Unchanged, Before: v, After: v,
		Reason: item.Reason + ", which was there before", Disruption: "none", Undo: "it stays",
	})
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
	default: // Whole, Link
		return i.Body, nil
	}
}

// mode is that of the file with the item in it: a password makes it 0600;
// a file of others keeps its own.
func (i Item) mode(b base) fs.FileMode {
	switch {
	case i.Kind == Link:
		return 0
	case i.Secret:
		return 0o600
	case b.exists && i.Kind != Whole:
		return b.mode
	}
	return i.Mode
}

// value is a file as a plan shows it.
func (i Item) value(f rootfs.File, secrets []string) *plan.Value {
	switch {
	case !f.Exists:
		return nil
	case i.Kind == Link:
		return &plan.Value{Content: plan.NewContent(f.Data)}
	case i.hidden:
		return &plan.Value{Content: plan.NewContent(f.Data, strings.TrimSpace(string(f.Data))), Mode: octal(f.Mode)}
	case i.opaque:
		text := fmt.Sprintf("%d bytes, SHA-256 %s\n", len(f.Data), digest(f.Data))
		return &plan.Value{Content: plan.NewContent([]byte(text)), Mode: octal(f.Mode)}
	}
	return &plan.Value{Content: plan.NewContent(f.Data, secrets...), Mode: octal(f.Mode)}
}

// read returns the file as it is; of a link, where it leads.
func (k Kind) read(root *rootfs.Root, path string) (rootfs.File, error) {
	if k == Link {
		return root.ReadLink(path)
	}
	return root.Read(path)
}

func undo(b base) string {
	if b.exists {
		return "node revert restores the file"
	}
	return "node revert removes the file"
}

// prune takes back what the record names and the settings no longer want.
func (p *Prepared) prune(d Desired) error {
	ours, _ := p.was.of(d.owner)
	for _, f := range ours {
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
	now, err := f.Kind.read(p.root, f.Real)
	if err != nil {
		return fmt.Errorf("planning %s: %w", f.Path, err)
	}
	b := f.without(now)
	item := f.item()
	c := plan.Change{
		ID: "file:" + f.Path, Target: f.Path, Action: plan.Unchanged,
		Before: item.value(now, secrets), Reason: reason, Disruption: "none", Undo: "node apply writes it again",
	}
	if b.exists {
		c.After = item.value(rootfs.File{Exists: true, Data: b.data, Mode: b.mode}, secrets)
	}
	switch {
	case now.Exists && !b.exists:
		c.Action = plan.Delete
	case b.exists && (!bytes.Equal(now.Data, b.data) || now.Mode != b.mode):
		c.Action = plan.Update
	}
	p.steps[c.ID] = step{kind: f.Kind, path: now.Path, write: b.exists, data: b.data, mode: b.mode}
	p.Changes = append(p.Changes, c)
	return nil
}

// PrepareRevert plans the way back to the tree as it would be had apply never
// run, from the record alone.
func PrepareRevert(root *rootfs.Root) (*Prepared, error) { return prepareBack(root, "") }

// prepareBack plans the undoing of what one command did.
func prepareBack(root *rootfs.Root, owner string) (*Prepared, error) {
	was, err := readRecord(root)
	if err != nil {
		return nil, err
	}
	p := newPrepared(root, was, owner)
	p.back, p.will = true, was
	p.Target = map[string]string{"root": root.Dir()}
	ours, others := was.of(owner)
	if len(ours) == 0 {
		p.Notes = []string{"nothing is recorded in " + StatePath + ": nothing is to be taken back"}
	}
	if len(others) > 0 {
		p.kept = &record{Format: recordFormat, Settings: was.Settings, Dirs: slices.Clone(was.Dirs), Files: others}
	}
	if len(ours) > 0 && owner == "" {
		p.SettingsHash, p.Target["system"] = was.Settings.Hash, was.Settings.System
		if p.kept != nil {
			p.kept.Settings = applied{}
		}
	}
	for _, f := range slices.Backward(ours) {
		if err := p.takeBack(f, "taken back as recorded", nil); err != nil {
			return nil, err
		}
	}
	return p, nil
}
