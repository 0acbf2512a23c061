package node

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/eksproxy/eksproxy/internal/rootfs"
	"github.com/eksproxy/eksproxy/proxyconfig"
)

// The crash test runs its own program again, once for each step of an
// operation, and ends it there by SIGKILL. What then lies on the disk is what a
// power cut leaves, less what fsync is for.

// crashEnv tells a process which operation to do, where, and at which step to
// end: "apply /tmp/x 17". Step 0 never comes, so the operation is done whole.
const crashEnv = "EKSPROXY_TEST_CRASH"

func TestMain(m *testing.M) {
	if order := os.Getenv(crashEnv); order != "" {
		os.Exit(crashHelper(strings.Fields(order)))
	}
	os.Exit(m.Run())
}

// crashHelper does the operation and prints how many steps it took.
func crashHelper(order []string) int {
	root, err := rootfs.Open(order[1])
	if err != nil {
		return 3
	}
	last, err := strconv.Atoi(order[2])
	if err != nil {
		return 3
	}
	steps := 0
	root.Step = func(rootfs.Op, string) {
		if steps++; steps == last {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}
	if err := operations()[order[0]](context.Background(), root); err != nil {
		return 4
	}
	fmt.Print(steps)
	return 0
}

// operations are what is killed. The second apply has other credentials, other
// entries, a unit less and a unit more than the first.
func operations() map[string]func(context.Context, *rootfs.Root) error {
	return map[string]func(context.Context, *rootfs.Root) error{
		"apply": func(ctx context.Context, root *rootfs.Root) error {
			_, err := doApply(ctx, root, settings(true), proxyconfig.Node{Runtime: "containerd"})
			return err
		},
		"applyother": func(ctx context.Context, root *rootfs.Root) error {
			s := settings(false)
			s.NoProxy = list("other")
			_, err := doApply(ctx, root, s, proxyconfig.Node{Runtime: "docker", Off: map[string]bool{proxyconfig.TargetSOCI: true}})
			return err
		},
		"revert": doRevert,
	}
}

// crash runs one operation in a process of its own. It returns the steps it
// took, or 0 where it was killed.
func crash(t *testing.T, operation, dir string, step int) int {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %s %d", crashEnv, operation, dir, step))
	out, err := cmd.Output()
	if err != nil {
		if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
			t.Fatalf("%s, step %d: %v", operation, step, err)
		}
		return 0
	}
	steps, err := strconv.Atoi(string(out))
	check(t, err)
	return steps
}

// contents are all regular files below a root.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	check(t, filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			var data []byte
			data, err = os.ReadFile(p)
			files[strings.TrimPrefix(p, dir)] = string(data)
		}
		return err
	}))
	return files
}

func TestKilledAtEveryStep(t *testing.T) {
	start := baseTree(AL2023).with(tree{
		"/etc/environment":                       file("A=1\nHTTP_PROXY=old\n" + block1 + "no_proxy=behind\nB=2"),
		"/etc/dnf/dnf.conf":                      {text: "[main]\nproxy=old\nbest=1\n", mode: 0o640},
		"/etc/systemd/system/kubelet.service.d/": {},
	})
	for _, c := range []struct{ before, operation string }{
		{"", "apply"}, {"apply", "applyother"}, {"apply", "revert"}, {"applyother", "revert"},
	} {
		t.Run(c.before+" "+c.operation, func(t *testing.T) {
			t.Parallel()
			prepare := func() *rootfs.Root {
				root := plant(t, start)
				if c.before != "" {
					check(t, operations()[c.before](t.Context(), root))
				}
				return root
			}
			untouched := snapshot(t, plant(t, start).Dir())
			whole := prepare()
			old := contents(t, whole.Dir())
			steps := crash(t, c.operation, whole.Dir(), 0)
			done, final := contents(t, whole.Dir()), withoutRecord(snapshot(t, whole.Dir()))
			if steps < 20 {
				t.Fatalf("only %d steps: is the layer bypassed?", steps)
			}
			for step := 1; step <= steps; step++ {
				again, back := prepare(), prepare()
				for _, root := range []*rootfs.Root{again, back} {
					if crash(t, c.operation, root.Dir(), step) != 0 {
						t.Fatalf("step %d did not end the program", step)
					}
				}
				oldOrNew(t, step, contents(t, again.Dir()), old, done)
				check(t, operations()[c.operation](t.Context(), again))
				if diff := cmp.Diff(final, withoutRecord(snapshot(t, again.Dir()))); diff != "" {
					t.Fatalf("killed at step %d, the next run does not converge (-want +got):\n%s", step, diff)
				}
				revert(t, back)
				if diff := cmp.Diff(untouched, snapshot(t, back.Dir())); diff != "" {
					t.Fatalf("killed at step %d, revert does not restore (-want +got):\n%s", step, diff)
				}
			}
		})
	}
}

// withoutRecord drops the record's line: how many former versions it remembers
// depends on where the kill came.
func withoutRecord(snapshot string) string {
	var kept []string
	for line := range strings.Lines(snapshot) {
		if !strings.HasPrefix(line, StatePath) {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}

// oldOrNew checks that each file is as before or as after the operation, half a
// write beside it and the record apart.
func oldOrNew(t *testing.T, step int, got, old, done map[string]string) {
	t.Helper()
	paths := maps.Clone(old)
	maps.Copy(paths, done)
	maps.Copy(paths, got)
	for p := range paths {
		now, there := got[p]
		was, wasThere := old[p]
		will, willBe := done[p]
		switch {
		case p == StatePath || strings.HasSuffix(p, ".eksproxy-new"):
		case there && (wasThere && now == was || willBe && now == will):
		case !there && (!wasThere || !willBe):
		default:
			t.Errorf("killed at step %d, %s is neither the old nor the new file: %q", step, p, now)
		}
	}
}
