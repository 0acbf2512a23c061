package nodecheck

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/eksproxy/eksproxy/bootdata"
	"github.com/eksproxy/eksproxy/node"
	"github.com/eksproxy/eksproxy/verify"
)

// Where nodeadm takes its configuration from, and where it keeps the result.
const (
	nodeadmCache  = "/run/eks/nodeadm/config.json"
	nodeadmDropIn = "/etc/eks/nodeadm.d"
	userDataPath  = "/var/lib/cloud/instance/user-data.txt"
)

// nodeConfig is what is read of nodeadm's configuration.
type nodeConfig struct {
	Spec struct {
		Cluster struct {
			Endpoint string `yaml:"apiServerEndpoint"`
			CIDR     string `yaml:"cidr"`
		} `yaml:"cluster"`
		Instance struct {
			// Environment is by service; "default" is nodeadm itself and
			// DefaultEnvironment= of systemd.
			Environment map[string]map[string]string `yaml:"environment"`
		} `yaml:"instance"`
	} `yaml:"spec"`
}

// configSource is a place with configurations of nodeadm.
type configSource struct {
	path    string
	configs []nodeConfig
	err     error
}

// nodeConfigSources reads nodeadm's configurations: its cache, which is the
// merged one, the user data and its drop-in directory.
func (s *subject) nodeConfigSources() []configSource {
	var out []configSource
	for _, p := range append([]string{nodeadmCache}, s.dir(nodeadmDropIn)...) {
		f, err := s.read(p)
		if err == nil && !f.Exists {
			continue
		}
		c := configSource{path: p, err: err}
		if err == nil {
			c.configs, c.err = decodeConfigs(f.Data)
		}
		out = append(out, c)
	}
	if f, err := s.read(userDataPath); err == nil && f.Exists {
		out = append(out, fromUserData(f.Data))
	} else if err != nil {
		out = append(out, configSource{path: userDataPath, err: err})
	}
	return out
}

func fromUserData(data []byte) configSource {
	c := configSource{path: userDataPath}
	doc, err := bootdata.Parse(data)
	if err != nil {
		c.err = err
		return c
	}
	for _, p := range doc.Parts {
		if p.ContentType != "application/node.eks.aws" {
			continue
		}
		configs, err := decodeConfigs(p.Body)
		c.configs, c.err = append(c.configs, configs...), errors.Join(c.err, err)
	}
	return c
}

// decodeConfigs reads YAML or JSON. Its error quotes nothing: values may be
// secret.
func decodeConfigs(data []byte) ([]nodeConfig, error) {
	var out []nodeConfig
	for dec := yaml.NewDecoder(bytes.NewReader(data)); ; {
		var c nodeConfig
		err := dec.Decode(&c)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return out, errors.New("parsing the NodeConfig: not YAML, or a field of another type")
		}
		out = append(out, c)
	}
}

// nodeConfigs looks for a NodeConfig that gives another proxy. That of
// "default" wins over ours in nodeadm's own process; that of a service does
// not, as it becomes an Environment= line.
func (s *subject) nodeConfigs() []verify.Finding {
	var found []verify.Finding
	for _, source := range s.nodeConfigSources() {
		if source.err != nil {
			found = append(found, undecided(source.path, "ls -l "+source.path, "%s", unreadable(source.err)))
		}
		for _, c := range source.configs {
			for _, service := range slices.Sorted(maps.Keys(c.Spec.Instance.Environment)) {
				found = append(found, s.nodeConfig(source.path, service, c.Spec.Instance.Environment[service])...)
			}
		}
	}
	return found
}

func (s *subject) nodeConfig(file, service string, env map[string]string) []verify.Finding {
	var why []string
	for _, name := range node.Variables() {
		if value, ok := env[name]; ok && s.misleads(name, value) {
			s.learn(value)
			why = append(why, s.whyMisleads(name, value))
		}
	}
	remedy := "change spec.instance.environment." + service + " of the NodeConfig to our proxy, in the launch template's user data or in " + nodeadmDropIn
	switch {
	case len(why) == 0:
		return nil
	case service == "default":
		return one(fail(file, remedy, "the NodeConfig decides for nodeadm, and for services without our drop-in: %s", strings.Join(why, "; ")))
	}
	return one(warn(file, remedy, "the NodeConfig's environment of %s has no effect beside our EnvironmentFile=: %s", service, strings.Join(why, "; ")))
}
