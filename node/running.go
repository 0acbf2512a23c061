package node

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/eksproxy/eksproxy/internal/systemd"
	"github.com/eksproxy/eksproxy/plan"
)

// Services is the service manager of a running node.
type Services interface {
	Unit(ctx context.Context, name string) (systemd.Unit, error)
	Reload(ctx context.Context) error
	TryRestart(ctx context.Context, name string) error
}

// Running is what acts on the system that runs from the tree. All it does
// follows from what is, not from what this run wrote: a program that was killed
// between a write and its effect is made up for by the next run.
type Running struct {
	Services Services
	// Environ reads the environment that a process was started with.
	Environ func(pid int) (map[string]string, error)
	// Command runs a program of the system, as the trust store's.
	Command func(ctx context.Context, name string, args ...string) error
	// Containers says whether docker runs any, which a restart would end.
	Containers func() (bool, error)
	// Restart says that services may be restarted.
	Restart bool
}

// AddRunning adds to the plan what the running system needs once the files are
// written: a reload, the trust store, restarts.
func (p *Prepared) AddRunning(ctx context.Context, r Running) error {
	a := &activation{Prepared: p, r: r, running: map[string]systemd.Unit{}}
	if err := a.inspect(ctx); err != nil {
		return err
	}
	a.reload()
	if p.owner != "" {
		return nil // neither the trust store nor a service depends on an installation
	}
	if err := a.trustStore(); err != nil {
		return err
	}
	return a.restarts(ctx)
}

// activation finds out what the running system needs.
type activation struct {
	*Prepared
	r       Running
	running map[string]systemd.Unit
	// bundle is when the trust store gained our certificates; zero where it
	// has none of ours.
	bundle time.Time
	// rebuilt says that the plan rebuilds the trust store.
	rebuilt bool
}

func (a *activation) inspect(ctx context.Context) error {
	for _, name := range a.unitNames() {
		u, err := a.r.Services.Unit(ctx, name)
		if err != nil {
			return err
		}
		a.running[name] = u
	}
	return nil
}

// unitNames are the services that have a drop-in of ours now or had one by the
// record, the SSM agent last: its restart ends the sessions of who looks on.
func (a *activation) unitNames() []string {
	var names []string
	for _, c := range a.Changes {
		dir, file := path.Split(strings.TrimPrefix(c.ID, "file:"))
		if file != dropInName {
			continue
		}
		names = append(names, strings.TrimSuffix(path.Base(dir), ".service.d"))
	}
	slices.SortStableFunc(names, func(x, y string) int { return order(x) - order(y) })
	return names
}

func order(unit string) int {
	if strings.Contains(unit, "ssm-agent") {
		return 1
	}
	return 0
}

// run adds a change that is an action and no file.
func (a *activation) run(id, target, reason, disruption string, do func(context.Context) error) {
	a.Changes = append(a.Changes, plan.Change{
		ID: id, Target: target, Action: plan.Run, Reason: reason, Disruption: disruption, Undo: "nothing is to be undone",
	})
	a.steps[id] = step{do: do}
}

func (a *activation) reload() {
	reason := ""
	for _, c := range a.Pending() {
		if strings.HasPrefix(c.ID, "file:"+systemDir+"/") {
			reason = "files of units are written or removed"
		}
	}
	for name, u := range a.running {
		if u.Loaded && u.NeedDaemonReload && reason == "" {
			reason = "systemd has not read the files of " + name
		}
	}
	if reason != "" {
		a.run("run:daemon-reload", "systemctl daemon-reload", reason, "none", a.r.Services.Reload)
	}
}

// restarts adds a restart of each service that runs with another environment
// than it should, or with an older trust store.
func (a *activation) restarts(ctx context.Context) error {
	for _, name := range a.unitNames() {
		u := a.running[name]
		if !u.Running() {
			continue
		}
		reason, err := a.outdated(u)
		if err != nil {
			return err
		}
		if reason == "" {
			continue
		}
		kept, err := a.leftAlone(ctx, name)
		if err != nil {
			return err
		}
		if kept != "" {
			a.Notes = append(a.Notes, fmt.Sprintf("%s is not restarted although %s: %s", name, reason, kept))
			continue
		}
		a.run("run:restart "+name, "systemctl try-restart "+name, reason, "restarts "+name+interrupts(name), func(ctx context.Context) error {
			return a.r.Services.TryRestart(ctx, name)
		})
	}
	return nil
}

// interrupts says what a restart means for what runs on the node.
func interrupts(unit string) string {
	switch {
	case unit == "containerd" || unit == "kubelet" || unit == "docker" || strings.Contains(unit, "kubelet"):
		return "; containers keep running"
	case strings.Contains(unit, "ssm-agent"):
		return "; its sessions end"
	}
	return ""
}

// outdated says why the process of a service needs a restart; empty where it
// does not.
func (a *activation) outdated(u systemd.Unit) (string, error) {
	env, err := a.r.Environ(u.MainPID)
	if err != nil {
		return "", err
	}
	for _, name := range variables() {
		have, want := env[name], a.environment[name]
		if a.back || want == "" { // taken back: ours must not be there
			if was := a.former[name]; was != "" && have == was {
				return "it runs with our " + name, nil
			}
			continue
		}
		if have != want {
			return "it runs with another " + name, nil
		}
	}
	if a.rebuilt || !a.bundle.IsZero() && u.Started.Before(a.bundle) {
		return "it was started before the trust store had our certificate", nil
	}
	return "", nil
}

// leftAlone says why a service that needs a restart must not get one; empty
// where it may.
func (a *activation) leftAlone(ctx context.Context, name string) (string, error) {
	if !a.r.Restart {
		return "restarts are switched off (--restart never)", nil
	}
	for _, n := range a.Notes {
		if strings.Contains(n, "our drop-in of "+name+" and ") && !strings.Contains(n, "has no effect") {
			return "a drop-in of others decides, see the note", nil
		}
	}
	if name == "containerd" || name == "kubelet" {
		return a.nodeadmRuns(ctx)
	}
	if name == "docker" {
		return a.dockerEnds()
	}
	return "", nil
}

// nodeadmRuns keeps containerd and kubelet for nodeadm-run, which starts both
// itself with the environment that is on the disk by then.
func (a *activation) nodeadmRuns(ctx context.Context) (string, error) {
	u, err := a.r.Services.Unit(ctx, "nodeadm-run")
	if err != nil || !u.Loaded || u.Ended {
		return "", err
	}
	return "nodeadm-run has not finished in this boot and starts it", nil
}

// dockerEnds keeps a docker that would take its containers along.
func (a *activation) dockerEnds() (string, error) {
	conf, err := a.root.Read("/etc/docker/daemon.json")
	if err != nil {
		return "", fmt.Errorf("reading docker's configuration: %w", err)
	}
	if liveRestore(conf.Data) {
		return "", nil
	}
	busy, err := a.r.Containers()
	if err != nil || !busy {
		return "", err
	}
	return "it would end the running containers, because live-restore is off; restart it when the node is drained", nil
}
