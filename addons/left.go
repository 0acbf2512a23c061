package addons

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/eksproxy/eksproxy/internal/podenv"
)

// Left is a variable that somebody else has set, and that eksproxy leaves alone.
type Left struct {
	Container, Name string
	// Owners are the managers that set it.
	Owners []string
	// Times is how often it is listed; the last one counts in the pod.
	Times int
}

// String says whose the variable is.
func (l Left) String() string {
	if l.Times > 1 {
		return fmt.Sprintf("%s in container %s is listed %d times and left as it is: the last one counts", l.Name, l.Container, l.Times)
	}
	return fmt.Sprintf("%s in container %s is set by %s and left as it is", l.Name, l.Container, strings.Join(l.Owners, ", "))
}

// ours are those of the names that nobody else has set in a container.
func (w *workload) ours(c podenv.Container, names []string) (free []string, left []Left) {
	for _, name := range names {
		_, times := c.Lookup(name)
		path := podenv.EnvPath(w.ref.Kind.Kind, c, name)
		if times == 0 || times == 1 && w.owners.Applied(Manager, path) {
			free = append(free, name)
			continue
		}
		others := slices.DeleteFunc(w.owners.Of(path), func(m string) bool { return m == Manager })
		if len(others) == 0 {
			others = []string{"someone"}
		}
		left = append(left, Left{c.Name, name, others, times})
	}
	return free, left
}

// fields are what eksproxy is to own in a workload.
func (d Desired) fields(t Target, w *workload, revision string) (Fields, []Left) {
	f := Fields{Labels: map[string]string{LabelManaged: "true"}, Template: map[string]string{AnnotationHash: d.Settings.Hash()}}
	if reason := d.Options.Reason; reason != "" {
		f.Annotations = map[string]string{AnnotationReason: reason}
	} else if before := w.now.Annotations[AnnotationReason]; before != "" {
		f.Annotations = map[string]string{AnnotationReason: before}
	}
	if revision != "" {
		f.Template[AnnotationRevision] = revision
	}
	var left []Left
	for _, c := range podenv.Containers(&w.template) {
		if !t.Takes(c.Name) {
			continue
		}
		free, others := w.ours(c, VariableNames())
		own := ContainerFields{Name: c.Name, Init: c.Init, Env: d.items(free)}
		left = append(left, others...)
		if len(d.Settings.CAs) > 0 && t.NoCA == "" {
			if free, others = w.ours(c, []string{caVariable}); len(free) > 0 {
				own.Env = append(own.Env, caItem())
				own.Mounts = []corev1.VolumeMount{{Name: caVolume, MountPath: caMount, ReadOnly: true}}
				f.Volumes = []corev1.Volume{authorityVolume()}
			}
			left = append(left, others...)
		}
		if len(own.Env) > 0 {
			f.Containers = append(f.Containers, own)
		}
	}
	return f.sorted(), left
}
