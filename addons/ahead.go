package addons

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/eks"

	"github.com/eksproxy/eksproxy/facts"
	"github.com/eksproxy/eksproxy/internal/kube"
	"github.com/eksproxy/eksproxy/plan"
)

// AheadKind is the kind of the document Ahead.
const AheadKind = "AddonsAhead"

// Catalog are the calls of EKS that tell of versions of add-ons. They need no
// cluster; *eks.Client has them.
type Catalog interface {
	DescribeAddonConfiguration(context.Context, *eks.DescribeAddonConfigurationInput, ...func(*eks.Options)) (*eks.DescribeAddonConfigurationOutput, error)
	eks.DescribeAddonVersionsAPIClient
}

// AheadOptions say which versions are to come.
type AheadOptions struct {
	Catalog Catalog
	// Client reads what is recorded and what runs; nil where Kubernetes is not
	// asked, and the answer says what it lacks.
	Client *kube.Client
	// Versions are those of single add-ons, by name.
	Versions map[string]string
	// Kubernetes is the version of the cluster to come, as in "1.36"; all add-ons of
	// the cluster are looked at then. It is empty where that stays.
	Kubernetes string
}

// Outlook says what becomes of the proxy of one add-on.
type Outlook string

// The outlooks.
const (
	// OutlookKept says that what carries the settings now goes on carrying them; an
	// add-on that has nothing to do with the proxy is kept too.
	OutlookKept Outlook = "kept"
	// OutlookMoves says that the settings stay, and that the next patch takes
	// another route.
	OutlookMoves Outlook = "moves"
	// OutlookReady says that nothing carries them now, and that a patch after the
	// update can.
	OutlookReady Outlook = "ready"
	// OutlookLost says that the update takes the proxy away.
	OutlookLost Outlook = "lost"
	// OutlookRefused says that EKS would refuse the update, for its values or for
	// its version.
	OutlookRefused Outlook = "refused"
	// OutlookUnknown says that nobody can tell.
	OutlookUnknown Outlook = "unknown"
)

// Ahead is what becomes of the proxy when add-ons get other versions.
type Ahead struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Cluster is the name of the EKS cluster; empty where it is unknown.
	Cluster string `json:"cluster,omitempty"`
	// Kubernetes is the version of the cluster to come; empty where that stays.
	Kubernetes   string       `json:"kubernetesVersion,omitempty"`
	SettingsHash string       `json:"settingsHash"`
	Addons       []AheadAddon `json:"addons"`
	Notes        []string     `json:"notes,omitempty"`
}

// AheadAddon is one add-on with the version to come.
type AheadAddon struct {
	Name string `json:"name"`
	// Installed is the version in the cluster; empty where it is not installed, or
	// unknown.
	Installed string `json:"installed,omitempty"`
	// Version is the one to come; empty where EKS has none.
	Version string  `json:"version,omitempty"`
	Outlook Outlook `json:"outlook"`
	// Why is the reason of the outlook.
	Why    string       `json:"why"`
	Routes []AheadRoute `json:"routes,omitempty"`
	// Refused are the values against the schema of the version.
	Refused []Refusal `json:"refused,omitempty"`
	// Claimed are names of the proxy's variables that the version takes itself and
	// the installed one does not.
	Claimed []Claim `json:"claimed,omitempty"`
	// Rolls are the workloads whose pods another version replaces.
	Rolls []AheadRoll `json:"rolls,omitempty"`
}

// AheadRoute is how a component gets the variables.
type AheadRoute struct {
	Component string `json:"component"`
	// Now and Then are "eks /POINTER", "in-cluster", "none" or "unknown": in the
	// cluster as it is, and by a patch after the update.
	Now  string `json:"now"`
	Then string `json:"then"`
	// Why says why Then is no place of the configuration; empty where it is one.
	Why string `json:"why,omitempty"`
}

// AheadRoll is a workload and its pods.
type AheadRoll struct {
	Object string `json:"object"`
	Pods   int64  `json:"pods"`
}

// Claim is a name of the proxy's variables that a schema lists.
type Claim struct {
	// Pointer is the JSON pointer of the name in the configuration values.
	Pointer string `json:"pointer"`
	// Default is what the add-on itself sets there; nil where it sets nothing.
	Default *string `json:"default,omitempty"`
}

