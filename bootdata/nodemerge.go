package bootdata

import (
	"cmp"
	"errors"
	"maps"
	"slices"

	"github.com/pelletier/go-toml/v2"
)

// MergeNodeConfigs lays the later ones over the first, as nodeadm does: what is
// empty overrides nothing, maps merge key by key, lists replace each other, and
// kubelet flags append.
func MergeNodeConfigs(configs ...NodeConfig) (NodeConfig, error) {
	if len(configs) == 0 {
		return NodeConfig{}, errors.New("merging NodeConfigs: there is none")
	}
	merged := configs[0]
	for _, later := range configs[1:] {
		var err error
		if merged, err = merged.under(later); err != nil {
			return NodeConfig{}, err
		}
	}
	return merged, nil
}

// under is n with a later NodeConfig over it.
func (n NodeConfig) under(later NodeConfig) (NodeConfig, error) {
	a, b := n.Spec, later.Spec
	config, err := mergeTOML(a.Containerd.Config, b.Containerd.Config)
	if err != nil {
		return NodeConfig{}, err
	}
	n.Metadata = mergeMaps(n.Metadata, later.Metadata)
	n.Spec = NodeSpec{
		Cluster:    a.Cluster.under(b.Cluster),
		Containerd: NodeContainerd{config, mergeMaps(a.Containerd.BaseRuntimeSpec, b.Containerd.BaseRuntimeSpec)},
		Instance:   a.Instance.under(b.Instance),
		Kubelet: NodeKubelet{
			Config:            mergeMaps(a.Kubelet.Config, b.Kubelet.Config),
			Flags:             slices.Concat(a.Kubelet.Flags, b.Kubelet.Flags),
			MaxPodsExpression: cmp.Or(b.Kubelet.MaxPodsExpression, a.Kubelet.MaxPodsExpression),
		},
		FeatureGates: over(a.FeatureGates, b.FeatureGates),
	}
	return n, nil
}

func (c NodeCluster) under(later NodeCluster) NodeCluster {
	out := NodeCluster{
		Name:                 cmp.Or(later.Name, c.Name),
		APIServerEndpoint:    cmp.Or(later.APIServerEndpoint, c.APIServerEndpoint),
		CertificateAuthority: cmp.Or(later.CertificateAuthority, c.CertificateAuthority),
		CIDR:                 cmp.Or(later.CIDR, c.CIDR),
		EnableOutpost:        c.EnableOutpost,
		ID:                   cmp.Or(later.ID, c.ID),
	}
	// false is empty, and so overrides nothing.
	if later.EnableOutpost != nil && (c.EnableOutpost == nil || *later.EnableOutpost) {
		out.EnableOutpost = later.EnableOutpost
	}
	return out
}

func (i NodeInstance) under(later NodeInstance) NodeInstance {
	environment := maps.Clone(i.Environment)
	for service, variables := range later.Environment {
		if environment == nil {
			environment = map[string]map[string]string{}
		}
		environment[service] = over(environment[service], variables)
	}
	return NodeInstance{
		LocalStorage: NodeLocalStorage{
			Strategy:       cmp.Or(later.LocalStorage.Strategy, i.LocalStorage.Strategy),
			MountPath:      cmp.Or(later.LocalStorage.MountPath, i.LocalStorage.MountPath),
			DisabledMounts: unlessEmpty(later.LocalStorage.DisabledMounts, i.LocalStorage.DisabledMounts),
		},
		Environment: environment,
		Network: NodeNetwork{
			Nameservers: unlessEmpty(later.Network.Nameservers, i.Network.Nameservers),
			Domains:     unlessEmpty(later.Network.Domains, i.Network.Domains),
		},
	}
}

func unlessEmpty[T any](list, otherwise []T) []T {
	if len(list) > 0 {
		return list
	}
	return otherwise
}

// over lays a map over another, key by key.
func over[T any](a, b map[string]T) map[string]T {
	if len(b) == 0 {
		return a
	}
	out := make(map[string]T, len(a)+len(b))
	maps.Copy(out, a)
	maps.Copy(out, b)
	return out
}

// mergeMaps lays a map over another; maps in them merge as well, and lists
// replace each other.
func mergeMaps(a, b map[string]any) map[string]any {
	if len(b) == 0 {
		return a
	}
	out := make(map[string]any, len(a)+len(b))
	maps.Copy(out, a)
	for k, v := range b {
		inner, isMap := v.(map[string]any)
		below, wasMap := out[k].(map[string]any)
		if isMap && wasMap && len(below) > 0 {
			v = mergeMaps(below, inner)
		}
		out[k] = v
	}
	return out
}

// mergeTOML lays one configuration of containerd over another. Its errors hold
// no content.
func mergeTOML(a, b string) (string, error) {
	if a == "" || b == "" {
		return cmp.Or(b, a), nil
	}
	var first, second map[string]any
	if toml.Unmarshal([]byte(a), &first) != nil || toml.Unmarshal([]byte(b), &second) != nil {
		return "", errors.New("merging NodeConfigs: spec.containerd.config is not TOML")
	}
	out, err := toml.Marshal(mergeMaps(first, second))
	if err != nil {
		return "", errors.New("merging NodeConfigs: spec.containerd.config cannot be written back")
	}
	return string(out), nil
}
