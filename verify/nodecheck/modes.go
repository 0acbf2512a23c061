package nodecheck

import (
	"context"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/eksproxy/eksproxy/internal/rootfs"
	"github.com/eksproxy/eksproxy/node"
	"github.com/eksproxy/eksproxy/verify"
)

const (
	readableByOthers = 0o077
	readableByAll    = 0o004
)

// secretModes looks at the files that must be private, and for the password in
// those that everyone can read.
func (s *subject) secretModes(context.Context) []verify.Finding {
	var found []verify.Finding
	manager := s.o.System.Family.PackageManager()
	private := []string{node.ProxyEnvPath, node.StatePath, credentialsPath, manager}
	n := 0
	for _, p := range private {
		f, err := s.read(p)
		switch {
		case err != nil:
			found = append(found, undecided(p, "ls -l "+p, "%s", unreadable(err)))
		case !f.Exists || p == manager && !s.holdsSecret(f):
		case f.Mode&readableByOthers != 0:
			found = append(found, fail(p, "chmod 0600 "+p, "it holds secrets and has mode %04o", f.Mode.Perm()))
		default:
			n++
		}
	}
	searched := 0
	for _, p := range s.searchedFiles() {
		f, err := s.read(p)
		if err != nil || !f.Exists || slices.Contains(private, p) || f.Mode&readableByAll == 0 {
			continue
		}
		searched++
		switch {
		case s.holdsSecret(f):
			found = append(found, fail(p, s.hide(p), "it holds the proxy's password and everyone can read it (mode %04o)", f.Mode.Perm()))
		case othersPassword().Match(f.Data):
			found = append(found, warn(p, s.hide(p), "it holds a password of a proxy and everyone can read it (mode %04o)", f.Mode.Perm()))
		}
	}
	return orPass(found, "%d private files; no password in %d files that everyone can read", n, searched)
}

// hide is how a password gets out of a file that programs of others read.
func (s *subject) hide(p string) string {
	switch {
	case p == etcEnvironment: // ours would be private, so it is a line of others
		return "sed -i -E '/proxy *=.*:\\/\\/[^ ]*@/Id' " + p + " && " + s.apply()
	case s.record.Wrote(p):
		return s.apply()
	case p == nodeadmCache || p == userDataPath:
		return "take the password out of the user data, change it at the proxy, and chmod 0600 " + p
	}
	return "chmod 0600 " + p
}

// othersPassword is user and password in the URL of a proxy. It is compiled when
// it is needed: apply, which boots wait for, is in the same program.
func othersPassword() *regexp.Regexp {
	return regexp.MustCompile(`(?im)^[^#\n]*proxy[^\n]*://[^/@\s:"']+:[^@\s"']+@`)
}

func (s *subject) holdsSecret(f rootfs.File) bool {
	text := verify.Printable(strings.ReplaceAll(string(f.Data), "%%", "%")) // doubled in unit files
	return slices.ContainsFunc(s.knownSecrets(), func(secret string) bool { return strings.Contains(text, secret) })
}

// searchedFiles are where people and programs put a proxy's URL.
func (s *subject) searchedFiles() []string {
	files := []string{
		etcEnvironment, "/etc/profile", "/etc/bashrc", "/etc/bash.bashrc", "/etc/yum.conf", "/etc/dnf/dnf.conf", "/etc/apt/apt.conf",
		"/etc/sysconfig/docker", "/etc/default/docker", daemonJSON, "/etc/containerd/config.toml", "/etc/systemd/system.conf",
		nodeadmCache, userDataPath, "/run/eksproxy/status.json", "/var/log/cloud-init.log", "/var/log/cloud-init-output.log",
	}
	for _, dir := range []string{
		"/etc/profile.d", "/etc/yum.repos.d", "/etc/apt/apt.conf.d", "/etc/eksproxy", "/etc/systemd/system.conf.d", nodeadmDropIn,
		"/var/lib/cloud/instance/scripts", "/var/lib/cloud/instance/boothooks", "/var/lib/cloud/scripts/per-boot",
	} {
		files = append(files, s.dir(dir)...)
	}
	for _, dir := range node.UnitDirs()[:2] {
		for _, p := range s.dir(dir) {
			if strings.HasSuffix(p, ".d") {
				files = append(files, s.dir(p)...)
			} else if path.Ext(p) == ".service" {
				files = append(files, p)
			}
		}
	}
	for _, src := range s.sources() {
		files = append(files, src.path)
	}
	slices.Sort(files)
	return slices.Compact(files)
}
