package nodecheck

import (
	"bytes"
	"context"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/eksproxy/eksproxy/proxyconfig"
	"github.com/eksproxy/eksproxy/verify"
)

// expiresSoon is how long before its end a certificate is warned of.
const expiresSoon = 30 * 24 * time.Hour

// authority looks at our certificates: how long they are good, whether the
// trust store has them, and whether the services have seen it.
func (s *subject) authority(ctx context.Context) []verify.Finding {
	anchors, bundle, rebuild := s.o.System.Family.TrustStore()
	var cas []proxyconfig.CA
	var found []verify.Finding
	for _, p := range s.dir(anchors) {
		if !strings.HasPrefix(path.Base(p), "eksproxy") || !s.record.Wrote(p) {
			continue
		}
		f, err := s.read(p)
		if err != nil {
			found = append(found, undecided(p, "ls -l "+p, "%s", unreadable(err)))
			continue
		}
		parsed, err := proxyconfig.ParseCAs(f.Data)
		if err != nil {
			found = append(found, fail(p, s.apply(), "%v", err))
			continue
		}
		cas = append(cas, parsed...)
		found = append(found, s.expiry(p, parsed)...)
	}
	if len(cas)+len(found) == 0 {
		return skip("no certificate of ours is installed")
	}
	if !s.o.Live {
		return orPass(found, "%d certificates; the trust store is rebuilt at boot", len(cas))
	}
	found = append(found, s.trusted(ctx, cas, bundle, rebuild)...)
	return orPass(found, "%d certificates, in %s before the services were started", len(cas), bundle)
}

func (s *subject) expiry(p string, cas []proxyconfig.CA) []verify.Finding {
	var found []verify.Finding
	remedy := "give the new certificate as trustedCA, then " + s.apply()
	for _, ca := range cas {
		left := ca.NotAfter.Sub(s.o.Now())
		day := ca.NotAfter.UTC().Format(time.DateOnly)
		switch {
		case left <= 0:
			found = append(found, fail(p, remedy, "%s expired on %s", ca.Subject, day))
		case left < expiresSoon:
			found = append(found, warn(p, remedy, "%s expires on %s", ca.Subject, day))
		}
	}
	return found
}

// trusted demands that the bundle has each certificate, and that each service
// was started after the bundle was made: Go reads the roots once.
func (s *subject) trusted(ctx context.Context, cas []proxyconfig.CA, bundle, rebuild string) []verify.Finding {
	f, err := s.read(bundle)
	if err != nil {
		return one(undecided(bundle, rebuild, "%s", unreadable(err)))
	}
	for _, ca := range cas {
		if !bytes.Contains(f.Data, bytes.TrimSpace(ca.PEM)) {
			return one(fail(bundle, rebuild, "the trust store lacks %s", ca.Subject))
		}
	}
	info, err := os.Stat(filepath.Join(s.o.Root.Dir(), f.Path))
	if err != nil {
		return one(undecided(bundle, rebuild, "%s", unreadable(err)))
	}
	units, found := s.units(ctx)
	for _, u := range units {
		if u.Running() && u.Started.Before(info.ModTime()) {
			found = append(found, fail(u.Name, "systemctl try-restart "+u.Name, "it was started at %s, before the trust store was made at %s, and still trusts what was there",
				u.Started.UTC().Format(time.RFC3339), info.ModTime().UTC().Format(time.RFC3339)))
		}
	}
	return found
}
