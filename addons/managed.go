package addons

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/eks/types"

	"github.com/eksproxy/eksproxy/internal/kube"
	"github.com/eksproxy/eksproxy/internal/rollout"
)

// The values of Options.OwnedBy: who writes the configuration of EKS add-ons.
const (
	// OwnedByAuto asks the add-on's tags: those of Terraform name it.
	OwnedByAuto = "auto"
	// OwnedByEKS lets eksproxy write them.
	OwnedByEKS = "eks"
	// OwnedByTerraform writes none: the next terraform apply would take it back.
	OwnedByTerraform = "terraform"
)

// managedAddon is what is planned for one add-on.
type managedAddon struct {
	addon
	client managedClient
	// recorded is what an earlier run put into the values, now what is there
	// after this one.
	recorded, now managedRecord
	// after are the values to come.
	after string
	// takes are the components that get their variables by it, each with the
	// place.
	takes []managedTarget
	// reached are the workloads whose pods may change.
	reached []*workload
	notes   []string
}

// managedTarget is a component and the place of its variables.
type managedTarget struct {
	found
	component Component
	place     Place
	additions []Addition
}

func (m *managedAddon) note(format string, args ...any) {
	m.notes = append(m.notes, fmt.Sprintf(format, args...))
}

// managed takes those targets out that are configured through their EKS add-on,
// and returns the rest.
func (p *planner) managed(ctx context.Context, all []found) (rest []found, planned []*managedAddon, err error) {
	recorded, err := readRecords(ctx, p.client)
	if err != nil {
		return nil, nil, err
	}
	groups := map[string][]found{}
	var names []string
	for _, f := range all {
		name := p.managedBy(f, recorded)
		if name == "" {
			continue
		}
		if groups[name] == nil {
			names = append(names, name)
		}
		groups[name] = append(groups[name], f)
	}
	taken := map[kube.Ref]bool{}
	for _, name := range names {
		m, err := p.planAddon(ctx, name, groups[name], recorded[name])
		if err != nil {
			return nil, nil, err
		}
		if m == nil {
			continue
		}
		planned = append(planned, m)
		for _, t := range m.takes {
			taken[t.Ref] = true
		}
	}
	rest = slices.DeleteFunc(slices.Clone(all), func(f found) bool { return taken[f.Ref] })
	return rest, planned, nil
}

// managedBy is the EKS add-on through which a target is configured; empty where
// there is none, or AWS is not asked.
func (p *planner) managedBy(f found, recorded records) string {
	c, err := FindComponent(f.Component)
	if err != nil || c.Addon == "" || p.roll.Managed.Connect == nil || f.owner.GitOps && !p.want.Options.ForceOwned {
		return ""
	}
	_, known := recorded[c.Addon]
	if known || p.roll.Managed.Cluster != "" && slices.Contains(p.want.Addons, c.Addon) {
		return c.Addon
	}
	return ""
}

// clientOf connects to EKS: to the cluster that was named, else to the recorded
// one.
func (r Rollout) clientOf(ctx context.Context, recorded managedRecord) (managedClient, error) {
	cluster, region := r.Managed.Cluster, r.Managed.Region
	if cluster == "" {
		cluster, region = recorded.Cluster, recorded.Region
	}
	if r.Managed.Connect == nil || cluster == "" {
		return managedClient{}, optionf("%s says that add-ons are configured through EKS: give --cluster and --region", recordRef())
	}
	client, err := r.Managed.Connect(ctx, cluster, region)
	tell := r.Tell
	if tell == nil {
		tell = func(string, ...any) {}
	}
	return managedClient{eks: client, cluster: cluster, region: region, tell: tell, limit: cmp.Or(r.Timeout, rollout.DefaultTimeout)}, err
}

// planAddon plans one add-on for some of its components; nil where they are left
// to the in-cluster route, which a note says.
func (p *planner) planAddon(ctx context.Context, name string, group []found, recorded managedRecord) (*managedAddon, error) {
	client, err := p.roll.clientOf(ctx, recorded)
	if err != nil {
		return nil, err
	}
	m := &managedAddon{client: client, recorded: recorded}
	m.addon, err = client.read(ctx, name)
	if why, ok := unreadable(err); ok && len(recorded.Additions) == 0 {
		p.out.note("%s: in-cluster, since the configuration of the EKS add-on %s cannot be looked at: %s", namesOf(group), name, why)
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if err := p.place(m, group); err != nil {
		return nil, err
	}
	p.out.Notes = append(p.out.Notes, m.notes...)
	if len(m.takes) == 0 {
		return p.moved(ctx, m)
	}
	return m, p.reach(ctx, m)
}

// moved plans to take out what an earlier run put into the values, where the
// component goes the in-cluster way now; nil where there is nothing.
func (p *planner) moved(ctx context.Context, m *managedAddon) (*managedAddon, error) {
	if len(m.recorded.Additions) == 0 {
		return nil, nil
	}
	var err error
	if m.after, m.now, _, err = edited(m.values, m.recorded, nil); err != nil {
		return nil, err
	}
	return m, p.reach(ctx, m)
}

func namesOf(group []found) string {
	var names []string
	for _, f := range group {
		names = append(names, f.Component)
	}
	return strings.Join(names, ", ")
}

// unreadable says why an add-on's configuration cannot be looked at, where that is
// no passing trouble.
func unreadable(err error) (why string, ok bool) {
	call, isCall := errors.AsType[*CallError](err)
	switch {
	case err == nil, isCall && !call.Denied:
		return "", false
	case isCall, errors.Is(err, errSchema):
		return err.Error(), true
	}
	return "", false
}

// isGone says that EKS does not know the add-on, or not as one of this cluster.
func isGone(err error) bool {
	_, gone := errors.AsType[*types.ResourceNotFoundException](err)
	return gone
}

// reach reads the workloads of an add-on that are in the cluster: what is in its
// configuration may reach each of them.
func (p *planner) reach(ctx context.Context, m *managedAddon) error {
	for _, c := range Components() {
		if c.Addon != m.name {
			continue
		}
		i := slices.IndexFunc(m.takes, func(t managedTarget) bool { return t.Ref == c.Ref() })
		if i >= 0 {
			m.reached = append(m.reached, m.takes[i].workload)
			continue
		}
		if !m.touches(c) {
			continue
		}
		w, err := lookUp(ctx, p.client, c.Ref())
		if err != nil {
			return err
		}
		if w != nil {
			m.reached = append(m.reached, w)
		}
	}
	return nil
}

// touches says whether the change of the values may reach a component: what stands
// in a section of another one does not.
func (m *managedAddon) touches(c Component) bool {
	for _, a := range slices.Concat(m.recorded.Additions, m.now.Additions) {
		if slices.ContainsFunc(c.sections(), func(s string) bool { return strings.HasPrefix(a.Pointer, s+"/") }) || strings.HasPrefix(a.Pointer, "/proxy/") {
			return true
		}
	}
	return false
}
