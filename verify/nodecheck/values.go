package nodecheck

import (
	"context"
	"fmt"
	"strings"

	"github.com/eksproxy/eksproxy/noproxy"
	"github.com/eksproxy/eksproxy/verify"
)

// values looks at every value that reaches a program for what some reader
// takes in another way.
func (s *subject) values(context.Context) []verify.Finding {
	var found []verify.Finding
	n := 0
	for _, src := range s.sources() {
		if !src.decides {
			continue
		}
		for _, a := range src.vars {
			n++
			where, remedy := a.name, s.correct(src.path, a.line)
			if a.line > 0 {
				where = fmt.Sprintf("line %d, %s", a.line, a.name)
			}
			s.learn(a.value)
			if why := a.wrong(src.systemd); why != "" {
				found = append(found, fail(src.path, remedy, "%s: %s", where, why))
			} else if why := lonelyStars(a); why != "" {
				found = append(found, warn(src.path, remedy, "%s: %s", where, why))
			}
		}
	}
	return orPass(found, "%d values", n)
}

// correct is how a line gets right: apply writes ours again, and leaves those of
// others before our block as they are.
func (s *subject) correct(p string, line int) string {
	f, err := s.read(p)
	switch {
	case err == nil && p == etcEnvironment && line > 0 && s.record.Intact(p, f.Data):
		return fmt.Sprintf("sed -i '%dd' %s", line, p)
	case s.record.Wrote(p):
		return s.apply()
	}
	return "correct the line in " + p
}

// wrong says what is wrong with a value; it does not quote a proxy, which may
// hold a password.
func (a assignment) wrong(systemd bool) string {
	switch {
	case a.exported && systemd:
		return "the line begins with export, so systemd ignores it"
	case strings.ContainsFunc(a.value, func(r rune) bool { return r != '\t' && (r < 0x20 || r == 0x7f) }):
		return "it holds a control character, perhaps a carriage return at the end"
	case strings.ContainsRune(a.value, '#'):
		return "it holds #: systemd takes it and what follows for a part of the value, PAM cuts there"
	case strings.ContainsAny(a.value, " \t"):
		return "it holds a blank, where a shell and some clients end the value"
	case strings.ContainsAny(a.value, `"'`):
		return "it holds a quote that readers do not take off alike"
	case isList(a.name):
		return wrongEntries(a.value)
	}
	return ""
}

// wrongEntries names the entries that are dead in some client (BL-007, BL-008,
// BL-011).
func wrongEntries(value string) string {
	var why []string
	for _, e := range entries(value) {
		if strings.HasPrefix(e, "[") {
			why = append(why, fmt.Sprintf("%q: in brackets it matches nothing in Go; write the address bare", e))
			continue
		}
		if _, err := noproxy.ParseAddition(e); err != nil {
			why = append(why, err.Error())
		}
	}
	return strings.Join(why, "; ")
}

// lonelyStars names *.zone without .zone beside it, which Go reads and Python's
// requests does not.
func lonelyStars(a assignment) string {
	if !isList(a.name) {
		return ""
	}
	var lonely []string
	list := entries(a.value)
	for _, e := range list {
		if zone, ok := strings.CutPrefix(e, "*"); ok && len(missing([]string{zone}, list)) > 0 {
			lonely = append(lonely, e)
		}
	}
	if len(lonely) == 0 {
		return ""
	}
	return strings.Join(lonely, ",") + " without the form that begins with a dot: Python's requests reads no star"
}
