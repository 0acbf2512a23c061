package nodecheck

import (
	"context"
	"path"
	"regexp"
	"strings"

	"github.com/eksproxy/eksproxy/node"
	"github.com/eksproxy/eksproxy/verify"
)

// packages looks at the proxy of yum, dnf or apt.
func (s *subject) packages(context.Context) []verify.Finding {
	p := s.o.System.Family.PackageManager()
	if s.o.System.Family == node.Ubuntu {
		return s.apt(p)
	}
	found := s.options(p)
	for _, repo := range s.dir("/etc/yum.repos.d") {
		if path.Ext(repo) == ".repo" {
			found = append(found, s.options(repo)...)
		}
	}
	if len(found) == 0 && !s.record.Wrote(p) {
		return skip("%s is not ours to write (node.targets.packageManager)", p)
	}
	return orPass(found, "%s says %s", p, bare(s.ours["HTTPS_PROXY"]))
}

// options looks at each proxy option of an INI file. That of a repository wins
// over the one of [main].
func (s *subject) options(p string) []verify.Finding {
	f, err := s.read(p)
	if err != nil {
		return one(undecided(p, "ls -l "+p, "%s", unreadable(err)))
	}
	var found []verify.Finding
	section := ""
	for line := range strings.Lines(string(f.Data)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") && strings.HasSuffix(line, "]") {
			section = line[1 : len(line)-1]
		}
		name, value, ok := strings.Cut(line, "=")
		if !ok || strings.TrimSpace(name) != "proxy" {
			continue
		}
		value = strings.TrimSpace(value)
		s.learn(value)
		found = append(found, s.option(p, section, value)...)
	}
	return found
}

func (s *subject) option(p, section, value string) []verify.Finding {
	remedy := s.apply()
	if !s.record.Wrote(p) {
		remedy = "sed -i.bak -E 's/^ *proxy *=/#&/' " + p
	}
	none := strings.EqualFold(value, "_none_")
	switch {
	case none && s.o.System.Family == node.AL2023:
		return one(fail(p, remedy, "[%s] says proxy=%s, which is yum's word: dnf takes it for a host; it wants an empty value", section, value))
	case section == "main" && s.record.Wrote(p) && bare(value) != bare(s.ours["HTTPS_PROXY"]):
		return one(fail(p, remedy, "[main] says proxy=%s, not %s", bare(value), bare(s.ours["HTTPS_PROXY"])))
	case value == "" || none || bare(value) == bare(s.ours["HTTPS_PROXY"]):
		return nil
	}
	return one(warn(p, remedy, "[%s] says proxy=%s, not %s", section, bare(value), bare(s.ours["HTTPS_PROXY"])))
}

// apt looks for files behind ours: apt reads apt.conf.d in the order of the
// names, and apt.conf after it; the last one wins.
func (s *subject) apt(ours string) []verify.Finding {
	files := append(s.dir(path.Dir(ours)), "/etc/apt/apt.conf")
	aptProxy := regexp.MustCompile(`(?im)^\s*Acquire::(https?)::Proxy\s+"([^"]*)"`)
	var found []verify.Finding
	for _, p := range files {
		f, err := s.read(p)
		if err != nil || !f.Exists || path.Dir(p) == path.Dir(ours) && p < ours {
			continue
		}
		for _, m := range aptProxy.FindAllStringSubmatch(string(f.Data), -1) {
			s.learn(m[2])
			want := s.ours[strings.ToUpper(m[1])+"_PROXY"]
			if bare(m[2]) == bare(want) {
				continue
			}
			remedy := s.apply()
			if p != ours {
				remedy = "mv " + p + " /root/"
			}
			found = append(found, fail(p, remedy, "Acquire::%s::Proxy is %s, not %s", m[1], bare(m[2]), bare(want)))
		}
	}
	if len(found) == 0 && !s.record.Wrote(ours) {
		return skip("%s is not ours to write (node.targets.packageManager)", ours)
	}
	return orPass(found, "%s says %s", ours, bare(s.ours["HTTPS_PROXY"]))
}
