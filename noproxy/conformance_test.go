//go:build integration

package noproxy_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/eksproxy/eksproxy/noproxy"
)

// clientVariable names the client that a process of this test asks. Each is
// asked in a process with networks and mounts of its own, where the kernel
// answers every address and nothing leads out.
const clientVariable = "EKSPROXY_TEST_CLIENT"

// observation is what a client did with one vector.
type observation struct {
	Vector   int              `json:"vector"`
	Decision noproxy.Decision `json:"decision"`
	Said     string           `json:"said"`
}

// TestConformance asks the real clients, and compares what reaches the proxy
// and the hosts with what the models say.
func TestConformance(t *testing.T) {
	cache := clientCache(t)
	if name := os.Getenv(clientVariable); name != "" {
		askInNamespace(t, cache, name)
		return
	}
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED, NOT TESTED: network namespaces need root; run these tests as root")
	}
	start := time.Now()
	all := conformanceVectors()
	if len(all) < 300 {
		t.Errorf("%d vectors, want at least 300", len(all))
	}
	clients := installed(t, cache)
	total := askAll(t, clients, all)
	t.Logf("%d clients, %d vectors, %d decisions in %s; seed %d",
		len(clients), len(all), total, time.Since(start).Round(time.Second), number("EKSPROXY_TEST_SEED", seed))
}

// clientCache puts the clients that Debian lacks into the cache.
func clientCache(t *testing.T) string {
	t.Helper()
	cache, err := filepath.Abs("../.cache")
	if err != nil {
		t.Fatal(err)
	}
	if os.Getenv(clientVariable) == "" {
		if out, err := exec.Command(drivers("setup.sh"), cache).CombinedOutput(); err != nil {
			t.Fatalf("putting the clients into %s: %v\n%s\nrun: apt-get install python3-venv npm", cache, err, out)
		}
	}
	return filepath.Join(cache, "clients")
}

// installed gives the clients that can run. A required one that is missing
// fails the test, as an optional one does with FULL=1.
func installed(t *testing.T, cache string) []realClient {
	t.Helper()
	var present []realClient
	var missing []string
	only := os.Getenv("EKSPROXY_TEST_ONLY")
	for _, c := range realClients(cache) {
		if only != "" && c.name != only {
			continue
		}
		if _, err := exec.LookPath(c.needs); err == nil || exists(c.needs) {
			present = append(present, c)
			continue
		}
		if c.optional && os.Getenv("FULL") != "1" {
			t.Logf("NOT RUN: %s, which is optional; install: %s", c.name, c.comes)
			continue
		}
		missing = append(missing, c.comes)
		t.Errorf("%s is missing: it needs %s", c.name, c.needs)
	}
	if missing != nil {
		t.Fatalf("run: apt-get install --no-install-recommends %s", strings.Join(missing, " "))
	}
	return present
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return filepath.IsAbs(path) && err == nil
}

// askAll asks the clients, two at a time, and gives the number of decisions.
func askAll(t *testing.T, clients []realClient, all []vector) int {
	t.Helper()
	var wg sync.WaitGroup
	var mu sync.Mutex
	total := 0
	slots := make(chan struct{}, 3)
	for _, c := range clients {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			start := time.Now()
			seen, err := ask(t, c.name)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Errorf("asking %s: %v", c.name, err)
				return
			}
			total += len(seen)
			wrong := compare(t, c, all, seen)
			t.Logf("%-22s %4d decisions, %d disagreements, %.1f s", c.name, len(seen), wrong, time.Since(start).Seconds())
		})
	}
	wg.Wait()
	return total
}

// ask runs this test again for one client.
func ask(t *testing.T, name string) ([]observation, error) {
	t.Helper()
	hosts, results := filepath.Join(t.TempDir(), "hosts"), filepath.Join(t.TempDir(), "results")
	if err := os.WriteFile(hosts, []byte(hostsFile(conformanceVectors())), 0o644); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestConformance$", "-test.timeout=10m")
	cmd.Env = append(os.Environ(), clientVariable+"="+name, "EKSPROXY_TEST_HOSTS="+hosts, "EKSPROXY_TEST_RESULTS="+results)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET | syscall.CLONE_NEWNS}
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, out)
	}
	data, err := os.ReadFile(results)
	if err != nil {
		return nil, err
	}
	var seen []observation
	return seen, json.NewDecoder(bytes.NewReader(data)).Decode(&seen)
}

// compare reports each disagreement and gives their number.
func compare(t *testing.T, c realClient, all []vector, seen []observation) int {
	t.Helper()
	model, ok := noproxy.FindClient(c.model)
	if !ok {
		t.Fatalf("%s is not modelled", c.model)
	}
	wrong := 0
	for _, o := range seen {
		v := all[o.Vector]
		if c.name == "JDK" {
			v.Env = maps.Clone(javaProperties(v))
		}
		want := expected(t, model, v)
		if want == noproxy.Ignored {
			want = noproxy.Direct // as it looks from outside
		}
		if o.Decision != want {
			wrong++
			t.Errorf("vector %d: %s: the client %s is %s (%s), the model %s says %s", o.Vector, v, c.name, o.Decision, o.Said, c.model, want)
		}
	}
	return wrong
}
