// Package node puts one node behind the proxy: which files it needs, what
// stands in them for each reader, how they are planned, written, checked and
// taken back. It works on a tree, be it "/" or an image, and starts nothing.
package node

import (
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/eksproxy/eksproxy/noproxy"
	"github.com/eksproxy/eksproxy/proxyconfig"
	"github.com/eksproxy/eksproxy/templates"
)

// Paths that other parts name as well.
const (
	ProxyEnvPath = "/etc/eksproxy/proxy.env"
	// CredentialsPath is the copy of credentials that were fetched.
	CredentialsPath = "/etc/eksproxy/credentials" //nolint:gosec // G101: a path, no credential
	etcEnv          = "/etc/environment"
	profilePath     = "/etc/profile.d/eksproxy.sh"
	aptPath         = "/etc/apt/apt.conf.d/95eksproxy"
	dropInName      = "zz-eksproxy.conf"
)

// pamLine is the longest line that pam_env of Amazon Linux 2 reads whole, the
// line end left out: linux-pam 1.1.8 reads into 1024 bytes, the terminating
// zero included, and takes what does not fit for a line of its own.
const pamLine = 1022

// Kind is how an item lies in its file.
type Kind string

// The kinds.
const (
	// Whole files are ours alone.
	Whole Kind = "whole"
	// Block is a marked block in a file of others.
	Block Kind = "block"
	// Keys are options in a section of an INI file of others.
	Keys Kind = "keys"
	// Link is a symbolic link; the body is where it leads.
	Link Kind = "link"
)

// Item is one file that must be so.
type Item struct {
	Path string
	Kind Kind
	// Body is the whole file, or what stands between the markers.
	Body []byte
	// Section and keys are those of a Keys item.
	Section string
	keys    []key
	// Secret says that the file receives a password: it becomes 0600.
	Secret bool
	// Mode is that of a whole file, or of a file that does not exist yet.
	Mode   fs.FileMode
	Reason string
	// owner is the command that wants the item; empty for apply.
	owner string
	// opaque says that the body is no text: plans have its digest.
	opaque bool
	// hidden says that plans show nothing of the body: it is but a secret.
	hidden bool
}

// Desired is what must be so on a node, from its settings alone.
type Desired struct {
	System   System
	Settings proxyconfig.Settings
	Items    []Item
	// owner is the command that wants the items; empty for apply.
	owner string
	// Notes are what the reader must know beside the files.
	Notes []string
}

// Want says which files put a node of this system behind the proxy.
func Want(sys System, s proxyconfig.Settings, cfg proxyconfig.Node) (Desired, error) {
	w := &wanter{sys: sys, settings: s, cfg: cfg}
	d := Desired{System: sys, Settings: s}
	for _, step := range []func() error{w.proxyEnv, w.credentials, w.trustStore, w.dropIns, w.packageManager, w.environment, w.profile} {
		if err := step(); err != nil {
			return Desired{}, err
		}
	}
	d.Items, d.Notes = w.items, w.notes
	return d, nil
}

type wanter struct {
	sys      System
	settings proxyconfig.Settings
	cfg      proxyconfig.Node
	items    []Item
	notes    []string
}

func (w *wanter) add(target string, i Item) {
	if w.cfg.Off[target] {
		return
	}
	if i.Mode == 0 {
		i.Mode = 0o644
	}
	w.items = append(w.items, i)
}

// assignments renders the six variables with one reader's encoder.
func (w *wanter) assignments(credentials bool, list noproxy.List, line func(name, value string) (string, error)) (string, error) {
	url := proxyconfig.URL.Bare
	if credentials {
		url = proxyconfig.URL.Reveal
	}
	var b strings.Builder
	for _, name := range variables() {
		value := list.String()
		switch strings.ToUpper(name) {
		case "HTTP_PROXY":
			value = url(w.settings.HTTPProxy)
		case "HTTPS_PROXY":
			value = url(w.settings.HTTPSProxy)
		}
		text, err := line(name, value)
		if err != nil {
			return "", err
		}
		b.WriteString(text)
	}
	return b.String(), nil
}

