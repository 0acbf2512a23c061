package clustercheck

import (
	"context"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/eksproxy/eksproxy/addons"
	"github.com/eksproxy/eksproxy/noproxy"
	"github.com/eksproxy/eksproxy/proxyconfig"
	"github.com/eksproxy/eksproxy/verify"
)

// isList says whether a variable holds a list, not a proxy.
func isList(name string) bool { return strings.EqualFold(name, "no_proxy") }

// configMapThere demands the ConfigMap and its six keys.
func (s *subject) configMapThere(ctx context.Context) []verify.Finding {
	r := settingsRef()
	live, err := s.world.get(ctx, r)
	switch {
	case err != nil:
		return one(cannot(r.String(), err))
	case live == nil:
		return one(fail(r.String(), s.patch(), "it is not there: nobody gets the proxy from it"))
	}
	data := textData(live)
	var missing []string
	for _, name := range addons.VariableNames() {
		if data[name] == "" {
			missing = append(missing, name)
		}
	}
	note := ""
	if slices.Contains(missing, "HTTPS_PROXY") && slices.Contains(missing, "https_proxy") && len(missing) < 6 {
		note = ": https goes direct"
	}
	if len(missing) > 0 {
		return one(fail(r.String(), s.patch(), "it lacks %s%s", strings.Join(missing, ", "), note))
	}
	return pass("%s has the six keys", r)
}

// cases compares the two cases of each variable.
func (s *subject) cases(ctx context.Context) []verify.Finding {
	data, found := s.values(ctx)
	if found != nil {
		return found
	}
	for _, name := range addons.VariableNames() {
		lower := strings.ToLower(name)
		if name != lower && data[name] != "" && data[lower] != "" && data[name] != data[lower] {
			found = append(found, fail(settingsRef().String(), s.patch(), "%s and %s differ: which of them a program reads is up to the program", name, lower))
		}
	}
	return orPass(found, "equal in %s", settingsRef())
}

// valuesSound looks at each value for what a program cannot read. It quotes no
// proxy, which may hold a password.
func (s *subject) valuesSound(ctx context.Context) []verify.Finding {
	data, found := s.values(ctx)
	if found != nil {
		return found
	}
	for _, name := range addons.VariableNames() {
		if why := wrongValue(name, data[name]); why != "" {
			found = append(found, fail(settingsRef().String(), s.patch(), "key %s: %s", name, why))
		}
	}
	return orPass(found, "%d values", len(data))
}

// wrongValue says what is wrong with one value; empty where nothing is.
func wrongValue(name, value string) string {
	switch {
	case value == "":
		return "" // that it is missing is another check's finding
	case strings.ContainsFunc(value, unicode.IsControl):
		return "it holds a control character, as a line end: some programs refuse the value, and Go goes direct without a word"
	case strings.TrimSpace(value) != value:
		return "it begins or ends with a blank"
	case isList(name):
		return ""
	}
	// Credentials are another check's finding, and may be written in any way.
	bare := withoutUserinfo(value)
	scheme, _, ok := strings.Cut(bare, "://")
	if !ok || !slices.Contains([]string{"http", "https"}, strings.ToLower(scheme)) {
		return "it is no URL: write http://HOST:PORT"
	}
	if _, err := proxyconfig.ParseURL(bare); err != nil {
		return err.Error()
	}
	return ""
}

// withoutUserinfo is a URL without what stands before the last @.
func withoutUserinfo(value string) string {
	scheme, rest, ok := strings.Cut(value, "://")
	at := strings.LastIndexByte(rest, '@')
	if !ok || at < 0 {
		return value
	}
	return scheme + "://" + rest[at+1:]
}

// hasUserinfo says whether a proxy's value carries a user or a password.
func hasUserinfo(name, value string) bool {
	return !isList(name) && strings.Contains(value, "@")
}

