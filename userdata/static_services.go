package userdata

import (
	"slices"
	"strings"

	"github.com/eksproxy/eksproxy/node"
	"github.com/eksproxy/eksproxy/templates"
)

// trust makes the trust store anew where it needs to be.
func (w *scriptWriter) trust() string {
	var anchors []string
	for _, i := range w.items {
		if i.IsAnchor() {
			anchors = append(anchors, i.Path)
		}
	}
	if len(anchors) == 0 {
		return ""
	}
	_, bundle, command := w.family.TrustStore()
	return fill(templates.UserDataTrust, "%ANCHORS%", strings.Join(anchors, " "), "%BUNDLE%", bundle, "%COMMAND%", command)
}

// services restarts what runs and may be restarted in a boot: bootstrap.sh
// starts docker itself, and nodeadm-run starts containerd and kubelet.
func (w *scriptWriter) services() string {
	but := "docker, which would end its containers"
	skip := []string{"docker", "cloud-config", "cloud-final", "sandbox-image", "nodeadm-config", "nodeadm-run"}
	if w.family == node.AL2023 {
		but, skip = "what nodeadm-run starts", append(skip, "containerd", "kubelet")
	}
	var units, agents []string
	for _, i := range w.items {
		switch unit := i.DropInUnit(); {
		case unit == "" || slices.Contains(skip, unit):
		case strings.Contains(unit, "ssm-agent"): // last: its restart ends sessions
			agents = append(agents, unit)
		default:
			units = append(units, unit)
		}
	}
	if units = append(units, agents...); len(units) == 0 {
		return "\nif [ -z \"$root\" ] && [ -d /run/systemd/system ]; then systemctl daemon-reload || failed=1; fi\n"
	}
	return fill(templates.UserDataServices, "%BUT%", but, "%UNITS%", strings.Join(units, " "), "%ENV%", node.ProxyEnvPath)
}
