//go:build integration

package rollout_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/eksproxy/eksproxy/internal/kube"
	"github.com/eksproxy/eksproxy/internal/rollout"
)

// faults happen to every third request.
var faults = map[string]func(r *http.Request, forward func() (*http.Response, error)) (*http.Response, error){
	"Broken": func(r *http.Request, _ func() (*http.Response, error)) (*http.Response, error) {
		return answer(r, 500, "InternalError")
	},
	"TooMany": func(r *http.Request, _ func() (*http.Response, error)) (*http.Response, error) {
		return answer(r, 429, "TooManyRequests")
	},
	"Closed": func(*http.Request, func() (*http.Response, error)) (*http.Response, error) {
		return nil, io.ErrUnexpectedEOF
	},
	"Lost": func(_ *http.Request, forward func() (*http.Response, error)) (*http.Response, error) {
		resp, err := forward()
		if err != nil {
			return resp, err
		}
		return nil, errors.Join(io.ErrUnexpectedEOF, resp.Body.Close())
	},
	"Conflict": func(r *http.Request, forward func() (*http.Response, error)) (*http.Response, error) {
		if r.Method != http.MethodPatch || r.Header.Get("Content-Type") != "application/merge-patch+json" {
			return forward()
		}
		return answer(r, 409, "Conflict")
	},
}

