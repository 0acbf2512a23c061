package managed

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/eksproxy/eksproxy/integration/controlplane"
	"github.com/eksproxy/eksproxy/integration/ekssim"
)

// verify checks the cluster with what AWS tells of it.
func verify(more ...string) []string {
	return slices.Concat([]string{"verify", "cluster"}, cluster(), []string{"--cluster-endpoint", "0123456789ABCDEF0123456789ABCDEF.gr7.eu-west-1.eks.amazonaws.com"}, more)
}

// finding is one of a report.
type finding struct{ ID, Status, Target, Evidence string }

// found are the findings of a run that are not good.
func (c *catalog) found(t *testing.T, code int, args ...string) []finding {
	t.Helper()
	var report struct{ Findings []finding }
	if err := json.Unmarshal([]byte(c.run(t, code, append(args, "-o", "json")...).Stdout), &report); err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(report.Findings, func(f finding) bool { return f.Status == "pass" || f.Status == "skip" })
}

// managedFault is something wrong with an add-on that EKS configures, and the check
// that alone must find it.
type managedFault struct {
	name, id, says string
	seed           func(*testing.T, world, *catalog)
}

func managedFaults() []managedFault {
	const vpcCNI, ebsDriver = "vpc-cni", "aws-ebs-csi-driver"
	return []managedFault{
		{"terraform takes it out", "CLUSTER041", "no longer in its configuration values", func(t *testing.T, w world, _ *catalog) {
			t.Helper()
			w.eks.SetValues(t, ebsDriver, `{"controller":{"replicaCount":2}}`)
			w.Rollout(t, "kube-system")
		}},
		{"someone takes a variable out", "CLUSTER041", "lacks NO_PROXY", func(t *testing.T, w world, _ *catalog) {
			t.Helper()
			w.Kubectl(t, "-n", "kube-system", "set", "env", ebs, "-c", "ebs-plugin", "NO_PROXY-")
			w.Rollout(t, "kube-system")
		}},
		{"a broken record", "CLUSTER040", "key vpc-cni: it cannot be read", func(t *testing.T, w world, _ *catalog) {
			t.Helper()
			w.Kubectl(t, "-n", "kube-system", "patch", "configmap", record, "--type=merge", "-p", `{"data":{"vpc-cni":"{"}}`)
		}},
		{"a version without the place", "CLUSTER046", "has no place /extraEnv", func(_ *testing.T, _ world, c *catalog) {
			c.schemas["vpc-cni v1.21.1-eksbuild.1"] = `{"type":"object"}`
		}},
		{"a password in the values", "CLUSTER045", "/init/env/HTTP_PROXY", func(_ *testing.T, _ world, c *catalog) {
			c.edits[vpcCNI] = func(addon map[string]any) {
				addon["configurationValues"] = strings.TrimSuffix(addon["configurationValues"].(string), "}") + `,"init":{"env":{"HTTP_PROXY":"http://svc:` + secret.Core + `@proxy.example:3128"}}}`
			}
			c.schemas["vpc-cni v1.21.1-eksbuild.1"] = strings.Replace(c.schemas["vpc-cni v1.21.1-eksbuild.1"], `"DISABLE_TCP_EARLY_DEMUX": {`, `"HTTP_PROXY": {"type": "string"}, "DISABLE_TCP_EARLY_DEMUX": {`, 1)
		}},
		{"an update that failed", "CLUSTER042", "it carries the settings, and EKS says DEGRADED: InsufficientNumberOfReplicas", func(_ *testing.T, _ world, c *catalog) {
			c.edits[vpcCNI] = func(addon map[string]any) {
				addon["status"] = "DEGRADED"
				addon["health"] = map[string]any{"issues": []any{map[string]any{"code": "InsufficientNumberOfReplicas", "message": "pods are not ready"}}}
			}
		}},
		{"another value in the add-on's configuration", "CLUSTER044", `"http://old.example:1", not what the ConfigMap has`, func(t *testing.T, w world, c *catalog) {
			t.Helper()
			w.Kubectl(t, "-n", "kube-system", "delete", "configmap", record) // as where Terraform has written it
			c.edits[ebsDriver] = func(addon map[string]any) {
				addon["configurationValues"] = strings.ReplaceAll(addon["configurationValues"].(string), proxyURL, "http://old.example:1")
			}
		}},
	}
}

// TestVerifyManaged: what patch leaves is good by every check, in the form of each
// component; each seeded fault is found by one check alone.
func TestVerifyManaged(t *testing.T) {
	t.Parallel()
	w := start(t, 1, ekssim.VPCCNI(`{"env":{"WARM_ENI_TARGET":"2"}}`), ekssim.KubeProxy(), ekssim.LegacyEBS())
	w.expect(t, 0, addons("patch", "--component", "ebs-csi-controller", "--canary=off")...)
	w.Rollout(t, "kube-system")
	if got := w.env(t, ebs, "ebs-plugin"); got["http_proxy"] != "" || got["HTTPS_PROXY"] == "" {
		t.Fatalf("the form is another one: %v", got)
	}
	c := newCatalog(t, w.eks.URL)
	good := w.on(verify("--http-proxy", proxyURL, "--component", "ebs-csi-controller")...)
	if found := c.found(t, 0, good...); len(found) > 0 {
		t.Fatalf("found %+v", found)
	}
	if found := c.found(t, 0, w.on(verify()...)...); len(found) > 0 {
		t.Fatalf("without settings found %+v", found)
	}
	c.setDown(true)
	if found := c.found(t, 3, good...); len(found) != 2 || found[0].ID != "CLUSTER046" {
		t.Errorf("without an answer of AWS found %+v", found)
	}
	c.setDown(false)
}

// TestVerifyManagedFaults seeds faults, each in a cluster of its own.
func TestVerifyManagedFaults(t *testing.T) {
	t.Parallel()
	for _, f := range managedFaults() {
		t.Run(f.id+" "+f.name, func(t *testing.T) {
			cp := controlplane.Start(t, controlplane.Options{Nodes: 1})
			w := world{cp, ekssim.Start(t, cp, ekssim.VPCCNI(`{"env":{"WARM_ENI_TARGET":"2"}}`), ekssim.LegacyEBS())}
			cp.Rollout(t, "kube-system")
			w.expect(t, 0, addons("patch", "--component", "ebs-csi-controller", "--skip", "kube-proxy", "--canary=off")...)
			cp.Rollout(t, "kube-system")
			c := newCatalog(t, w.eks.URL)
			f.seed(t, w, c)
			found := c.found(t, 1, w.on(verify()...)...)
			for _, x := range found {
				if x.ID != f.id && x.Status != "warn" { // that a component lacks the variables is warned of
					t.Errorf("%s finds it too: %s", x.ID, x.Evidence)
				}
			}
			if !slices.ContainsFunc(found, func(x finding) bool { return strings.Contains(x.Evidence, f.says) && x.Status == "fail" }) {
				t.Errorf("nothing says %q: %+v", f.says, found)
			}
		})
	}
}
