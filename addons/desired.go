package addons

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/eksproxy/eksproxy/facts"
	"github.com/eksproxy/eksproxy/internal/kube"
	"github.com/eksproxy/eksproxy/noproxy"
	"github.com/eksproxy/eksproxy/proxyconfig"
)

// Options are the user's wishes beside the settings.
type Options struct {
	// Components are named beside those that are always patched, Skip are left
	// out, Workloads are others, as NAMESPACE/KIND/NAME.
	Components []string `json:"components,omitempty"`
	Skip       []string `json:"skip,omitempty"`
	Workloads  []string `json:"workloads,omitempty"`
	// CredentialsSecret is a Secret that is there, with URLs under HTTP_PROXY
	// and HTTPS_PROXY; CreateSecret makes one.
	CredentialsSecret string `json:"credentialsSecret,omitempty"`
	CreateSecret      bool   `json:"createSecret,omitempty"`
	// Adopt takes a ConfigMap of our name over, ForceOwned patches what a GitOps
	// controller looks after.
	Adopt      bool `json:"adopt,omitempty"`
	ForceOwned bool `json:"forceOwned,omitempty"`
	// FargateNamespaces are workload namespaces, Fargate says which others are
	// patched.
	FargateNamespaces []string    `json:"fargateNamespaces,omitempty"`
	Fargate           FargateMode `json:"fargate,omitempty"`
	// AutoMode says whether NodeClasses are patched.
	AutoMode AutoMode `json:"autoMode,omitempty"`
	// MigrateEnvFrom takes the published recipe's envFrom entry out.
	MigrateEnvFrom bool `json:"migrateEnvFrom,omitempty"`
	// OwnedBy is who writes the configuration of EKS add-ons; empty is OwnedByAuto.
	OwnedBy string `json:"addonsOwnedBy,omitempty"`
	// Reason is kept as an annotation.
	Reason string `json:"reason,omitempty"`
}

// Desired is what must be so in a cluster, from settings and facts alone.
type Desired struct {
	Settings proxyconfig.Settings
	Options  Options
	// Cluster is what is known of the cluster.
	Cluster facts.Cluster
	Targets []Target
	// Decisions say of each known component whether it needs the proxy.
	Decisions []Decision
	// Addons are the EKS add-ons of the cluster.
	Addons []string
	// Notes are what the reader must know beside the changes.
	Notes []string
}

// Target is a workload that gets the variables.
type Target struct {
	Ref kube.Ref
	// Containers get them; none means every container and init container.
	Containers []string
	// Component is its name in the table; empty where the user named the workload.
	Component string
	// Named says that the user asked for it: that it is missing is an error.
	Named bool
	// NoCA says why it cannot be given certificates.
	NoCA string
}

// String is how the user names it.
func (t Target) String() string {
	if t.Component != "" {
		return t.Component
	}
	return t.Ref.String()
}

// Takes says whether a container gets the variables: where none is named, every
// one but those of a service mesh.
func (t Target) Takes(container string) bool {
	return len(t.Containers) == 0 && !isMesh(container) || slices.Contains(t.Containers, container)
}

// Want says what must be so in a cluster. Its errors are faults of the options
// or the settings.
func Want(s proxyconfig.Settings, c facts.Cluster, o Options) (Desired, error) {
	d := Desired{Settings: s, Options: o, Cluster: c}
	if err := errors.Join(o.checkSecret(s), o.checkNamespaces(c), o.checkAutoMode()); err != nil {
		return d, err
	}
	for _, a := range c.Addons {
		d.Addons = append(d.Addons, a.Name)
	}
	for _, known := range Components() {
		d.Decisions = append(d.Decisions, known.Decide(c))
	}
	if err := d.addComponents(c); err != nil {
		return d, err
	}
	for _, text := range o.Workloads {
		r, err := ParseWorkload(text)
		if err != nil {
			return d, err
		}
		if i := slices.IndexFunc(d.Targets, func(t Target) bool { return t.Ref == r }); i >= 0 {
			d.Targets[i].Named = true
			continue
		}
		d.Targets = append(d.Targets, Target{Ref: r, Named: true})
	}
	return d, nil
}

