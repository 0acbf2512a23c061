package bench

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/eksproxy/eksproxy/integration/controlplane"
	"github.com/eksproxy/eksproxy/integration/program"
)

var namespaces = flag.Int("namespaces", 4, "how many workload namespaces there are, with ten workloads each")

const (
	perNamespace = 10
	// atOnce is how many requests are under way, here and in eksproxy.
	atOnce = 8
	// sampled is how many workloads the loops of kubectl change.
	sampled = 20
	// rounds is how often everything is run, one after the other.
	rounds = 3
)

// cluster is a real API server with workloads of 0 replicas.
type cluster struct {
	*controlplane.ControlPlane
	http  http.Client
	token string
	full  string
	facts string
	peak  string
}

// TestAddonsPatch measures addons patch on many workload namespaces beside a bare
// loop in Go that sends the same applies, and beside loops of kubectl. There are no
// controllers: they would measure themselves.
func TestAddonsPatch(t *testing.T) {
	c := startCluster(t)
	var ours, bares, memory []float64
	var first, second counts
	for range rounds {
		bare := c.bare(t, false)
		c.bare(t, true)
		before := c.count(t)
		cost := run(t, append([]string{c.peak, c.full}, c.patch()...)...)
		var kib float64
		if _, err := fmt.Sscan(cost.stdout, &kib); err != nil {
			t.Fatal(err)
		}
		ours, memory = append(ours, cost.wallMS()), append(memory, kib*1024/1e6)
		first = c.count(t).since(before)
		before = c.count(t)
		run(t, append([]string{c.full}, c.patch()...)...)
		second = c.count(t).since(before)
		c.same(t)
		run(t, c.full, "addons", "revert", "--kubeconfig", c.Kubeconfig(), "--yes")
		bares = append(bares, (bare+c.bare(t, false))/2) // before and after: the machine is shared
		c.bare(t, true)
	}
	all := *namespaces * perNamespace
	setEnv, patch := c.kubectl(t, "set"), c.kubectl(t, "patch")
	// Namespaces, budgets, four kinds of workloads of which one has objects, Jobs,
	// DaemonSets, pods, and the ConfigMaps that are there; four namespaces are
	// Kubernetes' own.
	lists := float64((*namespaces+4+499)/500 + (all+499)/500 + 8)
	if *namespaces <= 16 {
		lists = float64(1 + 9**namespaces) // each namespace by itself
	}
	table := []figure{
		{name: "time of addons patch", unit: "ms", values: ours},
		{name: "time of the bare loop", unit: "ms", values: bares},
		{name: "time, patch / bare", unit: "x", values: pairs(ours, bares, ratio), bound: atMost, limit: 1.5},
		{name: "kubectl set env / patch", unit: "x", values: each2(ours, setEnv), bound: atLeast, limit: 10},
		{name: "kubectl patch / patch", unit: "x", values: each2(ours, patch), bound: atLeast, limit: 10},
		{name: "peak memory", unit: "MB", values: memory, bound: atMost, limit: 200},
		{name: "applies", unit: "", values: []float64{float64(first["APPLY"])}, bound: atMost, limit: float64(all + *namespaces + 1)},
		{name: "lists, in pages of 500", unit: "", values: []float64{float64(first["LIST"])}, bound: atMost, limit: lists},
		{name: "writes of a second run", unit: "", values: []float64{float64(second.writes())}, bound: atMost},
		{name: "requests of a second run", unit: "", values: []float64{float64(second.all())}},
	}
	fmt.Printf("\neksproxy addons patch on %d namespaces with %d workloads of 0 replicas, %d runs side by side; of kubectl's loops %d objects are run, and %d counted\n\n", *namespaces, all, rounds, sampled, all)
	show(os.Stdout, table)
	for _, f := range table {
		if f.verdict() == missed && (*enforce || f.unit == "") {
			t.Errorf("%s: the median is %.2f, want %s", f.name, median(f.values), f.target())
		}
	}
}

// each2 holds one value against each of many.
func each2(many []float64, one float64) []float64 {
	out := make([]float64, len(many))
	for i, v := range many {
		out[i] = one / v
	}
	return out
}

