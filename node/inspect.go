package node

import (
	"path"
	"slices"
	"strings"

	"github.com/eksproxy/eksproxy/internal/rootfs"
)

// Inspection is what the record says of a tree, for those who check it. It
// changes nothing.
type Inspection struct {
	Status
	// Units are the services that have a drop-in of ours, without ".service".
	Units  []string
	record *record
}

// Inspect reads the record of a tree and compares the tree with it.
func Inspect(root *rootfs.Root) (Inspection, error) {
	s, err := ReadStatus(root)
	if err != nil {
		return Inspection{}, err
	}
	r, err := readRecord(root)
	if err != nil || r == nil {
		return Inspection{Status: s}, err
	}
	i := Inspection{Status: s, record: r}
	for _, f := range r.Files {
		if dir, file := path.Split(f.Path); file == dropInName {
			i.Units = append(i.Units, strings.TrimSuffix(path.Base(dir), ".service.d"))
		}
	}
	return i, nil
}

// Wrote says whether the file at a path is one of ours, or has a part of ours.
func (i Inspection) Wrote(path string) bool { return i.record.file(path) != nil }

// Intact says whether what is ours in a file of others is as we wrote it,
// whatever they have written beside it.
func (i Inspection) Intact(path string, now []byte) bool {
	f := i.record.file(path)
	if f == nil {
		return false
	}
	switch f.Kind {
	case Block:
		return i.intactBlock(now)
	case Keys:
		return f.intactKeys(now)
	default: // Whole: nobody else has a part in it
		return f.version(now) == len(f.Versions)-1
	}
}

// intactBlock says whether the block sets the six variables to what was
// applied. The record does not hold its text, and on Amazon Linux 2 its
// NO_PROXY may be a part of the list.
func (i Inspection) intactBlock(now []byte) bool {
	ls := lines(now)
	begin := slices.IndexFunc(ls, func(l string) bool { return strings.TrimRight(l, " \t\r\n") == blockBegin })
	b := cutBlock(ls)
	if !b.found || slices.ContainsFunc(b.after, setsAny) {
		return false
	}
	env := assignmentsIn(join(ls[begin : blockLast(ls, begin)+1]))
	list := strings.Split(i.NoProxy, ",")
	for _, name := range variables() {
		value, ok := env[name]
		switch strings.ToUpper(name) {
		case "HTTP_PROXY":
			ok = ok && bare(value) == i.HTTPProxy
		case "HTTPS_PROXY":
			ok = ok && bare(value) == i.HTTPSProxy
		default:
			ok = ok && (value == i.NoProxy || i.System != "" && strings.HasPrefix(i.System, AL2.title()+",") && containsAll(list, strings.Split(value, ",")))
		}
		if !ok {
			return false
		}
	}
	return true
}

func setsAny(line string) bool {
	_, ok := sets(line)
	return ok
}

func containsAll(list, texts []string) bool {
	return !slices.ContainsFunc(texts, func(t string) bool { return !slices.Contains(list, t) })
}

// bare is a proxy URL without user information.
func bare(value string) string {
	scheme, rest, ok := strings.Cut(value, "://")
	if at := strings.LastIndexByte(rest, '@'); ok && at >= 0 {
		return scheme + "://" + rest[at+1:]
	}
	return value
}

// intactKeys says whether each option of ours stands in its section as written,
// once, and no other is there that must not be.
func (f *fileRecord) intactKeys(now []byte) bool {
	ls := lines(now)
	for _, k := range f.Versions[len(f.Versions)-1].keys() {
		var found []string
		for _, s := range sections(ls, f.Section) {
			for _, l := range ls[s.start:s.end] {
				if optionName(l) == k.name {
					found = append(found, strings.TrimSuffix(l, "\n")+"\n")
				}
			}
		}
		if k.present && !slices.Equal(found, []string{k.line()}) || !k.present && len(found) > 0 {
			return false
		}
	}
	return true
}

// Variables are the six names of the proxy environment, in both cases.
func Variables() []string {
	names := variables()
	return names[:]
}

// DropInPath is where the drop-in of a service is, as in "containerd".
func DropInPath(service string) string { return dropInDir(service) + "/" + dropInName }

// UnitDirs are where systemd finds units and drop-ins, the strongest first.
func UnitDirs() []string {
	dirs := unitDirs()
	return dirs[:]
}

// TrustStore is how a family keeps the certificates that its programs trust:
// where they are put, the bundle that is made of them, and by which command.
func (f Family) TrustStore() (anchors, bundle, command string) {
	t := f.trust()
	return t.anchors, t.bundle, strings.Join(t.command, " ")
}

// PackageManager is the file with the proxy of yum, dnf or apt.
func (f Family) PackageManager() string {
	switch f {
	case Ubuntu:
		return aptPath
	case AL2:
		return "/etc/yum.conf"
	default:
		return "/etc/dnf/dnf.conf"
	}
}
