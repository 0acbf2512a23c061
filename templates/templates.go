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

// Parts of the scripts in user data. Words in percent signs are filled in.
var (
	// UserDataHead begins every script: bounds, messages, writing of files.
	//go:embed userdata/head.sh
	UserDataHead string
	// UserDataList makes the value of NO_PROXY.
	//go:embed userdata/list.sh
	UserDataList string
	// UserDataMetadata reads the CIDRs of the VPC.
	//go:embed userdata/metadata.sh
	UserDataMetadata string
	// UserDataVPC4 checks and normalises IPv4 CIDRs, UserDataVPC6 IPv6 ones.
	//go:embed userdata/vpc4.awk
	UserDataVPC4 string
	//go:embed userdata/vpc6.awk
	UserDataVPC6 string
	// UserDataAsk decides between metadata and what was rendered.
	//go:embed userdata/ask.sh
	UserDataAsk string
	// UserDataFit makes NO_PROXY fit a reader with a limit.
	//go:embed userdata/fit.sh
	UserDataFit string
	// UserDataOld reads the file that is edited.
	//go:embed userdata/old.sh
	UserDataOld string
	// UserDataBlock puts a block into a file of others.
	//go:embed userdata/block.sh
	UserDataBlock string
	// UserDataKeys sets options in a section.
	//go:embed userdata/keys.sh
	UserDataKeys string
	// UserDataRuntime finds the container runtime.
	//go:embed userdata/runtime.sh
	UserDataRuntime string
	// UserDataTrust makes the trust store anew.
	//go:embed userdata/trust.sh
	UserDataTrust string
	// UserDataServices lets systemd and services read the files.
	//go:embed userdata/services.sh
	UserDataServices string
	// UserDataFetch fetches the program.
	//go:embed userdata/fetch.sh
	UserDataFetch string
	// UserDataRun runs the program.
	//go:embed userdata/run.sh
	UserDataRun string
	// UserDataBootstrap begins the script that calls bootstrap.sh.
	//go:embed userdata/bootstrap.sh
	UserDataBootstrap string
)