func startCluster(t *testing.T) *cluster {
	t.Helper()
	full, err := program.Full()
	if err != nil {
		t.Fatal(err)
	}
	c := &cluster{full: full, peak: helper(t, "peak"), facts: filepath.Join(t.TempDir(), "facts.yaml")}
	c.ControlPlane = controlplane.Start(t, controlplane.Options{NoControllers: true})
	data, err := os.ReadFile(c.CAFile())
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(data)
	c.http.Transport = &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true}
	config, err := os.ReadFile(c.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	c.token = string(regexp.MustCompile(`token: "([^"]*)"`).FindSubmatch(config)[1])
	text := "apiVersion: eksproxy.dev/v1alpha1\nkind: ClusterFacts\nregion: eu-west-1\ndnsSuffix: amazonaws.com\nvpcCIDRs: [10.40.0.0/16]\nserviceCIDRs: [10.100.0.0/16]\nendpointHost: x.gr7.eu-west-1.eks.amazonaws.com\n"
	if err := os.WriteFile(c.facts, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c.together(t, *namespaces, func(i int) error {
		return c.send(http.MethodPost, "/api/v1/namespaces", "application/json", map[string]any{
			"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": space(i), "labels": map[string]any{"eksproxy.dev/inject": "enabled"}},
		})
	})
	c.together(t, *namespaces*perNamespace, func(i int) error {
		return c.send(http.MethodPost, "/apis/apps/v1/namespaces/"+space(i/perNamespace)+"/deployments", "application/json", deployment(i))
	})
	return c
}

func space(i int) string { return fmt.Sprintf("team-%04d", i) }
func app(i int) string   { return fmt.Sprintf("app-%d", i%perNamespace) }

// deployment is one of 0 replicas, of a usual size.
func deployment(i int) map[string]any {
	labels := map[string]any{"app": app(i)}
	container := map[string]any{
		"name": "main", "image": "images.test/app:1", "args": []any{"serve", "--port=8080"}, "ports": []any{map[string]any{"containerPort": 8080}},
		"env":       []any{map[string]any{"name": "LOG_LEVEL", "value": "info"}, map[string]any{"name": "REGION", "value": "eu-west-1"}},
		"resources": map[string]any{"requests": map[string]any{"cpu": "100m", "memory": "128Mi"}},
	}
	return map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": app(i), "labels": labels},
		"spec": map[string]any{"replicas": 0, "selector": map[string]any{"matchLabels": labels}, "template": map[string]any{
			"metadata": map[string]any{"labels": labels}, "spec": map[string]any{"containers": []any{container}},
		}},
	}
}

// together does all of them, so many at once.
func (c *cluster) together(t *testing.T, n int, do func(int) error) {
	t.Helper()
	var next atomic.Int64
	var workers sync.WaitGroup
	errs := make(chan error, atOnce)
	for range atOnce {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				if err := do(i); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	workers.Wait()
	close(errs)
	for err := range errs {
		t.Fatal(err)
	}
}

// send makes one request, which must succeed.
func (c *cluster) send(method, path, contentType string, body any) error {
	data, err := json.Marshal(body)
	if err != nil {
		return err
	}
	req, err := http.NewRequest(method, c.URL()+path, bytes.NewReader(data))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	req.Header.Set("Content-Type", contentType)
	resp, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode >= 300 {
		err = fmt.Errorf("%s %s: status %d: %s", method, path, resp.StatusCode, answer)
	}
	return err
}

// bare sends the applies that eksproxy sends, and no more, and returns how long
// that took in milliseconds; empty takes them back.
func (c *cluster) bare(t *testing.T, empty bool) float64 {
	t.Helper()
	const query = "?force=true&fieldManager=bench"
	start := time.Now()
	c.together(t, *namespaces, func(i int) error {
		path := "/api/v1/namespaces/" + space(i) + "/configmaps/proxy-environment-variables"
		if empty {
			return c.send(http.MethodDelete, path, "application/json", map[string]any{})
		}
		return c.send(http.MethodPatch, path+query, "application/apply-patch+yaml", settings(i))
	})
	c.together(t, *namespaces*perNamespace, func(i int) error {
		path := "/apis/apps/v1/namespaces/" + space(i/perNamespace) + "/deployments/" + app(i) + query
		return c.send(http.MethodPatch, path, "application/apply-patch+yaml", applied(i, empty))
	})
	return float64(time.Since(start).Microseconds()) / 1000
}

func variables() []string {
	return []string{"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"}
}

// settings is the ConfigMap of a namespace.
func settings(i int) map[string]any {
	data := map[string]any{}
	for _, name := range variables() {
		data[name] = proxy
	}
	return map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "data": data, "metadata": map[string]any{
		"name": "proxy-environment-variables", "namespace": space(i), "labels": map[string]any{"eksproxy.dev/managed": "true", "app.kubernetes.io/managed-by": "eksproxy"},
		"annotations": map[string]any{"eksproxy.dev/settings-hash": "0123456789ab"},
	}}
}

