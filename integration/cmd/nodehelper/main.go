// Command nodehelper runs on the nodes of container tests.
//
//	nodehelper cripull IMAGE   has containerd pull an image, as the kubelet does
//	nodehelper get URL         asks by HTTP, through the proxy of the environment
//	nodehelper environ         prints its environment
//	nodehelper standin NAME    stands in for a program that needs the network
//	nodehelper sleep           runs until it is killed: a container needs one
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// limit bounds every command but sleep.
const limit = 60 * time.Second

// containerd is where containerd serves its CRI.
const containerd = "unix:///run/containerd/containerd.sock"

// wanted is the folder with a file for each stand-in that asks for something:
// its URLs, one a line.
const wanted = "/etc/nodehelper/"

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "nodehelper:", err)
		os.Exit(1)
	}
}

// run carries out one command.
func run(args []string, out io.Writer) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	switch {
	case len(args) == 2 && args[0] == "cripull":
		return pull(ctx, args[1], out)
	case len(args) == 2 && args[0] == "get":
		return get(ctx, args[1], out)
	case len(args) == 1 && args[0] == "environ":
		fmt.Fprintln(out, strings.Join(slices.Sorted(slices.Values(os.Environ())), "\n"))
		return nil
	case len(args) == 1 && args[0] == "sleep":
		for {
			time.Sleep(time.Hour)
		}
	case len(args) == 2 && args[0] == "standin":
		return standIn(ctx, args[1], out)
	}
	return fmt.Errorf("reading the arguments: no such command: %q", args)
}

// pull has containerd pull an image, and prints its id.
func pull(ctx context.Context, image string, out io.Writer) error {
	conn, err := grpc.NewClient(containerd, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return fmt.Errorf("connecting to containerd: %w", err)
	}
	defer func() { _ = conn.Close() }()
	resp, err := runtime.NewImageServiceClient(conn).PullImage(ctx,
		&runtime.PullImageRequest{Image: &runtime.ImageSpec{Image: image}}, grpc.WaitForReady(true))
	if err != nil {
		return fmt.Errorf("pulling %s: %w", image, err)
	}
	fmt.Fprintln(out, resp.ImageRef)
	return nil
}

// get asks for a URL as Go programs do by default, and prints the status. An
// answer that is no success is an error.
func get(ctx context.Context, url string, out io.Writer) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	req.Close = true
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode >= http.StatusBadRequest {
		return fmt.Errorf("asking for %s: %s", url, resp.Status)
	}
	fmt.Fprintln(out, url, resp.Status)
	return nil
}

// standIn says which proxy variables are set, by name, and asks for the URLs
// that the test wants.
func standIn(ctx context.Context, name string, out io.Writer) error {
	var set []string
	for _, v := range os.Environ() {
		if key, _, _ := strings.Cut(v, "="); strings.HasSuffix(strings.ToLower(key), "_proxy") {
			set = append(set, key)
		}
	}
	slices.Sort(set)
	fmt.Fprintf(out, "%s started with the proxy variables %q\n", name, set)
	urls, err := os.ReadFile(wanted + name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for url := range strings.FieldsSeq(string(urls)) {
		if err := get(ctx, url, out); err != nil {
			return err
		}
	}
	return nil
}
