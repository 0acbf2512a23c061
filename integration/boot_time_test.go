//go:build bench

package integration

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/eksproxy/eksproxy/integration/container"
	"github.com/eksproxy/eksproxy/integration/metadata"
)

// unitTime is how long systemd says that the program of a unit ran in this boot.
func unitTime(t *testing.T, c *container.Container, unit string) time.Duration {
	t.Helper()
	at := func(property string) int64 {
		text := strings.TrimSpace(c.Must(t, "systemctl", "show", "-P", property, unit))
		us, err := strconv.ParseInt(text, 10, 64)
		if err != nil || us == 0 {
			t.Fatalf("%s of %s: %q, %v", property, unit, text, err)
		}
		return us
	}
	return time.Duration(at("ExecMainExitTimestampMonotonic")-at("ExecMainStartTimestampMonotonic")) * time.Microsecond
}

// boots has a node boot three times, and returns how long that took.
func boots(t *testing.T, c *container.Container, each func()) []time.Duration {
	t.Helper()
	took := []time.Duration{c.Boot(t)}
	each()
	for range 2 {
		took = append(took, c.Reboot(t))
		each()
	}
	return took
}

// median is the middle one of three.
func median(d []time.Duration) time.Duration { return slices.Sorted(slices.Values(d))[1] }

// A boot with the agent is to be at most a second longer than one without. Both
// are printed, without cloud-init, whose time varies by more than what is
// measured, and the time of the unit by itself. Each boot is one that writes all
// files.
func TestBootTime(t *testing.T) {
	for name, f := range families() {
		t.Run(name, func(t *testing.T) {
			site := newSite(t)
			with := container.New(t, container.Options{Network: site.Network, Order: f.order, Units: f.units, Metadata: metadata.NewServer(instance(nil))})
			bare := container.New(t, container.Options{Order: f.order, Units: f.units, Metadata: metadata.NewServer(instance(nil))})
			installInto(t, with, proxyFlags(t, f)...)
			without := boots(t, bare, func() {})
			bare.Stop(t)
			var unit []time.Duration
			took := boots(t, with, func() {
				unit = append(unit, unitTime(t, with, "eksproxy"))
				checkEnviron(t, with, "containerd")
				with.Must(t, "eksproxy", "node", "revert")
			})
			t.Logf("%s: boots with the agent %v, without %v, by the medians %v more; eksproxy.service itself, by systemd: %v",
				name, took, without, median(took)-median(without), unit)
		})
	}
}