func (w *wanter) authenticated() bool {
	return w.settings.HTTPProxy.HasCredentials() || w.settings.HTTPSProxy.HasCredentials()
}

func (w *wanter) proxyEnv() error {
	text, err := w.assignments(true, w.settings.NoProxy, envLine)
	if err != nil {
		return fmt.Errorf("rendering %s: %w", ProxyEnvPath, err)
	}
	w.add("", Item{
		Path: ProxyEnvPath, Kind: Whole, Secret: true, Body: []byte(templates.NodeProxyEnv + text),
		Reason: "the environment that every drop-in names, credentials included",
	})
	return nil
}

// credentials keeps what was fetched, for when it cannot be fetched.
func (w *wanter) credentials() error {
	if !w.settings.KeepCredentials || !w.authenticated() {
		return nil
	}
	user, password := w.settings.HTTPProxy.Credentials().Reveal()
	w.add("", Item{
		Path: CredentialsPath, Kind: Whole, Secret: true, hidden: true, Body: []byte(user + ":" + password + "\n"),
		Reason: "the credentials as they were fetched, for when they cannot be",
	})
	return nil
}

func (w *wanter) environment() error {
	list := w.settings.NoProxy
	if w.sys.Family == AL2 {
		var left noproxy.List
		if list, left = list.Fit(pamLine - len("NO_PROXY=")); len(left) > 0 {
			w.notes = append(w.notes, fmt.Sprintf("%s: PAM of Amazon Linux 2 reads %d bytes of a line; left out of NO_PROXY there, and there alone: %s", etcEnv, pamLine, left))
		}
	}
	secret := w.cfg.CredentialsInEtcEnvironment && w.authenticated()
	text, err := w.assignments(secret, list, envLine)
	if err != nil {
		return fmt.Errorf("rendering %s: %w", etcEnv, err)
	}
	w.add(proxyconfig.TargetEtcEnvironment, Item{
		Path: etcEnv, Kind: Block, Secret: secret, Body: []byte(text),
		Reason: "logins, sudo and what reads it at boot",
	})
	return nil
}

func (w *wanter) profile() error {
	if w.sys.Family != AL2 {
		return nil
	}
	text, err := w.assignments(false, w.settings.NoProxy, shellLine)
	if err != nil {
		return fmt.Errorf("rendering %s: %w", profilePath, err)
	}
	w.add(proxyconfig.TargetProfile, Item{
		Path: profilePath, Kind: Whole, Body: []byte(templates.NodeProfile + text),
		Reason: "login shells, with the whole NO_PROXY",
	})
	return nil
}

// packageManager gives yum and dnf, which know but one proxy, the one for
// https: Amazon's mirrors are https.
func (w *wanter) packageManager() error {
	if w.sys.Family == Ubuntu {
		return w.apt()
	}
	path := "/etc/dnf/dnf.conf"
	if w.sys.Family == AL2 {
		path = "/etc/yum.conf"
	}
	w.add(proxyconfig.TargetPackageManager, Item{
		Path: path, Kind: Keys, Section: "main", keys: dnfKeys(w.settings.HTTPSProxy), Secret: w.settings.HTTPSProxy.HasCredentials(),
		Reason: "package installation",
	})
	return nil
}

func (w *wanter) apt() error {
	text := []byte(templates.NodeAPT)
	for _, o := range []struct {
		scheme string
		url    proxyconfig.URL
	}{{"http", w.settings.HTTPProxy}, {"https", w.settings.HTTPSProxy}} {
		line, err := aptLine("Acquire::"+o.scheme+"::Proxy", o.url.Reveal())
		if err != nil {
			return fmt.Errorf("rendering %s: %w", aptPath, err)
		}
		text = append(text, line...)
	}
	w.add(proxyconfig.TargetPackageManager, Item{
		Path: aptPath, Kind: Whole, Body: text, Secret: w.authenticated(),
		Reason: "package installation",
	})
	return nil
}