// Is says whether the outlook of any add-on is one of these.
func (a Ahead) Is(outlooks ...Outlook) bool {
	return slices.ContainsFunc(a.Addons, func(b AheadAddon) bool { return slices.Contains(outlooks, b.Outlook) })
}

// aheadLook looks ahead.
type aheadLook struct {
	AheadOptions
	want     Desired
	recorded records
	out      *Ahead
}

func (l *aheadLook) note(format string, args ...any) {
	l.out.Notes = append(l.out.Notes, fmt.Sprintf(format, args...))
}

// LookAhead says what becomes of the proxy with the versions to come: their
// schemas are read and held against the values that are there. It writes nothing.
func LookAhead(ctx context.Context, want Desired, o AheadOptions) (Ahead, error) {
	out := Ahead{APIVersion: facts.APIVersion, Kind: AheadKind, Cluster: want.Cluster.ClusterName, Kubernetes: o.Kubernetes, SettingsHash: want.Settings.Hash(), Addons: []AheadAddon{}}
	l := &aheadLook{o, want, records{}, &out}
	if o.Client == nil {
		l.note("Kubernetes is not asked: what eksproxy has recorded and how many pods roll is unknown; give --kubeconfig or --context")
	} else {
		var err error
		if l.recorded, err = readRecords(ctx, o.Client); err != nil {
			return out, err
		}
	}
	names, err := l.names()
	if err != nil {
		return out, err
	}
	for _, name := range names {
		a, err := l.addon(ctx, name)
		if err != nil {
			return out, err
		}
		out.Addons = append(out.Addons, a)
	}
	return out, nil
}

// names are the add-ons to be looked at, sorted.
func (l *aheadLook) names() ([]string, error) {
	var names []string
	for name := range l.Versions {
		names = append(names, name)
	}
	known := l.want.Cluster.Sources[facts.FieldAddons] != "" || len(l.want.Cluster.Addons) > 0
	switch {
	case l.Kubernetes != "" && !known:
		return nil, optionf("which add-ons the cluster has is unknown: give --cluster and --region, or --facts of eksproxy facts cluster")
	case l.Kubernetes != "":
		for _, a := range l.want.Cluster.Addons {
			names = append(names, a.Name)
		}
	case !known:
		l.note("whether the add-ons are installed is unknown, and with it their configuration values: give --cluster and --region, or --facts")
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// installed is an add-on of the cluster; its zero value where it is not there.
func (l *aheadLook) installed(name string) facts.Addon {
	for _, a := range l.want.Cluster.Addons {
		if a.Name == name {
			return a
		}
	}
	return facts.Addon{Name: name}
}

// addon looks at one add-on.
func (l *aheadLook) addon(ctx context.Context, name string) (AheadAddon, error) {
	is := l.installed(name)
	out := AheadAddon{Name: name, Installed: is.Version}
	var err error
	var why string
	if out.Version, why, err = l.version(ctx, is); err != nil {
		return out, err
	}
	if out.Version == "" {
		out.Outlook, out.Why = l.unknown(name), why
		return out, nil
	}
	next, err := ReadSchema(ctx, l.Catalog, name, out.Version)
	if errors.Is(err, errSchema) {
		out.Outlook, out.Why = l.unknown(name), err.Error()
		return out, nil
	}
	if err != nil {
		return out, err
	}
	if err := l.compare(ctx, &out, is, next); err != nil {
		return out, err
	}
	out.mask(l.want.Settings.Secrets())
	if why != "" { // EKS has the version, but not for this Kubernetes
		out.Outlook, out.Why = OutlookRefused, why
	}
	return out, nil
}

// unknown is the outlook of an add-on of which nothing can be told: that does not
// matter where no component of it gets the variables.
func (l *aheadLook) unknown(name string) Outlook {
	if len(l.components(name)) == 0 {
		return OutlookKept
	}
	return OutlookUnknown
}

// mask hides what schemas repeat of values that hold a password.
func (b *AheadAddon) mask(secrets []string) {
	b.Why = plan.Mask(b.Why, secrets...)
	for i := range b.Refused {
		b.Refused[i].Why = plan.Mask(b.Refused[i].Why, secrets...)
	}
	for i := range b.Routes {
		b.Routes[i].Why = plan.Mask(b.Routes[i].Why, secrets...)
	}
}
