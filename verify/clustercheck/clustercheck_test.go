package clustercheck_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/eksproxy/eksproxy/verify"
	"github.com/eksproxy/eksproxy/verify/clustercheck"
)

func TestGoodCluster(t *testing.T) {
	c := goodCluster(t)
	c.options.Wanted = &c.wanted
	r := c.checkAll()
	for _, f := range r.Findings {
		if f.Status != verify.Pass && f.Status != verify.Skip {
			t.Errorf("%s %s: %s: %s", f.ID, f.Status, f.Target, f.Evidence)
		}
	}
	for read, times := range c.reads {
		if times > 1 {
			t.Errorf("%s was read %d times", read, times)
		}
		if !strings.HasPrefix(read, "GET ") {
			t.Errorf("not a read: %s", read)
		}
	}
}

func TestRegistry(t *testing.T) {
	seen := map[string]bool{}
	last := ""
	for _, c := range clustercheck.Checks(clustercheck.Options{}) {
		if seen[c.ID] || c.ID < last {
			t.Errorf("%s comes twice or out of order", c.ID)
		}
		seen[c.ID], last = true, c.ID
		if c.Title == "" || c.Fails == "" || c.Remedy == "" || strings.Contains(c.Fails, "|") {
			t.Errorf("%s lacks a text", c.ID)
		}
	}
}

// ids are the ids with one of two statuses, each once.
func ids(r verify.Report, of ...verify.Status) []string {
	var all []string
	for _, s := range of {
		for _, id := range r.IDs(s) {
			if !slices.Contains(all, id) {
				all = append(all, id)
			}
		}
	}
	slices.Sort(all)
	return all
}

// With the rights of the ClusterRole view nothing but Secrets is hidden, and what
// is hidden is never a pass.
func TestViewRights(t *testing.T) {
	c := goodCluster(t)
	c.denied = []string{"secrets"}
	c.fromSecret()
	c.app("other", "envFrom: [{secretRef: {name: hidden}}, {configMapRef: {name: proxy-environment-variables, optional: true}}]")
	r := c.checkAll()
	if got := ids(r, verify.Fail, verify.Warn, verify.Unknown); len(got) > 0 {
		t.Errorf("found %v", got)
	}
	for _, id := range []string{"CLUSTER013", "CLUSTER023"} {
		for _, f := range r.Findings {
			if f.ID == id && (f.Status != verify.Skip || !strings.Contains(f.Evidence, "the right to get secrets in kube-system is missing")) {
				t.Errorf("%s %s: %s", id, f.Status, f.Evidence)
			}
		}
	}
}

// Rights that view has are needed: without them the answer is unknown.
func TestDenied(t *testing.T) {
	for resource, want := range map[string][]string{
		"configmaps": {"CLUSTER002", "CLUSTER003", "CLUSTER004", "CLUSTER005", "CLUSTER006", "CLUSTER007", "CLUSTER008", "CLUSTER009", "CLUSTER010", "CLUSTER011", "CLUSTER017", "CLUSTER018", "CLUSTER019", "CLUSTER020", "CLUSTER040", "CLUSTER044"},
		"pods":       {"CLUSTER015"},
		"services":   {"CLUSTER007"},
	} {
		c := goodCluster(t)
		c.denied = []string{resource}
		r := c.checkAll()
		if got := ids(r, verify.Unknown); !slices.Equal(got, want) || r.ExitCode() != 3 {
			t.Errorf("without %s: unknown are %v, want %v", resource, got, want)
		}
		for _, f := range r.Findings {
			if f.Status == verify.Unknown && !strings.Contains(f.Evidence, resource+" is forbidden") {
				t.Errorf("%s does not say which right is missing: %s", f.ID, f.Evidence)
			}
		}
	}
}

func TestUnreachable(t *testing.T) {
	c := goodCluster(t)
	c.connect("http://127.0.0.1:1")
	r := c.checkAll()
	if r.ExitCode() != 3 || r.Summary.Unknown != 1 || r.Summary.Skip != len(r.Findings)-1 || !strings.Contains(r.Findings[0].Evidence, "connection refused") {
		t.Errorf("%+v", r)
	}
}

// Auto Mode has no DaemonSets of the network, and a cluster that nobody has
// touched is told in full.
func TestNothingThere(t *testing.T) {
	c := goodCluster(t)
	c.known.AutoMode = true
	for _, name := range []string{"aws-node", "kube-proxy"} {
		c.remove(name)
	}
	if r := c.checkAll(); len(ids(r, verify.Fail, verify.Warn, verify.Unknown)) > 0 {
		t.Errorf("Auto Mode: %+v", r)
	}
	c = goodCluster(t)
	c.remove("proxy-environment-variables")
	for _, name := range []string{"aws-node", "kube-proxy"} {
		c.disown(name)
	}
	if got := ids(c.checkAll(), verify.Fail, verify.Warn, verify.Unknown); !slices.Equal(got, []string{"CLUSTER002", "CLUSTER011"}) {
		t.Errorf("a fresh cluster: %v", got)
	}
}
