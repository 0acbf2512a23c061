package node

import (
	"bytes"
	"debug/elf"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/eksproxy/eksproxy/internal/rootfs"
	"github.com/eksproxy/eksproxy/templates"
)

// Where install puts what a node needs to apply at boot. /usr/local/bin gives
// the program the SELinux type bin_t by itself.
const (
	ProgramPath = "/usr/local/bin/eksproxy"
	ConfigDir   = "/etc/eksproxy"
	ConfigPath  = ConfigDir + "/config.yaml"
	systemDir   = "/etc/systemd/system"
	ServicePath = systemDir + "/eksproxy.service"
	// RefreshTimerPath is there where the installation has a timer.
	RefreshTimerPath = systemDir + "/eksproxy-refresh.timer"
)

// ownerInstall marks in the record what install made.
const ownerInstall = "install"

// Installation is what install puts into a tree.
type Installation struct {
	System System
	// Program is the ELF file of the agent.
	Program []byte
	// Config is the configuration; Files are those that it names, by their
	// name beside it.
	Config []byte
	Files  map[string]InstalledFile
	// Refresh is how often the timer applies again; 0 means no timer.
	Refresh time.Duration
	// OnFailure is what apply does at boot where metadata does not answer:
	// keep, fallback or stop.
	OnFailure string
}

// InstalledFile is a file that the configuration names.
type InstalledFile struct {
	Data   []byte
	Secret bool
}

// PrepareInstall plans the installation of the agent into a tree.
func PrepareInstall(root *rootfs.Root, in Installation) (*Prepared, error) {
	note, err := checkProgram(root, in.Program)
	if err != nil {
		return nil, err
	}
	d := Desired{System: in.System, owner: ownerInstall, Items: in.items()}
	if note != "" {
		d.Notes = append(d.Notes, note)
	}
	p, err := Prepare(root, d)
	if err != nil {
		return nil, err
	}
	p.SettingsHash = ""
	return p, nil
}

// PrepareUninstall plans to take away what install put into a tree.
func PrepareUninstall(root *rootfs.Root) (*Prepared, error) { return prepareBack(root, ownerInstall) }

// checkProgram refuses a program of another architecture than the tree's.
func checkProgram(root *rootfs.Root, program []byte) (note string, err error) {
	own, err := elf.NewFile(bytes.NewReader(program))
	if err != nil {
		return "", fmt.Errorf("reading the program: %w; give --binary with eksproxy built for Linux", err)
	}
	for _, name := range []string{"/sbin/init", "/bin/sh"} {
		f, err := root.Read(name)
		if err != nil {
			return "", fmt.Errorf("reading the tree's architecture: %w", err)
		}
		if !f.Exists {
			continue
		}
		tree, err := elf.NewFile(bytes.NewReader(f.Data))
		if err != nil {
			continue // a script, or a busybox of another kind
		}
		if tree.Machine != own.Machine {
			return "", fmt.Errorf("the program is for %s and %s of the tree is for %s; give --binary with the right one", own.Machine, name, tree.Machine)
		}
		return "", nil
	}
	return fmt.Sprintf("the tree has neither /sbin/init nor /bin/sh to tell its architecture by; the program is for %s", own.Machine), nil
}

func (in Installation) items() []Item {
	items := []Item{
		{Path: ProgramPath, Body: in.Program, Mode: 0o755, opaque: true, Reason: "the program"},
		{Path: ConfigPath, Body: in.Config, Mode: 0o644, Reason: "the configuration that apply reads at boot"},
	}
	for _, name := range slices.Sorted(maps.Keys(in.Files)) {
		f := in.Files[name]
		items = append(items, Item{Path: ConfigDir + "/" + name, Body: f.Data, Mode: 0o644, Secret: f.Secret, hidden: f.Secret, Reason: "a file that the configuration names"})
	}
	items = append(items, Item{Path: ServicePath, Body: []byte(in.service()), Mode: 0o644, Reason: "applies at boot, before what needs the proxy"})
	items = append(items, enable("multi-user.target", ServicePath))
	if in.Refresh > 0 {
		items = append(items,
			Item{Path: systemDir + "/eksproxy-refresh.service", Body: []byte(templates.NodeRefreshService), Mode: 0o644, Reason: "reads metadata, secret and configuration again"},
			Item{Path: RefreshTimerPath, Body: []byte(strings.ReplaceAll(templates.NodeRefreshTimer, "%INTERVAL%", in.Refresh.String())), Mode: 0o644, Reason: "starts the refresh"},
			enable("timers.target", RefreshTimerPath))
	}
	for i := range items {
		items[i].owner = ownerInstall
		if items[i].Kind == "" {
			items[i].Kind = Whole
		}
	}
	return items
}

// enable is what "systemctl enable" makes of WantedBy=.
func enable(target, unit string) Item {
	return Item{Path: systemDir + "/" + target + ".wants/" + path.Base(unit), Kind: Link, Body: []byte(unit), Reason: "starts it at boot"}
}

// bootOrder are the units that must come before and after ours, by family.
// AL2023's nodeadm-config asks EC2 before cloud-init; on the others cloud-init's
// later stages run the scripts that need the proxy.
func (f Family) bootOrder() (after, before string) {
	switch f {
	case AL2023:
		return "nodeadm-boot-hook.service systemd-networkd-wait-online.service",
			"nodeadm-config.service cloud-init.service containerd.service kubelet.service"
	case AL2:
		return "network.target",
			"cloud-config.service cloud-final.service docker.service containerd.service sandbox-image.service kubelet.service"
	default: // Ubuntu
		return "systemd-networkd-wait-online.service",
			"cloud-config.service cloud-final.service containerd.service snap.kubelet-eks.daemon.service"
	}
}

func (in Installation) service() string {
	after, before := in.System.Family.bootOrder()
	// Exit code 3 says that metadata did not answer: the boot goes on, and
	// the line on the console says why.
	success := "SuccessExitStatus=3\n"
	if in.OnFailure == "stop" {
		success = ""
	}
	return strings.NewReplacer("%AFTER%", after, "%BEFORE%", before, "%ON_FAILURE%", in.OnFailure, "%SUCCESS%\n", success+"\n").Replace(templates.NodeService)
}
