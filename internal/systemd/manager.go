// Package systemd asks the system manager about services and tells it to reload
// and restart. It speaks over the manager's private socket, which answers
// before D-Bus is up, and never waits for a job: a job can wait for the very
// boot step that asks for it.
package systemd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/coreos/go-systemd/v22/dbus"
)

// ErrNotRunning says that this system was not booted by systemd, as in a
// container or while an image is built.
var ErrNotRunning = errors.New("systemd is not running here")

// Unit is what the manager knows of a service. The zero unit is not loaded.
type Unit struct {
	// Name ends in ".service".
	Name string
	// Loaded says that there is such a unit.
	Loaded bool
	// Active is the manager's ActiveState: "active", "inactive", "failed",
	// "activating", "deactivating".
	Active string
	// MainPID is the main process; 0 where none runs.
	MainPID int
	// Started is when the main process was started last; zero where it never
	// was in this boot.
	Started time.Time
	// Ended says that the main process was started in this boot and has
	// ended, as that of a oneshot does.
	Ended bool
	// NeedDaemonReload says that the files of the unit are newer than what
	// the manager has read.
	NeedDaemonReload bool
	// DropIns are the drop-ins that were read, in their order.
	DropIns []string
	// EnvironmentFiles are those of the unit, in their order.
	EnvironmentFiles []string
}

// Running says whether the service has a process.
func (u Unit) Running() bool { return u.Active == "active" && u.MainPID > 0 }

// Manager is a connection to systemd.
type Manager struct {
	conn *dbus.Conn
}

// Connect opens the private socket, which only root may. It returns
// ErrNotRunning where there is no systemd.
func Connect(ctx context.Context) (*Manager, error) {
	conn, err := dbus.NewSystemdConnectionContext(ctx)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNotRunning
	}
	if err != nil {
		return nil, fmt.Errorf("connecting to systemd: %w", err)
	}
	return &Manager{conn}, nil
}

// Close ends the connection.
func (m *Manager) Close() { m.conn.Close() }

// Unit returns what the manager knows of a service.
func (m *Manager) Unit(ctx context.Context, name string) (Unit, error) {
	if !strings.HasSuffix(name, ".service") {
		name += ".service"
	}
	p, err := m.conn.GetAllPropertiesContext(ctx, name)
	if err != nil {
		return Unit{}, fmt.Errorf("asking systemd about %s: %w", name, err)
	}
	return unitOf(name, p), nil
}

// unitOf reads the properties of org.freedesktop.systemd1(5). One that a
// version lacks is left at zero.
func unitOf(name string, p map[string]any) Unit {
	u := Unit{Name: name, Loaded: p["LoadState"] == "loaded"}
	u.Active, _ = p["ActiveState"].(string)
	u.NeedDaemonReload, _ = p["NeedDaemonReload"].(bool)
	u.DropIns, _ = p["DropInPaths"].([]string)
	if pid, ok := p["MainPID"].(uint32); ok {
		u.MainPID = int(pid)
	}
	if us, ok := p["ExecMainStartTimestamp"].(uint64); ok && us > 0 {
		u.Started = time.UnixMicro(int64(us)) //nolint:gosec // microseconds since 1970 fit for 290,000 years
	}
	if us, ok := p["ExecMainExitTimestamp"].(uint64); ok {
		u.Ended = us > 0 && u.MainPID == 0
	}
	if files, ok := p["EnvironmentFiles"].([][]any); ok {
		for _, f := range files {
			if path, ok := f[0].(string); ok {
				u.EnvironmentFiles = append(u.EnvironmentFiles, path)
			}
		}
	}
	return u
}

// Reload makes the manager read the files of all units again. It restarts
// nothing.
func (m *Manager) Reload(ctx context.Context) error {
	if err := m.conn.ReloadContext(ctx); err != nil {
		return fmt.Errorf("reloading systemd: %w", err)
	}
	return nil
}

// TryRestart queues a restart of a service that runs, and does not wait for it;
// a service that does not run is left alone.
func (m *Manager) TryRestart(ctx context.Context, name string) error {
	if _, err := m.conn.TryRestartUnitContext(ctx, name+".service", "replace", nil); err != nil {
		return fmt.Errorf("restarting %s: %w", name, err)
	}
	return nil
}
