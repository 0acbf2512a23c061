package proxyconfig

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/eksproxy/eksproxy/noproxy"
)

// hashFormat is part of every settings hash: a new rendering of the same
// settings gets a new number, a new version of the program does not.
const hashFormat = 1

// Settings are the answer for one place: what its programs must be told.
type Settings struct {
	HTTPProxy, HTTPSProxy URL
	NoProxy               noproxy.List
	CAs                   []CA
	// KeepCredentials says that a copy of the credentials is to be kept. The
	// hash does not cover it.
	KeepCredentials bool
}

// Settings are the configured proxies and certificates with a composed list.
func (c Config) Settings(list noproxy.List) Settings {
	return Settings{HTTPProxy: c.HTTPProxy, HTTPSProxy: c.HTTPSProxy, NoProxy: list, CAs: c.CAs, KeepCredentials: c.KeepCredentials}
}

// Hash identifies the settings in 12 hex digits. It covers no credential, only
// whether there are any: from a hash of a password anyone can guess it offline.
func (s Settings) Hash() string {
	input := struct {
		Format        int
		HTTP, HTTPS   string
		Authenticated bool
		NoProxy       string
		CAs           []CA
	}{hashFormat, s.HTTPProxy.Bare(), s.HTTPSProxy.Bare(), s.HTTPProxy.HasCredentials() || s.HTTPSProxy.HasCredentials(), s.NoProxy.String(), s.CAs}
	data, err := json.Marshal(input)
	if err != nil {
		panic(err) // plain data
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:6])
}

// Secrets are the texts that must not be shown.
func (s Settings) Secrets() []string {
	return append(s.HTTPProxy.Credentials().Secrets(), s.HTTPSProxy.Credentials().Secrets()...)
}
