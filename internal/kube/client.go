// Package kube connects to an API server and reads and writes objects there:
// server-side apply as a field manager, guarded changes, lists in pages. It
// tries again what a busy or failing server did not do, and it knows nothing of
// what the objects are for.
package kube

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"time"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
)

// DefaultTimeout bounds one request.
const DefaultTimeout = 30 * time.Second

// Options say which cluster to connect to.
type Options struct {
	// Kubeconfig is a file; empty means KUBECONFIG, else ~/.kube/config.
	Kubeconfig string
	// Context is one of the kubeconfig's; empty means its current one.
	Context string
	// Getenv reads the process environment.
	Getenv func(string) string
	// Timeout bounds one request; 0 is DefaultTimeout.
	Timeout time.Duration
	// Direct reaches the server without any proxy.
	Direct bool
}

// Client is a connection to one API server.
type Client struct {
	Clientset kubernetes.Interface
	Dynamic   dynamic.Interface
	Config    *rest.Config
	// Context is the kubeconfig's context, Server the URL of its server.
	Context, Server string
	// Kubeconfig is the file that was named, or the files that were looked for.
	Kubeconfig string
}

// ErrNoKubeconfig says that no kubeconfig names a cluster.
var ErrNoKubeconfig = errors.New("no kubeconfig names a cluster; give --kubeconfig FILE or --context NAME (aws eks update-kubeconfig --name CLUSTER writes one)")

// Connect reads the kubeconfig. It asks nothing of the server. It returns
// ErrNoKubeconfig where there is none.
func Connect(o Options) (*Client, error) {
	rules := loadingRules(o)
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{CurrentContext: o.Context})
	raw, err := loader.RawConfig()
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig: %w", err)
	}
	if len(raw.Contexts) == 0 {
		return nil, ErrNoKubeconfig
	}
	cfg, err := loader.ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig: %w", err)
	}
	klog.LogToStderr(false) // client-go's own talk: what matters comes back as an error
	klog.SetOutput(io.Discard)
	cfg.UserAgent = "eksproxy"
	cfg.QPS = -1 // the server's own fairness holds
	if cfg.Timeout = o.Timeout; cfg.Timeout == 0 {
		cfg.Timeout = DefaultTimeout
	}
	c := &Client{Config: cfg, Context: raw.CurrentContext, Server: cfg.Host, Kubeconfig: o.Kubeconfig}
	if o.Context != "" {
		c.Context = o.Context
	}
	if c.Kubeconfig == "" && len(rules.Precedence) > 0 {
		c.Kubeconfig = rules.Precedence[0]
	}
	return c, c.connect(o.Direct)
}

func loadingRules(o Options) *clientcmd.ClientConfigLoadingRules {
	rules := &clientcmd.ClientConfigLoadingRules{ExplicitPath: o.Kubeconfig}
	if o.Kubeconfig != "" {
		return rules
	}
	if list := o.Getenv("KUBECONFIG"); list != "" {
		rules.Precedence = filepath.SplitList(list)
	} else if home := o.Getenv("HOME"); home != "" {
		rules.Precedence = []string{filepath.Join(home, ".kube", "config")}
	}
	return rules
}

// connect makes the clients. The kubeconfig's proxy-url wins over the
// environment, as in kubectl.
func (c *Client) connect(direct bool) (err error) {
	switch {
	case direct:
		c.Config.Proxy = func(*http.Request) (*url.URL, error) { return nil, nil }
	case c.Config.Proxy == nil:
		c.Config.Proxy = http.ProxyFromEnvironment
	}
	if c.Clientset, err = kubernetes.NewForConfig(c.Config); err != nil {
		return fmt.Errorf("reading the kubeconfig: %w", err)
	}
	if c.Dynamic, err = dynamic.NewForConfig(c.Config); err != nil {
		return fmt.Errorf("reading the kubeconfig: %w", err)
	}
	return nil
}

// Proxy is the proxy that requests to the server go through, without user
// information; nil where they go direct.
func (c *Client) Proxy() *url.URL {
	server, err := url.Parse(c.Server)
	if err != nil || c.Config == nil || c.Config.Proxy == nil { // Connect sets it
		return nil
	}
	proxy, err := c.Config.Proxy(&http.Request{URL: server})
	if err != nil || proxy == nil {
		return nil
	}
	bare := *proxy // the URL itself is the one that later requests take their login from
	bare.User = nil
	return &bare
}

// throughProxy is that proxy as a text; empty where requests go direct.
func (c *Client) throughProxy() string {
	if proxy := c.Proxy(); proxy != nil {
		return proxy.String()
	}
	return ""
}
