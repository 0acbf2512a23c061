package userdata

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/eksproxy/eksproxy/bootdata"
)

// The lines around what is ours in settings of Bottlerocket, and before a line
// of theirs that ours replaces.
const (
	blockBegin = "# BEGIN eksproxy format 1"
	blockEnd   = "# END eksproxy"
	blockKept  = "# kept: "
)

// setting is one key that we set.
type setting struct {
	path  []string
	value any
}

// settings merges into Bottlerocket's TOML. Lines of theirs stay as they are.
func (m *merger) settings(body []byte) error {
	body = bootdata.LF(bytes.TrimPrefix(body, []byte("\ufeff")))
	if err := onlyTOML(body); err != nil {
		return err
	}
	var ours []byte
	for _, p := range m.Ours {
		ours = append(ours, p.Body...)
	}
	base, err := withoutBlocks(body)
	if err != nil {
		return err
	}
	rendered := isOurs(base)
	if rendered {
		if base, err = withoutRendered(base); err != nil {
			return err
		}
	}
	var data map[string]any
	if err := toml.Unmarshal(base, &data); err != nil {
		return fmt.Errorf("the settings are not TOML: %s", tomlFault(err))
	}
	switch {
	case m.Remove:
		m.out = base
		return nil
	case len(bytes.TrimSpace(base)) == 0:
		m.out = ours
		return nil
	}
	var want map[string]any
	if err := toml.Unmarshal(ours, &want); err != nil {
		return fmt.Errorf("our settings are not TOML: %s", tomlFault(err))
	}
	said := len(m.notes)
	if err := m.set(base, data, flatten(want, nil)); err != nil {
		return err
	}
	if whole := slices.Concat(ours, base); rendered && same(whole, data) {
		m.out, m.notes = whole, m.notes[:said] // as render writes it
	}
	return nil
}

// set writes our keys into the settings, and makes sure that nothing else in
// them has changed.
func (m *merger) set(base []byte, data map[string]any, ours []setting) error {
	for i, s := range ours {
		if s.path[len(s.path)-1] == "no-proxy" {
			ours[i].value = united(lookup(data, s.path), s.value)
		}
	}
	anew, err := toml.Marshal(data)
	if err != nil {
		return errors.New("the settings cannot be written back as TOML; write the tables of ours as [settings.network] and [settings.pki.NAME]")
	}
	for _, s := range ours {
		if !assign(data, s.path, s.value) {
			return fmt.Errorf("%s is a value in the settings, and must be a table; remove it", strings.Join(s.path[:len(s.path)-1], "."))
		}
	}
	if m.edited(base, data, ours) {
		return nil
	}
	if !m.edited(anew, data, ours) {
		return errors.New("our keys cannot be set; write their tables as [settings.network] and [settings.pki.NAME]")
	}
	m.note("the settings are written anew, without their comments: a table of ours is written inline or with dotted keys")
	return nil
}

// edited says whether the keys could be set in the text, and nothing else.
func (m *merger) edited(base []byte, data map[string]any, ours []setting) bool {
	out, ok := edit(base, ours)
	if !ok || !same(out, data) {
		return false
	}
	m.out = out
	return true
}

// same says whether the text holds the data.
func same(text []byte, data map[string]any) bool {
	var got map[string]any
	return toml.Unmarshal(text, &got) == nil && reflect.DeepEqual(got, data)
}

// onlyTOML refuses what Bottlerocket would not read.
func onlyTOML(body []byte) error {
	var what string
	switch kind := bootdata.TypeOf(body); {
	case bootdata.IsMIME(body):
		what = "MIME"
	case kind != bootdata.TypePlain && !looksTOML(body):
		what = kindOf(bootdata.Part{ContentType: kind})
	default:
		return nil
	}
	return fmt.Errorf("the document is %s, and Bottlerocket reads TOML alone; give its settings as TOML, or another --os", what)
}

// looksTOML says whether the text is TOML, perhaps with faults.
func looksTOML(body []byte) bool {
	var data map[string]any
	if toml.Unmarshal(body, &data) == nil {
		return len(data) > 0
	}
	for line := range bytes.Lines(body) {
		line = bytes.TrimSpace(line)
		if len(line) > 0 && line[0] != '#' {
			return bytes.HasPrefix(line, []byte("[settings")) || bytes.HasPrefix(line, []byte("settings."))
		}
	}
	return false
}

// tomlFault says where TOML is wrong, without its content.
func tomlFault(err error) string {
	d, ok := errors.AsType[*toml.DecodeError](err)
	if !ok {
		return "a table or key is there twice, or a value cannot be read; give each table once"
	}
	row, column := d.Position()
	if strings.Contains(err.Error(), "already") || strings.Contains(err.Error(), "duplicate") || strings.Contains(err.Error(), "redefin") {
		return fmt.Sprintf("line %d: a table or key is there twice; put its keys into one table", row)
	}
	return fmt.Sprintf("line %d, column %d: it cannot be read; repair the line", row, column)
}

// flatten lists the keys below a table, in order. A table of ours in PKI is
// listed by its keys too.
func flatten(table map[string]any, path []string) []setting {
	var out []setting
	for _, k := range sortedKeys(table) {
		at := append(slices.Clone(path), k)
		if inner, ok := table[k].(map[string]any); ok {
			out = append(out, flatten(inner, at)...)
			continue
		}
		out = append(out, setting{at, table[k]})
	}
	return out
}

// united is their list and what ours has beyond it. An entry that glues several
// with a comma becomes several.
func united(theirs, ours any) any {
	var out []any
	add := func(list any) {
		entries, _ := list.([]any)
		for _, e := range entries {
			text, ok := e.(string)
			if !ok {
				continue
			}
			for entry := range strings.SplitSeq(text, ",") {
				if entry = strings.TrimSpace(entry); entry != "" && !slices.Contains(out, any(entry)) {
					out = append(out, entry)
				}
			}
		}
	}
	add(theirs)
	add(ours)
	return out
}

func lookup(table map[string]any, path []string) any {
	for _, k := range path[:len(path)-1] {
		table, _ = table[k].(map[string]any)
	}
	return table[path[len(path)-1]]
}

// assign sets a key, unless a value stands where a table must be.
func assign(table map[string]any, path []string, value any) bool {
	for _, k := range path[:len(path)-1] {
		inner, ok := table[k].(map[string]any)
		if !ok {
			if table[k] != nil {
				return false
			}
			inner = map[string]any{}
			table[k] = inner
		}
		table = inner
	}
	table[path[len(path)-1]] = value
	return true
}
