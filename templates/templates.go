// Package templates holds the text that eksproxy writes into files, one
// variable a file, one folder a user. It has no logic.
package templates

import _ "embed"

// Files of package node.
var (
	// NodeDropIn is the drop-in of every unit.
	//go:embed node/dropin.conf
	NodeDropIn string
	// NodeProxyEnv heads /etc/eksproxy/proxy.env.
	//go:embed node/proxy.env
	NodeProxyEnv string
	// NodeProfile heads /etc/profile.d/eksproxy.sh.
	//go:embed node/profile.sh
	NodeProfile string
	// NodeAPT heads apt's configuration.
	//go:embed node/apt.conf
	NodeAPT string
	// NodeService is the unit that applies at boot; %AFTER%, %BEFORE%,
	// %ON_FAILURE% and %SUCCESS% are filled in.
	//go:embed node/eksproxy.service
	NodeService string
	// NodeRefreshService is what the timer starts.
	//go:embed node/refresh.service
	NodeRefreshService string
	// NodeRefreshTimer has %INTERVAL% filled in.
	//go:embed node/refresh.timer
	NodeRefreshTimer string
)

// ConfigInit is the file that "config init" writes.
//
//go:embed config/init.yaml
var ConfigInit string

// Completion scripts.
var (
	//go:embed completion/bash.sh
	CompletionBash string
	//go:embed completion/zsh.sh
	CompletionZsh string
	//go:embed completion/fish.fish
	CompletionFish string
)
