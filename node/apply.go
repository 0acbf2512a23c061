package node

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"github.com/eksproxy/eksproxy/plan"
)

// The modes of what is made: the record holds secrets.
const (
	stateMode    = 0o600
	stateDirMode = 0o700
	dirMode      = 0o755
)

// Apply carries the plan out: first the record of what will be changed, then
// the changes, then what they leave over. A program that is killed anywhere
// has left whole files and a record, and the next run converges.
func (p *Prepared) Apply(ctx context.Context, reason string) (plan.Outcome, error) {
	if err := p.clean(); err != nil {
		return plan.Outcome{Left: p.Pending()}, err
	}
	if len(p.Pending()) > 0 && !p.back {
		p.will.Settings.Reason, p.kept.Settings.Reason = reason, reason
		if err := p.write(p.will); err != nil {
			return plan.Outcome{Left: p.Pending()}, err
		}
	}
	outcome, err := p.Plan.Apply(ctx, files{p})
	if err = errors.Join(err, p.root.Sync()); err != nil {
		return outcome, err
	}
	return outcome, p.finish()
}

// clean removes what a killed program left of half a write.
func (p *Prepared) clean() error {
	if p.was != nil {
		for _, f := range p.was.Files {
			if err := p.root.RemoveTemp(f.Real); err != nil {
				return err
			}
		}
	}
	state, err := p.root.Resolve(StatePath)
	if err != nil {
		return err
	}
	return p.root.RemoveTemp(state)
}

// write writes the record where it is not so yet.
func (p *Prepared) write(r *record) error {
	if err := p.makeStateDir(r); err != nil {
		return err
	}
	data, err := r.encode()
	if err != nil {
		return err
	}
	now, err := p.root.Read(StatePath)
	if err != nil {
		return fmt.Errorf("reading the record: %w", err)
	}
	if now.Exists && bytes.Equal(now.Data, data) {
		return nil
	}
	if err := p.root.Write(now.Path, data, stateMode); err != nil {
		return fmt.Errorf("recording what will be changed: %w", err)
	}
	return nil
}

// makeStateDir makes the record's directory, and records what is made above it.
func (p *Prepared) makeStateDir(r *record) error {
	for _, dir := range p.root.MissingDirs(stateDir) {
		var m fs.FileMode = dirMode
		if dir == stateDir {
			m = stateDirMode
		} else {
			r.addDirs([]string{dir})
		}
		if err := p.root.Mkdir(dir, m); err != nil {
			return err
		}
	}
	return nil
}

// finish drops from the record what is no longer applied, and removes the
// directories that were made for it. After a revert the record goes last.
func (p *Prepared) finish() error {
	switch {
	case p.kept == nil:
		return p.forget()
	case len(p.kept.Files) == len(p.will.Files):
		return nil
	}
	for _, dir := range slices.Backward(p.will.Dirs) {
		if p.kept.needs(dir) || within(stateDir, dir) {
			continue
		}
		if err := p.root.Rmdir(dir); err != nil {
			return err
		}
		p.kept.Dirs = slices.DeleteFunc(slices.Clone(p.kept.Dirs), func(d string) bool { return d == dir })
	}
	return p.write(p.kept)
}

// forget removes the directories that were made, the record, and its own
// directories. The last are removed even where there is no record: a kill may
// have come in between.
func (p *Prepared) forget() error {
	var dirs []string
	if p.was != nil {
		dirs = p.was.Dirs
	}
	for _, dir := range slices.Backward(dirs) {
		if !within(stateDir, dir) {
			if err := p.root.Rmdir(dir); err != nil {
				return err
			}
		}
	}
	state, err := p.root.Resolve(StatePath)
	if err != nil {
		return err
	}
	if err := p.root.Remove(state); err != nil {
		return err
	}
	for dir := stateDir; dir == stateDir || slices.Contains(dirs, dir); dir = path.Dir(dir) {
		if err := p.root.Rmdir(dir); err != nil {
			return err
		}
	}
	return nil
}

// within says whether path is dir or lies below it.
func within(p, dir string) bool {
	for ; p != "/"; p = path.Dir(p) {
		if p == dir {
			return true
		}
	}
	return false
}

// files is the Applier of a tree.
type files struct{ p *Prepared }

// Apply writes or removes one file, or acts on the running system.
func (f files) Apply(ctx context.Context, c plan.Change) error {
	s := f.p.steps[c.ID]
	if s.do != nil {
		return s.do(ctx)
	}
	if !s.write {
		return f.p.root.Remove(s.path)
	}
	for _, dir := range s.dirs {
		if err := f.p.root.MkdirUnsynced(dir, dirMode); err != nil {
			return err
		}
	}
	if s.kind == Link {
		return f.p.root.Symlink(s.path, string(s.data))
	}
	return f.p.root.Write(s.path, s.data, s.mode)
}
