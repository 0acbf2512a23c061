package userdata

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/eksproxy/eksproxy/bootdata"
)

// The recipe in the form that is published for containerd.
const publishedHook = `#Set the proxy hostname and port
PROXY="proxy.local:3128"
TOKEN=$(curl -X PUT http://169.254.169.254/latest/api/token)
MAC=$(curl -s http://169.254.169.254/latest/meta-data/mac/)
VPC_CIDR=$(curl -s http://169.254.169.254/latest/meta-data/x | xargs | tr ' ' ',')

#Create the containerd and sandbox-image systemd directory
mkdir -p /etc/systemd/system/containerd.service.d
mkdir -p /etc/systemd/system/sandbox-image.service.d

#[Option] Configure yum to use the proxy
cloud-init-per instance yum_proxy_config cat << EOF >> /etc/yum.conf
proxy=http://$PROXY
EOF

cloud-init-per instance proxy_config cat <<EOF >> /etc/environment
http_proxy=http://$PROXY
NO_PROXY=$VPC_CIDR,localhost,127.0.0.1,169.254.169.254,.internal,.eks.amazonaws.com
EOF

tee <<EOF /etc/systemd/system/containerd.service.d/http-proxy.conf >/dev/null
[Service]
EnvironmentFile=/etc/environment
EOF
tee <<EOF /etc/systemd/system/kubelet.service.d/proxy.conf >/dev/null
[Service]
EnvironmentFile=/etc/environment
EOF

cloud-init-per instance reload_daemon systemctl daemon-reload
systemctl restart containerd
`

// TestMergeAdopt: BL-033, the published recipe is replaced with --adopt alone,
// as a part or by its lines, and what it needs in other parts stays.
func TestMergeAdopt(t *testing.T) {
	run := "#!/bin/bash\nset -a\nsource /etc/environment\n/etc/eks/bootstrap.sh blue\n"
	whole := multi("b", part(bootdata.TypeBoothook, publishedHook), part(bootdata.TypeShell, run))
	m := merge(t, whole, MergeOptions{OS: AL2, Ours: ours()[1:]})
	wantBodies(t, m.Document, oursHook, bootdata.TypeBoothook+": "+publishedHook, bootdata.TypeShell+": "+run)
	if len(m.Notes) != 1 || !strings.Contains(m.Notes[0], "part 1 is the published recipe for a proxy and stays beside ours; --adopt replaces it") {
		t.Errorf("notes %q", m.Notes)
	}
	m = merge(t, whole, MergeOptions{OS: AL2, Ours: ours()[1:], Adopt: true})
	wantBodies(t, m.Document, oursHook, bootdata.TypeShell+": "+run)
	if again := merge(t, string(m.Document), MergeOptions{OS: AL2, Ours: ours()[1:], Adopt: true}); string(again.Document) != string(m.Document) {
		t.Error("a second merge changes something")
	}

	mixed := "#!/bin/bash\nmount /dev/x /data\ncat <<EOF >> /etc/environment\nhttps_proxy=http://p:1\nEOF\necho done > /data/x\n"
	left := "#!/bin/bash\nmount /dev/x /data\necho done > /data/x\n"
	for name, in := range map[string]string{
		"multipart": multi("b", part(bootdata.TypeShell, mixed)),
		"bare":      mixed,
		"base64":    multi("b", "Content-Type: text/x-shellscript\nContent-Transfer-Encoding: base64\n\n"+b64(mixed)),
	} {
		t.Run(name, func(t *testing.T) {
			m := merge(t, in, MergeOptions{OS: AL2, Ours: ours()[1:]})
			if len(m.Notes) == 0 || !strings.Contains(m.Notes[len(m.Notes)-1], "--adopt replaces them") {
				t.Errorf("notes %q", m.Notes)
			}
			m = merge(t, in, MergeOptions{OS: AL2, Ours: ours()[1:], Adopt: true})
			wantBodies(t, m.Document, oursHook, bootdata.TypeShell+": "+left)
		})
	}
}

// TestMergeShells: a script of theirs that would join without the proxy is named.
func TestMergeShells(t *testing.T) {
	for in, want := range map[string]int{
		"#!/bin/bash\n/etc/eks/bootstrap.sh blue\n":                         1,
		"#!/bin/bash\n. /etc/eksproxy/proxy.env\n/etc/eks/bootstrap.sh b\n": 0,
		theirRun: 0,
	} {
		m := merge(t, multi("b", part(bootdata.TypeShell, in)), MergeOptions{OS: AL2, For: ManagedCustomAMI, Ours: ours()[1:]})
		if len(m.Notes) != want {
			t.Errorf("%q: notes %q", in, m.Notes)
		}
	}
}

// TestFindRecipe: what is the recipe and what only looks like it.
func TestFindRecipe(t *testing.T) {
	tests := []struct {
		name, in, left string
		whole          bool
	}{
		{"published", publishedHook, "", true},
		{"one echo", "#!/bin/sh\necho 'proxy=http://p:1' >> /etc/yum.conf\n", "#!/bin/sh\n", true},
		{"several on a line", "#!/bin/sh\na; echo proxy=x >> /etc/yum.conf; b\n", "#!/bin/sh\na;  b\n", false},
		{"another setting", "#!/bin/sh\necho gpgcheck=1 >> /etc/yum.conf\n", "", false},
		{"another file", "#!/bin/sh\necho https_proxy=x >> /opt/app.env\n", "", false},
		{"within an if", "#!/bin/sh\nif true; then echo https_proxy=x >> /etc/environment; fi\n", "", false},
		{"no shell", "#!/usr/bin/python3\ndef f(x): '''>> /etc/environment'''\n", "", false},
		{"in a comment", "#!/bin/sh\n# echo https_proxy=x >> /etc/environment\n", "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := findRecipe(bootdata.Part{ContentType: bootdata.TypeBoothook, Body: []byte(tt.in)})
			if (len(r.cut) > 0 && r.whole) != tt.whole {
				t.Errorf("whole: %v", r)
			}
			if len(r.cut) == 0 {
				if tt.left != "" || tt.whole {
					t.Error("it is not found")
				}
				return
			}
			if diff := cmp.Diff(tt.left, string(r.rest([]byte(tt.in)))); diff != "" && !tt.whole {
				t.Errorf("what is left (-want +got):\n%s", diff)
			}
		})
	}
}
