package main

import (
	"net/url"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/eksproxy/eksproxy/node"
	"github.com/eksproxy/eksproxy/noproxy"
	"github.com/eksproxy/eksproxy/proxyconfig"
)

// The flags that name the value under test.
const (
	flagNoProxy    = "no-proxy"
	flagFromEnv    = "from-env"
	flagHTTPProxy  = "http-proxy"
	flagHTTPSProxy = "https-proxy"
)

// valueFlags are the flags that explain and lint have for the value under test.
func valueFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: flagNoProxy, Usage: "`VALUE` to look at; empty means unset"},
		&cli.BoolFlag{Name: flagFromEnv, Usage: "look at the proxy variables of this process", DisableDefaultText: true},
	}
}

// environment is the environment of this process.
func (p *program) environment() noproxy.Environment {
	env := noproxy.Environment{}
	for _, kv := range p.env {
		name, value, _ := strings.Cut(kv, "=")
		env[name] = value
	}
	return env
}

// givenValue is the environment that --no-proxy and the proxies beside it mean.
// One proxy stands for both, as in a configuration.
func givenValue(c *cli.Context) (noproxy.Environment, error) {
	env := noproxy.ValueEnvironment(c.String(flagNoProxy))
	httpURL, httpsURL := c.String(flagHTTPProxy), c.String(flagHTTPSProxy)
	for flag, value := range map[string]string{flagHTTPProxy: httpURL, flagHTTPSProxy: httpsURL} {
		if strings.Contains(value, "@") {
			return nil, usagef("--%s: a password in a flag can be read by every user of the machine; leave it out, no client decides by it", flag)
		}
	}
	if httpURL == "" {
		httpURL = httpsURL
	}
	if httpsURL == "" {
		httpsURL = httpURL
	}
	if httpURL != "" {
		env["http_proxy"], env["HTTP_PROXY"] = httpURL, httpURL
		env["https_proxy"], env["HTTPS_PROXY"] = httpsURL, httpsURL
	}
	return env, nil
}

// underTest is the environment that explain looks at: of a value, of this
// process, or of a configuration.
func (p *program) underTest(c *cli.Context) (noproxy.Environment, error) {
	switch {
	case c.IsSet(flagNoProxy) && c.Bool(flagFromEnv):
		return nil, usagef("--no-proxy and --from-env exclude each other")
	case c.IsSet(flagNoProxy):
		return givenValue(c)
	case c.Bool(flagFromEnv):
		return p.environment(), nil
	case len(c.StringSlice(flagConfig)) == 0 && p.getenv(proxyconfig.EnvConfig) == "" && len(installed(node.ConfigPath)) == 0 &&
		c.String(flagFacts) == "" && len(fromFlags(c)) == 0:
		return nil, usagef("nothing to look at; give --no-proxy VALUE, --from-env, or --config FILE")
	}
	merged, err := p.settings(c, nil)
	if err != nil {
		return nil, err
	}
	return p.composed(c, merged)
}

// composed is the environment that a configuration makes.
func (p *program) composed(c *cli.Context, merged proxyconfig.Layer) (noproxy.Environment, error) {
	cfg, err := merged.ResolvePlace("node")
	if err != nil {
		return nil, usage(err)
	}
	proxies, err := configuredProxies(merged)
	if err != nil {
		return nil, err
	}
	n, err := p.nodeFacts(c, cfg, nil)
	if err != nil {
		return nil, err
	}
	r, err := p.compose(n, cfg)
	if err != nil {
		return nil, err
	}
	env := noproxy.ValueEnvironment(r.Entries.String())
	if proxies.HTTP != "" {
		env["http_proxy"], env["HTTP_PROXY"] = proxies.HTTP, proxies.HTTP
		env["https_proxy"], env["HTTPS_PROXY"] = proxies.HTTPS, proxies.HTTPS
	}
	return env, nil
}

// parseTargets reads the URLs of a command line.
func parseTargets(args []string) ([]noproxy.Target, error) {
	var targets []noproxy.Target
	for _, arg := range args {
		if u, err := url.Parse(arg); err == nil && u.User != nil {
			return nil, usagef("URL %s: a target has no user name and password: no client decides by them", noproxy.Quote(arg))
		}
		t, err := noproxy.ParseTarget(arg)
		if err != nil {
			return nil, usagef("URL %s: %w", noproxy.Quote(arg), err)
		}
		targets = append(targets, t)
	}
	return targets, nil
}
