package node

import (
	"path"
	"slices"
	"strings"
)

// What user data needs to interpret the same items as apply, without the
// program: read-only views of what is private here.

// Option is an option of a Keys item, as it must stand in the section.
type Option struct {
	Name, Value string
	// Present is false where the option must not stand there.
	Present bool
}

// Options are those of a Keys item, in the order in which they are set.
func (i Item) Options() []Option {
	options := make([]Option, len(i.keys))
	for n, k := range i.keys {
		options[n] = Option{Name: k.name, Value: k.value, Present: k.present}
	}
	return options
}

// DropInUnit is the service whose drop-in the item is; empty for other items.
func (i Item) DropInUnit() string {
	if path.Base(i.Path) != dropInName {
		return ""
	}
	return strings.TrimSuffix(path.Base(path.Dir(i.Path)), ".service.d")
}

// IsEtcEnvironment says whether the item is the block in /etc/environment,
// whose NO_PROXY is made to fit the family's pam_env.
func (i Item) IsEtcEnvironment() bool { return i.Path == etcEnv }

// IsAnchor says whether the item is a certificate for the trust store.
func (i Item) IsAnchor() bool {
	return slices.ContainsFunc([]Family{AL2023, Ubuntu}, func(f Family) bool { return path.Dir(i.Path) == f.trust().anchors })
}

// NoProxyLimit is how many bytes of NO_PROXY /etc/environment takes; 0 is no
// limit.
func (f Family) NoProxyLimit() int {
	if f == AL2 {
		return pamLine - len("NO_PROXY=")
	}
	return 0
}

// Runtimes are the container runtimes that a node may have.
func Runtimes() []string { return []string{"containerd", "docker"} }
