package node

import (
	"slices"
	"strings"
)

// The markers of a block of ours in a file of others.
const (
	blockBegin = "# BEGIN eksproxy"
	blockEnd   = "# END eksproxy"
)

// variables are the six names that make up the proxy environment, in the order
// in which they are written. Every program that reads them reads one case or
// the other first, so both are always equal.
func variables() [6]string {
	return [...]string{"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"}
}

// lines cuts a text into lines that keep their line ends; the last one may have
// none.
func lines(text []byte) []string {
	ls := strings.SplitAfter(string(text), "\n")
	if last := len(ls) - 1; ls[last] == "" {
		return ls[:last]
	}
	return ls
}

// sets returns the variable of ours that a line of an environment file sets.
func sets(line string) (string, bool) {
	line = strings.TrimLeft(line, " \t")
	line = strings.TrimLeft(strings.TrimPrefix(line, "export "), " \t")
	name, _, ok := strings.Cut(line, "=")
	if !ok {
		return "", false
	}
	name = strings.TrimRight(name, " \t")
	for _, v := range variables() {
		if name == v {
			return v, true
		}
	}
	return "", false
}

// block is a file of others cut at our blocks.
type block struct {
	before, after []string
	found         bool
}

// cutBlock cuts the lines of a file at the first block of ours and drops any
// others. A block whose end is missing reaches as far as it sets variables of
// ours, and no further.
func cutBlock(ls []string) block {
	var b block
	for i := 0; i < len(ls); i++ {
		if strings.TrimRight(ls[i], " \t\r\n") == blockBegin {
			i = blockLast(ls, i)
			b.found = true
			continue
		}
		if b.found {
			b.after = append(b.after, ls[i])
		} else {
			b.before = append(b.before, ls[i])
		}
	}
	return b
}

// blockLast is the index of the last line of the block that begins at i.
func blockLast(ls []string, i int) int {
	for j := i + 1; j < len(ls); j++ {
		switch strings.TrimRight(ls[j], " \t\r\n") {
		case blockEnd:
			return j
		case blockBegin:
			return lastSetting(ls, i)
		}
	}
	return lastSetting(ls, i)
}

func lastSetting(ls []string, i int) int {
	for i+1 < len(ls) {
		if _, ok := sets(ls[i+1]); !ok {
			break
		}
		i++
	}
	return i
}

// setBlock puts our block where it was, or at the end, and takes out what
// others wrote behind it for a variable of ours: the last line wins for every
// reader.
func setBlock(old, body []byte) (text []byte, moved []string) {
	b := cutBlock(lines(old))
	var after []string
	for _, line := range b.after {
		if _, ok := sets(line); ok {
			moved = append(moved, line)
		} else {
			after = append(after, line)
		}
	}
	text = append(join(b.before), blockBegin+"\n"+string(body)+blockEnd+"\n"...)
	return append(text, strings.Join(after, "")...), moved
}

// join puts lines together and ends the last one.
func join(ls []string) []byte {
	text := []byte(strings.Join(ls, ""))
	if len(text) > 0 && text[len(text)-1] != '\n' {
		text = append(text, '\n')
	}
	return text
}

// dropBlock takes our blocks out and puts back, in their place, the lines that
// were moved.
func dropBlock(text []byte, moved []string) []byte {
	b := cutBlock(lines(text))
	if !b.found {
		return text
	}
	out := []byte(strings.Join(b.before, ""))
	if moved = without(moved, b.after); len(moved) > 0 {
		out = append(join(b.before), strings.Join(moved, "")...)
	}
	return append(out, strings.Join(b.after, "")...)
}

// without returns the lines that are not among the others. A line is recorded
// as moved before it is: a kill in between leaves it in its place.
func without(ls, others []string) []string {
	return slices.DeleteFunc(slices.Clone(ls), func(l string) bool { return slices.Contains(others, l) })
}

// dropLines takes out, once each, the lines that we wrote into a file of our
// own which others have since written to; what they wrote stays.
func dropLines(text, ours []byte) []byte {
	left := map[string]int{}
	for _, l := range lines(ours) {
		left[l]++
	}
	var out []string
	for _, l := range lines(text) {
		if left[l] > 0 {
			left[l]--
			continue
		}
		out = append(out, l)
	}
	return []byte(strings.Join(out, ""))
}
