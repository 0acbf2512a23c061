package node

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/eksproxy/eksproxy/internal/rootfs"
	"github.com/eksproxy/eksproxy/plan"
	"github.com/eksproxy/eksproxy/proxyconfig"
)

// program is the smallest ELF file of an architecture: a header alone.
func program(machine uint16) []byte {
	b := make([]byte, 64)
	copy(b, "\x7fELF\x02\x01\x01")
	binary.LittleEndian.PutUint16(b[16:], 2) // executable
	binary.LittleEndian.PutUint16(b[18:], machine)
	binary.LittleEndian.PutUint32(b[20:], 1)
	binary.LittleEndian.PutUint16(b[52:], 64)
	return b
}

const amd64, arm64 = 62, 183

func installation(family Family) Installation {
	return Installation{
		System: System{family, []string{"containerd"}}, Program: program(amd64), Config: []byte("kind: ProxyConfig\n"),
		Files:     map[string]InstalledFile{"proxy-login": {[]byte("svc:" + testPassword), true}, "trusted-ca.pem": {[]byte("PEM"), false}},
		OnFailure: "keep",
	}
}

func install(t *testing.T, root *rootfs.Root, in Installation) *Prepared {
	t.Helper()
	p, err := PrepareInstall(root, in)
	check(t, err)
	_, err = p.Apply(t.Context(), "")
	check(t, err)
	return p
}

func uninstall(t *testing.T, root *rootfs.Root) {
	t.Helper()
	p, err := PrepareUninstall(root)
	check(t, err)
	_, err = p.Apply(t.Context(), "")
	check(t, err)
}

// What is installed, per family, with the ordering of its unit.
func TestInstalledFiles(t *testing.T) {
	for _, family := range []Family{AL2, AL2023, Ubuntu} {
		root := plant(t, baseTree(family))
		in := installation(family)
		in.Refresh = 30 * time.Minute
		p := install(t, root, in)
		var b strings.Builder
		for _, c := range p.Changes {
			fmt.Fprintf(&b, "== %s %s: %s\n", c.After.Mode, c.Target, c.Reason)
			switch {
			case strings.Contains(c.Target, ".wants/"):
				target, err := os.Readlink(filepath.Join(root.Dir(), c.Target))
				check(t, err)
				fmt.Fprintf(&b, "-> %s\n", target)
			case c.Target != ProgramPath:
				b.WriteString(read(t, root, c.Target))
			}
		}
		golden(t, "install-"+string(family)+".txt", b.String())
	}
}

// uninstall(install(T)) = T, with apply and revert in any order in between.
func TestUninstallRestoresTheTree(t *testing.T) {
	apply := func(t *testing.T, root *rootfs.Root) {
		t.Helper()
		applyTo(t, root, settings(true), proxyconfig.Node{})
	}
	in := func(t *testing.T, root *rootfs.Root) { t.Helper(); install(t, root, installation(AL2023)) }
	for name, steps := range map[string][]func(*testing.T, *rootfs.Root){
		"alone":                          {in, uninstall},
		"install apply revert uninstall": {in, apply, revert, uninstall},
		"install apply uninstall revert": {in, apply, uninstall, revert},
		"apply install uninstall revert": {apply, in, uninstall, revert},
		"apply install revert uninstall": {apply, in, revert, uninstall},
		"twice":                          {in, in, apply, apply, uninstall, revert},
	} {
		root := plant(t, baseTree(AL2023))
		before := snapshot(t, root.Dir())
		for _, step := range steps {
			step(t, root)
		}
		if diff := cmp.Diff(before, snapshot(t, root.Dir())); diff != "" {
			t.Errorf("%s: the tree differs (-before +after):\n%s", name, diff)
		}
	}
}

// A password that is installed is shown by no plan, on the way there and back.
func TestInstalledPasswordIsHidden(t *testing.T) {
	root := plant(t, baseTree(AL2023))
	there := install(t, root, installation(AL2023))
	back, err := PrepareUninstall(root)
	check(t, err)
	for _, p := range []*Prepared{there, back} {
		doc, err := json.Marshal(p.Plan)
		check(t, err)
		quoted, err := json.Marshal(testPassword)
		check(t, err)
		if bytes.Contains(doc, bytes.Trim(quoted, `"`)) || !bytes.Contains(doc, []byte("[secret]")) {
			t.Errorf("the plan shows the password: %s", doc)
		}
	}
}

