package addons

import (
	"path/filepath"
	"testing"

	"github.com/eksproxy/eksproxy/integration/transcript"
)

// TestDocsTranscripts runs the blocks "shell-session" of the pages. Each page
// starts with a cluster as EKS makes it, and prod.yaml is its kubeconfig.
func TestDocsTranscripts(t *testing.T) {
	for _, page := range transcript.Pages(t, "shell-session") {
		t.Run(filepath.Base(page), func(t *testing.T) {
			t.Parallel()
			cp := start(t, 3)
			transcript.NewShell(t, map[string]string{"prod.yaml": read(t, cp.Kubeconfig())}).Check(t, page, "shell-session")
		})
	}
}
