package managed

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/eksproxy/eksproxy/integration/ekssim"
	"github.com/eksproxy/eksproxy/integration/program"
)

// catalog answers for versions that are not installed, and hands the rest to the
// server of the cluster, where there is one.
type catalog struct {
	// URL is its address, for AWS_ENDPOINT_URL.
	URL string
	// schemas are by "NAME VERSION", versions by name, the default one first.
	schemas  map[string]string
	versions map[string][]string
	next     http.Handler
	// edits change what is told of an add-on, by its name.
	edits map[string]func(addon map[string]any)

	mu   sync.Mutex
	down bool
	// calls are the calls that may change something, or that name a cluster.
	calls []string
}

// newCatalog serves until the test ends; of no cluster where url is empty.
func newCatalog(t *testing.T, of string) *catalog {
	t.Helper()
	file := func(name string) string {
		data, err := os.ReadFile("../ekssim/testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	extra := file("vpc-cni-v1.21.json")
	c := &catalog{
		edits: map[string]func(map[string]any){},
		schemas: map[string]string{
			"vpc-cni v1.21.1-eksbuild.1":            extra,
			"vpc-cni v1.22.0-eksbuild.2":            extra,
			"vpc-cni v1.15.0-eksbuild.1":            file("vpc-cni-v1.15.json"),
			"vpc-cni v1.30.0-eksbuild.1":            strings.Replace(extra, `"AWS_VPC_ENI_MTU": {`, `"HTTP_PROXY": {"type": "string", "default": ""}, "AWS_VPC_ENI_MTU": {`, 1),
			"vpc-cni v1.31.0-eksbuild.1":            `{"type": "object"}`,
			"kube-proxy v1.36.0-eksbuild.2":         file("kube-proxy-v1.36.json"),
			"kube-proxy v1.37.0-eksbuild.1":         file("kube-proxy-v1.36.json"),
			"aws-ebs-csi-driver v1.20.0-eksbuild.1": file("aws-ebs-csi-driver-v1.20.json"),
			"aws-ebs-csi-driver v1.53.0-eksbuild.1": file("aws-ebs-csi-driver-v1.53.json"),
		},
		versions: map[string][]string{"vpc-cni": {"v1.22.0-eksbuild.2", "v1.21.1-eksbuild.1"}, "kube-proxy": {"v1.37.0-eksbuild.1"}},
	}
	if of != "" {
		target, err := url.Parse(of)
		if err != nil {
			t.Fatal(err)
		}
		c.next = httputil.NewSingleHostReverseProxy(target)
	}
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	c.URL = server.URL
	return c
}

func (c *catalog) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	down := c.down
	if strings.HasPrefix(r.URL.Path, "/clusters") || r.Method != http.MethodGet {
		c.calls = append(c.calls, r.Method+" "+r.URL.Path)
	}
	c.mu.Unlock()
	q := r.URL.Query()
	name := q.Get("addonName")
	schema, known := c.schemas[name+" "+q.Get("addonVersion")]
	switch {
	case down && strings.HasPrefix(r.URL.Path, "/addons/"):
		fail(w, http.StatusServiceUnavailable, "ServerException", "try again")
	case r.URL.Path == "/addons/configuration-schemas" && known:
		reply(w, map[string]any{"addonName": name, "addonVersion": q.Get("addonVersion"), "configurationSchema": schema})
	case r.URL.Path == "/addons/configuration-schemas":
		fail(w, http.StatusNotFound, "ResourceNotFoundException", "No such add-on version")
	case r.URL.Path == "/addons/supported-versions":
		var all []any
		for i, v := range c.versions[name] {
			all = append(all, map[string]any{"addonVersion": v, "compatibilities": []any{map[string]any{"clusterVersion": q.Get("kubernetesVersion"), "defaultVersion": i == 0}}})
		}
		reply(w, map[string]any{"addons": []any{map[string]any{"addonName": name, "addonVersions": all}}})
	case c.next == nil:
		http.NotFound(w, r)
	case r.Method == http.MethodGet && c.edits[path.Base(r.URL.Path)] != nil && strings.Contains(r.URL.Path, "/addons/"):
		recorder := httptest.NewRecorder()
		c.next.ServeHTTP(recorder, r)
		var doc map[string]map[string]any
		json.Unmarshal(recorder.Body.Bytes(), &doc)
		c.edits[path.Base(r.URL.Path)](doc["addon"])
		reply(w, doc)
	default:
		c.next.ServeHTTP(w, r)
	}
}

// setDown makes the calls for versions fail.
func (c *catalog) setDown(down bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.down = down
}

func reply(w http.ResponseWriter, doc any) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(doc)
}

func fail(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("X-Amzn-Errortype", code)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(map[string]string{"message": message})
}

// awsEnv leads the SDK to a server, which it asks once.
func awsEnv(url string) []string {
	return []string{"AWS_ACCESS_KEY_ID=AKIAEXAMPLE", "AWS_SECRET_ACCESS_KEY=example", "AWS_ENDPOINT_URL=" + url, "AWS_EC2_METADATA_DISABLED=true", "AWS_MAX_ATTEMPTS=1"}
}

// run runs the program with that server as AWS, and demands an exit code.
func (c *catalog) run(t *testing.T, code int, args ...string) program.Result {
	t.Helper()
	full, err := program.Full()
	if err != nil {
		t.Fatal(err)
	}
	r := program.Exec(t, awsEnv(c.URL), slices.Concat([]string{full}, args)...)
	program.Said(strings.Join(args, " "), r.Stdout, r.Stderr)
	if r.Code != code {
		t.Fatalf("eksproxy %s: exit %d, want %d\nstdout: %s\nstderr: %s", strings.Join(args, " "), r.Code, code, r.Stdout, r.Stderr)
	}
	return r
}

// on names the cluster of a world in addition.
func (w world) on(args ...string) []string { return append(args, "--kubeconfig", w.Kubeconfig()) }

// cluster names the add-ons' cluster.
func cluster() []string { return []string{"--cluster", ekssim.Cluster, "--region", ekssim.Region} }
