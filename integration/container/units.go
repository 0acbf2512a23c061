package container

import (
	"embed"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// unitFiles are the units that stand in for what only the images of a family
// have: the same names and ordering, and programs that only log.
//
//go:embed testdata/units
var unitFiles embed.FS

// units are where systemd looks for the units of the machine's owner.
const units = "/etc/systemd/system/"

// addUnits adds the stand-ins of a family, enabled as they say.
func (c *Container) addUnits(t *testing.T, family, order string) {
	t.Helper()
	if family == "al2023" && order != OrderA {
		t.Fatalf("units of al2023 in order %q: nodeadm-config goes before cloud-init, which is a cycle but in order A", order)
	}
	dir := path.Join("testdata/units", family)
	entries, err := unitFiles.ReadDir(dir)
	if err != nil {
		t.Fatalf("no stand-ins of a family %q: %v", family, err)
	}
	for _, entry := range entries {
		text, err := unitFiles.ReadFile(path.Join(dir, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		c.AddUnit(t, entry.Name(), string(text))
	}
}

// AddUnit adds a unit before the boot, and enables it for the targets in its
// WantedBy lines.
func (c *Container) AddUnit(t *testing.T, name, text string) {
	t.Helper()
	c.seed(t, units+name, []byte(text), 0o644)
	for line := range strings.Lines(text) {
		targets, found := strings.CutPrefix(strings.TrimSpace(line), "WantedBy=")
		if !found {
			continue
		}
		for target := range strings.FieldsSeq(targets) {
			c.seedLink(t, units+name, units+target+".wants/"+name)
		}
	}
}

// order is how cloud-init's units are ordered.
func (c *Container) order(t *testing.T, order string) {
	t.Helper()
	switch order {
	case "", OrderD:
		return
	case OrderA:
	default:
		t.Fatalf("no order %q of cloud-init's units, only %q and %q", order, OrderD, OrderA)
	}
	found, err := filepath.Glob(filepath.Join(c.root, "usr/lib/systemd/system/cloud-*.service"))
	if err != nil || len(found) == 0 {
		t.Fatalf("looking for cloud-init's units: %d found, %v", len(found), err)
	}
	for _, file := range found {
		text := readFile(t, file)
		for _, line := range []string{"Before=sysinit.target\n", "After=multi-user.target\n"} {
			text = strings.ReplaceAll(text, line, "")
		}
		c.seed(t, units+filepath.Base(file), []byte(text), 0o644)
	}
}