// applied is what eksproxy owns in a workload.
func applied(i int, empty bool) map[string]any {
	meta := map[string]any{"name": app(i), "namespace": space(i / perNamespace)}
	object := map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta}
	if empty {
		return object
	}
	var env []any
	for _, name := range variables() {
		env = append(env, map[string]any{"name": name, "valueFrom": map[string]any{"configMapKeyRef": map[string]any{"name": "proxy-environment-variables", "key": name, "optional": true}}})
	}
	meta["labels"] = map[string]any{"eksproxy.dev/managed": "true"}
	object["spec"] = map[string]any{"template": map[string]any{
		"metadata": map[string]any{"annotations": map[string]any{"eksproxy.dev/settings-hash": "0123456789ab"}},
		"spec":     map[string]any{"containers": []any{map[string]any{"name": "main", "env": env}}},
	}}
	return object
}

func (c *cluster) patch() []string {
	return []string{"addons", "patch", "--kubeconfig", c.Kubeconfig(), "--facts", c.facts, "--http-proxy", proxy, "--yes"}
}

// same demands that all workloads have the variables.
func (c *cluster) same(t *testing.T) {
	t.Helper()
	var list struct{ Items []struct{ Spec any } }
	c.Get(t, "/apis/apps/v1/deployments?labelSelector=eksproxy.dev/managed=true", &list)
	data, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(data), `"key":"NO_PROXY"`); n != *namespaces*perNamespace {
		t.Fatalf("%d workloads have NO_PROXY, want %d", n, *namespaces*perNamespace)
	}
}

// kubectl changes some workloads, one call each, and returns how many
// milliseconds all of them would take.
func (c *cluster) kubectl(t *testing.T, how string) float64 {
	t.Helper()
	var literals []string
	for _, name := range variables() {
		literals = append(literals, name+"="+proxy)
	}
	n := min(sampled, *namespaces*perNamespace/2)
	start := time.Now()
	for i := range n {
		if how == "patch" {
			i += n // what kubectl set env has set cannot be given another source
		}
		args := []string{"-n", space(i / perNamespace)}
		if how == "set" {
			args = append(append(args, "set", "env", "deployment/"+app(i)), literals...)
		} else {
			data, _ := json.Marshal(applied(i, false))
			args = append(args, "patch", "deployment", app(i), "--type=strategic", "-p", string(data))
		}
		c.Kubectl(t, args...)
	}
	return float64(time.Since(start).Microseconds()) / 1000 / float64(n) * float64(*namespaces*perNamespace)
}

// counts are requests that the API server has answered, by their verb in its
// metrics.
type counts map[string]int

var metric = regexp.MustCompile(`(?m)^apiserver_request_total\{(.*)\} (\S+)$`)

// count reads the API server's own metrics, without those of its own clients.
func (c *cluster) count(t *testing.T) counts {
	t.Helper()
	found := counts{}
	for _, m := range metric.FindAllStringSubmatch(c.Kubectl(t, "get", "--raw", "/metrics"), -1) {
		resource := regexp.MustCompile(`resource="(deployments|statefulsets|replicasets|cronjobs|jobs|daemonsets|pods|poddisruptionbudgets|configmaps|namespaces)"`)
		verb := regexp.MustCompile(`verb="([A-Z]+)"`).FindStringSubmatch(m[1])
		n, err := strconv.ParseFloat(m[2], 64)
		if err != nil {
			t.Fatal(err)
		}
		if verb != nil && resource.MatchString(m[1]) {
			found[verb[1]] += int(n)
		}
	}
	return found
}

// since is what was asked after an earlier count.
func (c counts) since(before counts) counts {
	out := counts{}
	for verb, n := range c {
		out[verb] = n - before[verb]
	}
	return out
}

func (c counts) writes() int {
	return c["APPLY"] + c["PATCH"] + c["POST"] + c["PUT"] + c["DELETE"]
}

func (c counts) all() int { return c.writes() + c["GET"] + c["LIST"] }
