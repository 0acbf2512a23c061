package main

import (
	"errors"
	"io"

	"github.com/eksproxy/eksproxy/noproxy"
	"github.com/eksproxy/eksproxy/proxyconfig"
)

// writeDialect prints a list as another program reads it. What the dialect has
// no form for goes to the talk.
func (p *program) writeDialect(d noproxy.Dialect, l noproxy.List, merged proxyconfig.Layer) error {
	proxies, err := configuredProxies(merged)
	if err != nil {
		return err
	}
	r, err := l.Render(d, proxies)
	if err != nil {
		return usage(err)
	}
	for _, left := range r.LeftOut {
		p.talk.Note("%s is left out: %s", left.Entry, left.Why)
	}
	_, err = io.WriteString(p.Out, r.Text)
	return err
}

// configuredProxies are the proxies of a configuration, without credentials;
// both are empty where it names none.
func configuredProxies(merged proxyconfig.Layer) (noproxy.Proxies, error) {
	cfg, err := merged.Resolve("node", unfetchedRef)
	if errors.Is(err, proxyconfig.ErrNoProxy) {
		return noproxy.Proxies{}, nil
	}
	if err != nil {
		return noproxy.Proxies{}, usage(err)
	}
	var proxies noproxy.Proxies
	if !cfg.HTTPProxy.IsZero() {
		proxies.HTTP = cfg.HTTPProxy.Bare()
	}
	if !cfg.HTTPSProxy.IsZero() {
		proxies.HTTPS = cfg.HTTPSProxy.Bare()
	}
	return proxies, nil
}