// noCredentials looks for passwords where everyone with view rights reads them.
func (s *subject) noCredentials(ctx context.Context) []verify.Finding {
	data, found := s.values(ctx)
	remedy := s.patch() + " --create-secret --credentials-file FILE; then change the password, which has been readable"
	for _, name := range slices.Sorted(maps.Keys(data)) {
		if slices.Contains(addons.VariableNames(), name) && hasUserinfo(name, data[name]) {
			found = append(found, fail(settingsRef().String(), remedy, "key %s: the URL carries a user or a password, and a ConfigMap is readable for everyone who may look", name))
		}
	}
	all, err := s.workloads(ctx)
	if err != nil {
		return append(found, cannot("workloads of "+addons.Namespace, err))
	}
	for _, w := range all {
		for _, c := range w.containers() {
			for _, e := range c.Env {
				if slices.Contains(addons.VariableNames(), e.Name) && hasUserinfo(e.Name, e.Value) {
					found = append(found, fail(w.ref.String(), remedy, "%s in container %s: the URL carries a user or a password", e.Name, c.Name))
				}
			}
		}
	}
	return orPass(found, "none in %s, nor in the variables of %d workloads", settingsRef(), len(all))
}

// entriesSound passes on what lint finds in the list. Control characters are for
// the check of values.
func (s *subject) entriesSound(ctx context.Context) []verify.Finding {
	list, found := s.noProxy(ctx)
	if found != nil {
		return found
	}
	sound := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, list)
	for _, f := range noproxy.LintValue(sound) {
		text := f.Message
		if f.Entry != "" {
			text = noproxy.Quote(f.Entry) + ": " + text
		}
		if len(f.Clients) > 0 {
			text += "; in " + few(f.Clients)
		}
		remedy := s.patch()
		if f.Fix != "" {
			remedy = f.Fix + "; then " + remedy
		}
		if f.Severity == noproxy.SeverityError {
			found = append(found, fail(settingsRef().String(), remedy, "%s %s", f.Code, text))
		} else {
			found = append(found, warn(settingsRef().String(), remedy, "%s %s", f.Code, text))
		}
	}
	return orPass(found, "%d entries, read alike by all", len(entries(list)))
}

// asWanted compares the ConfigMap with what the settings compose.
func (s *subject) asWanted(ctx context.Context) []verify.Finding {
	if s.o.Wanted == nil {
		return skip("no settings are given: --config or --http-proxy")
	}
	data, found := s.values(ctx)
	if found != nil {
		return found
	}
	want := s.o.Wanted.Settings
	var differ []string
	for _, name := range addons.VariableNames() {
		value := want.NoProxy.String()
		switch strings.ToUpper(name) {
		case "HTTP_PROXY":
			value = want.HTTPProxy.Bare()
		case "HTTPS_PROXY":
			value = want.HTTPSProxy.Bare()
		}
		if data[name] != value {
			differ = append(differ, name+difference(name, data[name], value))
		}
	}
	live, err := s.world.get(ctx, settingsRef())
	if err != nil {
		return one(cannot(settingsRef().String(), err))
	}
	if hash := live.GetAnnotations()[addons.AnnotationHash]; len(differ) == 0 && hash != want.Hash() {
		differ = append(differ, "the settings hash is "+noproxy.Quote(hash)+", not "+want.Hash())
	}
	if len(differ) > 0 {
		return one(fail(settingsRef().String(), s.patch(), "the settings want another content: %s", strings.Join(differ, "; ")))
	}
	return pass("settings %s", want.Hash())
}

// difference says how a list differs; two proxies need no more than their name.
func difference(name, now, want string) string {
	if !isList(name) {
		return " is " + withoutUserinfo(now) + ", not " + want
	}
	lack, more := without(entries(want), entries(now)), without(entries(now), entries(want))
	text := ""
	if len(lack) > 0 {
		text += " lacks " + few(lack)
	}
	if len(more) > 0 {
		text += " has more: " + few(more)
	}
	if text == "" {
		text = " has another order or white space"
	}
	return text
}

// without are the texts of a list that another one lacks.
func without(list, others []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(e string) bool { return slices.Contains(others, e) })
}
