//go:build linux

package systemd

import (
	"errors"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// The properties as systemd sends them; the manager itself is asked on booted
// nodes (integration).
func TestUnitOf(t *testing.T) {
	got := unitOf("kubelet.service", map[string]any{
		"LoadState": "loaded", "ActiveState": "active", "MainPID": uint32(42), "NeedDaemonReload": true,
		"DropInPaths":            []string{"/a", "/b"},
		"EnvironmentFiles":       [][]any{{"/etc/environment", true}, {"/etc/eksproxy/proxy.env", true}},
		"ExecMainStartTimestamp": uint64(1_700_000_000_000_000), "ExecMainExitTimestamp": uint64(0),
	})
	want := Unit{
		Name: "kubelet.service", Loaded: true, Active: "active", MainPID: 42, NeedDaemonReload: true,
		DropIns: []string{"/a", "/b"}, EnvironmentFiles: []string{"/etc/environment", "/etc/eksproxy/proxy.env"},
		Started: time.UnixMicro(1_700_000_000_000_000),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if !got.Running() {
		t.Error("an active unit with a process does not run")
	}
}

func TestUnitThatEnded(t *testing.T) {
	oneshot := unitOf("a.service", map[string]any{"LoadState": "loaded", "ActiveState": "active", "MainPID": uint32(0), "ExecMainExitTimestamp": uint64(5)})
	if !oneshot.Ended || oneshot.Running() {
		t.Errorf("a oneshot that is done: %+v", oneshot)
	}
	if absent := unitOf("b.service", map[string]any{"LoadState": "not-found"}); absent.Loaded || absent.Ended || !absent.Started.IsZero() {
		t.Errorf("a unit that is not there: %+v", absent)
	}
}

func TestConnectWithoutSystemd(t *testing.T) {
	if _, err := os.Stat("/run/systemd/private"); err == nil {
		t.Log("NOT RUN: systemd runs this machine")
		return
	}
	if _, err := Connect(t.Context()); !errors.Is(err, ErrNotRunning) {
		t.Errorf("error %v", err)
	}
}

func TestProcesses(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "sleep", "314")
	cmd.Env = []string{"HTTPS_PROXY=http://p:1", "EMPTY=", "A=b=c"}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	isSleep := func(args []string) bool { return slices.Equal(args, []string{"sleep", "314"}) }
	for range 100 { // until the new program has taken the place of this one
		if found, err := AnyProcess(isSleep); err != nil {
			t.Fatal(err)
		} else if found {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	env, err := Environ(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"HTTPS_PROXY": "http://p:1", "EMPTY": "", "A": "b=c"}, env); diff != "" {
		t.Error(diff)
	}
	if found, err := AnyProcess(func([]string) bool { return false }); found || err != nil {
		t.Errorf("found %v, %v", found, err)
	}
	if _, err := Environ(1 << 30); err == nil {
		t.Error("a process that is not there has an environment")
	}
}