// Apply and install keep out of each other's files.
func TestInstallAndApplyAreApart(t *testing.T) {
	root := plant(t, baseTree(AL2023))
	install(t, root, installation(AL2023))
	if s, err := ReadStatus(root); err != nil || s.Applied {
		t.Errorf("an installation counts as applied: %v, %v", s, err)
	}
	applyTo(t, root, settings(false), proxyconfig.Node{})
	for _, p := range []func() *Prepared{
		func() *Prepared { p, err := PrepareInstall(root, installation(AL2023)); check(t, err); return p },
		func() *Prepared {
			p, err := Prepare(root, desire(t, root, settings(false), proxyconfig.Node{}))
			check(t, err)
			return p
		},
	} {
		if pending := p().Pending(); len(pending) > 0 {
			t.Errorf("a second run would %s %s", pending[0].Action, pending[0].Target)
		}
	}
	revert(t, root)
	if !root.Exists(ServicePath) || root.Exists(ProxyEnvPath) {
		t.Error("revert took the installation along, or left a file of apply")
	}
}

func TestInstallRefusesAnotherArchitecture(t *testing.T) {
	for name, c := range map[string]struct {
		files tree
		want  string
	}{
		"same":    {tree{"/bin/sh": file(string(program(amd64)))}, ""},
		"other":   {tree{"/sbin/init": link("../lib/systemd"), "/lib/systemd": file(string(program(arm64)))}, "the program is for EM_X86_64 and /sbin/init of the tree is for EM_AARCH64; give --binary"},
		"no ELF":  {tree{"/sbin/init": file("#!/bin/sh\n"), "/bin/sh": file(string(program(arm64)))}, "/bin/sh of the tree is for EM_AARCH64"},
		"neither": {tree{}, ""},
	} {
		root := plant(t, baseTree(AL2023).with(c.files))
		before := snapshot(t, root.Dir())
		p, err := PrepareInstall(root, installation(AL2023))
		switch {
		case c.want != "":
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: error %v, want %q", name, err, c.want)
			}
			if diff := cmp.Diff(before, snapshot(t, root.Dir())); diff != "" {
				t.Error(diff)
			}
		case err != nil:
			t.Errorf("%s: %v", name, err)
		case (name == "neither") != strings.Contains(strings.Join(p.Notes, ""), "neither /sbin/init nor /bin/sh"):
			t.Errorf("%s: notes %q", name, p.Notes)
		}
	}
	if _, err := PrepareInstall(plant(t, baseTree(AL2023)), Installation{Program: []byte("#!/bin/sh")}); err == nil {
		t.Error("a script was taken for the program")
	}
}

// A program that a package brought is left to the package.
func TestPackagedProgram(t *testing.T) {
	root := plant(t, baseTree(AL2023).with(tree{ProgramPath: {text: string(program(amd64)), mode: 0o755}}))
	before := snapshot(t, root.Dir())
	install(t, root, installation(AL2023))
	uninstall(t, root)
	if diff := cmp.Diff(before, snapshot(t, root.Dir())); diff != "" {
		t.Error(diff)
	}
	write(t, root, ProgramPath, "another")
	if _, err := PrepareInstall(root, installation(AL2023)); err == nil || !strings.Contains(err.Error(), "another program than the one to install") {
		t.Errorf("error %v", err)
	}
}

// A new program replaces the old one; neither is in plans or in the record.
func TestUpgrade(t *testing.T) {
	root := plant(t, baseTree(AL2023))
	before := snapshot(t, root.Dir())
	install(t, root, installation(AL2023))
	in := installation(AL2023)
	in.Program = append(in.Program, bytes.Repeat([]byte("new"), 100_000)...)
	p := install(t, root, in)
	if got := p.Pending(); len(got) != 1 || got[0].Action != plan.Update || len(got[0].Diff()) > 1000 {
		t.Errorf("the plan is %v", got)
	}
	if len(read(t, root, StatePath)) > 50_000 {
		t.Errorf("the record has %d bytes", len(read(t, root, StatePath)))
	}
	uninstall(t, root)
	if diff := cmp.Diff(before, snapshot(t, root.Dir())); diff != "" {
		t.Error(diff)
	}
}

func TestStopMakesTheUnitFail(t *testing.T) {
	in := installation(AL2023)
	for onFailure, success := range map[string]bool{"keep": true, "fallback": true, "stop": false} {
		in.OnFailure = onFailure
		unit := in.service()
		if strings.Contains(unit, "SuccessExitStatus=3\n") != success || !strings.Contains(unit, "--on-failure "+onFailure+"\n") {
			t.Errorf("%s gives %s", onFailure, unit)
		}
	}
}

// The kept copy of fetched credentials is hidden as well, when it is taken back
// without any settings.
func TestKeptCredentialsAreHidden(t *testing.T) {
	root := plant(t, baseTree(AL2023))
	s := settings(true)
	s.KeepCredentials = true
	applyTo(t, root, s, proxyconfig.Node{})
	if got := read(t, root, CredentialsPath); got != "svc:"+testPassword+"\n" {
		t.Fatalf("the kept copy is %q", got)
	}
	p, err := PrepareRevert(root)
	check(t, err)
	for _, c := range p.Changes {
		if c.Target == CredentialsPath && (c.Before.Content.String() != "[secret]\n" || strings.Contains(c.Diff(), testPassword)) {
			t.Errorf("the plan shows %s", c.Before.Content)
		}
	}
}
