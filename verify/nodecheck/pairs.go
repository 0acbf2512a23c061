package nodecheck

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/eksproxy/eksproxy/node"
	"github.com/eksproxy/eksproxy/verify"
)

const etcEnvironment = "/etc/environment"

// source is a place that sets variables of ours.
type source struct {
	path string
	vars []assignment
	// systemd says that systemd reads it, to which "export" is no word.
	systemd bool
	// decides says that a value of it reaches a program.
	decides bool
	err     error
}

// sources are all places that set a variable of ours: our files, and those of
// others that units load.
func (s *subject) sources() []source {
	var out []source
	add := func(n source) {
		if !slices.ContainsFunc(out, func(o source) bool { return o.path == n.path }) && (len(n.vars) > 0 || n.err != nil) {
			out = append(out, n)
		}
	}
	for _, p := range []string{node.ProxyEnvPath, etcEnvironment} {
		f, err := s.read(p)
		add(source{path: p, vars: parseEnv(f.Data), systemd: p == node.ProxyEnvPath, decides: true, err: err})
	}
	for _, d := range s.managerDirectives() {
		add(source{path: d.file, vars: assignAll(d.value), decides: true})
	}
	deciding := map[string]bool{}
	var loaded []directive
	for _, name := range s.serviceNames() {
		svc := s.service(name)
		for _, set := range s.effective(svc) {
			deciding[set.source] = true
		}
		loaded = append(loaded, svc.directives...)
	}
	for _, d := range loaded {
		switch p := strings.TrimPrefix(d.value, "-"); {
		case d.section != "Service":
		case d.name == "EnvironmentFile" && path.IsAbs(p):
			f, err := s.read(p)
			add(source{path: p, vars: parseEnv(f.Data), systemd: true, decides: deciding[p], err: err})
		case d.name == "Environment":
			add(source{path: d.file, vars: assignAll(s.wordsOf(d.file)), decides: deciding[d.file]})
		}
	}
	return out
}

// wordsOf are all Environment= values of a unit file.
func (s *subject) wordsOf(file string) string {
	var values []string
	for _, d := range s.directives(file) {
		if d.section == "Service" && d.name == "Environment" {
			values = append(values, d.value)
		}
	}
	return strings.Join(values, " ")
}

func assignAll(value string) []assignment {
	var out []assignment
	for _, word := range splitWords(value) {
		if a, ok := assign(word); ok {
			out = append(out, a)
		}
	}
	return out
}

// pairs demands that both cases of a variable are there and equal: curl reads
// http_proxy in lower case only, Go prefers upper case, Python lower case.
func (s *subject) pairs(context.Context) []verify.Finding {
	var found []verify.Finding
	var looked []string
	for _, src := range s.sources() {
		if src.err != nil {
			found = append(found, undecided(src.path, "ls -l "+src.path, "%s", unreadable(src.err)))
			continue
		}
		looked = append(looked, src.path)
		ours := s.record.Wrote(src.path)
		why := unequal(src.env(), ours)
		if why == "" {
			continue
		}
		remedy := fmt.Sprintf("set all six variables in %s, each pair equal, or take them out: the block of /etc/environment shows how", src.path)
		if ours {
			remedy = s.apply()
		}
		if src.decides {
			found = append(found, fail(src.path, remedy, "%s", why))
		} else {
			found = append(found, warn(src.path, remedy, "%s; our drop-in decides, but others may read the file", why))
		}
	}
	if len(looked) > 0 && !slices.Contains(looked, node.ProxyEnvPath) {
		found = append(found, fail(node.ProxyEnvPath, s.apply(), "it sets none of the six variables"))
	}
	return orPass(found, "equal in %s", strings.Join(looked, ", "))
}

// env is what the reader of a source makes of it.
func (src source) env() map[string]string {
	var kept []assignment
	for _, a := range src.vars {
		if !src.systemd || !a.exported {
			kept = append(kept, a)
		}
	}
	return envOf(kept)
}

// unequal says what is wrong with the pairs of an environment. Where all are
// demanded, none may be missing.
func unequal(env map[string]string, all bool) string {
	var why []string
	for _, upper := range node.Variables()[:3] {
		lower := strings.ToLower(upper)
		a, hasUpper := env[upper]
		b, hasLower := env[lower]
		switch {
		case hasUpper && !hasLower:
			why = append(why, upper+" is set and "+lower+" is not")
		case hasLower && !hasUpper:
			why = append(why, lower+" is set and "+upper+" is not")
		case a != b:
			why = append(why, upper+" and "+lower+" differ")
		case all && a == "":
			why = append(why, upper+" is missing")
		}
	}
	if env["HTTP_PROXY"]+env["http_proxy"] != "" && env["HTTPS_PROXY"]+env["https_proxy"] == "" && !all {
		why = append(why, "HTTPS_PROXY is missing beside HTTP_PROXY: https goes direct")
	}
	return strings.Join(why, "; ")
}
