package nodecheck

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/eksproxy/eksproxy/node"
)

// directive is a line of a unit file, a drop-in or a manager's configuration.
type directive struct {
	section, name, value string
	file                 string
}

// parseUnit reads the directives of a file (systemd.syntax(7)).
func parseUnit(file string, data []byte) []directive {
	var out []directive
	section, pending := "", ""
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if line == "" && pending == "" || strings.HasPrefix(line, "#") || strings.HasPrefix(line, ";") {
			continue
		}
		if head, ok := strings.CutSuffix(line, `\`); ok {
			pending += head + " "
			continue
		}
		line, pending = pending+line, ""
		if strings.HasPrefix(line, "[") && strings.HasSuffix(line, "]") {
			section = line[1 : len(line)-1]
			continue
		}
		if name, value, ok := strings.Cut(line, "="); ok {
			out = append(out, directive{section, strings.TrimSpace(name), strings.TrimSpace(value), file})
		}
	}
	return out
}

// service is a unit of the tree with its drop-ins, in systemd's order.
type service struct {
	name       string
	dropIns    []string
	directives []directive
}

// service reads a unit from the tree.
func (s *subject) service(name string) service {
	svc := service{name: name}
	for _, dir := range node.UnitDirs() {
		if p := dir + "/" + name + ".service"; s.exists(p) {
			svc.directives = s.directives(p)
			break
		}
	}
	svc.dropIns = s.dropIns(name)
	for _, p := range svc.dropIns {
		svc.directives = append(svc.directives, s.directives(p)...)
	}
	return svc
}

// dropIns are the drop-ins of a service in the order of their names. Of equal
// names the unit's own wins over the one of all services, and the stronger
// directory over the weaker (systemd.unit(5)).
func (s *subject) dropIns(name string) []string {
	found := map[string]string{}
	for _, sub := range []string{"/" + name + ".service.d", "/service.d"} {
		for _, dir := range node.UnitDirs() {
			for _, p := range s.dir(dir + sub) {
				base := path.Base(p)
				if _, ok := found[base]; !ok && strings.HasSuffix(base, ".conf") {
					found[base] = p
				}
			}
		}
	}
	var out []string
	for _, base := range slices.Sorted(maps.Keys(found)) {
		out = append(out, found[base])
	}
	return out
}

// directives reads a file. One that is no file, as a link to /dev/null, has none.
func (s *subject) directives(p string) []directive {
	f, err := s.read(p)
	if err != nil {
		return nil
	}
	return parseUnit(p, f.Data)
}

// serviceNames are the services that matter: those with a drop-in of ours, and
// those that pull images or call the API server, whoever gave them a proxy.
func (s *subject) serviceNames() []string {
	names := slices.Clone(s.record.Units)
	for _, name := range []string{"containerd", "docker", "kubelet", "snap.kubelet-eks.daemon", "sandbox-image", "soci-snapshotter"} {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// setting is what decides a variable of a unit.
type setting struct {
	value string
	// source is where the value stands, via the unit file that takes it from
	// there. They are the same for Environment=.
	source, via string
	unset       bool
}

// effective is the environment that systemd gives to a unit: that of the
// manager, Environment=, EnvironmentFile=, less UnsetEnvironment=, each later
// one over the ones before (systemd.exec(5)).
func (s *subject) effective(svc service) map[string]setting {
	env := map[string]setting{}
	for _, d := range s.managerDirectives() {
		setWords(env, d)
	}
	own := map[string]setting{}
	var files, unset []directive
	for _, d := range svc.directives {
		if d.section != "Service" {
			continue
		}
		switch d.name {
		case "Environment":
			if d.value == "" {
				clear(own)
			}
			setWords(own, d)
		case "EnvironmentFile":
			files = appendOrReset(files, d)
		case "UnsetEnvironment":
			unset = appendOrReset(unset, d)
		}
	}
	maps.Copy(env, own)
	for _, d := range files {
		s.setFile(env, d)
	}
	for _, d := range unset {
		unsetWords(env, d)
	}
	return env
}

func appendOrReset(list []directive, d directive) []directive {
	if d.value == "" {
		return nil
	}
	return append(list, d)
}

func setWords(env map[string]setting, d directive) {
	for _, word := range splitWords(d.value) {
		if a, ok := assign(word); ok {
			env[a.name] = setting{value: a.value, source: d.file, via: d.file}
		}
	}
}

func (s *subject) setFile(env map[string]setting, d directive) {
	p := strings.TrimPrefix(d.value, "-")
	f, err := s.read(p)
	if err != nil {
		return
	}
	for _, a := range parseEnv(f.Data) {
		if !a.exported {
			env[a.name] = setting{value: strings.TrimSpace(a.value), source: p, via: d.file}
		}
	}
}

func unsetWords(env map[string]setting, d directive) {
	for _, word := range splitWords(d.value) {
		name, value, hasValue := strings.Cut(word, "=")
		if slices.Contains(node.Variables(), name) && (!hasValue || env[name].value == value) {
			env[name] = setting{source: d.file, via: d.file, unset: true}
		}
	}
}

// managerDirectives are the DefaultEnvironment= lines, in systemd's order.
func (s *subject) managerDirectives() []directive {
	var out []directive
	take := func(p string) {
		for _, d := range s.directives(p) {
			if d.section == "Manager" && d.name == "DefaultEnvironment" {
				out = appendOrReset(out, d)
			}
		}
	}
	take("/etc/systemd/system.conf")
	found := map[string]string{}
	for _, dir := range []string{"/etc/systemd/system.conf.d", "/run/systemd/system.conf.d", "/usr/lib/systemd/system.conf.d"} {
		for _, p := range s.dir(dir) {
			if base := path.Base(p); found[base] == "" && strings.HasSuffix(base, ".conf") {
				found[base] = p
			}
		}
	}
	for _, base := range slices.Sorted(maps.Keys(found)) {
		take(found[base])
	}
	return out
}
