package nodecheck

import (
	"context"
	"slices"
	"strings"

	"github.com/eksproxy/eksproxy/node"
	"github.com/eksproxy/eksproxy/plan"
	"github.com/eksproxy/eksproxy/verify"
)

// files compares the tree with the record, and with what the settings want now.
func (s *subject) files(ctx context.Context) []verify.Finding {
	var found []verify.Finding
	var beside []string
	good := (node.Status{Applied: true, Files: s.record.Files}).Good()
	for _, f := range s.record.Files {
		if good || (node.Status{Applied: true, Files: []node.FileStatus{f}}).Good() {
			continue
		}
		now, err := s.read(f.Path)
		switch {
		case err != nil:
			found = append(found, undecided(f.Path, s.apply(), "%s", unreadable(err)))
		case f.State == "changed" && s.record.Intact(f.Path, now.Data):
			beside = append(beside, f.Path)
		default:
			found = append(found, fail(f.Path, s.apply(), "it is %s", f.State))
		}
	}
	found = append(found, s.wantedNow(ctx, found)...)
	note := ""
	if len(beside) > 0 {
		note = "; others have written beside our part of " + strings.Join(beside, ", ")
	}
	return orPass(found, "%d files are as written, settings %s%s", len(s.record.Files), s.record.SettingsHash, note)
}

// wantedNow plans without writing. What was found already is not said again.
func (s *subject) wantedNow(ctx context.Context, already []verify.Finding) []verify.Finding {
	if s.wanted == nil {
		return nil
	}
	desired, err := s.wanted(ctx)
	if err != nil {
		return one(undecided("", s.apply()+" --dry-run", "what the settings want now cannot be composed: %v", err))
	}
	for _, secret := range desired.Settings.Secrets() {
		s.note(secret)
	}
	s.mu.Lock()
	prepared, err := node.Prepare(s.o.Root, desired)
	s.mu.Unlock()
	if err != nil {
		return one(undecided("", s.apply()+" --dry-run", "what the settings want now cannot be planned: %v", err))
	}
	var found []verify.Finding
	for _, c := range prepared.Pending() {
		p, isFile := strings.CutPrefix(c.ID, "file:")
		if !isFile || slices.ContainsFunc(already, func(f verify.Finding) bool { return f.Target == p }) {
			continue
		}
		what := map[plan.Action]string{
			plan.Create: "the settings want it and it is not there", plan.Update: "the settings want another content or mode now", plan.Delete: "the settings no longer want it",
		}[c.Action]
		found = append(found, fail(p, s.apply(), "%s", what))
	}
	return found
}