// trustStore puts one certificate in each file: update-ca-certificates of
// Ubuntu makes no link for a file that holds several.
func (w *wanter) trustStore() error {
	dir, ext := "/etc/pki/ca-trust/source/anchors", ".pem"
	if w.sys.Family == Ubuntu {
		dir, ext = "/usr/local/share/ca-certificates", ".crt"
	}
	for i, ca := range w.settings.CAs {
		name := "eksproxy"
		if i > 0 {
			name += "-" + strconv.Itoa(i+1)
		}
		w.add(proxyconfig.TargetTrustStore, Item{
			Path: dir + "/" + name + ext, Kind: Whole, Body: ca.PEM,
			Reason: "trust in " + ca.Subject,
		})
	}
	if len(w.settings.CAs) > 0 {
		w.notes = append(w.notes, "the trust of the node does not reach into containers: pods need the certificate on their own")
	}
	return nil
}

// unit is a systemd service that needs the proxy.
type unit struct {
	name, target, reason string
	// families are those that have it; none means all.
	families []Family
	runtime  string
}

// units are all services that get a drop-in. The family decides, not what is
// installed: a unit may come later.
func units() []unit {
	return []unit{
		{name: "containerd", target: proxyconfig.TargetContainerd, runtime: "containerd", reason: "image pulls, and CNI plugins as its children"},
		{name: "docker", target: proxyconfig.TargetDocker, runtime: "docker", reason: "image pulls, and CNI plugins as its children"},
		{name: "kubelet", target: proxyconfig.TargetKubelet, reason: "the API server, and credential helpers as its children"},
		{name: "cloud-config", target: proxyconfig.TargetCloudInit, reason: "cloud-init's modules"},
		{name: "cloud-final", target: proxyconfig.TargetCloudInit, reason: "bootstrap.sh and the scripts of user data"},
		{name: "amazon-ssm-agent", target: proxyconfig.TargetSSMAgent, reason: "Session Manager"},
		{name: "soci-snapshotter", target: proxyconfig.TargetSOCI, reason: "pulls image layers itself"},
		{name: "sandbox-image", target: proxyconfig.TargetSandboxImage, families: []Family{AL2}, reason: "pulls the pause image, which kubelet waits for"},
		{name: "nodeadm-config", target: proxyconfig.TargetNodeadm, families: []Family{AL2023}, reason: "asks EC2 for the node's name before cloud-init"},
		{name: "nodeadm-run", target: proxyconfig.TargetNodeadm, families: []Family{AL2023}, reason: "starts containerd and kubelet"},
		{name: "snap.kubelet-eks.daemon", target: proxyconfig.TargetKubelet, families: []Family{Ubuntu}, reason: "kubelet as a snap"},
		{name: "snap.amazon-ssm-agent.amazon-ssm-agent", target: proxyconfig.TargetSSMAgent, families: []Family{Ubuntu}, reason: "the SSM agent as a snap"},
	}
}

// units are the services of the system that get a drop-in.
func (s System) units() []unit {
	var out []unit
	for _, u := range units() {
		if (len(u.families) == 0 || slices.Contains(u.families, s.Family)) && (u.runtime == "" || slices.Contains(s.Runtimes, u.runtime)) {
			out = append(out, u)
		}
	}
	return out
}

// dropIns are named to sort behind those of older recipes: of several
// EnvironmentFile= that set a variable the last one wins (systemd.exec(5)).
func (w *wanter) dropIns() error {
	for _, u := range w.sys.units() {
		w.add(u.target, Item{
			Path: dropInDir(u.name) + "/" + dropInName, Kind: Whole, Body: []byte(templates.NodeDropIn),
			Reason: u.reason,
		})
	}
	return nil
}

func dropInDir(unit string) string { return "/etc/systemd/system/" + unit + ".service.d" }
