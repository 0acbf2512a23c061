package node

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/eksproxy/eksproxy/internal/rootfs"
)

// Family is a kind of operating system: it decides what is written.
type Family string

// The families, as --os names them.
const (
	AL2    Family = "al2"
	AL2023 Family = "al2023"
	Ubuntu Family = "ubuntu"
)

// title is the family's name for a person.
func (f Family) title() string {
	return map[Family]string{AL2: "Amazon Linux 2", AL2023: "Amazon Linux 2023", Ubuntu: "Ubuntu"}[f]
}

// System is what eksproxy needs to know of a node's software.
type System struct {
	Family Family
	// Runtimes are the container runtimes that get a drop-in.
	Runtimes []string
}

// String names the system for a person.
func (s System) String() string {
	return s.Family.title() + ", " + strings.Join(s.Runtimes, " and ")
}

// ErrUnknownOS says that the tree's operating system is none of the families.
var ErrUnknownOS = errors.New("the operating system is not known; give --os al2, al2023 or ubuntu")

// unitDirs are where systemd finds units, in its order.
func unitDirs() [4]string {
	return [...]string{"/etc/systemd/system", "/run/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system"}
}

// Detect finds out the system of a tree. What is given is not looked for.
func Detect(root *rootfs.Root, os, runtime string) (System, error) {
	s := System{Family: Family(os)}
	if os == "" {
		family, err := detectFamily(root)
		if err != nil {
			return System{}, err
		}
		s.Family = family
	}
	if runtime != "" {
		s.Runtimes = []string{runtime}
		return s, nil
	}
	both := []string{"containerd", "docker"}
	for _, r := range both {
		if hasUnit(root, r) {
			s.Runtimes = append(s.Runtimes, r)
		}
	}
	if len(s.Runtimes) == 0 {
		s.Runtimes = both
	}
	return s, nil
}

func hasUnit(root *rootfs.Root, name string) bool {
	for _, dir := range unitDirs() {
		if root.Exists(dir + "/" + name + ".service") {
			return true
		}
	}
	return false
}

// detectFamily goes by nodeadm's units before the version: a later Amazon
// Linux that boots by nodeadm takes the same files.
func detectFamily(root *rootfs.Root) (Family, error) {
	var release rootfs.File
	for _, path := range []string{"/etc/os-release", "/usr/lib/os-release"} {
		f, err := root.Read(path)
		if err != nil {
			return "", fmt.Errorf("detecting the operating system: %w", err)
		}
		if f.Exists {
			release = f
			break
		}
	}
	id, version := osRelease(release.Data)
	switch {
	case id == "amzn" && (version == "2023" || hasUnit(root, "nodeadm-config")):
		return AL2023, nil
	case id == "amzn" && version == "2":
		return AL2, nil
	case id == "ubuntu":
		return Ubuntu, nil
	case !release.Exists:
		return "", fmt.Errorf("reading /etc/os-release below %s: there is none: %w", root.Dir(), ErrUnknownOS)
	}
	return "", fmt.Errorf("/etc/os-release has ID %q, VERSION_ID %q: %w", id, version, ErrUnknownOS)
}

// osRelease reads ID and VERSION_ID of os-release(5).
func osRelease(data []byte) (id, version string) {
	for line := range bytes.Lines(data) {
		name, value, _ := strings.Cut(strings.TrimSpace(string(line)), "=")
		switch value = strings.Trim(value, `"'`); name {
		case "ID":
			id = value
		case "VERSION_ID":
			version = value
		}
	}
	return id, version
}
