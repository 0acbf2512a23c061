package bootdata

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// NodeConfigAPIVersion is the version of nodeadm's API that NodeConfig has.
const NodeConfigAPIVersion = "node.eks.aws/v1alpha1"

// NodeConfig is what nodeadm reads.
type NodeConfig struct {
	APIVersion string         `yaml:"apiVersion" json:"apiVersion"`
	Kind       string         `yaml:"kind" json:"kind"`
	Metadata   map[string]any `yaml:"metadata,omitempty" json:"metadata,omitempty"`
	Spec       NodeSpec       `yaml:"spec" json:"spec"`
}

// NodeSpec is the spec of a NodeConfig.
type NodeSpec struct {
	Cluster      NodeCluster     `yaml:"cluster,omitempty" json:"cluster,omitzero"`
	Containerd   NodeContainerd  `yaml:"containerd,omitempty" json:"containerd,omitzero"`
	Instance     NodeInstance    `yaml:"instance,omitempty" json:"instance,omitzero"`
	Kubelet      NodeKubelet     `yaml:"kubelet,omitempty" json:"kubelet,omitzero"`
	FeatureGates map[string]bool `yaml:"featureGates,omitempty" json:"featureGates,omitempty"`
}

// NodeCluster is spec.cluster; the certificate authority is base64.
type NodeCluster struct {
	Name                 string `yaml:"name,omitempty" json:"name,omitempty"`
	APIServerEndpoint    string `yaml:"apiServerEndpoint,omitempty" json:"apiServerEndpoint,omitempty"`
	CertificateAuthority string `yaml:"certificateAuthority,omitempty" json:"certificateAuthority,omitempty"`
	CIDR                 string `yaml:"cidr,omitempty" json:"cidr,omitempty"`
	EnableOutpost        *bool  `yaml:"enableOutpost,omitempty" json:"enableOutpost,omitempty"`
	ID                   string `yaml:"id,omitempty" json:"id,omitempty"`
}

// NodeContainerd is spec.containerd; its config is TOML.
type NodeContainerd struct {
	Config          string         `yaml:"config,omitempty" json:"config,omitempty"`
	BaseRuntimeSpec map[string]any `yaml:"baseRuntimeSpec,omitempty" json:"baseRuntimeSpec,omitempty"`
}

// NodeInstance is spec.instance. The environment is that of a service; the one
// of "default" is that of nodeadm and all services.
type NodeInstance struct {
	LocalStorage NodeLocalStorage             `yaml:"localStorage,omitempty" json:"localStorage,omitzero"`
	Environment  map[string]map[string]string `yaml:"environment,omitempty" json:"environment,omitempty"`
	Network      NodeNetwork                  `yaml:"network,omitempty" json:"network,omitzero"`
}

// NodeLocalStorage is spec.instance.localStorage.
type NodeLocalStorage struct {
	Strategy       string   `yaml:"strategy,omitempty" json:"strategy,omitempty"`
	MountPath      string   `yaml:"mountPath,omitempty" json:"mountPath,omitempty"`
	DisabledMounts []string `yaml:"disabledMounts,omitempty" json:"disabledMounts,omitempty"`
}

// NodeNetwork is spec.instance.network.
type NodeNetwork struct {
	Nameservers []string `yaml:"nameservers,omitempty" json:"nameservers,omitempty"`
	Domains     []string `yaml:"domains,omitempty" json:"domains,omitempty"`
}

// NodeKubelet is spec.kubelet.
type NodeKubelet struct {
	Config            map[string]any `yaml:"config,omitempty" json:"config,omitempty"`
	Flags             []string       `yaml:"flags,omitempty" json:"flags,omitempty"`
	MaxPodsExpression string         `yaml:"maxPodsExpression,omitempty" json:"maxPodsExpression,omitempty"`
}

// NewNodeConfig is a NodeConfig that says nothing yet.
func NewNodeConfig() NodeConfig {
	return NodeConfig{APIVersion: NodeConfigAPIVersion, Kind: nodeConfigKind}
}

// DecodeNodeConfig reads the one document of YAML or JSON that nodeadm would.
// With strict, a field that nodeadm does not know is an error; nodeadm itself
// passes over it. Errors hold no content but names of fields.
func DecodeNodeConfig(body []byte, strict bool) (NodeConfig, error) {
	dec := yaml.NewDecoder(bytes.NewReader(LF(body)))
	dec.KnownFields(strict)
	var n NodeConfig
	err := dec.Decode(&n)
	switch {
	case errors.Is(err, io.EOF):
		return n, errors.New("decoding the NodeConfig: it is empty; give apiVersion, kind and spec")
	case err != nil:
		return n, fmt.Errorf("decoding the NodeConfig: %s", decodeFault(err))
	case n.Kind != nodeConfigKind || !strings.HasPrefix(n.APIVersion, nodeConfigGroup):
		return n, fmt.Errorf("decoding the NodeConfig: apiVersion and kind are not %s and %s", NodeConfigAPIVersion, nodeConfigKind)
	case n.APIVersion != NodeConfigAPIVersion:
		return n, fmt.Errorf("decoding the NodeConfig: nodeadm knows no such version of its API; allowed: %s", NodeConfigAPIVersion)
	}
	n.Metadata, n.Spec.Kubelet.Config, n.Spec.Containerd.BaseRuntimeSpec = plainMap(n.Metadata), plainMap(n.Spec.Kubelet.Config), plainMap(n.Spec.Containerd.BaseRuntimeSpec)
	return n, nil
}

var (
	unknownField = regexp.MustCompile(`line (\d+): field (\S+) not found`)
	yamlLine     = regexp.MustCompile(`line (\d+)`)
)

// decodeFault says where YAML does not fit, without the content: the cause
// quotes values.
func decodeFault(err error) string {
	text := err.Error()
	if m := unknownField.FindStringSubmatch(text); m != nil {
		return fmt.Sprintf("line %s: nodeadm knows no field %q there", m[1], m[2])
	}
	where := ""
	if m := yamlLine.FindStringSubmatch(text); m != nil {
		where = "line " + m[1] + ": "
	}
	if _, ok := errors.AsType[*yaml.TypeError](err); ok {
		return where + "a value has another type than nodeadm wants"
	}
	return where + "it is not YAML"
}

// Encode writes the NodeConfig as YAML.
func (n NodeConfig) Encode() []byte {
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(n); err != nil {
		panic("bootdata: a NodeConfig is always YAML: " + err.Error())
	}
	return b.Bytes()
}

// plainMap makes the keys of nested maps text, as JSON has them.
func plainMap(m map[string]any) map[string]any {
	if m == nil {
		return nil
	}
	return plainValue(m).(map[string]any)
}

func plainValue(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for _, k := range slices.Sorted(maps.Keys(v)) {
			out[k] = plainValue(v[k])
		}
		return out
	case map[any]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[fmt.Sprint(k)] = plainValue(e)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = plainValue(e)
		}
		return out
	}
	return v
}
