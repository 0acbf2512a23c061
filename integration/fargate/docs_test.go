package fargate

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/eksproxy/eksproxy/integration/controlplane"
	"github.com/eksproxy/eksproxy/integration/transcript"
)

// TestDocsTranscripts runs the blocks "fargate-session": fargate.md on workloads
// of three namespaces, auto-mode.md on NodeClasses. prod.yaml is the kubeconfig.
func TestDocsTranscripts(t *testing.T) {
	for _, page := range transcript.Pages(t, "fargate-session") {
		t.Run(filepath.Base(page), func(t *testing.T) {
			t.Parallel()
			files := map[string]string{}
			var cp *controlplane.ControlPlane
			if strings.HasSuffix(page, "auto-mode.md") {
				cp = controlplane.Start(t, controlplane.Options{NoControllers: true})
				nodeClasses(t, cp, allFields, "default")
				files["auto.yaml"] = read(t, factsFile(t, "autoMode: true\n"))
			} else {
				cp = start(t)
				shop(t, cp)
				files["cluster.yaml"] = read(t, factsFile(t, "fargateProfiles:\n- {name: jobs, status: ACTIVE, selectors: [{namespace: jobs-*}]}\n"))
			}
			files["prod.yaml"] = read(t, cp.Kubeconfig())
			transcript.NewShell(t, files).Check(t, page, "fargate-session")
		})
	}
}

// shop makes two workloads in namespaces of their own.
func shop(t *testing.T, cp *controlplane.ControlPlane) {
	t.Helper()
	for namespace, name := range map[string]string{"shop": "web", "jobs-night": "report"} {
		cp.Kubectl(t, "create", "namespace", namespace)
		cp.Create(t, deployment(namespace, name, "2", ""))
	}
	for _, namespace := range []string{"shop", "jobs-night"} {
		cp.Rollout(t, namespace)
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
