package nodecheck

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/eksproxy/eksproxy/internal/systemd"
	"github.com/eksproxy/eksproxy/node"
	"github.com/eksproxy/eksproxy/verify"
)

// units asks the service manager about each unit of ours. Where it does not
// answer there is a finding.
func (s *subject) units(ctx context.Context) ([]systemd.Unit, []verify.Finding) {
	var units []systemd.Unit
	var found []verify.Finding
	if s.o.Services == nil {
		err := s.o.ServicesErr
		if err == nil {
			err = errors.New("nobody was given to ask")
		}
		return nil, one(undecided("systemd", "sudo eksproxy verify node", "systemd cannot be asked: %v", err))
	}
	for _, name := range s.record.Units {
		u, err := s.o.Services.Unit(ctx, name)
		if err != nil {
			found = append(found, undecided(name, "systemctl status "+name, "%v", err))
			continue
		}
		if u.Loaded {
			u.Name = name
			units = append(units, u)
		}
	}
	return units, found
}

// names lists units for evidence.
func names(units []systemd.Unit) string {
	var out []string
	for _, u := range units {
		out = append(out, u.Name)
	}
	return strings.Join(out, ", ")
}

// loaded looks at what systemd has read, which is not what the files say.
func (s *subject) loaded(ctx context.Context) []verify.Finding {
	units, found := s.units(ctx)
	for _, u := range units {
		reload := "systemctl daemon-reload && systemctl try-restart " + u.Name
		switch dropIn := node.DropInPath(u.Name); {
		case u.NeedDaemonReload:
			found = append(found, fail(u.Name, reload, "systemd has not read its files since they were changed (NeedDaemonReload=yes)"))
		case !slices.Contains(u.DropIns, dropIn):
			found = append(found, fail(u.Name, s.apply()+" && "+reload, "systemd has not loaded %s (DropInPaths)", dropIn))
		default:
			found = append(found, s.environmentFiles(u, reload)...)
		}
	}
	if len(found)+len(units) == 0 {
		return skip("none of our units is loaded: %s", strings.Join(s.record.Units, ", "))
	}
	return orPass(found, "our drop-in is loaded last of those that set the variables: %s", names(units))
}

// environmentFiles demands that ours is the last one that sets the variables.
func (s *subject) environmentFiles(u systemd.Unit, reload string) []verify.Finding {
	at := -1
	for i, p := range u.EnvironmentFiles {
		if p == node.ProxyEnvPath {
			at = i
		}
	}
	if at < 0 {
		return one(fail(u.Name, reload, "%s is not among its EnvironmentFiles (%s)", node.ProxyEnvPath, strings.Join(u.EnvironmentFiles, ", ")))
	}
	for _, p := range u.EnvironmentFiles[at+1:] {
		f, err := s.read(p)
		if err != nil {
			return one(undecided(u.Name, "ls -l "+p, "%s is read behind ours: %s", p, unreadable(err)))
		}
		if list := parseEnv(f.Data); len(list) > 0 && differs(envOf(list), s.ours) {
			return one(fail(u.Name, takeOut(p)+" && "+reload, "%s is read behind ours and sets %s", p, list[0].name))
		}
	}
	return nil
}

// takeOut comments the proxy variables of an environment file out.
func takeOut(p string) string {
	return fmt.Sprintf("sed -i.bak -E 's/^(export +)?(https?|no)_proxy *=/#&/I' %s", p)
}

func differs(env, ours map[string]string) bool {
	for name, value := range env {
		if value != ours[name] {
			return true
		}
	}
	return false
}

// running compares the environment of each process with proxy.env.
func (s *subject) running(ctx context.Context) []verify.Finding {
	units, found := s.units(ctx)
	var good []string
	for _, u := range units {
		if !u.Running() || s.o.Environ == nil {
			continue
		}
		env, err := s.o.Environ(u.MainPID)
		if err != nil {
			found = append(found, undecided(u.Name, "sudo eksproxy verify node", "%v", err))
			continue
		}
		for _, name := range node.Variables() {
			s.learn(env[name])
		}
		if why := s.otherEnvironment(env); why != "" {
			found = append(found, fail(u.Name, "systemctl try-restart "+u.Name, "process %d %s", u.MainPID, why))
			continue
		}
		good = append(good, u.Name)
	}
	if len(found)+len(good) == 0 {
		return skip("none of our units runs: %s", strings.Join(s.record.Units, ", "))
	}
	return orPass(found, "the six variables of %s: %s", node.ProxyEnvPath, strings.Join(good, ", "))
}

// otherEnvironment says what of an environment is not as in proxy.env.
func (s *subject) otherEnvironment(env map[string]string) string {
	for _, name := range node.Variables() {
		have, want := env[name], s.ours[name]
		switch {
		case have == want:
		case have == "":
			return "has no " + name
		case want == "":
			return fmt.Sprintf("has %s=%s, which %s does not set", name, have, node.ProxyEnvPath)
		case isList(name):
			return fmt.Sprintf("has another %s: %s", name, listDifference(have, want))
		case bare(have) == bare(want):
			return fmt.Sprintf("has %s with another user or password than %s", name, node.ProxyEnvPath)
		default:
			return fmt.Sprintf("has %s=%s, and %s says %s", name, bare(have), node.ProxyEnvPath, bare(want))
		}
	}
	return ""
}

// listDifference says in which entries one list is not the other.
func listDifference(have, want string) string {
	var parts []string
	if lack := missing(entries(want), entries(have)); len(lack) > 0 {
		parts = append(parts, "it lacks "+strings.Join(lack, ","))
	}
	if more := missing(entries(have), entries(want)); len(more) > 0 {
		parts = append(parts, "it has "+strings.Join(more, ","))
	}
	if len(parts) == 0 {
		return "the same entries in another order or twice"
	}
	return strings.Join(parts, " and ")
}

// missing are the wanted entries that a list does not have.
func missing(want, have []string) []string {
	var out []string
	for _, w := range want {
		if !slices.ContainsFunc(have, func(h string) bool { return strings.EqualFold(h, w) }) {
			out = append(out, w)
		}
	}
	return out
}
