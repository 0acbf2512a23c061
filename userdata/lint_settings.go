package userdata

import (
	"bytes"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/eksproxy/eksproxy/bootdata"
)

// settings looks at Bottlerocket's TOML.
func (l *linter) settings(body []byte) {
	l.lineEnds(body)
	if l.OS != "" && l.OS != Bottlerocket {
		l.add("UD022", 0, 1, "--os is %s", l.OS)
		return
	}
	if kind := bootdata.TypeOf(body); kind != bootdata.TypePlain && !looksTOML(body) {
		l.add("UD021", 0, 1, "it is %s", kindOf(bootdata.Part{ContentType: kind}))
		return
	}
	l.secrets(body, 0, 1)
	var data map[string]any
	if err := toml.Unmarshal(body, &data); err != nil {
		fault := tomlFault(err)
		line := 1
		if m := faultPlace.FindStringSubmatch(fault); m != nil {
			line, fault = atoi(m[1]), m[2]
		}
		what, _, _ := strings.Cut(fault, ";")
		l.add("UD030", 0, line, "%s", what)
		return
	}
	l.merger(body)
	settings, _ := data["settings"].(map[string]any)
	network, _ := settings["network"].(map[string]any)
	l.network(network, lineOf(body))
	containers, _ := settings["bootstrap-containers"].(map[string]any)
	if len(containers) > 0 && network["https-proxy"] != nil {
		l.add("UD035", 0, lineOf(body)("bootstrap-containers"), "")
	}
}

var faultPlace = regexp.MustCompile(`^line ([0-9]+)(?:, column [0-9]+)?: (.*)$`)

// lineOf finds the first line that begins a key or table of that name.
func lineOf(body []byte) func(string) int {
	return func(name string) int {
		n := 0
		for line := range bytes.Lines(body) {
			n++
			text := string(bytes.TrimSpace(line))
			if !strings.HasPrefix(text, "#") && strings.Contains(text, name) {
				return n
			}
		}
		return 1
	}
}

// network looks at settings.network.
func (l *linter) network(network map[string]any, line func(string) int) {
	if proxy, ok := network["https-proxy"].(string); ok && proxy != "" && !strings.Contains(proxy, "://") {
		l.add("UD031", 0, line("https-proxy"), "")
	}
	for _, key := range sortedKeys(network) {
		if !slices.Contains([]string{"https-proxy", "no-proxy", "hostname", "hosts"}, key) && strings.Contains(key, "proxy") {
			l.add("UD033", 0, line(key), "")
		}
	}
	entries, _ := network["no-proxy"].([]any)
	for _, e := range entries {
		entry, _ := e.(string)
		switch {
		case strings.ContainsAny(strings.TrimSpace(entry), ", \t"):
			l.add("UD032", 0, line("no-proxy"), "")
		case strings.TrimPrefix(entry, ".") == "amazonaws.com" || strings.TrimPrefix(entry, ".") == "amazonaws.com.cn":
			l.add("UD034", 0, line("no-proxy"), "")
		}
	}
}

var (
	quotedTable  = regexp.MustCompile(`^\s*\[[^\]]*["']`)
	escapedQuote = regexp.MustCompile(`=\s*".*\\".*"`)
)

// merger looks for what EKS's own merger of TOML refuses.
func (l *linter) merger(body []byte) {
	if l.For != ManagedNodeGroup {
		return
	}
	n := 0
	for line := range bytes.Lines(body) {
		if n++; quotedTable.Match(line) || escapedQuote.Match(line) {
			l.add("UD036", 0, n, "")
		}
	}
	var data map[string]any
	if toml.Unmarshal(body, &data) != nil {
		return
	}
	for _, s := range flatten(data, nil) {
		if isMixed(s.value) {
			l.add("UD036", 0, lineOf(body)(s.path[len(s.path)-1]), "")
		}
	}
}

// isMixed says whether the value is an array of several types.
func isMixed(value any) bool {
	list, _ := value.([]any)
	return slices.ContainsFunc(list, func(e any) bool { return reflect.TypeOf(e) != reflect.TypeOf(list[0]) })
}
