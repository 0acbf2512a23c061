package program

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Families are the names that Tree takes.
var Families = []string{"al2023", "al2-containerd", "al2-docker", "ubuntu"}

// link starts the content of what is a symbolic link.
const link = "-> "

// amazonUnits and ubuntuUnits are where the units are that images bring.
const (
	amazonUnits = "usr/lib/systemd/system/"
	localUnits  = "etc/systemd/system/"
)

// Tree makes a root tree of the family: what eksproxy looks at and writes
// beside on a fresh node.
func Tree(t *testing.T, family string) string {
	t.Helper()
	root := t.TempDir()
	files := map[string]string{
		"etc/os-release":             link + "../usr/lib/os-release",
		"etc/hostname":               "ip-10-40-0-10\n",
		"etc/profile.d/lang.sh":      "export LANG=C.UTF-8\n",
		"root/.keep":                 "",
		"var/lib/cloud/.keep":        "",
		"etc/containerd/config.toml": "version = 2\n",
	}
	switch family {
	case "al2023":
		maps.Copy(files, al2023())
	case "al2-containerd":
		maps.Copy(files, al2())
		addUnits(files, amazonUnits, "containerd", "sandbox-image")
	case "al2-docker":
		maps.Copy(files, al2())
		addUnits(files, amazonUnits, "docker")
		delete(files, "etc/containerd/config.toml")
	case "ubuntu":
		maps.Copy(files, ubuntu())
	default:
		t.Fatalf("no tree of a family %q, only of %v", family, Families)
	}
	for path, content := range files {
		write(t, filepath.Join(root, path), content)
	}
	return root
}

// al2023 is what an EKS AMI of Amazon Linux 2023 has.
func al2023() map[string]string {
	files := map[string]string{
		"usr/lib/os-release": "NAME=\"Amazon Linux\"\nVERSION=\"2023\"\nID=\"amzn\"\n" +
			"ID_LIKE=\"fedora\"\nVERSION_ID=\"2023\"\nPLATFORM_ID=\"platform:al2023\"\n",
		"etc/environment": "",
		"etc/dnf/dnf.conf": "[main]\ngpgcheck=1\ninstallonly_limit=3\n" +
			"clean_requirements_on_remove=True\nbest=False\nskip_if_unavailable=True\n",
		"etc/yum.conf":                          link + "dnf/dnf.conf",
		"etc/eks/nodeadm.d/.keep":               "",
		"etc/pki/ca-trust/source/anchors/.keep": "",
	}
	addUnits(files, amazonUnits, "containerd", "kubelet", "nodeadm-config", "nodeadm-run", "amazon-ssm-agent")
	return files
}

// al2 is what both EKS AMIs of Amazon Linux 2 have.
func al2() map[string]string {
	files := map[string]string{
		"usr/lib/os-release": "NAME=\"Amazon Linux\"\nVERSION=\"2\"\nID=\"amzn\"\n" +
			"ID_LIKE=\"centos rhel fedora\"\nVERSION_ID=\"2\"\n",
		"etc/environment": "",
		"etc/yum.conf": "[main]\ncachedir=/var/cache/yum/$basearch/$releasever\nkeepcache=0\n" +
			"debuglevel=2\nlogfile=/var/log/yum.log\nexactarch=1\nobsoletes=1\ngpgcheck=1\nplugins=1\n",
		"etc/eks/bootstrap.sh":                  "#!/usr/bin/env bash\n",
		"etc/pki/ca-trust/source/anchors/.keep": "",
	}
	addUnits(files, amazonUnits, "kubelet", "amazon-ssm-agent")
	return files
}

// ubuntu is what Canonical's EKS image has.
func ubuntu() map[string]string {
	files := map[string]string{
		"usr/lib/os-release": "NAME=\"Ubuntu\"\nVERSION_ID=\"22.04\"\nID=ubuntu\nID_LIKE=debian\n",
		"etc/environment": "PATH=\"/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:" +
			"/sbin:/bin:/usr/games:/usr/local/games:/snap/bin\"\n",
		"etc/apt/apt.conf.d/01autoremove":       "APT::NeverAutoRemove \"^linux-.*\";\n",
		"etc/eks/bootstrap.sh":                  "#!/usr/bin/env bash\n",
		"usr/local/share/ca-certificates/.keep": "",
	}
	addUnits(files, amazonUnits, "containerd", "snapd")
	addUnits(files, localUnits, "snap.kubelet-eks.daemon", "snap.amazon-ssm-agent.amazon-ssm-agent")
	return files
}

// addUnits adds service units that do nothing.
func addUnits(files map[string]string, dir string, names ...string) {
	for _, name := range names {
		files[dir+name+".service"] = "[Unit]\nDescription=" + name +
			"\n[Service]\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target\n"
	}
}

// write writes a file or link, and the directories above it.
func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	target, isLink := strings.CutPrefix(content, link)
	if isLink {
		if err := os.Symlink(target, path); err != nil {
			t.Fatal(err)
		}
		return
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}
