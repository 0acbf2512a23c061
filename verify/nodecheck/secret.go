package nodecheck

import (
	"encoding/base64"
	"net/url"
	"strings"

	"github.com/eksproxy/eksproxy/node"
	"github.com/eksproxy/eksproxy/verify"
)

// credentialsPath is where the credentials are kept that were fetched last.
const credentialsPath = node.CredentialsPath

// learnFiles notes the secrets of the files that hold some.
func (s *subject) learnFiles() {
	for _, p := range []string{node.ProxyEnvPath, "/etc/environment", s.o.System.Family.PackageManager()} {
		f, err := s.read(p)
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(f.Data)) {
			s.learn(line)
		}
	}
	if f, err := s.read(credentialsPath); err == nil {
		user, password, ok := strings.Cut(strings.TrimSpace(string(f.Data)), ":")
		if ok && !strings.HasPrefix(user, "{") {
			s.learnPair(user, password)
		}
	}
}

// learn notes the secrets in a value or line: user information of a URL, and
// yum's password.
func (s *subject) learn(text string) {
	text = strings.TrimSpace(text)
	name, value, ok := strings.Cut(text, "=")
	if ok && strings.TrimSpace(name) == "proxy_password" {
		s.learnPair("", strings.TrimSpace(value))
	}
	_, rest, ok := strings.Cut(text, "://")
	at := strings.LastIndexByte(rest, '@')
	if !ok || at < 0 {
		return
	}
	user, password, _ := strings.Cut(rest[:at], ":")
	s.learnPair(user, password)
	s.note(user + ":" + password)
	plainUser, err1 := url.PathUnescape(user)
	plain, err2 := url.PathUnescape(password)
	if err1 == nil && err2 == nil {
		s.learnPair(plainUser, plain)
	}
}

// learnPair notes a password, and in which forms it travels with its user.
func (s *subject) learnPair(user, password string) {
	if password == "" {
		return
	}
	s.note(password)
	s.note(url.QueryEscape(password))
	if user != "" {
		s.note(user + ":" + password)
		s.note(base64.StdEncoding.EncodeToString([]byte(user + ":" + password)))
	}
}

func (s *subject) note(secret string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.secrets[verify.Printable(secret)] = true
}

// knownSecrets are the secrets that are long enough to be looked for in files:
// a short one stands everywhere by chance.
func (s *subject) knownSecrets() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	const shortest = 5
	var out []string
	for secret := range s.secrets {
		if len(secret) >= shortest {
			out = append(out, secret)
		}
	}
	return out
}
