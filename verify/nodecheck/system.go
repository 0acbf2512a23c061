package nodecheck

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/eksproxy/eksproxy/node"
	"github.com/eksproxy/eksproxy/verify"
)

// pamLine is the longest line that pam_env of Amazon Linux 2 reads whole, the
// line end left out (linux-pam 1.1.8).
const pamLine = 1022

// pam looks for lines that a login on Amazon Linux 2 gets cut.
func (s *subject) pam(context.Context) []verify.Finding {
	if s.o.System.Family != node.AL2 {
		return skip("only pam_env of Amazon Linux 2 has the limit")
	}
	f, err := s.read(etcEnvironment)
	if err != nil {
		return one(undecided(etcEnvironment, "ls -l "+etcEnvironment, "%s", unreadable(err)))
	}
	var found []verify.Finding
	n, longest := 0, 0
	for line := range strings.Lines(string(f.Data)) {
		n++
		size := len(strings.TrimSuffix(line, "\n"))
		longest = max(longest, size)
		if size > pamLine {
			name, _, _ := strings.Cut(line, "=")
			if len(name) > 40 {
				name = name[:40] + "..."
			}
			remedy := "take line " + strconv.Itoa(n) + " out of " + etcEnvironment + " and set " + name + " in /etc/profile.d"
			if slices.Contains(node.Variables(), name) {
				remedy = s.apply()
			}
			found = append(found, fail(fmt.Sprintf("%s:%d", etcEnvironment, n), remedy, "%s has %d bytes, and pam_env cuts it after %d: a login gets half an entry", name, size, pamLine))
		}
	}
	return orPass(found, "the longest of %d lines has %d bytes", n, longest)
}

const daemonJSON = "/etc/docker/daemon.json"

// docker compares the proxies of daemon.json with ours: docker 23 and later
// takes them before the environment.
func (s *subject) docker(context.Context) []verify.Finding {
	f, err := s.read(daemonJSON)
	if err != nil {
		return one(undecided(daemonJSON, "ls -l "+daemonJSON, "%s", unreadable(err)))
	}
	if !f.Exists {
		return skip("there is no %s", daemonJSON)
	}
	var conf struct {
		Proxies map[string]json.RawMessage `json:"proxies"`
	}
	if err := json.Unmarshal(f.Data, &conf); err != nil {
		return one(undecided(daemonJSON, "dockerd --validate --config-file "+daemonJSON, "it is not the JSON that docker reads"))
	}
	var why []string
	for _, key := range slices.Sorted(maps.Keys(conf.Proxies)) {
		var value string
		if json.Unmarshal(conf.Proxies[key], &value) != nil {
			continue // proxies of clients are by host
		}
		s.learn(value)
		if w := s.otherDockerProxy(key, value); w != "" {
			why = append(why, w)
		}
	}
	if len(why) > 0 {
		remedy := fmt.Sprintf("cp -p %s /root/daemon.json.old && jq 'del(.proxies)' /root/daemon.json.old > %s && systemctl restart docker", daemonJSON, daemonJSON)
		return one(fail(daemonJSON, remedy, "its proxies win over the environment: %s", strings.Join(why, "; ")))
	}
	return pass("%s has no other proxies than ours", daemonJSON)
}

func (s *subject) otherDockerProxy(key, value string) string {
	name := strings.ToUpper(strings.ReplaceAll(key, "-", "_"))
	want, ok := s.ours[name]
	switch {
	case !ok:
		return ""
	case isList(name):
		if lack := missing(entries(want), entries(value)); len(lack) > 0 {
			return key + " lacks " + few(lack)
		}
	case bare(value) != bare(want):
		return fmt.Sprintf("%s is %s, not %s", key, bare(value), bare(want))
	case value != want:
		return key + " has another user or password"
	}
	return ""
}
