package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
	"go.yaml.in/yaml/v3"

	"github.com/eksproxy/eksproxy/facts"
	"github.com/eksproxy/eksproxy/noproxy"
	"github.com/eksproxy/eksproxy/proxyconfig"
)

// noProxySide is one side of a diff, and the network that it was composed for.
type noProxySide struct {
	noproxy.Side
	network facts.Network
}

// noProxySide reads an argument of diff: the content of the file with this name
// where there is one, else the value itself.
func (p *program) noProxySide(c *cli.Context, label, arg string) (noProxySide, error) {
	s := noProxySide{Side: noproxy.SideOf(arg)}
	info, err := os.Stat(arg)
	switch {
	case err != nil && looksLikeFile(arg):
		return s, usagef("reading %s: %w", label, err)
	case err == nil && !info.IsDir():
		if s, err = p.sideOfFile(c, arg); err != nil {
			if _, has := errors.AsType[codeError](err); has {
				return s, err
			}
			return s, usagef("reading %s %s: %w", label, arg, err)
		}
	}
	s.Environment = withGivenProxies(c, s.Environment)
	return s, nil
}

// looksLikeFile says whether a text is meant as the name of a file: a value has
// no such end.
func looksLikeFile(arg string) bool {
	if strings.Contains(arg, ",") {
		return false
	}
	return strings.HasPrefix(arg, "./") || strings.HasPrefix(arg, "/") ||
		slices.Contains([]string{".yaml", ".yml", ".json", ".env", ".txt", ".conf"}, filepath.Ext(arg))
}

// withGivenProxies adds the proxies of the flags where a side has none.
func withGivenProxies(c *cli.Context, env noproxy.Environment) noproxy.Environment {
	given, err := givenValue(c)
	if err != nil {
		return env
	}
	for name, value := range given {
		if _, has := env[name]; !has && !strings.EqualFold(name, "no_proxy") {
			env[name] = value
		}
	}
	return env
}

// sideOfFile tells by its content what a file is.
func (p *program) sideOfFile(c *cli.Context, name string) (noProxySide, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return noProxySide{}, err
	}
	var head struct {
		Kind string `yaml:"kind"`
	}
	if err := yaml.Unmarshal(data, &head); err != nil {
		head.Kind = ""
	}
	switch head.Kind {
	case proxyconfig.Kind:
		return p.sideOfConfig(c, name)
	case kindNoProxy:
		return sideOfComputed(data)
	case "":
		return sideOfText(string(data)), nil
	}
	envs, err := readProxyManifest(data)
	if err != nil {
		return noProxySide{}, err
	}
	if len(envs) == 0 {
		return noProxySide{}, errors.New("the manifest sets no proxy variable")
	}
	value, err := oneValue(envs)
	if err != nil {
		return noProxySide{}, errors.New("the manifest holds different lists; give one of them")
	}
	s := noproxy.SideOf(value)
	s.Environment = envs[0].env
	return noProxySide{Side: s}, nil
}

// sideOfText is a file of assignments, or else a value alone.
func sideOfText(text string) noProxySide {
	env := parseEnvFile(text)
	if len(env) == 0 {
		return noProxySide{Side: noproxy.SideOf(strings.TrimSpace(text))}
	}
	s := noproxy.SideOf(env.NoProxyValue())
	s.Environment = env
	return noProxySide{Side: s}
}

// sideOfComputed is what compute -o json or -o yaml printed.
func sideOfComputed(data []byte) (noProxySide, error) {
	var doc any
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return noProxySide{}, err
	}
	text, err := json.Marshal(doc)
	if err != nil {
		return noProxySide{}, err
	}
	var computed noProxyDoc
	if err := json.Unmarshal(text, &computed); err != nil {
		return noProxySide{}, err
	}
	return noProxySide{Side: sideOfList(computed.Entries)}, nil
}

// sideOfConfig composes the value of a configuration. What flags say of the
// cluster holds for both sides.
func (p *program) sideOfConfig(c *cli.Context, name string) (noProxySide, error) {
	layer, err := proxyconfig.ReadFile(name)
	if err != nil {
		return noProxySide{}, err
	}
	cfg, err := proxyconfig.Merge(layer, fromFlags(c)).ResolvePlace("node")
	if err != nil {
		return noProxySide{}, err
	}
	n, err := p.nodeFacts(c, cfg, nil)
	if err != nil {
		return noProxySide{}, err
	}
	r, err := p.compose(n, cfg)
	if err != nil {
		return noProxySide{}, err
	}
	return noProxySide{sideOfList(r.Entries), n.Network}, nil
}

func sideOfList(l noproxy.List) noproxy.Side {
	return noproxy.Side{Environment: noproxy.ValueEnvironment(l.String()), Entries: l}
}
