package controlplane

import (
	"bufio"
	"context"
	"net/http"
	"strings"
	"testing"
	"time"
)

// configMaps is where the tests write.
const configMaps = "/api/v1/namespaces/default/configmaps"

// through makes a request through the proxy, and returns 0 where the
// connection broke.
func through(t *testing.T, f *Faults, limit time.Duration, method, path, body string) (int, string) {
	t.Helper()
	c, err := newClient(f.URL(), f.ca)
	if err != nil {
		t.Fatal(err)
	}
	defer c.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	status, answer, err := c.call(ctx, method, path, "application/json", []byte(body))
	if err != nil {
		return 0, err.Error()
	}
	return status, string(answer)
}

func TestFaults(t *testing.T) {
	cp := Start(t, Options{NoControllers: true})
	f := NewFaults(t, cp)
	cp.Kubectl(t, "create", "configmap", "c")
	read := Match{Verb: "get", Resource: "configmaps", Namespace: "default", Name: "c"}
	for name, test := range map[string]struct {
		answer Answer
		want   int
		text   string
	}{
		"conflict":  {Conflict(), 409, `"reason":"Conflict"`},
		"forbidden": {Forbidden(), 403, `"reason":"Forbidden"`},
		"broken":    {Broken(), 500, `"reason":"InternalError"`},
		"too many":  {TooMany(time.Second), 429, `"reason":"TooManyRequests"`},
		"close":     {Close(), 0, ""},
		"hang":      {Hang(), 0, "deadline exceeded"},
	} {
		f.Reset()
		f.Add(Fault{Match: read, From: 2, Times: 1, Answer: test.answer})
		for n, want := range []int{200, test.want, 200} {
			limit := time.Minute
			if name == "hang" && n == 1 {
				limit = 500 * time.Millisecond
			}
			status, body := through(t, f, limit, "GET", configMaps+"/c", "")
			if status != want || n == 1 && !strings.Contains(body, test.text) {
				t.Errorf("%s, request %d: %d %s", name, n+1, status, body)
			}
			through(t, f, time.Minute, "GET", configMaps+"/other", "")
		}
		if got := f.Requests(read); len(got) != 3 || got[1].Status != test.want {
			t.Errorf("%s: remembered %+v", name, got)
		}
	}
	f.Reset()
	f.Add(Fault{Match: read, Answer: Conflict()})
	for range 3 {
		if status, _ := through(t, f, time.Minute, "GET", configMaps+"/c", ""); status != 409 {
			t.Errorf("a fault of every request let one through: %d", status)
		}
	}
}

func TestAnswerIsLost(t *testing.T) {
	cp := Start(t, Options{NoControllers: true})
	f := NewFaults(t, cp)
	create := Match{Verb: "create", Resource: "configmaps"}
	f.Add(Fault{Match: create, Times: 1, Answer: Lose()})
	body := `{"metadata": {"name": "lost"}}`
	if status, text := through(t, f, time.Minute, "POST", configMaps, body); status != 0 {
		t.Errorf("the client got the answer: %d %s", status, text)
	}
	if status, _ := through(t, f, time.Minute, "POST", configMaps, body); status != 409 {
		t.Errorf("the object was not written: %d", status)
	}
	f.Add(Fault{Match: Match{Verb: "update"}, Answer: Before(func(*http.Request) {
		cp.Kubectl(t, "label", "configmap", "lost", "hook=ran")
	})})
	old := cp.Kubectl(t, "get", "configmap", "lost", "-o", "json")
	if status, text := through(t, f, time.Minute, "PUT", configMaps+"/lost", old); status != 409 {
		t.Errorf("a write after the hook's: %d %s", status, text)
	}
	if writes := f.Writes(); len(writes) != 3 {
		t.Errorf("remembered %+v", writes)
	}
}

func TestProxyForwardsUsersAndWatches(t *testing.T) {
	cp := Start(t, Options{NoControllers: true})
	f := NewFaults(t, cp)
	if out, err := cp.TryKubectl(t, "--kubeconfig", f.UserKubeconfig(t, "user0"), "get", "nodes"); err == nil || !strings.Contains(err.Error(), `User "user0" cannot list`) {
		t.Errorf("got %s, %v", out, err)
	}
	cp.Kubectl(t, "--kubeconfig", f.Kubeconfig(t), "create", "configmap", "first")
	client, err := newClient(f.URL(), f.ca)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, f.URL()+configMaps+"?watch=true", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token(admin))
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	for _, name := range []string{"first", "second"} {
		if name == "second" {
			cp.Kubectl(t, "create", "configmap", name)
		}
		for lines.Scan() && !strings.Contains(lines.Text(), `"name":"`+name+`"`) {
			t.Logf("watched %.60s", lines.Text())
		}
	}
	if err := lines.Err(); err != nil {
		t.Error(err)
	}
	if got := f.Requests(Match{Verb: "watch", Resource: "configmaps", Namespace: "default"}); len(got) != 1 || got[0].Status != 200 && got[0].Status != 0 {
		t.Errorf("remembered %+v", got)
	}
}
