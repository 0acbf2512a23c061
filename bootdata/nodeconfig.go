package bootdata

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"
)

const (
	nodeConfigGroup = "node.eks.aws/"
	nodeConfigKind  = "NodeConfig"
)

// nodeConfig holds the fields that are read; all others are ignored, as
// nodeadm ignores those that it does not know.
type nodeConfig struct {
	APIVersion string `yaml:"apiVersion"`
	Kind       string `yaml:"kind"`
	Spec       struct {
		Cluster struct {
			Name     string `yaml:"name"`
			Endpoint string `yaml:"apiServerEndpoint"`
			CIDR     string `yaml:"cidr"`
		} `yaml:"cluster"`
	} `yaml:"spec"`
}

// nodeConfig merges all NodeConfigs of the document, as nodeadm does.
func (d Document) nodeConfig() (claim, error) {
	var merged claim
	for _, p := range d.Parts {
		if p.ContentType != TypeNodeConfig {
			continue
		}
		configs, err := decodeNodeConfigs(p.Body)
		if err != nil {
			return claim{}, err
		}
		for _, n := range configs {
			c := n.Spec.Cluster
			merged = claim{from: FromNodeConfig, name: c.Name, endpoint: c.Endpoint, cidr: c.CIDR}.over(merged)
		}
	}
	return merged, nil
}

// decodeNodeConfigs reads YAML or JSON with one or several documents and
// leaves out those of other kinds.
func decodeNodeConfigs(body []byte) ([]nodeConfig, error) {
	var out []nodeConfig
	dec := yaml.NewDecoder(bytes.NewReader(body))
	for {
		var n nodeConfig
		err := dec.Decode(&n)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			// The cause quotes values.
			return nil, errors.New("parsing the NodeConfig: not YAML, or a field of another type")
		}
		if n.Kind == nodeConfigKind && strings.HasPrefix(n.APIVersion, nodeConfigGroup) {
			out = append(out, n)
		}
	}
}
