//go:build integration

package rollout_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/eksproxy/eksproxy/internal/kube"
	"github.com/eksproxy/eksproxy/internal/rollout"
)

// told collects lines of progress.
type told struct {
	sync.Mutex
	lines []string
	hook  func(line string)
}

func (l *told) tell(format string, args ...any) {
	l.Lock()
	defer l.Unlock()
	l.lines = append(l.lines, fmt.Sprintf(format, args...))
	if l.hook != nil {
		l.hook(l.lines[len(l.lines)-1])
	}
}

func (l *told) String() string { return strings.Join(l.lines, "\n") }

// inOrder demands lines that contain these texts, in this order.
func (w *world) inOrder(l *told, texts ...string) {
	w.Helper()
	i := 0
	for _, line := range l.lines {
		if i < len(texts) && strings.Contains(line, texts[i]) {
			i++
		}
	}
	if i < len(texts) {
		w.Errorf("no line with %q, in this order, in\n%s", texts[i], l)
	}
}

// stall is how long one pod may take where a test waits for that in full; what must
// succeed has longer, for busy machines.
const stall = 15 * time.Second

// roller is one with a canary.
func (w *world) roller() (rollout.Roller, *told) {
	l := &told{}
	return rollout.Roller{Client: w.client, Options: rollout.Options{
		Manager: "eksproxy", Canary: true, Timeout: 3 * time.Minute, StallLimit: time.Minute, Tell: l.tell,
	}}, l
}

func (w *world) roll(r rollout.Roller, apply func(context.Context) error) error {
	return r.Roll(w.Context(), w.ref, w.uid, "main", apply)
}

// equal demands that the workload is as before but for what may differ.
func (w *world) equal(before *unstructured.Unstructured) {
	w.Helper()
	if diff := cmp.Diff(settled(before), settled(w.live())); diff != "" {
		w.Errorf("the object differs from before:\n%s", diff)
	}
}

func settled(object *unstructured.Unstructured) map[string]any {
	o := object.DeepCopy()
	for _, path := range []string{"metadata.managedFields", "metadata.resourceVersion", "metadata.generation", "status",
		"metadata.annotations.deprecated^daemonset^template^generation", "metadata.annotations.deployment^kubernetes^io/revision"} {
		parts := strings.Split(path, ".")
		for i := range parts {
			parts[i] = strings.ReplaceAll(parts[i], "^", ".")
		}
		unstructured.RemoveNestedField(o.Object, parts...)
	}
	return o.Object
}

// noOwner demands that no write of ours owns a field any more.
func (w *world) noOwner() {
	w.Helper()
	if record, held := rollout.Held(w.live()); held {
		w.Errorf("still held: %s", record)
	}
	for _, e := range w.live().GetManagedFields() {
		if e.Manager == "eksproxy" && e.Operation == metav1.ManagedFieldsOperationUpdate {
			text, _ := json.Marshal(e)
			w.Errorf("a write of ours still owns %s", text)
		}
	}
}

// noProbe demands that no probe pod is left.
func (w *world) noProbe(namespace string) {
	w.Helper()
	w.eventually("the probe pod is gone", func() bool {
		pod, err := w.client.Get(w.Context(), kube.Ref{Kind: kube.Pod(), Namespace: namespace, Name: "eksproxy-probe-work"})
		return err == nil && pod == nil
	})
}
