//go:build !nodeonly

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/eksproxy/eksproxy/addons"
	"github.com/eksproxy/eksproxy/internal/rootfs"
)

// isRendered says whether a file is of an earlier render, in whatever form.
func isRendered(data []byte) bool {
	return bytes.HasPrefix(data, []byte(strings.TrimRight(addons.FormatLine, "0123456789")))
}

// writeRendered writes the files into a folder. It looks at all of them first: a
// folder with files of others is left as it is.
func (p *program) writeRendered(dir string, files []addons.File) error {
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // G301: what is committed is for everyone who reads the repository
		return usage(fmt.Errorf("making --out: %w", err))
	}
	root, err := rootfs.Open(dir)
	if err != nil {
		return usage(fmt.Errorf("opening --out: %w", err))
	}
	defer root.Close() //nolint:errcheck // each file is synced when it is written
	var verbs []string
	for _, f := range files {
		verb, err := renderedVerb(root, f)
		if err != nil {
			return usage(fmt.Errorf("writing to %s: %w", dir, err))
		}
		verbs = append(verbs, verb)
	}
	for i, f := range files {
		if verbs[i] != "unchanged" {
			if err := root.Write("/"+f.Name, f.Data, 0o644); err != nil {
				return fmt.Errorf("writing to %s: %w", dir, err)
			}
		}
		if _, err := fmt.Fprintf(p.Out, "%-9s  %s\n", verbs[i], f.Name); err != nil {
			return err
		}
	}
	return p.noteOld(root, files)
}

// renderedVerb says what becomes of a file.
func renderedVerb(root *rootfs.Root, f addons.File) (string, error) {
	old, err := root.Read("/" + f.Name)
	switch {
	case err != nil:
		return "", err
	case !old.Exists:
		return "create", nil
	case bytes.Equal(old.Data, f.Data):
		return "unchanged", nil
	case !isRendered(old.Data):
		return "", errors.New(f.Name + " is there and is not eksproxy's: its first line is not \"" + addons.FormatLine + "\"; move it away, or give another --out; nothing was written")
	}
	return "update", nil
}

// noteOld names the files of an earlier render that are wanted no longer: whoever
// applies the whole folder would go on applying them.
func (p *program) noteOld(root *rootfs.Root, files []addons.File) error {
	there, err := root.ReadDir("/")
	if err != nil {
		return fmt.Errorf("looking for old files: %w", err)
	}
	for _, name := range there {
		if !strings.HasSuffix(name, ".yaml") && !strings.HasSuffix(name, ".tf") || slices.ContainsFunc(files, func(f addons.File) bool { return f.Name == name }) {
			continue
		}
		if old, err := root.Read("/" + name); err == nil && isRendered(old.Data) {
			p.talk.Warn("%s is of an earlier render and not wanted now; delete it", name)
		}
	}
	return nil
}
