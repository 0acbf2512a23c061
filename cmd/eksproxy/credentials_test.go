package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/eksproxy/eksproxy/internal/ui"
	"github.com/eksproxy/eksproxy/node"
	"github.com/eksproxy/eksproxy/secretref"
)

// What could not be fetched now may be there later; the rest can never work.
func TestUnresolved(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		code int
	}{
		"unreachable": {&secretref.Error{Kind: secretref.Unreachable, Err: errors.New("x")}, exitUndecided},
		"denied":      {errors.Join(fmt.Errorf("--credentials-from: %w", &secretref.Error{Kind: secretref.Denied, Err: errors.New("x")})), exitUndecided},
		"malformed":   {&secretref.Error{Kind: secretref.Malformed, Err: errors.New("x")}, exitUsage},
		"usage":       {errors.New("x"), exitUsage},
		"cancelled":   {fmt.Errorf("fetching: %w", context.Canceled), exitNo},
	} {
		code := exitNo
		if ce, ok := errors.AsType[codeError](unresolved(c.err)); ok {
			code = ce.code
		}
		if code != c.code {
			t.Errorf("%s: exit code %d, want %d", name, code, c.code)
		}
	}
	if unresolved(nil) != nil {
		t.Error("no error became one")
	}
}

// The installed configuration is read where there is one, and not being able to
// is an error, not a missing file.
func TestInstalled(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "config.yaml")
	if got := installed(path); got != nil {
		t.Errorf("got %q of nothing", got)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{path, filepath.Join(path, "below-a-file")} {
		if got := installed(name); len(got) != 1 || got[0] != name {
			t.Errorf("%s: got %q", name, got)
		}
	}
}

// A kept copy is used only where it is there, ours alone to write, and right.
func TestKeptCredentials(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, node.CredentialsPath)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		text string
		mode os.FileMode
		word string
	}{
		{"", 0, "file does not exist"}, {"svc:" + scriptSecret + "\n", 0o600, ""},
		{"svc:" + scriptSecret, 0o620, "others can write"}, {scriptSecret, 0o600, "no colon"},
	} {
		if c.mode != 0 {
			if err := errors.Join(os.WriteFile(path, []byte(c.text), 0o600), os.Chmod(path, c.mode)); err != nil {
				t.Fatal(err)
			}
		}
		got, err := keptCredentials(dir)
		switch {
		case c.word == "" && (err != nil || got.IsZero()):
			t.Errorf("a good copy: %v", err)
		case c.word != "" && (err == nil || !strings.Contains(err.Error(), c.word) || strings.Contains(err.Error(), scriptSecret)):
			t.Errorf("%o: got %v, want %q", c.mode, err, c.word)
		}
	}
}

// A plan that waits for a service ends with Ctrl-C, as what it is.
func TestFetchCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, talk bytes.Buffer
	code := Run(ctx, []string{"eksproxy", "node", "plan", "--root", t.TempDir(), "--os", "al2023", "--http-proxy", "http://proxy.example:3128",
		"--credentials-from", "ssm:/corp/proxy", "--region", "eu-west-1", "--imds-endpoint", "http://127.0.0.1:1"}, ui.Streams{In: new(bytes.Buffer), Out: &out, Err: &talk}, nil)
	if code != exitNo || !strings.Contains(talk.String(), "context canceled") {
		t.Errorf("exit %d: %s", code, talk.String())
	}
}
