// Command bare is the least that can be done in place of a node apply: it gets
// a token and the given documents from instance metadata, one after the other
// on one connection, and writes files of the given sizes so that they last. The
// benchmark measures the agent against it.
//
//	bare URL ROOT PATH... -- FILE:SIZE...
package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

const (
	tokenPath   = "/latest/api/token"
	tokenHeader = "X-aws-ec2-metadata-token"
	ttlHeader   = "X-aws-ec2-metadata-token-ttl-seconds"
)

func main() {
	if err := run(os.Args[1], os.Args[2], os.Args[3:]); err != nil {
		fmt.Fprintln(os.Stderr, "bare:", err)
		os.Exit(1)
	}
}

// run does the work: first the requests, then the writes.
func run(url, root string, work []string) error {
	paths, files := work, []string(nil)
	if i := slices.Index(work, "--"); i >= 0 {
		paths, files = work[:i], work[i+1:]
	}
	token, err := ask(http.MethodPut, url+tokenPath, ttlHeader, "21600")
	if err != nil {
		return err
	}
	for _, path := range paths {
		if _, err := ask(http.MethodGet, url+path, tokenHeader, token); err != nil {
			return err
		}
	}
	for _, file := range files {
		name, size, _ := strings.Cut(file, ":")
		n, err := strconv.Atoi(size)
		if err != nil {
			return fmt.Errorf("reading the size of %s: %w", name, err)
		}
		if err := write(filepath.Join(root, name), bytes.Repeat([]byte("x"), n)); err != nil {
			return err
		}
	}
	return nil
}

// ask sends a request and returns the body, whatever the status: metadata has
// no document about IPv6 where there is none.
func ask(method, url, header, value string) (string, error) {
	req, err := http.NewRequest(method, url, nil)
	if err != nil {
		return "", err
	}
	req.Header.Set(header, value)
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return string(body), err
}

// write replaces a file so that it survives a crash.
func write(path string, data []byte) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, "bare")
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Write(data); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
