package node

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// trust is how a family keeps the certificates that its programs trust.
type trust struct {
	// anchors is where certificates are put, bundle what is made of them.
	anchors, bundle string
	command         []string
	// fresh has the command take links to certificates away that are gone.
	fresh []string
}

func (f Family) trust() trust {
	if f == Ubuntu {
		return trust{"/usr/local/share/ca-certificates", "/etc/ssl/certs/ca-certificates.crt", []string{"update-ca-certificates"}, []string{"--fresh"}}
	}
	return trust{"/etc/pki/ca-trust/source/anchors", "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", []string{"update-ca-trust", "extract"}, nil}
}

// trustStore rebuilds the store where it lacks a certificate of ours, or still
// has one that is taken back.
func (a *activation) trustStore() error {
	for _, family := range []Family{AL2023, Ubuntu} {
		t := family.trust()
		wanted, removed := a.anchorsIn(t.anchors)
		if len(wanted)+len(removed) == 0 {
			continue
		}
		bundle, err := a.root.Read(t.bundle)
		if err != nil {
			return fmt.Errorf("reading the trust store: %w", err)
		}
		reason, command := "", t.command
		for _, pem := range wanted {
			if !holds(bundle.Data, pem) {
				reason = "the trust store lacks a certificate of ours"
			}
		}
		for _, pem := range removed {
			if holds(bundle.Data, pem) {
				reason, command = "the trust store holds a certificate that is taken back", slices.Concat(t.command, t.fresh)
			}
		}
		if reason == "" {
			return a.noteBundle(t.bundle, len(wanted) > 0)
		}
		a.rebuilt = len(wanted) > 0
		a.run("run:trust", strings.Join(command, " "), reason, "none", func(ctx context.Context) error {
			return a.r.Command(ctx, command[0], command[1:]...)
		})
	}
	return nil
}

// noteBundle notes when the trust store was made, if it holds ours.
func (a *activation) noteBundle(bundle string, ours bool) error {
	if !ours {
		return nil
	}
	info, err := os.Stat(filepath.Join(a.root.Dir(), bundle))
	if err != nil {
		return fmt.Errorf("reading the trust store: %w", err)
	}
	a.bundle = info.ModTime()
	return nil
}

// anchorsIn are the certificates that the plan wants in a directory, and those
// that it takes back.
func (a *activation) anchorsIn(dir string) (wanted, removed [][]byte) {
	for _, c := range a.Changes {
		if !strings.HasPrefix(c.ID, "file:"+dir+"/eksproxy") {
			continue
		}
		if c.After != nil && !a.back {
			wanted = append(wanted, c.After.Content.Bytes())
		}
	}
	for _, pem := range a.was.written(dir + "/eksproxy") {
		if !slices.ContainsFunc(wanted, func(w []byte) bool { return bytes.Equal(w, pem) }) {
			removed = append(removed, pem)
		}
	}
	return wanted, removed
}

// holds looks for a certificate by its base64 text: the bundle's own line
// breaks are those of PEM.
func holds(bundle, pem []byte) bool {
	body := bytes.TrimSpace(pem)
	return len(body) > 0 && bytes.Contains(bundle, body)
}

// liveRestore says whether docker keeps containers over a restart (daemon.json
// "live-restore").
func liveRestore(conf []byte) bool {
	var c struct {
		LiveRestore bool `json:"live-restore"`
	}
	return json.Unmarshal(conf, &c) == nil && c.LiveRestore
}
