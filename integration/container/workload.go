package container

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// PushProgram gives the registry an image that can run, and returns its name.
func (r *Registry) PushProgram(t *testing.T) string {
	t.Helper()
	binary, err := helper()
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	err = w.WriteHeader(&tar.Header{Name: "nodehelper", Mode: 0o755, Size: int64(len(content))})
	_, writeErr := w.Write(content)
	if err := errors.Join(err, writeErr, w.Close()); err != nil {
		t.Fatal(err)
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(archive.Bytes())), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	image, err := mutate.AppendLayers(empty.Image, layer)
	if err != nil {
		t.Fatal(err)
	}
	name := r.Host + "/test/program:1"
	r.push(t, name, image)
	return name
}

// Run runs an image of PushProgram, which the node has pulled, as a container
// of this name, and returns its process as the node numbers it.
func (c *Container) Run(t *testing.T, image, name string) int {
	t.Helper()
	c.Must(t, "ctr", "-n", "k8s.io", "run", "--detach", "--cpu-shares", "0", image, name, "/nodehelper", "sleep")
	return c.Task(t, name)
}

// Task is the process of a running container: 0 where it does not run.
func (c *Container) Task(t *testing.T, name string) int {
	t.Helper()
	for line := range strings.Lines(c.Must(t, "ctr", "-n", "k8s.io", "task", "ls")) {
		fields := strings.Fields(line)
		if len(fields) == 3 && fields[0] == name && fields[2] == "RUNNING" {
			pid, err := strconv.Atoi(fields[1])
			if err != nil {
				t.Fatal(err)
			}
			return pid
		}
	}
	return 0
}
