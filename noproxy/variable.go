package noproxy

import (
	"slices"
	"strings"
)

// source is a group of variables of which the first that is set counts.
type source struct {
	names []string
	// hides: a variable that is set and empty ends the group.
	hides bool
	// final: a variable that is set and empty ends the search too.
	final bool
}

// lookup gives the variable that counts. It says true where the search ends
// without one.
func (s source) lookup(env Environment) (name, value string, ended bool) {
	for _, name := range s.names {
		value, set := env[name]
		switch {
		case value != "":
			return name, value, false
		case set && s.final:
			return "", "", true
		case set && s.hides:
			return "", "", false
		}
	}
	return "", "", false
}

// lookup goes through groups.
func lookup(sources []source, env Environment) (name, value string) {
	for _, s := range sources {
		name, value, ended := s.lookup(env)
		if ended || name != "" {
			return name, value
		}
	}
	return "", ""
}

func namesOf(sources []source) []string {
	var names []string
	for _, s := range sources {
		names = append(names, s.names...)
	}
	return names
}

// The usual groups. lowerFirst and its kin name the variables; hiding is for
// clients that take a variable for unset where its lower-case twin is empty.

func lowerFirst(name string) source {
	return source{names: []string{strings.ToLower(name), strings.ToUpper(name)}}
}

func upperFirst(name string) source {
	return source{names: []string{strings.ToUpper(name), strings.ToLower(name)}}
}

func only(name string) source { return source{names: []string{name}} }

func (s source) hiding() source {
	s.hides = true
	return s
}

// cgiRule says what REQUEST_METHOD, which only a CGI program has, does.
type cgiRule uint8

const (
	cgiIgnored cgiRule = iota
	cgiFails           // requests that HTTP_PROXY or http_proxy would serve fail
	cgiDrops           // HTTP_PROXY is not read
	cgiDirect          // no proxy is used
)

// withoutUpper leaves the variables that a request header can set away.
func withoutUpper(sources []source) []source {
	kept := slices.Clone(sources)
	for i, s := range kept {
		kept[i].names = slices.DeleteFunc(slices.Clone(s.names), func(n string) bool { return n == "HTTP_PROXY" })
	}
	return kept
}
