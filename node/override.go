package node

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/eksproxy/eksproxy/internal/rootfs"
)

// overridden reports drop-ins of others that sort behind ours and change one
// of the six variables. systemd reads drop-ins in the order of their names,
// whichever directory they lie in, and those of all services before the
// unit's own where the names are equal (systemd.unit(5)).
func overridden(root *rootfs.Root, sys System) ([]string, error) {
	listed := map[string][]string{}
	for _, dir := range unitDirs() {
		names, err := root.ReadDir(dir)
		if err != nil {
			return nil, fmt.Errorf("looking for drop-ins in %s: %w", dir, err)
		}
		listed[dir] = names
	}
	var notes []string
	for _, u := range sys.units() {
		for _, dir := range unitDirs() {
			for _, sub := range []string{u.name + ".service.d", "service.d"} {
				if !slices.Contains(listed[dir], sub) {
					continue
				}
				found, err := overridesIn(root, dir+"/"+sub, u.name)
				if err != nil {
					return nil, err
				}
				notes = append(notes, found...)
			}
		}
	}
	return notes, nil
}

func overridesIn(root *rootfs.Root, dir, unit string) ([]string, error) {
	names, err := root.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("looking for drop-ins in %s: %w", dir, err)
	}
	var notes []string
	for _, name := range names {
		if name <= dropInName || !strings.HasSuffix(name, ".conf") {
			continue
		}
		f, err := root.Read(dir + "/" + name)
		if err != nil {
			return nil, fmt.Errorf("looking for drop-ins in %s: %w", dir, err)
		}
		if why := changesProxy(root, f.Data); why != "" {
			notes = append(notes, fmt.Sprintf("%s/%s sorts behind our drop-in of %s and %s", dir, name, unit, why))
		}
	}
	return notes, nil
}

// changesProxy says what a drop-in does to our variables; empty where nothing.
// Environment= never wins over an EnvironmentFile= (systemd.exec(5)), but who
// wrote it meant something by it.
func changesProxy(root *rootfs.Root, data []byte) string {
	for line := range bytes.Lines(data) {
		option, value, _ := strings.Cut(strings.TrimSpace(string(line)), "=")
		option, value = strings.TrimSpace(option), strings.TrimSpace(value)
		name := named(value)
		switch {
		case option == "EnvironmentFile" && value == "":
			return "drops every EnvironmentFile= before it, ours too"
		case option == "EnvironmentFile":
			if v := setIn(root, strings.TrimPrefix(value, "-")); v != "" {
				return fmt.Sprintf("takes %s from %s", v, value)
			}
		case option == "UnsetEnvironment" && name != "":
			return "unsets " + name
		case option == "Environment" && name != "":
			return "sets " + name + " by Environment=, which has no effect beside our EnvironmentFile="
		}
	}
	return ""
}

// named finds one of our variables among the words of a value.
func named(value string) string {
	for word := range strings.FieldsSeq(value) {
		word, _, _ = strings.Cut(strings.Trim(word, `"'`), "=")
		for _, v := range variables() {
			if word == v {
				return v
			}
		}
	}
	return ""
}

// setIn finds one of our variables in an environment file of the tree.
func setIn(root *rootfs.Root, path string) string {
	f, err := root.Read(path)
	if err != nil || path == ProxyEnvPath {
		return ""
	}
	for _, line := range lines(f.Data) {
		if v, ok := sets(line); ok {
			return v
		}
	}
	return ""
}