var faultTests = map[string]func(*world){
	"Faults": func(w *world) {
		for name, fault := range faults {
			w.Run(name, func(t *testing.T) {
				namespace := "fault-" + strings.ToLower(name)
				newNamespace(t, w.client, namespace, nil)
				(&world{T: t, client: w.client, namespace: namespace}).rollsOutThrough(fault)
			})
		}
	},
	"RightsLost": func(w *world) {
		before := w.start(kube.DaemonSet(), rolling)
		for from := 1; from <= 14; from++ {
			value := strconv.Itoa(from)
			x := &transport{do: func(n int, r *http.Request, forward func() (*http.Response, error)) (*http.Response, error) {
				if n >= from {
					return answer(r, 403, "Forbidden")
				}
				return forward()
			}}
			r, _ := w.roller()
			bad := r
			bad.Client = w.through(x)
			err := w.roll(bad, w.change(value, ""))
			_, held := rollout.Held(w.live())
			if err == nil || held && !strings.Contains(err.Error(), "eksproxy addons revert") {
				w.Errorf("rights lost at request %d: held %v, %v", from, held, err)
			}
			if err := w.roll(r, w.change(value, "")); err != nil {
				w.Fatalf("after rights were lost at request %d: %v", from, err)
			}
			w.wantPods(3, 3, 0)
			w.noOwner()
		}
		r, _ := w.roller()
		if err := r.Undo(w.Context(), w.ref, w.uid, w.restore); err != nil {
			w.Fatal(err)
		}
		w.equal(before)
	},
	"InterruptedAtEachRequest": func(w *world) {
		before := w.start(kube.DaemonSet(), rolling)
		for at := 1; at <= 20; at++ {
			ctx, cancel := context.WithCancel(w.Context())
			x := &transport{do: func(n int, _ *http.Request, forward func() (*http.Response, error)) (*http.Response, error) {
				resp, err := forward()
				if n == at {
					cancel()
				}
				return resp, err
			}}
			r, _ := w.roller()
			bad := r
			bad.Client = w.through(x)
			err := bad.Roll(ctx, w.ref, w.uid, "main", w.change(strconv.Itoa(at), ""))
			cancel()
			if err != nil && !errors.Is(err, context.Canceled) {
				w.Errorf("interrupted at request %d: %v", at, err)
			}
			w.noProbe(w.namespace)
			if err := r.Undo(w.Context(), w.ref, w.uid, w.restore); err != nil {
				w.Fatalf("after an interrupt at request %d: %v", at, err)
			}
			w.wantPods(3, 3, 0)
			w.noOwner()
			w.equal(before)
		}
	},
	"BusyWriter": func(w *world) {
		w.start(kube.DaemonSet(), rolling)
		ctx, cancel := context.WithCancel(w.Context())
		done := make(chan int)
		go func() {
			writes := 0
			for ; ctx.Err() == nil; time.Sleep(20 * time.Millisecond) {
				_, err := w.client.Modify(ctx, w.ref, w.uid, "busy", func(*unstructured.Unstructured) (map[string]any, error) {
					writes++
					return map[string]any{"metadata": map[string]any{"annotations": map[string]any{"busy": strconv.Itoa(writes)}}}, nil
				})
				if err != nil && ctx.Err() == nil {
					w.Error(err)
				}
			}
			done <- writes
		}()
		r, _ := w.roller()
		for _, value := range []string{"a", "b"} {
			if err := w.roll(r, w.change(value, "")); err != nil {
				w.Error(err)
			}
		}
		cancel()
		w.Logf("%d writes of another in between", <-done)
		w.wantPods(3, 3, 0)
		w.noOwner()
	},
	"AwayNode": func(w *world) {
		// The simulated nodes are always ready: the answer about one is changed.
		x := &transport{do: func(_ int, r *http.Request, forward func() (*http.Response, error)) (*http.Response, error) {
			resp, err := forward()
			if err != nil || r.URL.Path != "/api/v1/nodes" {
				return resp, err
			}
			return notReady(resp, awayNode)
		}}
		w.startBut(1, kube.DaemonSet(), strings.Replace(rolling, "10%", "2", 1))
		r, told := w.roller()
		r.Client = w.through(x)
		if err := w.roll(r, w.change("a", "")); err != nil {
			w.Fatal(err)
		}
		w.inOrder(told, "is replaced first", "rolled out, but for the pods on nodes that are not ready, as before: "+awayNode)
		w.wantPods(3, 2, 0)
		// The control: where that node is ready, its pod is waited for.
		r.Client, r.Timeout = w.client, 12*time.Second
		w.failsFrom(r, "", rollout.TimedOut, "3 of 3 pods are new, 2 are ready")
	},
	"Requests": func(w *world) {
		w.start(kube.DaemonSet(), rolling)
		x := &transport{do: func(_ int, _ *http.Request, forward func() (*http.Response, error)) (*http.Response, error) {
			return forward()
		}}
		r, _ := w.roller()
		r.Client = w.through(x)
		began := time.Now()
		if err := w.roll(r, w.change("a", "")); err != nil {
			w.Fatal(err)
		}
		w.Logf("%d requests:\n%s", x.count, strings.Join(x.seen, "\n"))
		if most := 45 + int(4*time.Since(began).Seconds()); x.count > most { // while it waits it looks twice a second
			w.Errorf("%d requests for 3 pods, want at most %d", x.count, most)
		}
	},
}

// rollsOutThrough rolls out and back while every third request fails.
func (w *world) rollsOutThrough(fault func(*http.Request, func() (*http.Response, error)) (*http.Response, error)) {
	w.Helper()
	before := w.start(kube.DaemonSet(), rolling)
	x := &transport{do: func(n int, r *http.Request, forward func() (*http.Response, error)) (*http.Response, error) {
		if n%3 == 0 {
			return fault(r, forward)
		}
		return forward()
	}}
	r, told := w.roller()
	r.Client = w.through(x)
	if err := w.roll(r, w.change("a", "")); err != nil {
		w.Fatal(err)
	}
	w.inOrder(told, "is replaced first", "a probe pod", "rolled out")
	w.wantPods(3, 3, 0)
	w.noOwner()
	w.noProbe(w.namespace)
	if err := r.Undo(w.Context(), w.ref, w.uid, w.restore); err != nil {
		w.Fatal(err)
	}
	w.wantPods(3, 3, 0)
	w.equal(before)
}
