package node

import (
	"slices"
	"strings"
)

// key is an option in a section of an INI file, as yum and dnf read it.
type key struct {
	name, value string
	// present is false where the option must not stand in the section.
	present bool
}

func (k key) line() string { return k.name + "=" + k.value + "\n" }

// span is the part of a file that belongs to one section: ls[start:end], the
// header left out.
type span struct{ start, end int }

// sections finds every section of that name.
func sections(ls []string, name string) []span {
	var found []span
	open := false
	for i, line := range ls {
		header, ok := sectionName(line)
		if !ok {
			continue
		}
		if open {
			found[len(found)-1].end = i
		}
		if open = header == name; open {
			found = append(found, span{i + 1, len(ls)})
		}
	}
	return found
}

func sectionName(line string) (string, bool) {
	line = strings.TrimRight(line, " \t\r\n")
	if !strings.HasPrefix(line, "[") || !strings.HasSuffix(line, "]") {
		return "", false
	}
	return line[1 : len(line)-1], true
}

// optionName is the name that a line gives a value to; empty for comments,
// blank lines and lines that continue the one before.
func optionName(line string) string {
	if line == "" || strings.ContainsRune(" \t#;\r\n", rune(line[0])) {
		return ""
	}
	name, _, ok := strings.Cut(line, "=")
	if !ok {
		return ""
	}
	return strings.TrimRight(name, " \t")
}

// continues says whether a line continues the option above it.
func continues(line string) bool {
	return line != "" && (line[0] == ' ' || line[0] == '\t') && strings.TrimSpace(line) != ""
}

// setKeys sets the options in the section, each once: where its name first
// stood, else at the end of the section, which is made if need be. Other
// options and comments stay as they are.
func setKeys(old []byte, section string, keys []key) []byte {
	ls := lines(old)
	if len(sections(ls, section)) == 0 {
		ls = append(lines(join(ls)), "["+section+"]\n")
	}
	for _, k := range keys {
		ls = setKey(ls, section, k)
	}
	return []byte(strings.Join(ls, ""))
}

func setKey(old []string, section string, k key) []string {
	var ls []string
	at := -1
	inside, dropping := false, false
	for _, line := range old {
		header, isHeader := sectionName(line)
		if isHeader {
			inside = header == section
		}
		switch {
		case inside && !isHeader && optionName(line) == k.name:
			dropping = true
			if at < 0 {
				at = len(ls)
			}
			continue
		case dropping && continues(line):
			continue
		}
		dropping = false
		ls = append(ls, line)
	}
	if !k.present {
		return ls
	}
	if at < 0 {
		at = sectionEnd(ls, sections(ls, section)[0])
	}
	if at > 0 && !strings.HasSuffix(ls[at-1], "\n") {
		ls[at-1] += "\n"
	}
	return slices.Insert(ls, at, k.line())
}

// sectionEnd is the place behind the last option of a section, before blank
// lines and comments that may belong to the next one.
func sectionEnd(ls []string, s span) int {
	for i := s.end; i > s.start; i-- {
		if optionName(ls[i-1]) != "" || continues(ls[i-1]) {
			return i
		}
	}
	return s.start
}

// dropKeys takes our options out of a file that others have since written to
// and puts back the original's lines for them. An option whose line is no
// longer the one that we wrote belongs to others and stays.
func dropKeys(text, original []byte, section string, keys []key) []byte {
	ls, before := lines(text), lines(original)
	for _, k := range keys {
		spans := sections(ls, section)
		if len(spans) == 0 {
			continue
		}
		place := sectionEnd(ls, spans[0])
		if k.present {
			i := slices.Index(ls[spans[0].start:spans[0].end], k.line())
			if i < 0 {
				continue
			}
			place = spans[0].start + i
			ls = slices.Delete(ls, place, place+1)
		} else if hasOption(ls, spans[0], k.name) {
			continue
		}
		ls = slices.Insert(ls, place, optionLines(before, section, k.name)...)
	}
	if len(sections(before, section)) == 0 {
		ls = dropEmptySection(ls, section)
	}
	return []byte(strings.Join(ls, ""))
}

func hasOption(ls []string, s span, name string) bool {
	return slices.ContainsFunc(ls[s.start:s.end], func(l string) bool { return optionName(l) == name })
}

// optionLines are the lines of an option, its continuations included.
func optionLines(ls []string, section, name string) []string {
	var out []string
	for _, s := range sections(ls, section) {
		for i := s.start; i < s.end; i++ {
			if optionName(ls[i]) != name {
				continue
			}
			out = append(out, ls[i])
			for i+1 < s.end && continues(ls[i+1]) {
				i++
				out = append(out, ls[i])
			}
		}
	}
	return out
}

// dropEmptySection removes the header of a section that we made and nobody
// else has written into.
func dropEmptySection(ls []string, section string) []string {
	for _, s := range sections(ls, section) {
		if strings.TrimSpace(strings.Join(ls[s.start:s.end], "")) == "" {
			return slices.Delete(ls, s.start-1, s.end)
		}
	}
	return ls
}