// checkSecret keeps passwords out of ConfigMaps, which too many can read.
func (o Options) checkSecret(s proxyconfig.Settings) error {
	has := s.HTTPProxy.HasCredentials() || s.HTTPSProxy.HasCredentials()
	switch {
	case o.CredentialsSecret != "" && o.CreateSecret:
		return errors.New("--credentials-secret names a Secret that is there, and --create-secret makes one: give one of them")
	case o.CreateSecret && !has:
		return errors.New("--create-secret needs the credentials to put into it: give --credentials-file or --credentials-from")
	case o.CredentialsSecret == "" && !o.CreateSecret && has:
		return errors.New("the proxy has credentials, which never go into a ConfigMap: give --create-secret to put them into the Secret " + SecretName +
			", or --credentials-secret NAME of one that is there")
	}
	return nil
}

// secret is the name of the Secret that the URLs come from; empty without one.
func (o Options) secret() string {
	if o.CreateSecret {
		return SecretName
	}
	return o.CredentialsSecret
}

func (d *Desired) addComponents(cluster facts.Cluster) error {
	for _, name := range slices.Concat(d.Options.Components, d.Options.Skip) {
		if _, err := FindComponent(name); err != nil {
			return err
		}
	}
	for _, c := range Components() {
		named := slices.Contains(d.Options.Components, c.Name)
		if slices.Contains(d.Options.Skip, c.Name) || !named && !c.Recipe {
			continue
		}
		if why := d.breaks(c, cluster); why != "" {
			if named {
				return fmt.Errorf("%s would break: %s", c.Name, why)
			}
			d.Notes = append(d.Notes, fmt.Sprintf("%s is left alone: %s", c.Name, why))
			continue
		}
		d.Targets = append(d.Targets, Target{Ref: c.Ref(), Containers: c.Containers, Component: c.Name, Named: named, NoCA: c.NoCA})
	}
	return nil
}

// breaks says why the variables would break a component that they can harm.
func (d *Desired) breaks(c Component, cluster facts.Cluster) string {
	switch {
	case c.Rule != Harmful:
		return ""
	case cluster.EndpointHost == "":
		return "the host of the API server is unknown, so nobody can tell whether NO_PROXY covers it; give --cluster-endpoint"
	case !Direct(d.Settings.NoProxy.String(), "https://"+hostInURL(cluster.EndpointHost)):
		return "NO_PROXY does not cover the host of the API server, " + cluster.EndpointHost + ": it would be called through the proxy; take it out of --no-proxy-omit"
	}
	return ""
}

// hostInURL writes an IPv6 address as URLs do.
func hostInURL(host string) string {
	if strings.Contains(host, ":") && !strings.HasPrefix(host, "[") {
		return "[" + host + "]"
	}
	return host
}

// Direct says whether a program in Go, as all of the add-ons are, goes past the
// proxy for a URL.
func Direct(noProxy, url string) bool {
	target, err := noproxy.ParseTarget(url)
	client, ok := noproxy.FindClient("kubelet")
	return err == nil && ok && client.Prepare(noproxy.ValueEnvironment(noProxy).WithProxies()).Decide(target).Decision == noproxy.Direct
}

// ParseWorkload parses NAMESPACE/KIND/NAME.
func ParseWorkload(text string) (kube.Ref, error) {
	parts := strings.Split(text, "/")
	if len(parts) != 3 || slices.Contains(parts, "") {
		return kube.Ref{}, fmt.Errorf("%q is no workload; write NAMESPACE/KIND/NAME, as in kube-system/deployment/cluster-autoscaler", text)
	}
	k, ok := kube.WorkloadKind(parts[1])
	if !ok {
		var names []string
		for _, k := range kube.Workloads() {
			names = append(names, strings.ToLower(k.Kind))
		}
		return kube.Ref{}, fmt.Errorf("%q is no kind of workload; allowed: %s", parts[1], strings.Join(names, ", "))
	}
	return kube.Ref{Kind: k, Namespace: parts[0], Name: parts[2]}, nil
}

// items are the variables of one container.
func (d Desired) items(names []string) []corev1.EnvVar {
	var items []corev1.EnvVar
	for _, name := range names {
		items = append(items, item(name, d.Options.secret()))
	}
	return items
}
