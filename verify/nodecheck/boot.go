package nodecheck

import (
	"context"
	"path"
	"strings"

	"github.com/eksproxy/eksproxy/bootdata"
	"github.com/eksproxy/eksproxy/node"
	"github.com/eksproxy/eksproxy/verify"
)

const unitName = "eksproxy.service"

// nextBoot looks for who applies again: a VPC's CIDRs and a password change,
// and a new kubelet may come with a new image.
func (s *subject) nextBoot(context.Context) []verify.Finding {
	for _, dir := range node.UnitDirs() {
		unit := dir + "/" + unitName
		if !s.exists(unit) {
			continue
		}
		link := s.enabled()
		if link == "" {
			return one(warn(unit, "systemctl enable "+unitName, "the unit is there and nothing starts it at boot"))
		}
		for _, d := range s.directives(unit) {
			program, _, _ := strings.Cut(strings.TrimLeft(d.value, "-+@!:"), " ")
			if d.name == "ExecStart" && path.IsAbs(program) && !s.exists(program) {
				return one(fail(unit, s.install(), "it is enabled, and its program %s is not there", program))
			}
		}
		return pass("%s is enabled by %s", unit, link)
	}
	if p := s.boothook(); p != "" {
		return pass("a boothook calls eksproxy: %s", p)
	}
	const nobody = "neither " + unitName + " nor a boothook applies eksproxy's settings again"
	if !s.o.Live {
		return skip(nobody)
	}
	return one(warn("", "eksproxy node install", nobody))
}

// install is the command that installs as it was done before: without its
// flags it would take the timer away.
func (s *subject) install() string {
	words := []string{"eksproxy node install"}
	for _, d := range s.directives(node.ServicePath) {
		if _, mode, ok := strings.Cut(d.value, " --on-failure "); ok && d.name == "ExecStart" && mode != "keep" {
			words = append(words, "--on-failure", mode)
		}
	}
	for _, d := range s.directives(node.RefreshTimerPath) {
		if d.name == "OnUnitActiveSec" {
			words = append(words, "--refresh", d.value)
		}
	}
	return strings.Join(words, " ")
}

// withSetting is how one more setting gets to the node: where the next boot
// reads the installed configuration, into that.
func (s *subject) withSetting(flag string) string {
	if s.o.Live && s.exists(node.ConfigPath) && !strings.Contains(s.apply(), " --config ") {
		return s.install() + " " + flag + " && " + s.apply()
	}
	return s.apply() + " " + flag
}

// enabled is the link that starts the unit at boot.
func (s *subject) enabled() string {
	for _, dir := range node.UnitDirs() {
		for _, p := range s.dir(dir) {
			if ext := path.Ext(p); ext == ".wants" || ext == ".requires" {
				if link := p + "/" + unitName; s.exists(link) {
					return link
				}
			}
		}
	}
	return ""
}

// boothook is the file with a script that runs at every boot and calls eksproxy.
func (s *subject) boothook() string {
	for _, dir := range []string{"/var/lib/cloud/instance/boothooks", "/var/lib/cloud/scripts/per-boot"} {
		for _, p := range s.dir(dir) {
			if f, err := s.read(p); err == nil && callsUs(string(f.Data)) {
				return p
			}
		}
	}
	f, err := s.read(userDataPath)
	if err != nil || !f.Exists {
		return ""
	}
	doc, err := bootdata.Parse(f.Data)
	if err != nil {
		return ""
	}
	for _, p := range doc.Parts {
		if p.ContentType == "text/cloud-boothook" && callsUs(string(p.Body)) {
			return userDataPath
		}
	}
	return ""
}

// callsUs says whether a line of a script that is no comment runs eksproxy.
func callsUs(script string) bool {
	for line := range strings.Lines(script) {
		if line = strings.TrimSpace(line); !strings.HasPrefix(line, "#") && strings.Contains(line, "eksproxy") && strings.Contains(line, "apply") {
			return true
		}
	}
	return false
}

const cloudInitLog = "/var/log/cloud-init.log"

// boothooks looks in cloud-init's log for a boothook that did not succeed:
// cloud-init warns of it and goes on. The line about an unhandled content type
// of nodeadm's part, which often stands beside it, means nothing (BL-048).
func (s *subject) boothooks(context.Context) []verify.Finding {
	f, err := s.read(cloudInitLog)
	if err != nil {
		return one(undecided(cloudInitLog, "ls -l "+cloudInitLog, "%s", unreadable(err)))
	}
	if !f.Exists {
		return skip("there is no %s", cloudInitLog)
	}
	bad := ""
	for line := range strings.Lines(string(f.Data)) {
		switch {
		case strings.Contains(line, "running 'init-local'"):
			bad = "" // another boot
		case strings.Contains(line, "Boothooks script") && strings.Contains(line, "execution error"):
			bad = strings.TrimSpace(line)
		}
	}
	if bad != "" {
		return one(fail(cloudInitLog, "less /var/log/cloud-init-output.log", "%s", bad))
	}
	return pass("%s tells of no boothook that did not succeed", cloudInitLog)
}
