package userdata

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// withoutBlocks takes our blocks out and puts back what they kept.
func withoutBlocks(body []byte) ([]byte, error) {
	var out []byte
	begun, n := 0, 0
	for line := range bytes.Lines(body) {
		n++
		text := strings.TrimRight(string(line), "\n")
		switch {
		case text == blockBegin && begun > 0:
			return nil, fmt.Errorf("line %d: our block begins again before it ended; remove the lines from %q to %q", n, blockBegin, blockEnd)
		case text == blockBegin:
			begun = n
		case begun == 0:
			out = append(out, line...)
		case text == blockEnd:
			begun = 0
		case strings.HasPrefix(text, blockKept):
			out = append(out, strings.TrimPrefix(string(line), blockKept)...)
		}
	}
	if begun > 0 {
		return nil, fmt.Errorf("line %d: our block has no end; remove its lines, or add %q behind them", begun, blockEnd)
	}
	return out, nil
}

// withoutRendered takes our settings out of a document that eksproxy rendered
// as a whole; what stands behind them, or was added, stays.
func withoutRendered(body []byte) ([]byte, error) {
	statements, err := statementsOf(body)
	if err != nil {
		return nil, err
	}
	cut := map[int]int{0: bytes.IndexByte(append(body, '\n'), '\n') + 1} // the mark
	for _, s := range statements {
		start := s.start
		switch {
		case s.table && isOwnTable(s.path) && !slices.ContainsFunc(statements, s.holdsTheirs):
			for start > 1 && body[start-2] == '\n' && s.path[1] == "pki" {
				start-- // the empty line before it
			}
		case s.table || !isOwnTable(s.path[:len(s.path)-1]) || !isOwnKey(s.path):
			continue
		}
		cut[start] = s.end
	}
	return weave(body, nil, cut), nil
}

// isOwnTable says whether the table is one that render writes.
func isOwnTable(path []string) bool {
	return slices.Equal(path, []string{"settings", "network"}) ||
		len(path) == 3 && path[0] == "settings" && path[1] == "pki" && strings.HasPrefix(path[2], "eksproxy")
}

func isOwnKey(path []string) bool {
	return slices.Contains([]string{"https-proxy", "no-proxy", "data", "trusted"}, path[len(path)-1])
}

// holdsTheirs says whether another statement is a key in this table that is not
// ours.
func (s statement) holdsTheirs(other statement) bool {
	return !other.table && len(other.path) > len(s.path) && slices.Equal(other.path[:len(s.path)], s.path) && !isOwnKey(other.path)
}

// statement is a table header or a key of a TOML document.
type statement struct {
	table      bool
	path       []string // of the table, or of the key below the root
	start, end int      // of its lines
	dotted     bool     // the key names a table itself, or holds one
}

// edit sets keys in the text. It cannot where a table of ours is written with
// dotted keys or inline.
func edit(body []byte, ours []setting) ([]byte, bool) {
	if len(body) > 0 && body[len(body)-1] != '\n' {
		body = append(bytes.Clone(body), '\n')
	}
	statements, err := statementsOf(body)
	if err != nil {
		return nil, false
	}
	put := map[int]string{} // our lines, by the offset that they come to stand at
	drop := map[int]int{}   // lines of theirs that ours replace
	for _, table := range tablesOf(ours) {
		at := len(body)
		head := "[" + strings.Join(table[0].path[:len(table[0].path)-1], ".") + "]\n"
		for _, s := range statements {
			switch {
			case s.table && slices.Equal(s.path, parent(table)):
				at, head = s.end, ""
			case !s.table && s.dotted && under(parent(table), s.path):
				return nil, false
			case !s.table && slices.ContainsFunc(table, func(o setting) bool { return slices.Equal(o.path, s.path) }):
				drop[s.start] = s.end
				put[s.end] += keep(body[s.start:s.end])
			}
		}
		put[at] += head + linesOf(table)
	}
	return weave(body, put, drop), true
}

func parent(table []setting) []string { return table[0].path[:len(table[0].path)-1] }

// under says whether a key makes the table, or one above or below it.
func under(table, path []string) bool {
	n := min(len(table), len(path))
	return slices.Equal(table[:n], path[:n])
}

// keep is text of theirs as a comment.
func keep(text []byte) string {
	var out strings.Builder
	for line := range bytes.Lines(text) {
		out.WriteString(blockKept + string(line))
	}
	return out.String()
}

// tablesOf groups keys by their table.
func tablesOf(ours []setting) [][]setting {
	var out [][]setting
	for _, s := range ours {
		i := slices.IndexFunc(out, func(t []setting) bool { return slices.Equal(parent(t), s.path[:len(s.path)-1]) })
		if i < 0 {
			out, i = append(out, nil), len(out)
		}
		out[i] = append(out[i], s)
	}
	return out
}

func linesOf(table []setting) string {
	var out strings.Builder
	for _, s := range table {
		line, err := toml.Marshal(map[string]any{s.path[len(s.path)-1]: s.value})
		if err != nil {
			continue // what was read is written
		}
		out.Write(line)
	}
	return out.String()
}

// weave puts lines into the text and takes lines out.
func weave(body []byte, put map[int]string, drop map[int]int) []byte {
	var out []byte
	for i := 0; i <= len(body); i++ {
		if lines := put[i]; lines != "" {
			out = append(out, blockBegin+"\n"+lines+blockEnd+"\n"...)
		}
		if end, ok := drop[i]; ok {
			i = end - 1
			continue
		}
		if i < len(body) {
			out = append(out, body[i])
		}
	}
	return out
}

// statementsOf finds tables and keys with the lines that they take.
func statementsOf(body []byte) ([]statement, error) {
	var p unstable.Parser
	p.Reset(body)
	var out []statement
	var table []string
	inArray := false
	for p.NextExpression() {
		e := p.Expression()
		var path []string
		from, to := len(body), 0
		for it := e.Key(); it.Next(); {
			n := it.Node()
			path = append(path, string(n.Data))
			from, to = min(from, int(n.Raw.Offset)), max(to, int(n.Raw.Offset+n.Raw.Length))
		}
		s := statement{path: path}
		switch e.Kind {
		case unstable.Table, unstable.ArrayTable:
			table, inArray = path, e.Kind == unstable.ArrayTable
			s.table = !inArray
		case unstable.KeyValue:
			to = int(e.Raw.Offset + e.Raw.Length)
			s.dotted = len(path) > 1 || e.Value().Kind == unstable.InlineTable
			s.path = slices.Concat(table, path)
		default:
			continue
		}
		s.start, s.end = bytes.LastIndexByte(body[:from], '\n')+1, len(body)
		if i := bytes.IndexByte(body[to:], '\n'); i >= 0 {
			s.end = to + i + 1
		}
		if !inArray {
			out = append(out, s)
		}
	}
	if p.Error() != nil {
		return nil, errors.New("the settings are not TOML")
	}
	return out, nil
}
